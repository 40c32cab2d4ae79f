#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/observer.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

/// What a product reads of an operand in shared memory: Product::a_chunks, b_chunks.
struct Chunks {
  Chunks() = default;
  explicit Chunks(std::vector<std::uint32_t> all) : addresses(std::move(all)) {
    if (addresses.empty()) return;
    const auto [least, most] = std::ranges::minmax(addresses);
    first = least;
    bytes = most - least + Product::chunk_bytes;
  }
  /// Whether `size` bytes of memory from address `base` on have all of them.
  bool are_inside(std::uint32_t base, std::size_t size) const { return first >= base && std::uint64_t{first} - base + bytes <= size; }

  std::vector<std::uint32_t> addresses;
  std::uint32_t first = 0, bytes = 0;  ///< a range that has all of them
};

/// What the four warps of a product read.
struct ProductChunks {
  std::array<Chunks, WgmmaForm::warps> a;  ///< by warp; none of an A in registers
  Chunks b;
};
using ProductChunkList = std::shared_ptr<const ProductChunks>;

/// The chunks of a launch's products: blocks use the same descriptors again and again. Several threads may call it at once: what is known
/// they find without a lock, and have without an owner, as to count owners would make them wait for each other.
class ChunkLists {
 public:
  /// Valid as long as this object, at least.
  ProductChunkList find(const code::WarpgroupProduct& product, std::uint64_t a_descriptor, std::uint64_t b_descriptor);

 private:
  static constexpr std::size_t most =
      1024;  ///< products that stay known, the first of the launch; the longest has 4 KB. Later ones are made at each use
  static constexpr std::size_t places = 2 * most;  ///< so that a search ends soon
  struct Key {
    const code::WarpgroupProduct* product;
    std::uint64_t a_descriptor, b_descriptor;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Known {
    Key key;
    ProductChunks chunks;
  };
  struct Found {
    std::size_t place;
    const Known* known;  ///< null: the place is free
  };

  Found look_up(const Key& key) const;

  std::array<std::atomic<const Known*>, places> table_{};  ///< each at the first free place from that of its key on
  std::mutex mutex_;                                       ///< of what follows, and of changes of the table
  std::vector<std::unique_ptr<const Known>> known_;
};

/// A wgmma.mma_async that one warp has issued and not waited for. The wait produces its part of the results, 16 of 64 rows.
struct PendingProduct {
  const code::WarpgroupProduct* product;
  std::uint32_t statement;        ///< of Program::statements
  std::uint32_t group;            ///< the number of groups that the warp had committed before
  bool committed;                 ///< whether it belongs to a group
  std::vector<std::uint32_t*> d;  ///< the accumulators, 32 words each
  std::uint64_t a_descriptor, b_descriptor;
  std::vector<std::uint32_t> a;  ///< the words from Wgmma::read_a at issue
  /// The words from Wgmma::read_b when the first warp of the warpgroup issued it.
  std::shared_ptr<const std::vector<std::uint32_t>> b;
  Register metadata;
  bool accumulates;
  int warp;                 ///< in its warpgroup
  ProductChunkList chunks;  ///< of the four warps
};

/// The chunks of operand a or b; none of an A in registers.
inline const Chunks& chunks_of(const PendingProduct& product, OperandName operand) {
  return operand == OperandName::b ? product.chunks->b : product.chunks->a[static_cast<std::size_t>(product.warp)];
}

/// Whether shared memory, from address `base` on, still holds what the product has read of operand a or b.
bool still_holds(const PendingProduct& product, OperandName operand, std::span<const std::uint8_t> shared, std::uint32_t base);

/// The state of a warp's wgmma statements.
struct WarpgroupState {
  std::vector<std::unique_ptr<PendingProduct>> pending;  ///< in the order of their statements
  std::vector<std::unique_ptr<PendingProduct>> done;     ///< which leave their memory to later ones
  std::vector<Product> told;                             ///< to observers, by the wait
  std::uint32_t committed = 0;                           ///< groups

  /// One to fill in: each member has some value.
  std::unique_ptr<PendingProduct> make();
};

/// State that the four warps of a warpgroup share: their wgmma statements in order, and the descriptors.
struct WarpgroupIssues {
  struct Issue {
    std::uint32_t statement;
    std::uint64_t a_descriptor, b_descriptor;  ///< a_descriptor is 0 if A is in registers
    bool accumulates;
    int warp;  ///< the first warp to issue it
    std::shared_ptr<const std::vector<std::uint32_t>> b;
    ProductChunkList chunks;
    bool same_operands(const Issue& other) const {
      return a_descriptor == other.a_descriptor && b_descriptor == other.b_descriptor && accumulates == other.accumulates;
    }
  };
  std::deque<Issue> issues;                            ///< statements that some warp has not reached yet
  std::uint64_t first = 0;                             ///< the number of issues.front(), from the kernel's start
  std::array<std::uint64_t, WgmmaForm::warps> next{};  ///< by warp: the number of its next statement
  std::uint32_t waiting = 0;                           ///< warps that wait at wgmma.fence or wgmma.wait_group for the others, a bit each
  std::uint32_t waits_at = 0;                          ///< the statement at which they wait
  std::vector<std::shared_ptr<std::vector<std::uint32_t>>> operands_b;  ///< of products, and those that no product has any more

  /// One that no product has.
  std::shared_ptr<std::vector<std::uint32_t>> make_b();
};

}  // namespace warpmat::machine
