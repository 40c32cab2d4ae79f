#include <warpmat/checks/shared_shadow.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <warpmat/checks/lane_runs.h>

namespace warpmat::checks {

SharedShadow::SharedShadow(const std::uint8_t* memory, std::size_t bytes)
    : memory_(memory), bytes_(bytes), missing_(bytes), defined_((bytes + cell_bytes - 1) / cell_bytes + behind_map) {
  for (std::size_t at = 0; at < bytes; at += page_bytes)
    missing_of_page_.push_back(static_cast<std::uint16_t>(std::min(page_bytes, bytes - at)));
}

/// Calls visit(cell, bits) for the parts of [offset, offset + bytes) in each cell.
template <typename Visit>
void SharedShadow::for_each_cell(std::size_t offset, std::size_t bytes, Visit visit) const {
  for (const std::size_t end = offset + bytes; offset < end;) {
    const std::size_t inside = offset % cell_bytes, count = std::min(cell_bytes - inside, end - offset);
    visit(offset / cell_bytes, static_cast<Cell>(((1u << count) - 1) << inside));
    offset += count;
  }
}

/// Calls visit(lane, cell, bits) for the lanes whose pointers are in shared memory.
template <typename Visit>
void SharedShadow::for_each_lane(const Places& places, std::uint32_t bytes, LaneMask mask, Visit visit) const {
  const auto one = [&](std::size_t lane) {
    const std::size_t at = offset(places[lane]);
    if (at >= bytes_) return;
    if (bytes <= cell_bytes) {
      visit(lane, at / cell_bytes, static_cast<Cell>(((1u << bytes) - 1) << at % cell_bytes));
    } else {
      for_each_cell(at, bytes, [&](std::size_t cell, Cell bits) { visit(lane, cell, bits); });
    }
  };
  if (mask == all_lanes) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) one(lane);
  } else {
    for (; mask != 0; mask &= mask - 1) one(static_cast<std::size_t>(first_lane(mask)));
  }
}

void SharedShadow::add_start(std::size_t offset) {
  if (offset % cell_bytes == 0 || offset >= bytes_) return;
  starts_.resize(defined_.size());
  starts_[offset / cell_bytes] = static_cast<Cell>(starts_[offset / cell_bytes] | 1u << offset % cell_bytes);
}

bool SharedShadow::has_starts(std::size_t offset, std::size_t bytes) const {
  if (starts_.empty() || bytes == 0) return false;
  const auto cell = [&](std::size_t byte) { return starts_.begin() + static_cast<std::ptrdiff_t>(byte / cell_bytes); };
  return std::any_of(cell(offset), cell(offset + bytes - 1) + 1, [](Cell bits) { return bits != 0; });
}

/// Where all lanes access; nothing if the mask is not whole, a lane is outside, or the places are not of a machine's access.
std::optional<scalar::LanePlaces> SharedShadow::find_lanes(const Places& places, std::uint32_t bytes, LaneMask mask,
                                                           LaneOffsets& offsets) const {
  constexpr std::uintptr_t alignment = alignof(LaneOffsets);
  if (mask != all_lanes || bytes > bytes_ || reinterpret_cast<std::uintptr_t>(places.data()) % alignment != 0) return std::nullopt;
  const auto pattern = scalar::find_lane_offsets({.base = places.data(),
                                                  .wide = true,
                                                  .wraps = false,
                                                  .add = 0 - std::uint64_t{reinterpret_cast<std::uintptr_t>(memory_)},
                                                  .lanes = mask,
                                                  .start = 0,
                                                  .bytes = bytes,
                                                  .last = static_cast<std::uint32_t>(bytes_ - bytes)},
                                                 offsets.of_lane.data());
  if (pattern == scalar::LanePattern::invalid) return std::nullopt;
  scalar::LanePlaces lanes{offsets.of_lane.data(), {}};
  scalar::find_lane_range(offsets.of_lane.data(), bytes, lanes.range);
  return lanes;
}

bool SharedShadow::surely_defined(const scalar::LanePlaces& lanes, std::uint32_t bytes) const {
  const std::size_t first = lanes.range.first, all = lanes.range.last - first + bytes;
  if (pages_defined(first, all)) return true;
  if (lanes.range.whole) return !undefined(first, all);
  if (undefined(lanes.offsets[0], bytes)) return false;  // most often the first lane of bytes that are written for the first time
  if (are_in_cells(lanes.offsets, bytes)) return lanes_defined(lanes.offsets, bytes);
  bool all_defined = true;
  for_each_run(lanes, bytes, [&](std::size_t offset, std::size_t count) { all_defined = all_defined && !undefined(offset, count); });
  return all_defined;
}

