// cp.async. A copy is checked when it is issued, and performed when its lanes wait for it. So a program without the wait reads the old
// data, as it may on a GPU.

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::CopyAccess;
using code::Operation;
using Addresses = WarpState::Addresses;

namespace {

/// Copies one lane's bytes. The common case is a whole copy of 16 bytes.
void perform(const AsyncCopy& copy, std::size_t lane) {
  constexpr std::size_t common_case = 16;
  std::uint8_t* const to = copy.to[lane];
  const std::size_t copied = copy.copied[lane];
  if (copied == common_case) {
    std::memcpy(to, copy.from[lane], common_case);
    return;
  }
  if (copied != 0) std::memcpy(to, copy.from[lane], copied);
  std::memset(to + copied, 0, copy.bytes - copied);
}

/// Whether all lanes copy 16 bytes whole.
bool is_common(const AsyncCopy& copy) {
  constexpr std::uint8_t whole = 16;
  unsigned other = 0;
  for (const std::uint8_t copied : copy.copied) other |= copied ^ unsigned { whole };
  return copy.mask == all_lanes && other == 0;
}

/// Finds the bytes in global memory that the lanes of `reading` copy.
void locate_sources(WarpState& warp, const Operation& operation, const CopyAccess& access, LaneMask reading, AsyncCopy& copy,
                    Addresses& from) {
  LaneMask whole = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    if ((reading & lane_bit(lane)) != 0 && copy.copied[static_cast<std::size_t>(lane)] == access.bytes) whole |= lane_bit(lane);
  if (whole != 0) warp.locate(operation, Space::global, access.bytes, whole, true, false, from, true);
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((reading & ~whole & lane_bit(lane)) == 0) continue;
    const auto i = static_cast<std::size_t>(lane);  // its size need not be a power of two
    from.host[i] = warp.range(Space::global, lane, from.address[i], copy.copied[i], 1, false).data();
  }
  std::ranges::copy(from.host, copy.from.begin());
}

/// Reads how many bytes each lane copies, if the statement has such an operand, and finds their addresses.
void read_sizes(WarpState& warp, const Operation& operation, const CopyAccess& access, LaneMask mask, AsyncCopy& copy, Addresses& from) {
  LaneMask reading = 0;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((mask & lane_bit(lane)) == 0) continue;
    std::uint32_t size = access.bytes;
    if (access.has_source_size) size = warp.source_word(operation, 2, lane);
    if (access.ignores_source && (*warp.at<LaneMask>(warp.source_slot(operation, 2)) & lane_bit(lane)) != 0) size = 0;
    if (size > access.bytes)
      warp.trap(lane, std::nullopt, fmt::format("cp.async reads {} bytes for {} that it writes", size, access.bytes));
    copy.copied[static_cast<std::size_t>(lane)] = static_cast<std::uint8_t>(size);
    if (size != 0) reading |= lane_bit(lane);
    // The address must be valid for a whole copy even if fewer bytes are read.
    const std::uint64_t address = from.address[static_cast<std::size_t>(lane)];
    if (size != 0 && address % access.bytes != 0)
      warp.trap(lane, address, fmt::format("cp.async of {} bytes: the address is not a multiple of {}", access.bytes, access.bytes),
                Trap::Kind::misaligned);
  }
  locate_sources(warp, operation, access, reading, copy, from);
}

/// Performs the copies of the lanes of `mask`.
void land_copies(WarpState& warp, AsyncCopy& copy, LaneMask mask) {
  const LaneMask landing = copy.mask & mask;
  if (landing == 0) return;
  if (landing == all_lanes && is_common(copy))
    for (std::size_t lane = 0; lane < warp_size; ++lane) std::memcpy(copy.to[lane], copy.from[lane], 16);
  else
    for_each_lane(landing, [&](std::size_t lane) { perform(copy, lane); });
  warp.observers().tell(EventKinds::copies, &Observer::copies_land,
                        CopiesEvent{warp.block().rank(), warp.index(), landing, copy.bytes, copy.to});
  copy.mask &= ~mask;
  if (copy.mask == 0) ++warp.async().landed;
}

/// Forgets copies that all lanes have waited for, at the cost of moving the others.
void forget_landed(AsyncCopies& async) {
  std::erase_if(async.copies, [](const AsyncCopy& copy) { return copy.mask == 0; });
  async.landed = 0;
}

/// After a wait: once they are as many as the others.
void forget_many_landed(AsyncCopies& async) {
  if (async.landed >= async.copies.size() - async.landed) forget_landed(async);
}

/// Before another copy: rather than have more memory, if they are at least a quarter of all, so that no more than three move for each.
void make_place(AsyncCopies& async) {
  if (async.copies.size() == async.copies.capacity() && async.landed != 0 && 4 * async.landed >= async.copies.size()) forget_landed(async);
}

/// Whether all lanes of `mask` copy as many bytes as they write.
bool copies_all(const WarpState& warp, const Operation& operation, const CopyAccess& access, LaneMask mask) {
  if (access.ignores_source) return (*warp.at<LaneMask>(warp.source_slot(operation, 2)) & mask) == 0;
  if (!access.has_source_size) return true;
  const auto* const sizes = warp.at<std::uint32_t>(warp.source_slot(operation, 2));
  std::uint32_t other = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) other |= (mask >> lane & 1) != 0 ? sizes[lane] ^ access.bytes : 0;
  return other == 0;
}

