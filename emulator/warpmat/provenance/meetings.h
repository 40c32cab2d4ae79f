#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <warpmat/provenance/numbered.h>
#include <warpmat/provenance/origins.h>

namespace warpmat::provenance {

/// The matrices of a product, C = A * B, by number.
enum MatrixNumber : std::uint8_t { of_a, of_b, of_c, matrix_count };

/// An element of C and one of the products in it, by the numbers of the elements' first bits in memory: addresses times 8. Of a sparse A
/// the element of B is the one at twice its k.
struct Meeting {
  std::array<std::uint64_t, matrix_count> bits{};
  bool sparse = false;
};

/// What a cluster multiplied and stored.
struct Meetings {
  std::vector<Meeting> stored;                                               ///< a few products of each element that was stored
  std::set<std::array<std::uint64_t, 2>> along_k;                            ///< elements of A and B at both ends of the instructions' k
  std::array<std::map<std::uint64_t, std::size_t>, matrix_count> distances;  ///< bits between neighbours
  std::array<std::map<int, std::size_t>, matrix_count> widths;  ///< bits of elements; of factors those that are multiplied as they are
  std::size_t products = 0;                                     ///< matrix instructions
  std::size_t multiplied = 0;                                   ///< those with elements of memory on both sides
  std::size_t chained = 0;                                      ///< those with a factor that is another product's result
  bool sparse = false;
};

/// Whether matrix instructions multiply in the program.
bool multiplies(const code::Program& program);

/// Collects the meetings of a cluster, and hands them over when it ends.
class MeetingRecorder : public Origins {
 public:
  using Receiver = std::function<void(Meetings&&)>;

  /// Keeps at most `most` elements that are stored, chosen by their addresses.
  MeetingRecorder(const code::Program& program, std::size_t most, Receiver receiver)
      : Origins(program), most_(most), receiver_(std::move(receiver)) {}
  ~MeetingRecorder() override { receiver_(std::move(found_)); }

 protected:
  bool follows(std::uint64_t) const override { return true; }
  std::optional<std::uint32_t> multiplies(const OriginProduct& product) override;
  void collect() override;
  Origin combines(const Origin& a, const Origin& b, const Computation&) override { return a.kind() == Origin::Kind::sum ? a : b; }
  void writes(const GlobalWrite& write, const machine::WarpState& warp) override;

 private:
  using Line = std::shared_ptr<const std::vector<std::uint64_t>>;  ///< of an operand at one k: bits in memory, or 0
  struct Sum {
    static constexpr std::size_t kept = 4;
    std::array<std::pair<Line, Line>, kept> factors{};
    std::uint32_t products = 0;
    bool sparse = false;
    bool is_stored = false;
    int row = 0, column = 0;  ///< of the first one that was stored
    std::uint64_t place = 0;
  };

  std::uint64_t random() { return random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL; }  // Knuth's MMIX
  void note(const OriginProduct& product, MatrixNumber number);
  void note_ends(const OriginProduct& product, int group);
  void store(const Origin& origin, std::uint64_t bit);

  Meetings found_;
  Numbered<Sum> sums_;
  std::size_t most_, elements_ = 0;
  std::uint64_t left_out_ = 0;  ///< elements with one of these bits in their hash are left out
  std::uint64_t random_ = 1;
  Receiver receiver_;
};

}  // namespace warpmat::provenance
