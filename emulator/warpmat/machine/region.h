#pragma once

// Where loads and stores access memory, in the common cases: a region that is one piece, and the lanes' addresses in it. For
// warp_addresses.cpp and warp_memory.cpp.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/stored_buffer.h>

namespace warpmat::machine {

inline constexpr std::uint64_t largest_region = 0xffffffff;  ///< bytes, of which find_offsets() finds 32-bit offsets

inline Space space_of(std::uint64_t address) {
  for (const Space space : {Space::shared, Space::local, Space::param})
    if (address - code::window_start(space) < code::window_bytes) return space;
  return Space::global;
}

inline EventKinds events_of(Space space) {
  return space == Space::shared ? EventKinds::accesses | EventKinds::shared_accesses : EventKinds::accesses;
}

/// Memory of one kind: shared memory, or a buffer.
struct Region {
  std::uint8_t* memory = nullptr;
  std::uint64_t start = 0, bytes = 0;  ///< its first address
};

/// Has the CPU fetch what a load will read next if it goes on by `stride` bytes from `offset`: a loop over the grid, or the next warp. The
/// CPU's own prefetchers see one instruction for all loads of a kernel. Inlined: GCC leaves out calls of a function that only prefetches.
[[gnu::always_inline]] inline void fetch_ahead(const WarpState& warp, const code::Operation& operation, const StoredBuffer& buffer,
                                               std::uint64_t offset, std::uint32_t stride) {
  constexpr std::uint32_t near = 192, line = 64;
  if (stride + near < 2 * near || operation.semantics != catalogue::Semantics::load || !buffer.open()) return;
  const std::uint64_t next = offset + static_cast<std::uint64_t>(static_cast<std::int32_t>(stride));
  const code::Access& access = warp.program().access(operation);
  const std::uint32_t bytes = std::uint32_t{access.bytes} * access.vector * warp_size;
  if (next >= buffer.bytes || bytes > buffer.bytes - next) return;
  for (std::uint32_t at = 0; at < bytes; at += line) __builtin_prefetch(buffer.data.get() + next + at);
}

/// The memory that an access without an error may use, by its first lane. Without bytes where there is none. Inlined whatever else the
/// compiler sees in the file: loads of one address for all lanes otherwise take a tenth longer.
[[gnu::always_inline]] inline Region find_region(WarpState& warp, const code::Operation& operation,
                                                 const WarpState::AddressOperand& operand, LaneMask mask) {
  if (operand.space == Space::shared) {
    const std::span<std::uint8_t> shared = warp.block().shared();
    return {shared.data(), warp.block().shared_base(), std::min<std::uint64_t>(shared.size(), operand.shared_end)};
  }
  if (operand.narrow) return {};
  if (operand.space == Space::param && operation.semantics == catalogue::Semantics::load)
    return {const_cast<std::uint8_t*>(warp.launch().parameters.data()), 0, warp.launch().parameters.size()};
  if (operand.space == Space::local || operand.space == Space::param) return {};
  const auto* const base = warp.at<std::uint64_t>(warp.source_slot(operation, operand.source));
  const std::uint64_t address = base[first_lane(mask)] + static_cast<std::uint64_t>(operand.offset);
  LastAccess& last = warp.block().last_access(operation.payload);
  const StoredBuffer*& buffer = last.buffer;
  if (buffer == nullptr || address - buffer->address >= buffer->bytes) buffer = find_buffer(warp.launch().memory, address);
  const std::uint32_t stride = static_cast<std::uint32_t>(address) - last.address;
  if (stride == last.stride && buffer != nullptr) fetch_ahead(warp, operation, *buffer, address - buffer->address, stride);
  last.address = static_cast<std::uint32_t>(address);
  last.stride = stride;
  return buffer == nullptr || !buffer->open() || buffer->live != nullptr ? Region{}
                                                                         : Region{buffer->data.get(), buffer->address, buffer->bytes};
}

/// The addresses in a region, where the access is of the usual kind: nothing for all others, which locate() finds or reports.
[[gnu::always_inline]] inline std::optional<scalar::LaneAddresses> lane_addresses(WarpState& warp, const code::Operation& operation,
                                                                                  const code::Access& access,
                                                                                  const WarpState::AddressOperand& operand, LaneMask mask,
                                                                                  const Region& region) {
  const std::uint32_t bytes = std::uint32_t{access.bytes} * access.vector;
  const bool wide_element = access.bytes > 8 && operation.semantics != catalogue::Semantics::cp_async;
  const bool relative = access.relative && access.space != Space::local;
  if (access.ordered || relative || wide_element || region.bytes < bytes || region.bytes > largest_region) return std::nullopt;
  return scalar::LaneAddresses{.base = warp.at<std::uint8_t>(warp.source_slot(operation, operand.source)),
                               .wide = !operand.narrow,
                               .wraps = operand.space == Space::shared,
                               .add = static_cast<std::uint64_t>(operand.offset) - region.start,
                               .lanes = mask,
                               .start = static_cast<std::uint32_t>(region.start),
                               .bytes = bytes,
                               .last = static_cast<std::uint32_t>(region.bytes - bytes)};
}

}  // namespace warpmat::machine