/// The common case: whole copies between one buffer and the block's shared memory. False for all others, and where an address is bad.
bool find_whole_copies(WarpState& warp, const Operation& operation, const CopyAccess& access, LaneMask mask, AsyncCopy& copy) {
  WarpState::Offsets to, from;
  if (!copies_all(warp, operation, access, mask) || !warp.find_offsets(operation, access, WarpState::first_address(access), mask, to) ||
      !warp.find_offsets(operation, access, WarpState::second_address(access), mask, from))
    return false;
  warp.tell_offsets(operation, {.space = Space::shared, .bytes = access.bytes, .reads = false, .writes = true, .asynchronous = true}, mask,
                    to);
  warp.tell_offsets(operation, {.space = Space::global, .bytes = access.bytes, .reads = true, .writes = false, .asynchronous = true}, mask,
                    from);
  for (std::size_t lane = 0; lane < warp_size; ++lane) copy.to[lane] = to[lane];
  for (std::size_t lane = 0; lane < warp_size; ++lane) copy.from[lane] = from[lane];
  copy.copied.fill(access.bytes);
  return true;
}

/// All other copies.
void find_copies(WarpState& warp, const Operation& operation, const CopyAccess& access, LaneMask mask, AsyncCopy& copy) {
  Addresses to, from;
  warp.find_addresses(operation, WarpState::first_address(access), to);
  warp.find_addresses(operation, WarpState::second_address(access), from);
  warp.locate(operation, Space::shared, access.bytes, mask, false, true, to, true);
  copy.to = to.host;
  copy.from = {};
  copy.copied.fill(access.bytes);
  if (access.has_source_size || access.ignores_source) return read_sizes(warp, operation, access, mask, copy, from);
  warp.locate(operation, Space::global, access.bytes, mask, true, false, from, true);
  std::ranges::copy(from.host, copy.from.begin());
}

/// Fetches what the wait will read into the cache, each line once where lanes follow each other in it. An invalid address is safe.
void prefetch(const std::array<const std::uint8_t*, warp_size>& from) {
  constexpr std::uintptr_t line_bytes = 64;
  std::uintptr_t line = 0;
  for (const std::uint8_t* const source : from) {
    const std::uintptr_t next = reinterpret_cast<std::uintptr_t>(source) / line_bytes;
    if (next != line) __builtin_prefetch(source);
    line = next;
  }
}

/// Whether all lanes have committed the same number of groups.
bool commit_alike(const AsyncCopies& async) {
  std::uint32_t other = 0;
  for (const std::uint32_t groups : async.committed) other |= groups ^ async.committed.front();
  return other == 0;
}

/// Makes of the last copy, of the lanes of `mask`, a record for each number of groups that they have committed.
void divide_by_group(AsyncCopies& async, LaneMask mask) {
  while (true) {
    AsyncCopy& copy = async.copies.back();
    copy.group = async.committed[static_cast<std::size_t>(first_lane(mask))];
    copy.mask = mask & lanes_where([&](std::size_t lane) { return async.committed[lane] == copy.group; });
    mask &= ~copy.mask;
    if (mask == 0) return;
    async.copies.push_back(AsyncCopy(copy));
  }
}

}  // namespace

Step body::cp_async(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto& access = warp.program().of<CopyAccess>(operation);
  AsyncCopies& async = warp.async();
  const bool alike = commit_alike(async);
  make_place(async);
  check_waiting(warp, first_lane(mask), async.copies.size() - async.landed, "copies of the warp");
  AsyncCopy& copy = async.copies.emplace_back();
  copy.bytes = access.bytes;
  if (!find_whole_copies(warp, operation, access, mask, copy)) find_copies(warp, operation, access, mask, copy);
  copy.number = async.issued++;
  prefetch(copy.from);
  copy.group = async.committed[static_cast<std::size_t>(first_lane(mask))];
  copy.mask = mask;
  if (!alike) divide_by_group(async, mask);
  return warp.advance();
}

Step body::cp_async_commit(WarpState& warp, const Operation&, LaneMask mask) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) warp.async().committed[lane] += mask >> lane & 1;
  return warp.advance();
}

/// Performs the copies of these lanes with numbers below `before`.
void finish_copies(WarpState& warp, LaneMask mask, std::uint64_t before) {
  for (AsyncCopy& copy : warp.async().copies)
    if (copy.number < before) land_copies(warp, copy, mask);
  forget_many_landed(warp.async());
}

void complete_copies(WarpState& warp) {
  if (!warp.async().copies.empty()) finish_copies(warp, all_lanes, warp.async().issued);
  if (BulkCopies& bulk = warp.block().cluster().copies(); !bulk.empty()) bulk.complete({warp.block().rank(), 0}, warp.index());
}

/// Performs the copies of these lanes that are older than their last groups, which may be pending; wait_all also those that are not
/// committed.
Step body::cp_async_wait(WarpState& warp, const Operation& operation, LaneMask mask) {
  const code::WaitGroups& wait = warp.program().of<code::WaitGroups>(operation);
  std::optional<std::uint32_t> group;  // of the copy before
  LaneMask waiting = all_lanes;        // the lanes that wait for it
  for (AsyncCopy& copy : warp.async().copies) {
    if (copy.mask == 0) continue;
    if (!wait.all && copy.group != group) {
      group = copy.group;
      const std::uint64_t first_kept = std::uint64_t{copy.group} + wait.pending;
      waiting = lanes_where([&](std::size_t lane) { return first_kept < warp.async().committed[lane]; });
    }
    land_copies(warp, copy, mask & waiting);
  }
  forget_many_landed(warp.async());
  warp.observers().tell(EventKinds::copies, &Observer::copies_complete, warp.event(operation, mask));
  return warp.advance();
}

}  // namespace warpmat::machine
