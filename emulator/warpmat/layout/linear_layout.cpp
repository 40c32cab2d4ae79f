#include <warpmat/layout.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include <warpmat/layout/fragments.h>

namespace warpmat {
namespace {

using Axes = std::vector<AxisBits>;

/// The number of bits up to the highest that is set.
int width(std::uint64_t bits) {
  return static_cast<int>(std::bit_width(bits));
}

int bits_of(const Axes& space) {
  int bits = 0;
  for (const AxisBits& axis : space) bits += axis.bits;
  return bits;
}

void check(const Axes& space) {
  for (const AxisBits& axis : space) {
    if (axis.bits < 0 || axis.bits > 32) throw std::invalid_argument("an axis of a layout has 0 to 32 bits");
    if (std::ranges::count(space, axis.axis, &AxisBits::axis) > 1)
      throw std::invalid_argument("a layout names axis " + std::string(name(axis.axis)) + " twice");
  }
  if (bits_of(space) > 64) throw std::invalid_argument("the space of a layout has at most 64 bits");
}

std::uint64_t pack(const Axes& space, const Point& point) {
  std::uint64_t packed = 0;
  int position = 0;
  for (const AxisBits& axis : space) {
    const std::uint64_t coordinate = point[axis.axis];
    if (coordinate >> axis.bits != 0)
      throw std::invalid_argument(std::string(name(axis.axis)) + " " + std::to_string(coordinate) + " lies outside of the layout; it has " +
                                  std::to_string(std::uint64_t{1} << axis.bits));
    packed |= axis.bits == 0 ? 0 : coordinate << position;
    position += axis.bits;
  }
  return packed;
}

Point unpack(const Axes& space, std::uint64_t packed) {
  Point point;
  for (const AxisBits& axis : space) {
    point[axis.axis] = static_cast<std::uint32_t>(packed & ((std::uint64_t{1} << axis.bits) - 1));
    packed = axis.bits == 0 ? packed : packed >> axis.bits;
  }
  return point;
}

/// The exclusive or of all columns whose bit is set in `index`.
std::uint64_t product(const std::vector<std::uint64_t>& columns, std::uint64_t index) {
  std::uint64_t sum = 0;
  for (; index != 0; index &= index - 1) sum ^= columns[static_cast<std::size_t>(std::countr_zero(index))];
  return sum;
}

/// Columns in echelon form: each pair is a place with a leading bit of its own and the index that maps to it. Columns that depend on
/// earlier ones are left out.
std::vector<std::pair<std::uint64_t, std::uint64_t>> echelon(const std::vector<std::uint64_t>& columns) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::uint64_t place = columns[i], index = std::uint64_t{1} << i;
    for (const auto& [other_place, other_index] : found)
      if ((place >> (width(other_place) - 1) & 1) != 0) {
        place ^= other_place;
        index ^= other_index;
      }
    if (place == 0) continue;
    found.emplace_back(place, index);
    std::ranges::sort(found, std::greater{});
  }
  return found;
}

const AxisBits* find(const Axes& space, LayoutAxis axis) {
  const auto found = std::ranges::find(space, axis, &AxisBits::axis);
  return found == space.end() ? nullptr : &*found;
}

/// The bits of the axis; 0 if the space lacks it.
int bits_of(const Axes& space, LayoutAxis axis) {
  const AxisBits* found = find(space, axis);
  return found == nullptr ? 0 : found->bits;
}

/// The space of both, with the axes of `low` first.
Axes sum(Axes low, const Axes& high) {
  for (const AxisBits& axis : high) {
    const auto found = std::ranges::find(low, axis.axis, &AxisBits::axis);
    if (found == low.end())
      low.push_back(axis);
    else
      found->bits += axis.bits;
  }
  return low;
}

