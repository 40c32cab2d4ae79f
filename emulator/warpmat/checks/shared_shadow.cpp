#include <warpmat/checks/shared_shadow.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace warpmat::inline v0_1::checks {

SharedShadow::SharedShadow(const std::uint8_t* memory, std::size_t bytes)
    : memory_(memory), bytes_(bytes), missing_(bytes), defined_((bytes + cell_bytes - 1) / cell_bytes) {
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

/// What all lanes access together; nothing if the mask is not whole, a lane is outside, or the places are not of a machine's access.
std::optional<scalar::LaneRange> SharedShadow::range_of(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  constexpr std::uintptr_t alignment = 64;  // of vectors
  if (mask != all_lanes || bytes > bytes_ || reinterpret_cast<std::uintptr_t>(places.data()) % alignment != 0) return std::nullopt;
  alignas(alignment) std::array<std::uint32_t, lane_count> offsets;
  const auto pattern = scalar::find_lane_offsets({.base = places.data(),
                                                  .wide = true,
                                                  .wraps = false,
                                                  .add = 0 - std::uint64_t{reinterpret_cast<std::uintptr_t>(memory_)},
                                                  .lanes = mask,
                                                  .start = 0,
                                                  .bytes = bytes,
                                                  .last = static_cast<std::uint32_t>(bytes_ - bytes),
                                                  .element = bytes},
                                                 offsets.data());
  if (pattern == scalar::LanePattern::invalid) return std::nullopt;
  return scalar::find_lane_range(offsets.data(), bytes);
}

/// Whether everything from the first to the last byte that all lanes access is initialised, where it is: the common case of a warp.
bool SharedShadow::surely_defined(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  const auto range = range_of(places, bytes, mask);
  return range && surely_defined(range->first, range->last - range->first + bytes);
}

bool SharedShadow::surely_defined(std::size_t offset, std::size_t bytes) const {
  constexpr std::size_t near = 512;
  return pages_defined(offset, bytes) || (bytes <= near && !undefined(offset, bytes));
}

/// Whether the lanes access whole cells, as of tiles, and all of them are initialised.
bool SharedShadow::cells_defined(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  if (mask != all_lanes || bytes != cell_bytes) return false;
  const std::size_t last = defined_.size() - 1;
  std::size_t most = 0;
  Cell all = static_cast<Cell>(~Cell{0});
  for (const std::uint8_t* const place : places) {
    const std::size_t cell = offset(place) / cell_bytes;
    most = std::max(most, cell);
    all = static_cast<Cell>(all & defined_[std::min(cell, last)]);
  }
  return most <= last && all == static_cast<Cell>(~Cell{0});
}

LaneMask SharedShadow::undefined(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  if (surely_defined(places, bytes, mask) || cells_defined(places, bytes, mask)) return 0;
  LaneMask bad = 0;
  for_each_lane(places, bytes, mask, [&](std::size_t lane, std::size_t cell, Cell bits) {
    bad |= static_cast<LaneMask>((bits & ~defined_[cell]) != 0) << lane;
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
  constexpr auto full = static_cast<Cell>(~Cell{0});
  const auto from = static_cast<Cell>(full << offset % cell_bytes);  // the bytes of the first cell, and of the last one
  const auto to = static_cast<Cell>(full >> (cell_bytes - 1 - (offset + bytes - 1) % cell_bytes));
  if (first == last) return (from & to & ~defined_[first]) != 0;
  Cell between = full;
  for (std::size_t cell = first + 1; cell < last; ++cell) between = static_cast<Cell>(between & defined_[cell]);
  return (from & ~defined_[first]) != 0 || (to & ~defined_[last]) != 0 || between != full;
}

bool SharedShadow::pages_defined(std::size_t offset, std::size_t bytes) const {
  if (bytes == 0) return true;
  for (std::size_t page = offset / page_bytes; page <= (offset + bytes - 1) / page_bytes; ++page)
    if (missing_of_page_[page] != 0) return false;
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
  if (bits == static_cast<Cell>(~Cell{0})) return cell_bytes;
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

/// Gives the bytes one state: whole pieces at once, a page's count with them, and by change_cell what lies before and behind them.
template <bool to, typename ChangeCell>
void SharedShadow::change(std::size_t offset, std::size_t bytes, ChangeCell change_cell) {
  constexpr std::uint64_t full = to ? ~std::uint64_t{0} : 0;
  if (const std::size_t inside = offset % piece_bytes; inside != 0) {
    const std::size_t before = std::min(bytes, piece_bytes - inside);
    for_each_cell(offset, before, change_cell);
    offset += before;
    bytes -= before;
  }
  for (; bytes >= piece_bytes; offset += piece_bytes, bytes -= piece_bytes) {
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
  for_each_lane(places, bytes, mask, [&](std::size_t, std::size_t cell, Cell bits) { define_cell(cell, bits); });
}

void SharedShadow::define(std::size_t offset, std::size_t bytes) {
  change<true>(offset, bytes, [&](std::size_t cell, Cell bits) { define_cell(cell, bits); });
}

void SharedShadow::undefine(std::size_t offset, std::size_t bytes) {
  ++undefined_;
  change<false>(offset, bytes, [&](std::size_t cell, Cell bits) { undefine_cell(cell, bits); });
}

SharedShadow::Copy SharedShadow::unpack(std::uint32_t word) {
  const auto state = (word & pending_bit) != 0 ? Copy::State::pending : (word & landed_bit) != 0 ? Copy::State::landed : Copy::State::none;
  return {state, static_cast<int>((word & warp_bits) >> warp_shift), word & statement_bits};
}

namespace {

/// The words of a cp.async of a warp whose lanes copy 16 bytes each: the most of one range.
constexpr std::size_t words_of_warp = 128;

/// Calls visit(i) for i from 0 to `number` - 1. Nearly all are a cp.async of 16 bytes, of a lane or of a warp: the compiler then knows the
/// number.
template <typename Visit>
void for_each_word(std::size_t number, Visit visit) {
  if (number == 4) {
    for (std::size_t i = 0; i < 4; ++i) visit(i);
  } else if (number == words_of_warp) {
    for (std::size_t i = 0; i < words_of_warp; ++i) visit(i);
  } else {
    for (std::size_t i = 0; i < number; ++i) visit(i);
  }
}

}  // namespace

/// The first offset, if the lanes access one range of whole cells, each another cell: as a row, or a swizzled tile.
std::optional<std::size_t> SharedShadow::whole_range(const Places& places, std::uint32_t bytes, LaneMask mask) const {
  if (bytes != cell_bytes) return std::nullopt;
  const auto range = range_of(places, bytes, mask);
  if (!range || !range->whole || range->first % cell_bytes != 0) return std::nullopt;
  return range->first;
}

void SharedShadow::begin_copies(const Places& places, std::uint32_t bytes, LaneMask mask, int warp, std::uint32_t statement) {
  if (const auto first = whole_range(places, bytes, mask)) return begin_copy(*first, lane_count * cell_bytes, warp, statement);
  for (; mask != 0; mask &= mask - 1) begin_copy(offset(places[static_cast<std::size_t>(first_lane(mask))]), bytes, warp, statement);
}

void SharedShadow::land_copies(const Places& places, std::uint32_t bytes, LaneMask mask, int warp) {
  if (const auto first = whole_range(places, bytes, mask)) return land_copy(*first, lane_count * cell_bytes, warp);
  for (; mask != 0; mask &= mask - 1) land_copy(offset(places[static_cast<std::size_t>(first_lane(mask))]), bytes, warp);
}

void SharedShadow::begin_copy(std::size_t offset, std::size_t bytes, int warp, std::uint32_t statement) {
  if (copies_.empty()) {
    copies_.resize((bytes_ + copy_bytes - 1) / copy_bytes);
    landed_.resize(most_warps);
  }
  undefine(offset, bytes);
  const std::uint32_t own = static_cast<std::uint32_t>(warp) << warp_shift, fresh = pending_bit | own | (statement & statement_bits);
  std::uint32_t* const first = copies_.data() + offset / copy_bytes;
  for_each_word(bytes / copy_bytes, [&](std::size_t i) { first[i] = fresh | ((first[i] & warp_bits) == own ? first[i] & listed_bit : 0); });
}

void SharedShadow::land_copy(std::size_t offset, std::size_t bytes, int warp) {
  const std::size_t first = offset / copy_bytes, number = bytes / copy_bytes;
  std::uint32_t listed = listed_bit;
  std::uint32_t* const words = copies_.data() + first;
  for_each_word(number, [&](std::size_t i) {
    listed &= words[i];
    words[i] = (words[i] & ~pending_bit) | landed_bit | listed_bit;
  });
  if (listed == 0)
    landed_[static_cast<std::size_t>(warp)].push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(number)});
}

void SharedShadow::publish(int warp) {
  if (landed_.empty()) return;
  auto& landed = landed_[static_cast<std::size_t>(warp)];
  const std::uint32_t own = static_cast<std::uint32_t>(warp) << warp_shift;
  for (const auto [first, number] : landed) {
    std::uint32_t* const words = copies_.data() + first;
    std::uint32_t others = 0;
    for_each_word(number, [&](std::size_t i) { others |= (words[i] ^ (own | landed_bit)) & (warp_bits | landed_bit); });
    if (others == 0) {  // all are still the warp's
      for_each_word(number, [&](std::size_t i) { words[i] &= ~(listed_bit | landed_bit); });
      define(std::size_t{first} * copy_bytes, std::size_t{number} * copy_bytes);
      continue;
    }
    constexpr std::uint32_t words_of_cell = cell_bytes / copy_bytes;
    for (std::uint32_t i = 0; i < number; i += words_of_cell) publish_words(first + i, std::min(words_of_cell, number - i), own);
  }
  landed.clear();
}

/// publish() for words in one cell, some of which other copies may have taken.
void SharedShadow::publish_words(std::uint32_t first, std::uint32_t count, std::uint32_t own) {
  unsigned bits = 0;  // from the first word's on
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t& copy = copies_[first + i];
    if ((copy & warp_bits) != own) continue;
    if ((copy & landed_bit) != 0) bits |= ((1u << copy_bytes) - 1) << i * copy_bytes;
    copy &= ~(listed_bit | landed_bit);
  }
  define_cell(first * copy_bytes / cell_bytes, static_cast<Cell>(bits << first * copy_bytes % cell_bytes));
}

SharedShadow::Copy SharedShadow::conflict(std::size_t offset, std::size_t bytes, int warp, bool writes) const {
  if (copies_.empty()) return {};
  for (std::size_t i = offset / copy_bytes; i <= (offset + bytes - 1) / copy_bytes; ++i) {
    const Copy copy = unpack(copies_[i]);
    if (copy.state == Copy::State::pending) return copy;
    if (copy.state == Copy::State::landed && copy.warp != warp && !writes) return copy;
  }
  return {};
}

bool SharedShadow::landed_for(std::size_t offset, std::size_t bytes, int warp) const {
  if (copies_.empty()) return false;
  for (std::size_t at = offset; at < offset + bytes; ++at) {
    const Copy copy = unpack(copies_[at / copy_bytes]);
    if (undefined(at, 1) && (copy.state != Copy::State::landed || copy.warp != warp)) return false;
  }
  return true;
}

}  // namespace warpmat::inline v0_1::checks
