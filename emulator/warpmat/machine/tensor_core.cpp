#include <warpmat/machine/tensor_core.h>

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/text.h>

namespace warpmat::machine {
namespace {

/// The lanes of `count` rows from `first` on of each quarter.
std::array<std::uint32_t, 4> in_each_quarter(int first, int count) {
  const auto mask = static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
  return {mask, mask, mask, mask};
}

}  // namespace

const char* PendingTensorWork::noun() const {
  constexpr std::array nouns{"product", "copy", "shift", "commit"};
  return nouns[static_cast<std::size_t>(kind)];
}

TensorRegion region_of(const DataPath& path, TensorCell at, int columns) {
  return {path.halves ? in_each_quarter(at.lane % tensor_quarter, tensor_quarter / 2) : in_each_quarter(0, tensor_quarter), at.column,
          columns};
}

TensorRegion all_lanes_of(int first_column, int columns) {
  return {in_each_quarter(0, tensor_quarter), first_column, columns};
}

std::optional<int> TensorCore::find_free(int count, const TensorCore* peer) const {
  const auto taken = [&](const TensorCore& core, int first) {
    return std::ranges::any_of(core.allocations_,
                               [&](const TensorAllocation& a) { return a.first < first + count && first < a.first + a.count; });
  };
  for (int first = 0; first + count <= tensor_columns; first += count)
    if (!taken(*this, first) && (peer == nullptr || !taken(*peer, first))) return first;
  return std::nullopt;
}

void TensorCore::allocate(int first, int count, int warp, std::uint32_t statement) {
  allocations_.push_back({first, count, warp, statement});
  last_count_ = count;
}

bool TensorCore::is_allocated(int first, int count) const {
  return std::ranges::any_of(allocations_, [&](const TensorAllocation& a) { return a.first == first && a.count == count; });
}

void TensorCore::deallocate(int first, int count) {
  std::erase_if(allocations_, [&](const TensorAllocation& a) { return a.first == first && a.count == count; });
}

bool TensorCore::has(int first, int count) const {
  if (first < 0 || count > tensor_columns || first > tensor_columns - count) return false;
  for (int column = first; column < first + count; ++column)
    if (std::ranges::none_of(allocations_, [&](const TensorAllocation& a) { return a.first <= column && column < a.first + a.count; }))
      return false;
  return true;
}

int TensorCore::free_columns() const {
  int columns = tensor_columns;
  for (const TensorAllocation& allocation : allocations_) columns -= allocation.count;
  return columns;
}

std::string TensorCore::describe_allocations() const {
  if (allocations_.empty()) return "no column is allocated";
  std::vector<std::string> all;
  for (const TensorAllocation& a : allocations_) all.push_back(fmt::format("{} to {}", a.first, a.first + a.count - 1));
  return fmt::format("columns {} are allocated", joined(all, " and "));
}

TensorCell in_own_lanes(TensorCell at, int warp) {
  return {at.lane < tensor_quarter ? at.lane + warp % 4 * tensor_quarter : at.lane, at.column};
}

std::optional<std::string> transfer_problem(const Transfer& transfer, TensorCell at, int warp) {
  const int quarter = warp % 4 * tensor_quarter, lanes = transfer.shape->lanes, end = quarter + tensor_quarter;
  if (at.lane >= quarter && at.lane + lanes <= end && at.lane % 16 == 0) return std::nullopt;
  return fmt::format("warp {} reaches lanes {} to {} alone, and .{} takes {} lanes from lane {} or {} on; the address has lane {}", warp,
                     quarter, end - 1, transfer.shape->name, lanes, quarter, end - lanes, at.lane);
}

std::vector<TensorRegion> regions_of(const Transfer& transfer, TensorCell at) {
  TensorRegion region{{}, at.column, transfer.columns()};
  region.lanes[static_cast<std::size_t>(at.lane / tensor_quarter)] =
      static_cast<std::uint32_t>(((std::uint64_t{1} << transfer.shape->lanes) - 1) << at.lane % tensor_quarter);
  std::vector<TensorRegion> regions{region};
  if (transfer.shape->has_second) {
    // Any distance may be asked for; beyond tensor memory one is as wrong as another.
    const std::int64_t first = region.first_column + std::clamp<std::int64_t>(transfer.second_columns, -tensor_columns, tensor_columns);
    region.first_column = static_cast<int>(first);
    regions.push_back(region);
  }
  return regions;
}

}  // namespace warpmat::machine
