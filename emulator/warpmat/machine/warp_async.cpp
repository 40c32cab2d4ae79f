// cp.async. A copy is checked when it is issued, and performed when its lanes wait for it. So a program without the wait reads the old
// data, as it may on a GPU.

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/operations.h>

namespace warpmat::inline v0_1::machine {

using code::Access;
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

/// Finds the bytes in global memory that the lanes of `reading` copy.
void locate_sources(WarpState& warp, const Operation& operation, const Access& access, LaneMask reading, AsyncCopy& copy, Addresses& from) {
  LaneMask whole = 0;
  for (int lane = 0; lane < warp_size; ++lane)
    if ((reading & lane_bit(lane)) != 0 && copy.copied[static_cast<std::size_t>(lane)] == access.bytes) whole |= lane_bit(lane);
  if (whole != 0) warp.locate(operation, Space::global, access.bytes, whole, true, false, from, true);
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((reading & ~whole & lane_bit(lane)) == 0) continue;
    // A partial copy is checked byte by byte, because its size need not be a power of two.
    std::uint8_t* first = nullptr;
    for (std::uint32_t i = 0; i < copy.copied[static_cast<std::size_t>(lane)]; ++i) {
      std::uint8_t* const byte = warp.locate_lane(Space::global, lane, from.address[static_cast<std::size_t>(lane)] + i, 1, false);
      if (i == 0) first = byte;
    }
    from.host[static_cast<std::size_t>(lane)] = first;
  }
  std::ranges::copy(from.host, copy.from.begin());
}

/// Reads how many bytes each lane copies, if the statement has such an operand, and finds their addresses.
void read_sizes(WarpState& warp, const Operation& operation, const Access& access, LaneMask mask, AsyncCopy& copy, Addresses& from) {
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

void land_copies(WarpState& warp, AsyncCopy& copy, LaneMask mask) {
  const LaneMask landing = copy.mask & mask;
  if (landing == 0) return;
  for (LaneMask rest = landing; rest != 0; rest &= rest - 1) perform(copy, static_cast<std::size_t>(first_lane(rest)));
  warp.observers().tell(EventKinds::copies, &Observer::copies_land,
                        CopiesEvent{warp.block().rank(), warp.index(), landing, copy.bytes, copy.to});
  copy.mask &= ~mask;
}

}  // namespace

void cp_async(WarpState& warp, const Operation& operation, LaneMask mask) {
  const Access& access = warp.program().of<code::Access>(operation);
  Addresses to, from;
  warp.find_addresses(operation, 0, access.offset, access.relative, to);
  warp.find_addresses(operation, 1, access.source_offset, false, from);
  warp.locate(operation, Space::shared, access.bytes, mask, false, true, to, true);
  AsyncCopy copy{.number = warp.async().issued++, .mask = mask, .group = 0, .bytes = access.bytes, .to = to.host, .from = {}, .copied = {}};
  copy.copied.fill(access.bytes);
  if (access.has_source_size || access.ignores_source) {
    read_sizes(warp, operation, access, mask, copy, from);
  } else {
    warp.locate(operation, Space::global, access.bytes, mask, true, false, from, true);
    std::ranges::copy(from.host, copy.from.begin());
    // read at the wait; prefetching an invalid address is safe
    for (const std::uint8_t* const source : copy.from) __builtin_prefetch(source);
  }
  // One record for all lanes that have committed the same number of groups.
  while (mask != 0) {
    copy.group = warp.async().committed[static_cast<std::size_t>(first_lane(mask))];
    copy.mask = mask & lanes_where([&](std::size_t lane) { return warp.async().committed[lane] == copy.group; });
    mask &= ~copy.mask;
    warp.async().copies.push_back(copy);
  }
}

void commit_group(WarpState& warp, LaneMask mask) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) warp.async().committed[lane] += mask >> lane & 1;
}

/// Performs the copies of these lanes with numbers below `before`.
void finish_copies(WarpState& warp, LaneMask mask, std::uint64_t before) {
  for (AsyncCopy& copy : warp.async().copies)
    if (copy.number < before) land_copies(warp, copy, mask);
  std::erase_if(warp.async().copies, [](const AsyncCopy& copy) { return copy.mask == 0; });
}

/// Performs the copies of these lanes that are older than their last groups, which may be pending; wait_all also those that are not
/// committed.
void wait_group(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto [pending, all] = warp.program().of<code::WaitGroups>(operation);
  std::optional<std::uint32_t> group;  // of the copy before
  LaneMask waiting = all_lanes;        // the lanes that wait for it
  for (AsyncCopy& copy : warp.async().copies) {
    if (!all && copy.group != group) {
      group = copy.group;
      const std::uint64_t first_kept = std::uint64_t{copy.group} + pending;
      waiting = lanes_where([&](std::size_t lane) { return first_kept < warp.async().committed[lane]; });
    }
    land_copies(warp, copy, mask & waiting);
  }
  std::erase_if(warp.async().copies, [](const AsyncCopy& copy) { return copy.mask == 0; });
  warp.observers().tell(EventKinds::copies, &Observer::copies_complete, warp.event(operation, mask));
}

}  // namespace warpmat::inline v0_1::machine