bool SharedShadow::lanes_defined(const std::uint32_t* offsets, std::uint32_t bytes) const {
  if (footprints_.empty()) return scalar::map_has_lanes(defined_.data(), offsets, bytes);
  const std::uint32_t of_lane = (1u << bytes) - 1;
  std::uint32_t missing = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    missing |= of_lane << offsets[lane] % cell_bytes & ~std::uint32_t{defined_of(offsets[lane] / cell_bytes)};
  return missing == 0;
}

bool SharedShadow::surely_defined(std::size_t offset, std::size_t bytes) const {
  constexpr std::size_t near = 512;
  return pages_defined(offset, bytes) || (bytes <= near && !undefined(offset, bytes));
}

/// Whether everything that all lanes access is initialised, where it is: the common case of a warp.
bool SharedShadow::surely_defined(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  LaneOffsets offsets;
  const auto lanes = find_lanes(places, bytes, mask, offsets);
  return lanes && surely_defined(*lanes, bytes);
}

LaneMask SharedShadow::undefined(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  if (surely_defined(places, bytes, mask)) return 0;
  LaneMask bad = 0;
  for_each_lane(places, bytes, mask, [&](std::size_t lane, std::size_t cell, Cell bits) {
    bad |= static_cast<LaneMask>((bits & ~defined_of(cell)) != 0) << lane;
  });
  return bad;
}

LaneMask SharedShadow::crossing(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  LaneMask bad = 0;
  for_each_lane(places, bytes, mask, [&](std::size_t lane, std::size_t cell, Cell bits) {
    const auto behind_first = static_cast<Cell>(bits & (bits - 1));
    bad |= static_cast<LaneMask>((behind_first & starts_[cell]) != 0) << lane;
  });
  return bad;
}

bool SharedShadow::undefined(std::size_t offset, std::size_t bytes) const {
  if (bytes == 0) return false;
  const std::size_t first = offset / cell_bytes, last = (offset + bytes - 1) / cell_bytes;
  const auto from = static_cast<Cell>(full_cell << offset % cell_bytes);  // the bytes of the first cell, and of the last one
  const auto to = static_cast<Cell>(full_cell >> (cell_bytes - 1 - (offset + bytes - 1) % cell_bytes));
  if (first == last) return (from & to & ~defined_of(first)) != 0;
  if ((from & ~defined_of(first)) != 0) return true;
  Cell between = full_cell;
  for (std::size_t cell = first + 1; cell < last; ++cell) between = static_cast<Cell>(between & defined_of(cell));
  return (to & ~defined_of(last)) != 0 || between != full_cell;
}

/// Counts a page's bytes again: others may have defined some.
void SharedShadow::count_again(std::size_t page) const {
  const std::size_t first = page * page_bytes, bytes = std::min(page_bytes, bytes_ - first);
  std::size_t missing = 0;
  for_each_cell(first, bytes, [&](std::size_t cell, Cell bits) { missing += count(static_cast<Cell>(bits & ~defined_[cell])); });
  missing_ -= missing_of_page_[page] - missing;
  missing_of_page_[page] = static_cast<std::uint16_t>(missing);
}

bool SharedShadow::page_defined(std::size_t page) const {
  if (missing_of_page_[page] == 0 || !others_define_) return missing_of_page_[page] == 0;
  const std::size_t first = page * page_bytes, end = std::min(first + page_bytes, bytes_), cells = end / cell_bytes;
  for (std::size_t cell = first / cell_bytes; cell < cells; ++cell)
    if (defined_[cell] != full_cell) return false;
  count_again(page);
  return missing_of_page_[page] == 0;
}

bool SharedShadow::pages_defined(std::size_t offset, std::size_t bytes) const {
  if (bytes == 0) return true;
  for (std::size_t page = offset / page_bytes; page <= (offset + bytes - 1) / page_bytes; ++page)
    if (!page_defined(page)) return false;
  return true;
}

bool SharedShadow::is_plain(std::size_t offset, std::size_t bytes) {
  plain_.resize(plain_count);
  const auto from = static_cast<std::uint32_t>(offset), count = static_cast<std::uint32_t>(bytes);
  Plain& known = plain_[(offset / cell_bytes * 7 + bytes / cell_bytes) % plain_count];
  if (known.offset == from && known.bytes == count && known.undefined_at == undefined_ && count != 0) return true;
  if (has_starts(offset, bytes) || (!pages_defined(offset, bytes) && undefined(offset, bytes))) return false;
  known = {from, count, undefined_};
  return true;
}

