#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/provenance/companion.h>
#include <warpmat/provenance/depth_sets.h>
#include <warpmat/provenance/gemm.h>
#include <warpmat/provenance/gemm_stores.h>
#include <warpmat/provenance/notes.h>
#include <warpmat/provenance/numbered.h>
#include <warpmat/provenance/origins.h>

namespace warpmat::provenance {

/// A launch that is held against products: what the observers of its clusters share.
struct PairedLaunch {
  const code::Program& program;
  const DeviceMemory& memory;
  Dim3 grid{};
  std::vector<Gemm> gemms{};
  std::optional<GemmElement> element{};                                    ///< whose way is wanted: then nothing is an error
  std::vector<GemmStores> stores{};                                        ///< by product
  std::vector<std::array<Companion, Gemm::companion_count>> companions{};  ///< by product, as Gemm::companions
  std::map<std::uint64_t, Why> ways{};                                     ///< of the element, by the block that stores it
  std::mutex mutex{};                                                      ///< of `ways`
};

/// Holds each product of mma, wmma and wgmma against the matrix products of the launch: both factors have the same k, an
/// accumulator is that of one element of C, adds each k once, and is stored there. The first one that is not ends the launch. Factors that
/// are not elements of A and B are not looked at.
class Pairing : public Origins {
 public:
  explicit Pairing(PairedLaunch& launch) : Origins(launch.program), launch_(launch), gemm_(&launch.gemms.front()) {}

 protected:
  bool follows(std::uint64_t address) const override;
  std::optional<std::uint32_t> multiplies(const OriginProduct& product) override;
  void collect() override;
  Origin combines(const Origin& a, const Origin& b, const Computation& how) override;
  void writes(const GlobalWrite& write, const machine::WarpState& warp) override;

 private:
  /// An element of an operand: row of A or column of B, and k. line is -1 where it is no element of the matrix.
  struct Seen {
    int line = -1, depth = -1;
  };
  /// What an operand holds of a matrix.
  struct Operand {
    char letter = 'a';  ///< of the operand: a, b
    const OperandOrigins* origins = nullptr;
    int depth = 0;                       ///< along k; twice that of `origins` if A is sparse
    int group = 1;                       ///< sparse: the number of stored elements of a group of twice as many k
    const GemmMatrix* matrix = nullptr;  ///< A or B, which this operand holds
    const Operand* taps = nullptr;       ///< a convolution's image: the operand with the filters, whose k say which tap is meant
    bool is_b = false;                   ///< B: its lines are columns
    std::vector<Seen> seen{};            ///< by line and k
    std::vector<int> lines{}, depths{};  ///< by line and by k of the operand; -1: nothing of the matrix
    bool regular = true;                 ///< all elements of a line have one line, those of a k have one k
    const Seen& at(int line, int k) const { return seen[static_cast<std::size_t>(line * depth + k)]; }
    bool sparse() const { return depth != origins->depth; }
    const Origin& origin(int line, int k) const { return origins->at(line, sparse() ? k / (2 * group) * group : k); }
  };
  /// The rows or columns of C that a product's rows or columns are; -1: none. Where the factors of each came from.
  struct Lines {
    std::vector<int> numbers{};
    std::vector<Origin> origins{};
    const Origin& origin(int line) const { return origins[static_cast<std::size_t>(line)]; }
  };
  /// What was found of the operand of one slot (OperandOrigins) last.
  struct Look {
    std::uint64_t id = 0;
    const Gemm* gemm = nullptr;                      ///< whose matrices the rest is about
    std::pair<std::size_t, std::size_t> elements{};  ///< of A and of B
    Operand operand{};
    std::shared_ptr<const Lines> lines{};
  };
  /// The state of a warp's accumulators after a product.
  struct Sum {
    std::uint32_t statement = 0;
    const Gemm* gemm = nullptr;
    bool swapped = false;  ///< A*B is computed as the transposed product: rows are columns of C
    bool partial = false;  ///< it began with elements of C
    /// The last place where one operand held elements of its matrix and the other none.
    struct Lacking {
      int depth;
      char letter;  ///< of the operand that held none
      Origin origin;
    };
    std::optional<Lacking> lacking = std::nullopt;
    std::shared_ptr<const Lines> rows, columns;  ///< of C
    /// What ProductRequest::element asks of the product; null where the element has no part in it.
    struct Step {
      OperandOrigins a, b;
      std::vector<Origin> c;
      std::vector<std::uint32_t> words_a, words_b, words_c;  ///< of the operands' registers
    };
    std::shared_ptr<const Step> step = nullptr;
    std::optional<std::pair<std::uint32_t, std::uint32_t>> addends = std::nullopt;  ///< ProductRequest::element: it is the sum of these two
    std::vector<std::uint32_t> depths{};  ///< DepthSets by row and column; one for all where they are alike
    std::uint32_t depth_set(int row, int column) const {
      return depths.size() == 1 ? depths[0]
                                : depths[static_cast<std::size_t>(row) * columns->numbers.size() + static_cast<std::size_t>(column)];
    }
    std::pair<int, int> element(int row, int column) const {
      const std::pair<int, int> e(rows->numbers[static_cast<std::size_t>(row)], columns->numbers[static_cast<std::size_t>(column)]);
      return swapped ? std::pair(e.second, e.first) : e;
    }
  };

