// Which cp.async writes which bytes of shared memory.

#include <algorithm>
#include <cstring>
#include <utility>

#include <warpmat/checks/lane_runs.h>
#include <warpmat/checks/shared_shadow.h>

namespace warpmat::checks {

SharedShadow::Copy SharedShadow::unpack(std::uint32_t word) {
  const auto state = (word & pending_bit) != 0 ? Copy::State::pending : (word & landed_bit) != 0 ? Copy::State::landed : Copy::State::none;
  return {state, static_cast<int>((word & warp_bits) >> warp_shift), word & statement_bits};
}

namespace {

/// Calls visit(i) for i from 0 to `number` - 1. The compiler makes vectors of a number that it knows: the cells of most rows of tiles.
template <typename Visit>
void for_each_number(std::size_t number, Visit visit) {
  constexpr std::size_t row = 4;
  std::size_t at = 0;
  for (; number - at >= row; at += row)
    for (std::size_t i = 0; i < row; ++i) visit(at + i);
  for (; at < number; ++at) visit(at);
}

/// Calls visit(offset, bytes) for ranges of whole cells where the lanes have them, else for bytes in one cell.
template <typename Visit>
void for_each_part(const scalar::LanePlaces& lanes, std::uint32_t bytes, Visit visit) {
  constexpr std::size_t cell = SharedShadow::cell_bytes;
  if (lanes.range.whole && lanes.range.first % cell == 0)
    return visit(std::size_t{lanes.range.first}, std::size_t{SharedShadow::lane_count} * bytes);
  for_each_run(lanes, bytes, [&](std::size_t offset, std::size_t count) {
    if (offset % cell == 0 && count % cell == 0) return visit(offset, count);
    for (std::size_t at = offset; at < offset + count; at += bytes) visit(at, std::size_t{bytes});
  });
}

}  // namespace

/// The state of a copy that begins.
std::uint32_t SharedShadow::begun(int warp, std::uint32_t statement) {
  return pending_bit | static_cast<std::uint32_t>(warp) << warp_shift | (statement & statement_bits);
}

/// What stays of a state where a copy with the state `fresh` begins.
std::uint32_t SharedShadow::kept_of(std::uint32_t copy, std::uint32_t fresh) {
  return ((copy ^ fresh) & warp_bits) == 0 ? copy & listed_bit : 0;
}

void SharedShadow::make_copies() {
  if (!copies_.empty()) return;
  copies_.resize(defined_.size());
  landed_.resize(most_warps);
}

void SharedShadow::begin_copies(const scalar::LanePlaces& lanes, std::uint32_t bytes, int warp, std::uint32_t statement) {
  if (bytes == cell_bytes && begin_footprint(lanes, begun(warp, statement))) return;
  for_each_part(lanes, bytes, [&](std::size_t offset, std::size_t count) { begin_copy(offset, count, warp, statement); });
}

void SharedShadow::begin_copies(const Places& places, std::uint32_t bytes, LaneMask mask, int warp, std::uint32_t statement) {
  LaneOffsets offsets;
  if (const auto lanes = find_lanes(places, bytes, mask, offsets)) return begin_copies(*lanes, bytes, warp, statement);
  for (; mask != 0; mask &= mask - 1) begin_copy(offset(places[static_cast<std::size_t>(first_lane(mask))]), bytes, warp, statement);
}

void SharedShadow::land_copies(const Places& places, std::uint32_t bytes, LaneMask mask, int warp) {
  if (bytes == cell_bytes && mask == all_lanes && land_footprint(places, warp)) return;
  LaneOffsets offsets;
  if (const auto lanes = find_lanes(places, bytes, mask, offsets))
    return for_each_part(*lanes, bytes, [&](std::size_t offset, std::size_t count) { land_copy(offset, count, warp); });
  for (; mask != 0; mask &= mask - 1) land_copy(offset(places[static_cast<std::size_t>(first_lane(mask))]), bytes, warp);
}

/// The words of a cell, each of which has a state of its own from here on.
std::uint32_t* SharedShadow::divide(std::size_t cell) {
  if (divided_.empty()) divided_.resize(copies_.size() * words_of_cell);
  std::uint32_t* const words = divided_.data() + cell * words_of_cell;
  if (copies_[cell] != divided) std::fill_n(words, words_of_cell, std::exchange(copies_[cell], divided));
  return words;
}

/// The state of 4 bytes.
std::uint32_t SharedShadow::copy_of(std::size_t word) const {
  const std::size_t cell = word / words_of_cell;
  if (const std::uint16_t footprint = footprint_of(cell); footprint != 0) return footprints_[footprint].copy;
  return copies_[cell] == divided ? divided_[word] : copies_[cell];
}

void SharedShadow::begin_copy(std::size_t offset, std::size_t bytes, int warp, std::uint32_t statement) {
  make_copies();
  undefine(offset, bytes);
  const auto begin = [fresh = begun(warp, statement)](std::uint32_t& copy) { copy = fresh | kept_of(copy, fresh); };
  const std::size_t cell = offset / cell_bytes;
  if (bytes >= cell_bytes) {
    std::uint32_t* const cells = copies_.data() + cell;
    return for_each_number(bytes / cell_bytes, [&](std::size_t i) { begin(cells[i]); });
  }
  std::uint32_t* const words = divide(cell) + offset % cell_bytes / copy_bytes;
  for (std::size_t i = 0; i < bytes / copy_bytes; ++i) begin(words[i]);
}

void SharedShadow::land_copy(std::size_t offset, std::size_t bytes, int warp) {
  dissolve(offset, bytes);
  const std::uint32_t own = static_cast<std::uint32_t>(warp) << warp_shift;
  std::uint32_t unlisted = 0;  // of the warp's own states
  const auto land = [own, &unlisted](std::uint32_t& copy) {
    const std::uint32_t lists = (copy & warp_bits) == own ? listed_bit : 0;
    unlisted |= lists & ~copy;
    copy = (copy & ~pending_bit) | landed_bit | lists;
  };
  const std::size_t cell = offset / cell_bytes, count = bytes / cell_bytes;
  std::uint32_t* const cells = copies_.data() + cell;
  if (bytes < cell_bytes) {
    std::uint32_t* const words = divide(cell) + offset % cell_bytes / copy_bytes;
    for (std::size_t i = 0; i < bytes / copy_bytes; ++i) land(words[i]);
  } else if (divided_.empty()) {
    for_each_number(count, [&](std::size_t i) { land(cells[i]); });
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_divided = cells[i] == divided;
      std::for_each_n(is_divided ? divide(cell + i) : cells + i, is_divided ? words_of_cell : 1, land);
    }
  }
  if (unlisted != 0)
    landed_[static_cast<std::size_t>(warp)].push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(bytes)});
}