/// The bits of `whole` that `part` leaves, or nothing if it has more.
std::optional<Axes> rest(Axes whole, const Axes& part) {
  for (const AxisBits& axis : part) {
    const auto found = std::ranges::find(whole, axis.axis, &AxisBits::axis);
    if (axis.bits > (found == whole.end() ? 0 : found->bits)) return std::nullopt;
    if (found != whole.end()) found->bits -= axis.bits;
  }
  return whole;
}

/// The bits of `packed`, of space `from`, in space `to`, on each axis above those of `below`.
std::uint64_t placed(const Axes& from, std::uint64_t packed, const Axes& to, const Axes& below) {
  Point point = unpack(from, packed);
  for (const AxisBits& axis : from)
    if (axis.bits > 0) point[axis.axis] <<= bits_of(below, axis.axis);
  return pack(to, point);
}

/// The number of coordinates of the axis, 1 to 2^32.
std::uint64_t size_of(const Axes& space, LayoutAxis axis) {
  const AxisBits* bits = find(space, axis);
  return bits == nullptr ? 1 : std::uint64_t{1} << bits->bits;
}

}  // namespace

std::string_view name(LayoutAxis axis) {
  switch (axis) {
    case LayoutAxis::row: return "row";
    case LayoutAxis::column: return "column";
    case LayoutAxis::matrix: return "matrix";
    case LayoutAxis::bit: return "bit";
    case LayoutAxis::lane: return "lane";
    case LayoutAxis::reg: return "register";
    case LayoutAxis::warp: return "warp";
    case LayoutAxis::address: return "address";
  }
  return "";
}

LinearLayout::LinearLayout(Axes from, Axes to, std::vector<std::uint64_t> columns)
    : from_(std::move(from)), to_(std::move(to)), columns_(std::move(columns)) {
  check(from_);
  check(to_);
  if (columns_.size() != static_cast<std::size_t>(bits_of(from_))) throw std::invalid_argument("a layout has a column for each index bit");
  const int bits = bits_of(to_);
  for (const std::uint64_t column : columns_)
    if (width(column) > bits) throw std::invalid_argument("a column of a layout lies outside of the space of its places");
}

LinearLayout LinearLayout::identity(const Axes& from, const Axes& to) {
  if (bits_of(from) != bits_of(to)) throw std::invalid_argument("an identity has as many bits on both sides");
  std::vector<std::uint64_t> columns;
  for (int i = 0; i < bits_of(from); ++i) columns.push_back(std::uint64_t{1} << i);
  return {from, to, std::move(columns)};
}

Point LinearLayout::operator()(const Point& point) const {
  return unpack(to_, product(columns_, pack(from_, point)));
}

LinearLayout LinearLayout::then(const LinearLayout& next) const {
  if (next.from_ != to_) throw std::invalid_argument("layouts compose where the places of the first are the indices of the second");
  std::vector<std::uint64_t> columns;
  for (const std::uint64_t column : columns_) columns.push_back(product(next.columns_, column));
  return {from_, next.to_, std::move(columns)};
}

bool LinearLayout::injective() const {
  return echelon(columns_).size() == columns_.size();
}

LinearLayout LinearLayout::inverse() const {
  if (bits_of(from_) != bits_of(to_) || !injective()) throw std::invalid_argument("this layout has no inverse");
  auto rows = echelon(columns_);  // leading bits from high to low, one for each place bit
  std::vector<std::uint64_t> columns(rows.size());
  for (std::size_t i = rows.size(); i-- > 0;) {
    auto [place, index] = rows[i];
    const std::uint64_t below = place ^ std::bit_floor(place);  // bits whose inverse is already known
    columns[static_cast<std::size_t>(width(place) - 1)] = index ^ product(columns, below);
  }
  return {to_, from_, std::move(columns)};
}

