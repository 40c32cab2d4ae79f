#pragma once

#include <warpmat/device/tables.h>

namespace warpmat::device {

// A lane holds elements of D in some rows and columns, and needs these rows of A and columns of B from other lanes. A place is a number
// whose bits are those of row, column and matrix (types.h), so the place of an element of A is the part that the element's number in the
// lane sets, which the compiler knows, together with the part that the lane's number sets.

/// The bits of a place that each bit of a number sets: of the lane's, or of a matrix's.
struct NumberBits {
  u32 bits[5];

  WARPMAT_DEVICE_INLINE u32 of(u32 number) const {
    u32 place = 0;
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < 5; ++i) place |= (number >> i & 1) * bits[i];
    return place;
  }
  WARPMAT_DEVICE_BOTH constexpr u32 all() const { return bits[0] | bits[1] | bits[2] | bits[3] | bits[4]; }
};

/// For each bit of a lane's number in `d`: where `other` has the row, column or matrix that the bit is of, as far as `use_row` and
/// `use_column` say.
WARPMAT_DEVICE_BOTH constexpr NumberBits lane_bits(const Fragment& d, const Fragment& other, bool use_row, bool use_column) {
  NumberBits out{};
  for (int i = 0; i < 5; ++i) {
    const Fragment::Bit b = d.bits[d.inside + i];
    const bool used = b.axis == Axis::matrix || (b.axis == Axis::row && use_row) || (b.axis == Axis::column && use_column);
    if (used) out.bits[i] = other.spread(b.axis, u32{1} << b.bit);
  }
  return out;
}

/// What each bit of a matrix's number, which is a selector or comes from ids, sets in a place.
WARPMAT_DEVICE_BOTH constexpr NumberBits matrix_bits(const Fragment& f) {
  NumberBits out{};
  for (int i = 0; i < 5; ++i) out.bits[i] = f.spread(Axis::matrix, u32{1} << i);
  return out;
}

/// The numbers along an axis of the elements of D that a lane holds, without the part that the lane sets.
struct Lines {
  int count;
  u32 line[16];
};

WARPMAT_DEVICE_BOTH constexpr Lines lines(const Fragment& d, Axis axis) {
  Lines out{};
  for (int element = 0; element < d.elements(); ++element) {
    const u32 number = static_cast<u32>(element);
    const u32 line = d.coordinate(axis, (number & ((1u << d.inside) - 1)) | number >> d.inside << (d.inside + 5));
    bool known = false;
    for (int i = 0; i < out.count; ++i) known = known || out.line[i] == line;
    if (!known) out.line[out.count++] = line;
  }
  return out;
}

/// The places of lines 0 to count - 1, or of some lines, without what else a place says.
template <int count>
struct Places {
  u32 of[count];
};

template <int count>
WARPMAT_DEVICE_BOTH constexpr Places<count> places(const Fragment& f, Axis axis) {
  Places<count> out{};
  for (int i = 0; i < count; ++i) out.of[i] = f.spread(axis, static_cast<u32>(i));
  return out;
}

template <int count>
WARPMAT_DEVICE_BOTH constexpr Places<count> places(const Fragment& f, Axis axis, const Lines& lines) {
  Places<count> out{};
  for (int i = 0; i < count; ++i) out.of[i] = f.spread(axis, lines.line[i]);
  return out;
}

/// The element at place `known | set_by_lane` of a fragment: read(its number in its lane, the lane). `may_set` has all bits that
/// `set_by_lane` may have. Those of the lane's number select the lane. Others select among elements of that lane, all of which are read.
template <int fragment, u32 may_set, typename Read>
WARPMAT_DEVICE_INLINE auto element_at(u32 known, u32 set_by_lane, const Read& read) {
  constexpr int inside = fragments[fragment].inside;
  constexpr u32 low = (1u << inside) - 1, selecting = may_set & ~(31u << inside);
  const int lane = static_cast<int>((known | set_by_lane) >> inside & 31);
  const auto number = [](u32 place) { return static_cast<int>((place & low) | place >> (inside + 5) << inside); };
  auto value = read(number(known), lane);
  WARPMAT_DEVICE_UNROLL
  for (u32 chosen = (0 - selecting) & selecting; chosen != 0; chosen = (chosen - selecting) & selecting) {
    const auto other = read(number(known | chosen), lane);
    if ((set_by_lane & selecting) == chosen) value = other;
  }
  return value;
}

}  // namespace warpmat::device