void SharedShadow::publish(int warp) {
  if (landed_.empty()) return;
  auto& landed = landed_[static_cast<std::size_t>(warp)];
  const std::uint32_t own = static_cast<std::uint32_t>(warp) << warp_shift;
  for (const auto [offset, bytes] : landed) {
    const std::size_t first = offset / cell_bytes, count = (bytes + cell_bytes - 1) / cell_bytes;
    std::uint32_t* const cells = copies_.data() + first;
    std::uint32_t others = 0;
    for_each_number(count, [&](std::size_t i) { others |= (cells[i] ^ (own | landed_bit)) & (warp_bits | landed_bit | pending_bit); });
    if (others == 0) {  // all are still the warp's
      for_each_number(count, [&](std::size_t i) { cells[i] &= ~(listed_bit | landed_bit); });
      define(first * cell_bytes, count * cell_bytes);
      continue;
    }
    for (std::size_t cell = first; cell < first + count; ++cell) publish_cell(cell, own);
  }
  landed.clear();
  publish_footprints(warp);
}

/// Makes a state that of bytes that all warps may read, if the warp `own` has copied and waited for them; returns whether it has.
bool SharedShadow::publishes(std::uint32_t& copy, std::uint32_t own) {
  if ((copy & warp_bits) != own) return false;
  const bool landed = (copy & landed_bit) != 0;
  copy &= ~(listed_bit | landed_bit);
  return landed;
}

