// Clusters of blocks: addresses of other blocks' shared memory, and tensor maps edited on the device.

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/tensor_map_bytes.h>

namespace warpmat::machine {

using code::Operation;
using code::TensorMapEdit;

namespace {

/// .elemtype by its number (PTX ISA, tensormap.replace), which is not that of the driver's CUtensorMapDataType from 8 on.
constexpr TensorMap::Type element_types[] = {
    TensorMap::Type::u8,       TensorMap::Type::u16,   TensorMap::Type::u32,       TensorMap::Type::s32,
    TensorMap::Type::u64,      TensorMap::Type::s64,   TensorMap::Type::f16,       TensorMap::Type::f32,
    TensorMap::Type::f32_ftz,  TensorMap::Type::f64,   TensorMap::Type::bf16,      TensorMap::Type::tf32,
    TensorMap::Type::tf32_ftz, TensorMap::Type::u4x16, TensorMap::Type::u4x16_p64, TensorMap::Type::u6x16_p32};

/// Writes one field; returns false for an invalid value.
bool edit_map(TensorMap::Arguments& map, TensorMapEdit::Field field, std::uint32_t ordinal, std::uint64_t value) {
  using enum TensorMapEdit::Field;
  switch (field) {
    case global_address: map.address = value; return true;
    case rank: map.rank = static_cast<std::uint32_t>(value) + 1; return value < TensorMap::max_dimensions;
    case box_dim: map.box[ordinal] = static_cast<std::uint32_t>(value); return value <= 256;
    case global_dim: map.dims[ordinal] = value; return value != 0;
    case global_stride: map.strides[ordinal < 4 ? ordinal : 0] = value; return ordinal < 4;
    case element_stride: map.element_strides[ordinal] = static_cast<std::uint32_t>(value); return value <= 8;
    case elemtype:
      if (value >= std::size(element_types)) return false;
      map.type = element_types[value];
      return true;
    case interleave_layout: map.interleave = static_cast<TensorMap::Interleave>(value); return value <= 2;
    case swizzle_mode: map.swizzle = static_cast<TensorMap::Swizzle>(value); return value <= 3;
    case fill_mode: map.fill = static_cast<TensorMap::Fill>(value); return value <= 1;
    case swizzle_atomicity:
      map.atom = static_cast<TensorMap::Atom>(value);
      return value <= static_cast<std::uint64_t>(TensorMap::Atom::bytes_64);
    case copy: break;
  }
  return false;
}

/// Whether the statement says that the shared memory that it accesses is that of its block.
bool names_own_block(const code::Program& program, const Operation& operation) {
  switch (operation.semantics) {
    case catalogue::Semantics::load:
    case catalogue::Semantics::store:
    case catalogue::Semantics::atomic:
    case catalogue::Semantics::cp_async: return program.access(operation).own_block;
    case catalogue::Semantics::matrix: return program.of<code::Matrix>(operation).instruction.form().space == Space::shared;
    default: return false;
  }
}

}  // namespace

/// The bytes of a load, store or atomic operation in the shared memory of another block.
std::span<std::uint8_t> range_in_cluster(WarpState& warp, int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment,
                                         bool writes) {
  const Operation& operation = warp.program().operations[static_cast<std::size_t>(warp.split().pc)];
  const SharedPlace place = shared_place(warp, lane, address, bytes, alignment, Space::shared, !names_own_block(warp.program(), operation));
  warp.observers().tell(
      EventKinds::shared_accesses, &Observer::remote_access,
      RemoteAccess{warp.event(operation, lane_bit(lane)), lane, {place.rank, place.offset, bytes}, address, writes, false});
  return {host_of(warp, place), static_cast<std::size_t>(bytes)};
}

/// mapa: the same offset in the block of that rank; getctarank: the rank of an address.
Step body::cluster_rank(WarpState& warp, const Operation& operation, LaneMask mask) {
  const auto [asks, generic, wide] = warp.program().of<code::ClusterAddress>(operation);
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const code::Slot slot = warp.source_slot(operation, 0);
    std::uint64_t address = wide ? warp.at<std::uint64_t>(slot)[lane] : warp.at<std::uint32_t>(slot)[lane];
    const std::uint64_t window = generic ? code::shared_window : 0;
    if (generic && address - window >= code::window_bytes) warp.trap(lane, address, "the address is none of shared memory");
    address = static_cast<std::uint32_t>(address - window);
    if (asks) {
      warp.write_word(operation, 0, lane, static_cast<std::uint64_t>(code::rank_in(address)));
      continue;
    }
    const auto rank = static_cast<int>(warp.source_word(operation, 1, lane));  // of no block, too: who uses the address is told
    warp.write_word(operation, 0, lane, window + address % code::block_window_bytes + code::block_window_start(rank));
  }
  return warp.advance();
}

/// What tensormap.replace changes: a tensor map, or zeros, from which kernels make one field by field.
std::optional<TensorMap::Arguments> edited_map(std::span<const std::uint8_t> bytes) {
  if (!std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; })) return tensor_map_arguments(bytes);
  TensorMap::Arguments blank;
  blank.rank = 1;
  blank.dims.fill(1);
  return blank;
}

/// tensormap.replace in each executing lane; tensormap.cp_fenceproxy once for the warp.
Step body::tensor_map(WarpState& warp, const Operation& operation, LaneMask mask) {
  const TensorMapEdit& edit = warp.program().of<code::TensorMapEdit>(operation);
  const bool copies = edit.field == TensorMapEdit::Field::copy;
  if (copies && !warp.gather(warp.live(), mask, false)) return Step::leave_split;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const auto address = [&](int source) { return warp.at<std::uint64_t>(warp.source_slot(operation, source))[lane]; };
    std::uint8_t* const map_bytes =
        edit.space == Space::shared
            ? host_of(warp, shared_place(warp, lane, address(0), TensorMap::bytes, TensorMap::alignment, edit.space, false))
            : warp.range(edit.space, lane, address(0), TensorMap::bytes, 1, true).data();
    if (copies) {
      const SharedPlace from = shared_place(warp, lane, address(1), TensorMap::bytes, TensorMap::alignment, Space::shared, false);
      std::memmove(map_bytes, host_of(warp, from), TensorMap::bytes);
      continue;
    }
    auto map = edited_map({map_bytes, TensorMap::bytes});
    if (!map) warp.trap(lane, address(0), "there is no tensor map here");
    const int value_at = edit.has_ordinal ? 2 : 1;
    const bool wide = edit.field == TensorMapEdit::Field::global_address || edit.field == TensorMapEdit::Field::global_stride;
    const std::uint64_t value = wide ? address(value_at) : warp.source_word(operation, value_at, lane);
    if (!edit_map(*map, edit.field, edit.has_ordinal ? warp.source_word(operation, 1, lane) : 0, value))
      warp.trap(lane, address(0), fmt::format("{} is no value of this field, or none that is executed", value));
    const TensorMap::Encoded encoded = tensor_map_bytes(*map);
    std::memcpy(map_bytes, encoded.data(), encoded.size());
  }
  warp.block().make_progress();
  return warp.advance_gathered(mask, false);
}

}  // namespace warpmat::machine