LinearLayout LinearLayout::operator*(const LinearLayout& high) const {
  const Axes from = sum(from_, high.from_), to = sum(to_, high.to_);
  check(from);
  check(to);
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(bits_of(from)));
  const auto set = [&](const LinearLayout& part, const Axes& from_below, const Axes& to_below) {
    for (std::size_t i = 0; i < part.columns_.size(); ++i) {
      const std::uint64_t index = placed(part.from_, std::uint64_t{1} << i, from, from_below);
      columns[static_cast<std::size_t>(std::countr_zero(index))] = placed(part.to_, part.columns_[i], to, to_below);
    }
  };
  set(*this, {}, {});
  set(high, from_, to_);
  return {from, to, std::move(columns)};
}

namespace {

/// The part of `whole` from the bits of `from` above those of `from_below` to the bits of `to` above those of `to_below`. It is a factor of
/// `whole` if the product with the other factor is `whole`.
LinearLayout part_of(const LinearLayout& whole, const Axes& from, const Axes& to, const Axes& from_below, const Axes& to_below) {
  std::vector<std::uint64_t> columns;
  for (int i = 0; i < bits_of(from); ++i) {
    const std::uint64_t index = placed(from, std::uint64_t{1} << i, whole.from(), from_below);
    Point place = unpack(whole.to(), whole.columns()[static_cast<std::size_t>(std::countr_zero(index))]);
    for (const AxisBits& axis : to) {
      const std::uint64_t coordinate = std::uint64_t{place[axis.axis]} >> bits_of(to_below, axis.axis);
      place[axis.axis] = static_cast<std::uint32_t>(coordinate & ((std::uint64_t{1} << axis.bits) - 1));
    }
    columns.push_back(pack(to, place));
  }
  return {from, to, std::move(columns)};
}

/// Whether both are the same map, whatever the order of their axes.
bool same_map(const LinearLayout& one, const LinearLayout& other) {
  const auto sorted = [](Axes space) {
    std::erase_if(space, [](const AxisBits& axis) { return axis.bits == 0; });
    std::ranges::sort(space, {}, &AxisBits::axis);
    return space;
  };
  if (sorted(one.from()) != sorted(other.from()) || sorted(one.to()) != sorted(other.to())) return false;
  for (int i = 0; i < bits_of(one.from()); ++i) {
    const Point point = unpack(one.from(), std::uint64_t{1} << i);
    if (one(point) != other(point)) return false;
  }
  return true;
}

}  // namespace

std::optional<LinearLayout> LinearLayout::divide_left(const LinearLayout& divisor) const {
  const auto from = rest(from_, divisor.from_), to = rest(to_, divisor.to_);
  if (!from || !to) return std::nullopt;
  LinearLayout quotient = part_of(*this, *from, *to, divisor.from_, divisor.to_);
  if (!same_map(divisor * quotient, *this)) return std::nullopt;
  return quotient;
}

std::optional<LinearLayout> LinearLayout::divide_right(const LinearLayout& divisor) const {
  const auto from = rest(from_, divisor.from_), to = rest(to_, divisor.to_);
  if (!from || !to) return std::nullopt;
  LinearLayout quotient = part_of(*this, *from, *to, {}, {});
  if (!same_map(quotient * divisor, *this)) return std::nullopt;
  return quotient;
}

LinearLayout LinearLayout::invert_and_compose(const LinearLayout& other) const {
  if (other.to_ != to_) throw std::invalid_argument("a layout is inverted for one with the same space of places");
  const auto rows = echelon(other.columns_);
  std::vector<std::uint64_t> columns;
  for (std::uint64_t place : columns_) {
    std::uint64_t index = 0;
    for (const auto& [row_place, row_index] : rows)
      if ((place >> (width(row_place) - 1) & 1) != 0) {
        place ^= row_place;
        index ^= row_index;
      }
    if (place != 0) throw std::invalid_argument("the layout to invert does not reach every place of the other");
    columns.push_back(index);
  }
  return {from_, other.from_, std::move(columns)};
}

std::uint32_t LinearLayout::free_bits(LayoutAxis axis) const {
  std::uint64_t free = 0;
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    before.push_back(columns_[i]);
    if (echelon(before).size() == before.size()) continue;
    before.pop_back();
    free |= std::uint64_t{1} << i;
  }
  return unpack(from_, free)[axis];
}