/// publish() for a cell, of which other copies may have taken all or some bytes.
void SharedShadow::publish_cell(std::size_t cell, std::uint32_t own) {
  unsigned bits = 0;
  if (copies_[cell] != divided) {
    if (publishes(copies_[cell], own)) bits = (1u << cell_bytes) - 1;
  } else {
    for (std::size_t i = 0; i < words_of_cell; ++i)
      if (publishes(divided_[cell * words_of_cell + i], own)) bits |= ((1u << copy_bytes) - 1) << i * copy_bytes;
  }
  define_cell(cell, static_cast<Cell>(bits));
}

// ---- Footprints

/// Begins a copy by all lanes as that of a footprint. False if it is none: no byte has another state then; footprints that it meets
/// are dissolved.
bool SharedShadow::begin_footprint(const scalar::LanePlaces& lanes, std::uint32_t fresh) {
  if (!makes_footprints_ || lanes.range.first % cell_bytes != 0) return false;
  make_copies();
  std::uint16_t number = footprint_of(lanes.offsets[0] / cell_bytes);
  if (number == 0 || std::memcmp(footprints_[number].offsets.data(), lanes.offsets, sizeof(Footprint::offsets)) != 0) {
    number = make_footprint(lanes);
    if (number == 0) return false;
  }
  Footprint& footprint = footprints_[number];
  ++undefined_;
  if (footprint.defined()) set_defined(number, false);
  footprint.copy = fresh | kept_of(footprint.copy, fresh);
  return true;
}

void SharedShadow::Footprint::count_cell(std::uint16_t page) {
  std::size_t i = 0;
  while (i < page_count && pages[i].page != page) ++i;
  if (i == page_count) pages[page_count++] = {page, 0};
  pages[i].bytes = static_cast<std::uint16_t>(pages[i].bytes + cell_bytes);
}

/// A footprint of initialised bytes; 0 if it would share a cell with another one, or lanes share one.
std::uint16_t SharedShadow::make_footprint(const scalar::LanePlaces& lanes) {
  const auto cell = [&](std::size_t lane) { return lanes.offsets[lane] / cell_bytes; };
  if (footprints_.empty()) {
    footprints_.reserve(defined_.size() / lane_count + 1);  // they share no cell
    footprints_.emplace_back();
    footprint_cells_.push_back(full_cell);
    footprint_of_.resize(defined_.size());
    landed_footprints_.resize(most_warps);
  }
  bool meets = false;
  for (std::size_t lane = 0; lane < lane_count; ++lane) meets |= footprint_of_[cell(lane)] != 0;
  if (meets) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) dissolve(cell(lane) * cell_bytes, cell_bytes);
    return 0;
  }
  const std::uint16_t number = free_footprints_.empty() ? static_cast<std::uint16_t>(footprints_.size()) : free_footprints_.back();
  Footprint footprint;
  std::copy_n(lanes.offsets, lane_count, footprint.offsets.begin());
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (std::exchange(footprint_of_[cell(lane)], number) == 0) continue;
    for (std::size_t i = 0; i < lane; ++i) footprint_of_[cell(i)] = 0;
    return 0;
  }
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    define_cell(cell(lane), full_cell);
    copies_[cell(lane)] = 0;
    footprint.count_cell(static_cast<std::uint16_t>(cell(lane) * cell_bytes / page_bytes));
  }
  if (free_footprints_.empty()) {
    footprints_.push_back(footprint);
    footprint_cells_.push_back(full_cell);
  } else {  // its number may still be in landed_footprints_: publish() finds nothing to do, or what it would do anyway
    footprints_[number] = footprint;
    footprint_cells_[number] = full_cell;
    free_footprints_.pop_back();
  }
  return number;
}

