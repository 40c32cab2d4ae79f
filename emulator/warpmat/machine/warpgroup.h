#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include <warpmat/observer.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/warp.h>

namespace warpmat::inline v0_1::machine {

/// What a product reads of an operand in shared memory: Product::a_chunks, b_chunks.
struct Chunks {
  explicit Chunks(std::vector<std::uint32_t> all) : addresses(std::move(all)) {
    if (addresses.empty()) return;
    const auto [least, most] = std::ranges::minmax(addresses);
    first = least;
    bytes = most - least + Product::chunk_bytes;
  }
  std::vector<std::uint32_t> addresses;
  std::uint32_t first = 0, bytes = 0;  ///< a range that has all of them
};
using ChunkList = std::shared_ptr<const Chunks>;

/// The lists of a block's products. A pipeline uses the same descriptors again and again.
class ChunkLists {
 public:
  /// Of A for the warp of a warpgroup, or of B for all of them.
  ChunkList a(const code::WarpgroupProduct& product, std::uint64_t descriptor, int warp) {
    return find({&product, descriptor, warp}, [&] { return product.instruction.a_chunks(descriptor, warp); });
  }
  ChunkList b(const code::WarpgroupProduct& product, std::uint64_t descriptor) {
    return find({&product, descriptor, of_b}, [&] { return product.instruction.b_chunks(descriptor); });
  }

 private:
  static constexpr int of_b = -1;
  static constexpr std::size_t most = 1024;  ///< lists; the longest has 2 KB
  using Key = std::tuple<const code::WarpgroupProduct*, std::uint64_t, int>;

  template <typename Make>
  ChunkList find(const Key& key, Make make) {
    if (lists_.size() >= most) lists_.clear();
    ChunkList& list = lists_[key];
    if (list == nullptr) list = std::make_shared<const Chunks>(make());
    return list;
  }

  std::map<Key, ChunkList> lists_;
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
  int warp;           ///< in its warpgroup
  ChunkLists* lists;  ///< of its block
};

/// The chunks of operand a or b; none of an A in registers.
inline ChunkList chunks_of(const PendingProduct& product, OperandName operand) {
  if (operand == OperandName::b) return product.lists->b(*product.product, product.b_descriptor);
  if (product.product->a_in_registers) return std::make_shared<const Chunks>(std::vector<std::uint32_t>{});
  return product.lists->a(*product.product, product.a_descriptor, product.warp);
}

/// The state of a warp's wgmma statements.
struct WarpgroupState {
  std::vector<PendingProduct> pending;  ///< in the order of their statements
  std::uint32_t committed = 0;          ///< groups
};

/// State that the four warps of a warpgroup share: their wgmma statements in order, and the descriptors.
struct WarpgroupIssues {
  struct Issue {
    std::uint32_t statement;
    std::uint64_t a_descriptor, b_descriptor;  ///< a_descriptor is 0 if A is in registers
    bool accumulates;
    int warp;  ///< the first warp to issue it
    std::shared_ptr<const std::vector<std::uint32_t>> b;
    bool same_operands(const Issue& other) const {
      return a_descriptor == other.a_descriptor && b_descriptor == other.b_descriptor && accumulates == other.accumulates;
    }
  };
  std::deque<Issue> issues;                            ///< statements that some warp has not reached yet
  std::uint64_t first = 0;                             ///< the number of issues.front(), from the kernel's start
  std::array<std::uint64_t, WgmmaForm::warps> next{};  ///< by warp: the number of its next statement
  std::uint32_t waiting = 0;                           ///< warps that wait at wgmma.fence or wgmma.wait_group for the others, a bit each
  std::uint32_t waits_at = 0;                          ///< the statement at which they wait
};

}  // namespace warpmat::inline v0_1::machine
