#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/execute/tcgen05.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/warp/tensor_memory.h>

namespace warpmat::machine {

/// Cells of tensor memory: some columns of some lanes.
struct TensorRegion {
  std::array<std::uint32_t, 4> lanes{};  ///< bit by lane, a word for each warp's quarter
  int first_column = 0, columns = 0;

  bool overlaps(const TensorRegion& other) const;
};

/// Columns that tcgen05.alloc has given, and the statement.
struct TensorAllocation {
  int first = 0, count = 0;
  int warp = 0;
  std::uint32_t statement = 0;  ///< of Program::statements
};

/// A tcgen05.ld or .st that its warp has not waited for. A load has written its registers; a store writes when it is waited for.
struct PendingTransfer {
  std::uint32_t statement = 0;
  int warp = 0;
  bool stores = false;
  std::vector<TensorRegion> regions;
  struct Word {
    TensorCell place;
    std::uint32_t bits;
    bool half;  ///< only the lower half is written
  };
  std::vector<Word> words;  ///< of a store
};

/// A tcgen05.mma, or a tcgen05.commit, which has arrivals and no product. Both happen when a thread waits for the commit.
struct PendingTensorProduct {
  std::uint32_t statement = 0;
  int warp = 0, lane = 0;
  TensorProduct product{};
  TensorCell d{};
  std::optional<TensorCell> a_place{};  ///< of A in tensor memory
  TensorDescriptor a_descriptor{}, b_descriptor{};
  ProductWords a{}, b{};  ///< as they were at the statement
  bool accumulates = false;
  DisabledLanes disabled{};
  std::vector<SharedPlace> arrivals{};

  bool is_commit() const { return product.kind == nullptr; }
  TensorRegion d_region() const;
  TensorRegion a_region() const;
};

/// A block's tensor memory, and what is under way in it.
///
/// Products of a block happen in the order of their statements, each as late as an mbarrier shows it. The ISA promises this order for
/// products of one accumulator and shape by one thread, or where fences order the threads.
class TensorCore {
 public:
  TensorMemory memory;
  bool relinquished = false;
  std::deque<PendingTensorProduct> products;
  std::vector<PendingTransfer> transfers;

  const std::vector<TensorAllocation>& allocations() const { return allocations_; }
  /// The first free columns, at a multiple of their number (assumed); nothing if there are none.
  std::optional<int> allocate(int count, int warp, std::uint32_t statement);
  /// False if `first` and `count` are not those of an allocation.
  bool deallocate(int first, int count);
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

/// The cells of a transfer by warp `warp` from `at` on.
std::vector<TensorRegion> regions_of(const Transfer& transfer, TensorCell at);

}  // namespace warpmat::machine