/// Makes the bytes of a footprint initialised, or uninitialised.
void SharedShadow::set_defined(std::uint16_t number, bool defined) {
  constexpr std::size_t all = lane_count * cell_bytes;
  missing_ += defined ? 0 - all : all;
  footprint_cells_[number] = static_cast<Cell>(defined ? ~0 : 0);
  for (const auto [page, bytes] : footprints_[number].of_pages()) {
    std::uint16_t& of_page = missing_of_page_[page];
    of_page = static_cast<std::uint16_t>(defined ? of_page - bytes : of_page + bytes);
  }
}

/// land_copies() of all lanes, if they are those of a footprint.
bool SharedShadow::land_footprint(const Places& places, int warp) {
  const std::size_t first = offset(places[0]);
  if (first >= bytes_) return false;
  const std::uint16_t number = footprint_of(first / cell_bytes);
  if (number == 0) return false;
  Footprint& footprint = footprints_[number];
  std::size_t others = 0;
  for (std::size_t lane = 0; lane < lane_count; ++lane) others |= offset(places[lane]) ^ footprint.offsets[lane];
  if (others != 0 || footprint.defined()) return false;  // initialised: another warp's copy has come between
  const bool is_own = (footprint.copy & warp_bits) == static_cast<std::uint32_t>(warp) << warp_shift;
  const std::uint32_t lists = is_own ? listed_bit : 0;
  if ((lists & ~footprint.copy) != 0) landed_footprints_[static_cast<std::size_t>(warp)].push_back(number);
  footprint.copy = (footprint.copy & ~pending_bit) | landed_bit | lists;
  return true;
}

void SharedShadow::publish_footprints(int warp) {
  if (landed_footprints_.empty()) return;
  auto& landed = landed_footprints_[static_cast<std::size_t>(warp)];
  for (const std::uint16_t number : landed) {
    Footprint& footprint = footprints_[number];
    const bool before = footprint.defined();
    publishes(footprint.copy, static_cast<std::uint32_t>(warp) << warp_shift);
    if (!before && footprint.defined()) set_defined(number, true);
  }
  landed.clear();
}

/// Gives each cell of footprints that have some of these bytes the state of its own. Where this happens often, there are no footprints.
void SharedShadow::dissolve(std::size_t offset, std::size_t bytes) {
  if (footprints_.empty() || bytes == 0) return;
  constexpr int most = 1000;
  for (std::size_t cell = offset / cell_bytes; cell <= (offset + bytes - 1) / cell_bytes; ++cell) {
    const std::uint16_t number = footprint_of_[cell];
    if (number == 0) continue;
    Footprint& footprint = footprints_[number];
    for (const std::uint32_t at : footprint.offsets) {
      footprint_of_[at / cell_bytes] = 0;
      defined_[at / cell_bytes] = footprint_cells_[number];
      copies_[at / cell_bytes] = footprint.copy;
      if ((footprint.copy & listed_bit) != 0) landed_[(footprint.copy & warp_bits) >> warp_shift].push_back({at, cell_bytes});
    }
    footprint.copy = 0;
    free_footprints_.push_back(number);
    makes_footprints_ = ++dissolved_ < most;
  }
}

SharedShadow::Copy SharedShadow::conflict(std::size_t offset, std::size_t bytes, int warp, bool writes) const {
  if (copies_.empty()) return {};
  for (std::size_t i = offset / copy_bytes; i <= (offset + bytes - 1) / copy_bytes; ++i) {
    const Copy copy = unpack(copy_of(i));
    if (copy.state == Copy::State::pending) return copy;
    if (copy.state == Copy::State::landed && copy.warp != warp && !writes) return copy;
  }
  return {};
}

bool SharedShadow::landed_for(std::size_t offset, std::size_t bytes, int warp) const {
  if (copies_.empty()) return false;
  for (std::size_t at = offset; at < offset + bytes; ++at) {
    const Copy copy = unpack(copy_of(at / copy_bytes));
    if (undefined(at, 1) && (copy.state != Copy::State::landed || copy.warp != warp)) return false;
  }
  return true;
}

}  // namespace warpmat::checks