  // What operands hold: pairing_operands.cpp
  std::optional<std::pair<int, int>> place_of(const GemmMatrix& matrix, const Origin& origin) const;
  Look& look_of(const OperandOrigins& origins, char letter, int depth, int group);
  void count_elements(Look& look) const;
  bool choose_matrices(Look& a, Look& b) const;
  void look_at(Look& look, bool is_b, const Operand* taps) const;
  void look(Operand& operand) const;
  Seen seen(const Operand& operand, int line, int k) const;
  void check_depths(const OriginProduct& product, const Operand& a, const Operand& b);
  void check_widths(const OriginProduct& product, const Operand& a, const Operand& b);
  void check_formats(const OriginProduct& product, const Operand& a, const Operand& b);
  void check_operand(const OriginProduct& product, const Operand& operand, const Operand& other);
  void inherit_places(const OriginProduct& product, Sum& sum) const;
  void note_companions(const OriginProduct& product, const Operand& a, const Operand& b);
  void note_companion(const OriginProduct& product, const Operand& operand, const OperandOrigins& entries, CompanionMatrix::Kind kind);
  std::vector<int> common_depths(const Operand& a, const Operand& b, Sum& sum) const;
  void check_same_element(const OriginProduct& product, const Operand& a, const Operand& b, const Sum& sum, int row, int column);
  bool continues(const OriginProduct& product, const Sum& sum) const;
  std::vector<std::uint32_t> sets_before(const OriginProduct& product, const Operand& a, const Operand& b, Sum& sum);
  void accumulate(const OriginProduct& product, const Operand& a, const Operand& b, Sum& sum);
  void refuse_twice(const OriginProduct& product, const Operand& a, const Operand& b, const Sum& sum, int twice, int row, int column);
  std::pair<std::size_t, int> row_of(const Origin& origin) const;
  static bool split(const Sum& sum);
  std::optional<Origin> added(const Origin& a, const Origin& b, const Computation& how);
  void check_factor(const Origin& later, const Origin& factor, const Computation& how);
  bool formed_twice(const Origin& origin) const;
  std::uint64_t block_number(const machine::WarpState& warp) const;
  void report_reader(const Origin& origin, int row, int column, const GlobalWrite& write, const machine::WarpState& warp);
  void write_element(const GlobalWrite& write, const machine::WarpState& warp);
  void check_element(const Origin& origin, int row, int column, const GlobalWrite& write, const machine::WarpState& warp);

  [[noreturn]] static void report_store(const GlobalWrite& write, const machine::WarpState& warp, const Trap::Reason& reason);
  static Trap::Site site_of(const machine::WarpState& warp, int lane);
  static Trap::Site site_of(const machine::WarpState& warp, int lane, std::uint32_t statement);
  std::vector<Trap::Note> ways_of(const Origin& origin, const machine::WarpState& warp) const;

  // Convolutions: pairing_image.cpp
  Seen seen_in_image(const Operand& image, const std::pair<int, int>& place, int k) const;
  void look_for_padding(Operand& image) const;
  void check_image(const OriginProduct& product, const Operand& image);
  std::optional<std::pair<int, int>> stored_place(const Operand& operand, const Seen& seen) const;

  // The way of one element: pairing_why.cpp
  void record(const OriginProduct& product, const Operand& a, const Operand& b, Sum& sum);
  void explain(const Origin& origin, const GlobalWrite& write, const machine::WarpState& warp);
  void add_steps(std::uint32_t product, int row, int column, const machine::WarpState& warp, Why& why) const;
  std::string factors_of(const OperandOrigins& operand, const GemmMatrix& matrix, int line, const machine::WarpState& warp,
                         Why::Step& step) const;

  // What is said of a fault: pairing_report.cpp
  std::string name_of(const Operand& operand, const Seen& seen) const;
  std::string line_name(const Operand& operand, int line) const;
  struct Step {
    const char* verb;
    std::string where;
    std::uint32_t statement;
  };
  std::vector<Step> steps_of(const Origin& origin) const;
  std::string way_of(const Origin& origin, const machine::WarpState& warp) const;
  std::vector<Trap::Note> notes_of(const std::string& what, const Origin& origin, const machine::WarpState& warp) const;
  std::string where_is(const Operand& operand, const Seen& wanted, const OriginProduct& product);
  std::vector<Trap::Note> layouts(const Operand& operand, const OriginProduct& product);
  std::vector<Trap::Note> history(const Operand& operand, int line, int k, const Seen& wanted, const OriginProduct& product);
  std::string missing(std::uint32_t set) const;

  PairedLaunch& launch_;
  const Gemm* gemm_;          ///< that of the product or element which is looked at
  std::size_t recorded_ = 0;  ///< bytes of all steps
  std::vector<Look> looks_;   ///< by slot
  Numbered<Sum> sums_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> added_;  ///< sums of two accumulators
  std::map<std::array<std::uint64_t, 4>, std::uint32_t> uses_;  ///< Companion::Use by companion, statement, and ways of entry and element
  DepthSets sets_;
};

}  // namespace warpmat::provenance
