#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/execute/tcgen05.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/observer.h>
#include <warpmat/warp/tensor_memory.h>

namespace warpmat::machine {

/// Columns that tcgen05.alloc has given, and the statement.
struct TensorAllocation {
  int first = 0, count = 0;
  int warp = 0;
  std::uint32_t statement = 0;  ///< of Program::statements
};

/// A tcgen05.st that its warp has not waited for: it writes then.
struct PendingStore {
  std::uint32_t statement = 0;
  int warp = 0;
  std::vector<TensorRegion> regions;
  struct Word {
    TensorCell place;
    std::uint32_t bits;
    bool half;  ///< only the lower half is written
  };
  std::vector<Word> words;
};

/// What work takes from shared memory, by block: A and B of a product, B its part of the columns; a copy's bytes.
struct SharedOperands {
  std::array<ProductWords, 2> a{}, b{};
  std::array<ProductBytes, 2> bytes{};

  friend bool operator==(const SharedOperands&, const SharedOperands&) = default;
};

/// A tcgen05.mma, .cp, .shift, or a .commit, which has arrivals. It happens when a thread waits for the commit. With .cta_group::2 it
/// touches the same cells of both blocks of a pair; block 0 of `group` blocks is the even one.
struct PendingTensorWork {
  enum class Kind : std::uint8_t { product, copy, shift, commit };
  Kind kind = Kind::commit;
  std::uint32_t statement = 0;
  int warp = 0, lane = 0;
  int group = 1;
  std::uint64_t issued = 0;                     ///< TensorAccess::issued; of a commit that of the last before it
  std::vector<TensorRegion> writes{}, reads{};  ///< in each block
  SharedOperands shared{};                      ///< as they were at the statement

  // product
  TensorProduct product{};
  TensorCell d{}, metadata{}, scale_a{}, scale_b{};
  std::optional<TensorCell> a_place{};  ///< of A in tensor memory
  bool shifts_a = false;                ///< .ashift
  TensorDescriptor a_descriptor{}, b_descriptor{};
  ZeroColumns zero{};
  bool accumulates = false;
  int scale_d = 0;
  std::array<DisabledLanes, 2> disabled{};  ///< by block

  // copy, shift
  const CopyShape* shape = nullptr;
  int unpacked_bits = 0;  ///< of elements that become bytes; 0: bytes
  TensorDescriptor source{};
  TensorCell to{};

  std::vector<SharedPlace> arrivals{};  ///< commit

  bool is_commit() const { return kind == Kind::commit; }
  /// "product", "copy", "shift".
  const char* noun() const;
};

/// The lanes of a product's rows: all, or the half of each quarter in which `at` is.
TensorRegion region_of(const DataPath& path, TensorCell at, int columns);
/// All lanes of some columns.
TensorRegion all_lanes_of(int first_column, int columns);

/// What one of the warps that allocate or free columns for a pair of blocks has asked for.
struct PairRequest {
  bool allocates = true;
  int first = 0, count = 0;
  int warp = 0;
  std::uint32_t statement = 0;
};

/// A block's tensor memory, and what is under way in it.
///
/// What the threads of a block issue happens in the order of the statements, each as late as an mbarrier shows it. The ISA promises this
/// order for copies before products, and products of one accumulator and shape, by one thread, or where fences order the threads.
class TensorCore {
 public:
  TensorMemory memory;
  bool relinquished = false;
  std::deque<PendingTensorWork> work;
  std::uint64_t issued = 0;  ///< products, copies and shifts so far
  std::vector<PendingStore> stores;
  std::optional<PairRequest> request;  ///< of .cta_group::2; the warp of the other block has not met it, or
  std::optional<int> granted;          ///< it has: the first column

  const std::vector<TensorAllocation>& allocations() const { return allocations_; }
  /// The first columns that are free here and in `peer`, if there is one, at a multiple of their number (assumed); nothing if there are
  /// none.
  std::optional<int> find_free(int count, const TensorCore* peer) const;
  void allocate(int first, int count, int warp, std::uint32_t statement);
  /// Whether `first` and `count` are those of an allocation.
  bool is_allocated(int first, int count) const;
  void deallocate(int first, int count);
  /// Whether all columns belong to allocations.
  bool has(int first, int count) const;
  int free_columns() const;
  /// The number of columns of the last allocation; 0 if there was none.
  int last_count() const { return last_count_; }
  /// "columns 0 to 63 and 64 to 95 are allocated".
  std::string describe_allocations() const;

 private:
  std::vector<TensorAllocation> allocations_;
  int last_count_ = 0;
};

/// The cell from which warp `warp` moves a rectangle. An address with one of lanes 0 to 31 names that lane of the warp's own: the ISA
/// leaves it undefined, and in DeepGEMM's epilogues all four warps give the address of lane 0 (assumed).
TensorCell in_own_lanes(TensorCell at, int warp);
/// Why warp `warp` cannot move a rectangle from `at` on, as one sentence; nothing if it can.
std::optional<std::string> transfer_problem(const Transfer& transfer, TensorCell at, int warp);
/// The cells of a transfer by warp `warp` from `at` on.
std::vector<TensorRegion> regions_of(const Transfer& transfer, TensorCell at);

}  // namespace warpmat::machine