LinearLayout LinearLayout::sublayout(const std::vector<LayoutAxis>& from, const std::vector<LayoutAxis>& to) const {
  const auto chosen = [](const Axes& space, const std::vector<LayoutAxis>& axes) {
    Axes found;
    for (const LayoutAxis axis : axes) {
      const AxisBits* bits = find(space, axis);
      if (bits == nullptr) throw std::invalid_argument("the layout has no axis " + std::string(name(axis)));
      found.push_back(*bits);
    }
    return found;
  };
  return part_of(*this, chosen(from_, from), chosen(to_, to), {}, {});
}

TiledLayout::TiledLayout(LinearLayout tile, std::vector<Repeat> repeats) : tile_(std::move(tile)), repeats_(std::move(repeats)) {
  for (const Repeat& repeat : repeats_) {
    if (find(tile_.from(), repeat.from) == nullptr || find(tile_.to(), repeat.to) == nullptr)
      throw std::invalid_argument("a tile is repeated along axes that it has");
    if (repeat.count == 0) throw std::invalid_argument("a tile is repeated at least once");
    if (std::ranges::count(repeats_, repeat.from, &Repeat::from) > 1 || std::ranges::count(repeats_, repeat.to, &Repeat::to) > 1)
      throw std::invalid_argument("a tile is repeated once along an axis");
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    if (size_from(repeat.from) > most || size_to(repeat.to) > most)
      throw std::invalid_argument("an axis of a layout has at most 2^32 coordinates");
  }
}

std::uint64_t TiledLayout::size_from(LayoutAxis axis) const {
  std::uint64_t size = size_of(tile_.from(), axis);
  for (const Repeat& repeat : repeats_)
    if (repeat.from == axis) size *= repeat.count;
  return size;
}

std::uint64_t TiledLayout::size_to(LayoutAxis axis) const {
  std::uint64_t size = size_of(tile_.to(), axis);
  for (const Repeat& repeat : repeats_)
    if (repeat.to == axis) size *= repeat.count;
  return size;
}

Point TiledLayout::operator()(const Point& point) const {
  Point inside = point, moved;
  for (const Repeat& repeat : repeats_) {
    const std::uint64_t from_size = size_of(tile_.from(), repeat.from), number = point[repeat.from] / from_size;
    if (number >= repeat.count)
      throw std::invalid_argument(std::string(name(repeat.from)) + " " + std::to_string(point[repeat.from]) +
                                  " lies outside of the layout; it has " + std::to_string(size_from(repeat.from)));
    inside[repeat.from] = static_cast<std::uint32_t>(point[repeat.from] % from_size);
    moved[repeat.to] = static_cast<std::uint32_t>(number * size_of(tile_.to(), repeat.to));
  }
  Point place = tile_(inside);
  for (std::size_t axis = 0; axis < layout_axes; ++axis) place.coordinates[axis] += moved.coordinates[axis];
  return place;
}

TiledLayout TiledLayout::inverse() const {
  std::vector<Repeat> repeats;
  for (const Repeat& repeat : repeats_) repeats.push_back({repeat.to, repeat.from, repeat.count});
  return {tile_.inverse(), std::move(repeats)};
}

LinearLayout Fragment::layout() const {
  const Axes from{{LayoutAxis::row, axis_bits_[0]}, {LayoutAxis::column, axis_bits_[1]}, {LayoutAxis::matrix, axis_bits_[2]}};
  const Axes to{{LayoutAxis::bit, width(static_cast<unsigned>(register_bits_)) - 1},
                {LayoutAxis::lane, lane_bits},
                {LayoutAxis::reg, width(static_cast<unsigned>(registers())) - 1}};
  std::vector<std::uint64_t> columns;
  for (int i = 0; i < bits_of(from); ++i) {
    const std::uint64_t place = places_[unsigned_of(i)];
    const std::uint64_t inside = (place & low_bits(inside_)) * element_bits_;
    columns.push_back(inside | place >> inside_ << to.front().bits);
  }
  return {from, to, std::move(columns)};
}

