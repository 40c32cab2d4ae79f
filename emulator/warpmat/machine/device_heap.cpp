#include <warpmat/machine/device_heap.h>

#include <algorithm>
#include <iterator>

namespace warpmat {

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  constexpr std::uint64_t alignment = 16, most = ~std::uint64_t{0} - alignment;
  if (bytes > most) return 0;
  const std::uint64_t needed = std::max<std::uint64_t>((bytes + alignment - 1) / alignment, 1) * alignment;
  const auto found = std::ranges::find_if(free_, [&](const auto& range) { return range.second >= needed; });
  if (found == free_.end()) return 0;
  const std::uint64_t address = found->first, left = found->second - needed;
  free_.erase(found);
  if (left != 0) free_[address + needed] = left;
  used_[address] = needed;
  return address;
}

bool DeviceHeap::free(std::uint64_t address) {
  if (address == 0) return true;
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  auto range = free_.emplace(address, found->second).first;
  used_.erase(found);
  const auto next = std::next(range);
  if (next != free_.end() && range->first + range->second == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return true;
  const auto before = std::prev(range);
  if (before->first + before->second == range->first) {
    before->second += range->second;
    free_.erase(range);
  }
  return true;
}

}  // namespace warpmat
