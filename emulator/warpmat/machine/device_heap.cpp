#include <warpmat/machine/device_heap.h>

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

namespace warpmat {
namespace {

constexpr std::uint64_t alignment = 16;

/// What a part takes of the heap: its bytes and at least one behind them.
std::uint64_t room_of(std::uint64_t bytes) {
  return bytes / alignment * alignment + alignment;
}

}  // namespace

/// The first free range that has room from next_ on; else the first one that has room.
DeviceHeap::Ranges::iterator DeviceHeap::find_room(std::uint64_t needed) {
  const auto has_room = [&](const auto& range) { return range.second >= needed; };
  const auto found = std::ranges::find_if(free_, [&](const auto& range) {
    const std::uint64_t end = range.first + range.second, from = std::max(range.first, next_);
    return from < end && end - from >= needed;
  });
  return found != free_.end() ? found : std::ranges::find_if(free_, has_room);
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  if (bytes > ~std::uint64_t{0} - alignment) return 0;
  const std::lock_guard lock(mutex_);
  const std::uint64_t needed = room_of(bytes);
  const auto found = find_room(needed);
  if (found == free_.end()) return 0;
  // Behind the part before it where that leaves room: what was freed there gets another owner later.
  const auto [first, room] = *found;
  const bool later = first < next_ && next_ < first + room && first + room - next_ >= needed;
  const std::uint64_t address = later ? next_ : first, end = address + needed;
  free_.erase(found);
  if (address != first) free_[first] = address - first;
  if (end != first + room) free_[end] = first + room - end;
  next_ = end;
  freed_.erase(freed_.lower_bound(address), freed_.lower_bound(next_));
  used_[address] = bytes;
  live_.add(address - first_, bytes);
  return address;
}

bool DeviceHeap::free(std::uint64_t address) {
  if (address == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  live_.remove(address - first_, found->second);
  auto range = free_.emplace(address, room_of(found->second)).first;
  freed_.insert(used_.extract(found));
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

std::string DeviceHeap::describe(std::uint64_t address) const {
  const std::lock_guard lock(mutex_);
  const auto last_before = [&](const Ranges& ranges) {
    const auto behind = ranges.upper_bound(address);
    return behind == ranges.begin() ? ranges.end() : std::prev(behind);
  };
  const auto used = last_before(used_), freed = last_before(freed_);
  const bool is_freed = freed != freed_.end() && (used == used_.end() || freed->first > used->first);
  if (!is_freed && used == used_.end()) return "malloc() has given no part of its heap before that address";
  const auto& [first, bytes] = is_freed ? *freed : *used;
  const char* const state = is_freed ? ", which were freed" : "";
  if (address - first < bytes || address == first)
    return fmt::format("{} bytes into {} bytes that malloc() gave at {:#x}{}", address - first, bytes, first, state);
  return fmt::format("{} bytes beyond the end of {} bytes that malloc() gave at {:#x}{}", address - first - bytes, bytes, first, state);
}

std::map<std::uint64_t, std::uint64_t> DeviceHeap::parts() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace warpmat