/// Fast for the common case, cells that are full or empty; else by sums of neighbouring bits, as std::popcount is a function call on
/// baseline CPUs.
std::size_t SharedShadow::count(Cell bits) {
  if (bits == 0) return 0;
  if (bits == full_cell) return cell_bytes;
  std::uint32_t sums = bits;
  sums -= sums >> 1 & 0x5555;
  sums = (sums & 0x3333) + (sums >> 2 & 0x3333);
  sums = (sums + (sums >> 4)) & 0x0f0f;
  return (sums + (sums >> 8)) & 0x1f;
}

void SharedShadow::define_cell(std::size_t cell, Cell bits) {
  const std::size_t defined = count(static_cast<Cell>(bits & ~defined_[cell]));
  missing_ -= defined;
  std::uint16_t& of_page = missing_of_page_[cell * cell_bytes / page_bytes];
  of_page = static_cast<std::uint16_t>(of_page - defined);
  defined_[cell] = static_cast<Cell>(defined_[cell] | bits);
}

void SharedShadow::undefine_cell(std::size_t cell, Cell bits) {
  const std::size_t undefined = count(static_cast<Cell>(bits & defined_[cell]));
  missing_ += undefined;
  std::uint16_t& of_page = missing_of_page_[cell * cell_bytes / page_bytes];
  of_page = static_cast<std::uint16_t>(of_page + undefined);
  defined_[cell] = static_cast<Cell>(defined_[cell] & ~bits);
}

/// Gives the bytes one state: whole pieces at once, a page's count with them, and by change_cell what lies before, between and behind them.
template <bool to, typename ChangeCell>
void SharedShadow::change(std::size_t offset, std::size_t bytes, ChangeCell change_cell) {
  constexpr std::uint64_t full = to ? ~std::uint64_t{0} : 0;
  if (const std::size_t inside = offset % cell_bytes; inside != 0) {
    const std::size_t before = std::min(bytes, cell_bytes - inside);
    for_each_cell(offset, before, change_cell);
    offset += before;
    bytes -= before;
  }
  for (; bytes >= piece_bytes; offset += piece_bytes, bytes -= piece_bytes) {
    if (offset % page_bytes > page_bytes - piece_bytes) {  // it ends in another page
      for_each_cell(offset, piece_bytes, change_cell);
      continue;
    }
    Cell* const cells = defined_.data() + offset / cell_bytes;
    std::uint64_t before;
    std::memcpy(&before, cells, sizeof before);
    if (before == full) continue;
    const std::size_t changed = before == ~full ? piece_bytes : static_cast<std::size_t>(std::popcount(before ^ full));
    missing_ += to ? 0 - changed : changed;
    std::uint16_t& of_page = missing_of_page_[offset / page_bytes];
    of_page = static_cast<std::uint16_t>(of_page + (to ? 0 - changed : changed));
    std::memcpy(cells, &full, sizeof full);
  }
  for_each_cell(offset, bytes, change_cell);
}

void SharedShadow::define(const Places& places, std::uint32_t bytes, LaneMask mask) {
  if (surely_defined(places, bytes, mask)) return;
  for_each_lane(places, bytes, mask, [&](std::size_t, std::size_t cell, Cell bits) { define_alone(cell, bits); });
}

void SharedShadow::define(const scalar::LanePlaces& lanes, std::uint32_t bytes) {
  constexpr int few_runs = 8;
  if (std::popcount(lanes.range.runs) <= few_runs || !are_in_cells(lanes.offsets, bytes))
    return for_each_run(lanes, bytes, [&](std::size_t offset, std::size_t count) { define(offset, count); });
  define_lanes(lanes.offsets, bytes);
}

void SharedShadow::define_lanes(const std::uint32_t* offsets, std::uint32_t bytes) {
  const std::uint32_t of_lane = (1u << bytes) - 1;
  for (std::size_t lane = 0; lane < lane_count; ++lane)
    define_alone(offsets[lane] / cell_bytes, static_cast<Cell>(of_lane << offsets[lane] % cell_bytes));
}

/// A cell that others do not share a state with afterwards.
void SharedShadow::define_alone(std::size_t cell, Cell bits) {
  dissolve(cell * cell_bytes, cell_bytes);
  define_cell(cell, bits);
}

void SharedShadow::define(std::size_t offset, std::size_t bytes) {
  dissolve(offset, bytes);
  change<true>(offset, bytes, [&](std::size_t cell, Cell bits) { define_cell(cell, bits); });
}

void SharedShadow::undefine(std::size_t offset, std::size_t bytes) {
  ++undefined_;
  if (others_define_)
    for (std::size_t page = offset / page_bytes; page * page_bytes < offset + bytes; ++page) count_again(page);
  dissolve(offset, bytes);
  change<false>(offset, bytes, [&](std::size_t cell, Cell bits) { undefine_cell(cell, bits); });
}

}  // namespace warpmat::checks