LinearLayout Fragment::elements() const {
  const LinearLayout to_places = layout();
  const int of_element = to_places.to().front().bits - inside_;  // bits inside of an element
  const std::uint64_t kept = low_bits(axis_bits_[0] + axis_bits_[1] + axis_bits_[2]);
  std::vector<std::uint64_t> columns(static_cast<std::size_t>(of_element));
  for (int i = 0; i < bits(); ++i) columns.push_back(elements_[unsigned_of(i)] & kept);
  return {to_places.to(), to_places.from(), std::move(columns)};
}

Fragment Fragment::of(const LinearLayout& layout, int element_bits) {
  const auto bits_on = [](const Axes& space, LayoutAxis axis) {
    const auto found = std::ranges::find(space, axis, &AxisBits::axis);
    return found == space.end() ? 0 : found->bits;
  };
  const auto need = [](bool holds) {
    if (!holds)
      throw std::invalid_argument(
          "a fragment is a layout from row, column and matrix to 32 or 64 bits, 32 lanes and registers in which every "
          "place has one element");
  };
  constexpr std::array axes{LayoutAxis::row, LayoutAxis::column, LayoutAxis::matrix};
  const int register_log = bits_on(layout.to(), LayoutAxis::bit), registers_log = bits_on(layout.to(), LayoutAxis::reg);
  need(register_log == 5 || register_log == 6);
  need(element_bits > 0 && element_bits <= 1 << register_log && std::popcount(static_cast<unsigned>(element_bits)) == 1);
  Fragment f = FragmentBuilder(element_bits, 1 << register_log);  // still without places
  for (std::size_t i = 0; i < axes.size(); ++i) f.axis_bits_[i] = static_cast<std::uint8_t>(bits_on(layout.from(), axes[i]));
  const int place_bits = f.inside_ + lane_bits + registers_log;
  need(bits_on(layout.to(), LayoutAxis::lane) == lane_bits && bits_of(layout.to()) == register_log + lane_bits + registers_log &&
       bits_of(layout.from()) == f.bits() && f.bits() == place_bits && unsigned_of(place_bits) <= most_bits && layout.injective());
  int index = 0;
  for (std::size_t i = 0; i < axes.size(); ++i)
    for (int bit = 0; bit < f.axis_bits_[i]; ++bit) {
      Point point;
      point[axes[i]] = 1u << bit;
      const Point at = layout(point);
      const std::uint32_t inside = at[LayoutAxis::bit];
      if (inside % static_cast<std::uint32_t>(element_bits) != 0)
        throw std::invalid_argument("an element of a fragment begins at a multiple of its bits");
      f.places_[unsigned_of(index++)] =
          static_cast<std::uint16_t>(inside / static_cast<std::uint32_t>(element_bits) | at[LayoutAxis::lane] << f.inside_ |
                                     at[LayoutAxis::reg] << (f.inside_ + lane_bits));
    }
  const Axes all{{LayoutAxis::address, place_bits}};
  const LinearLayout inverse = LinearLayout(all, all, {f.places_.begin(), f.places_.begin() + place_bits}).inverse();
  for (std::size_t i = 0; i < inverse.columns().size(); ++i) f.elements_[i] = static_cast<std::uint16_t>(inverse.columns()[i]);
  return f;
}

LinearLayout swizzle_layout(Swizzle swizzle, int address_bits) {
  if (address_bits < 10 || address_bits > 32)
    throw std::invalid_argument("a swizzle repeats after 1,024 bytes, and addresses have 32 bits: 10 to 32 bits can be swizzled");
  const Axes space{{LayoutAxis::address, address_bits}};
  std::vector<std::uint64_t> columns;
  for (int i = 0; i < address_bits; ++i) columns.push_back(swizzled(swizzle, 1u << i));
  return {space, space, std::move(columns)};
}

}  // namespace warpmat
