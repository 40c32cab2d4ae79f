#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/layout/fragment.h>
#include <warpmat/layout/swizzle.h>

namespace warpmat {

// Layouts are linear over bits.
//
// A layout maps an element's index to a place. Number the bits of both. Each index bit that is set flips some bits of the place; the place
// is the exclusive or of all those flips. So a layout is a matrix over GF(2) with one column for each index bit. Registers need
// permutations only: each index bit flips one bit of its own (layout/fragment.h). Swizzled shared memory needs more: one index bit flips
// several. Linear maps compose, and their inverse can be computed (PTX ISA 9.1 sections 9.7.14.5 and 9.7.15.5; the idea is also that of
// Triton's LinearLayout, arXiv 2505.23819).

/// The axes of index spaces and of places.
enum class LayoutAxis : std::uint8_t { row, column, matrix, bit, lane, reg, warp, address };
WARPMAT_LOCAL inline constexpr std::size_t layout_axes = 8;

/// "row", "column", ..., "address".
[[nodiscard]] WARPMAT_API std::string_view name(LayoutAxis axis);

/// An axis and the number of bits of its coordinates.
struct AxisBits {
  LayoutAxis axis;
  int bits;
  friend constexpr bool operator==(const AxisBits&, const AxisBits&) = default;
};

/// A coordinate for each axis; 0 on the axes that a space lacks.
struct Point {
  std::array<std::uint32_t, layout_axes> coordinates{};

  constexpr std::uint32_t& operator[](LayoutAxis axis) { return coordinates[static_cast<std::size_t>(axis)]; }
  constexpr std::uint32_t operator[](LayoutAxis axis) const { return coordinates[static_cast<std::size_t>(axis)]; }
  friend constexpr bool operator==(const Point&, const Point&) = default;
};

/// A linear map from the points of one space to those of another. A space is a list of axes. A point is packed into a number with the first
/// axis in the lowest bits.
class WARPMAT_API LinearLayout {
 public:
  /// `columns[i]` is the packed place of the index that has bit i alone. Throws std::invalid_argument unless there is one column for each
  /// bit of `from`, each column fits in `to`, no space names an axis twice, and no space has more than 64 bits.
  LinearLayout(std::vector<AxisBits> from, std::vector<AxisBits> to, std::vector<std::uint64_t> columns);

  /// Maps bit i of `from` to bit i of `to`. Both must have the same number of bits.
  [[nodiscard]] static LinearLayout identity(const std::vector<AxisBits>& from, const std::vector<AxisBits>& to);

  const std::vector<AxisBits>& from() const { return from_; }
  const std::vector<AxisBits>& to() const { return to_; }
  const std::vector<std::uint64_t>& columns() const { return columns_; }

  /// The place of `point`. Throws std::invalid_argument for a coordinate with more bits than its axis.
  Point operator()(const Point& point) const;

  /// This layout, then `next`: next(this(point)). Throws std::invalid_argument unless next.from() is to().
  [[nodiscard]] LinearLayout then(const LinearLayout& next) const;

  /// Whether no two points share a place.
  [[nodiscard]] bool injective() const;

  /// The inverse. Throws std::invalid_argument unless this layout is injective and both spaces have the same number of bits.
  [[nodiscard]] LinearLayout inverse() const;

  /// Two layouts side by side: `low` maps the low bits of each axis, `high` the bits above. Axes stand in the order of `low`, then the
  /// other ones of `high`. A tile times a layout of tiles is the layout of the whole. Throws std::invalid_argument for spaces of over 64
  /// bits.
  [[nodiscard]] LinearLayout operator*(const LinearLayout& high) const;

  /// The quotient with which divisor * quotient, or quotient * divisor, is the map of this layout, whatever the order of its axes. Nothing
  /// if there is none.
  [[nodiscard]] std::optional<LinearLayout> divide_left(const LinearLayout& divisor) const;
  [[nodiscard]] std::optional<LinearLayout> divide_right(const LinearLayout& divisor) const;

  /// From the indices of this layout to those of `other` that have the same place: other(result(point)) is this(point). Free bits of
  /// `other` are 0. Throws std::invalid_argument unless other.to() is to() and `other` reaches every place of this layout.
  [[nodiscard]] LinearLayout invert_and_compose(const LinearLayout& other) const;

  /// The index bits of `axis` that the bits before them make redundant, as a mask. Where all free bits are 0, the layout is injective, and
  /// reaches the same places. In the layout of a fragment's registers they number the copies of an element.
  [[nodiscard]] std::uint32_t free_bits(LayoutAxis axis) const;

  /// The coordinates on axes `to` of the places of points whose other axes than `from` are 0. Throws std::invalid_argument for an axis that
  /// this layout lacks.
  [[nodiscard]] LinearLayout sublayout(const std::vector<LayoutAxis>& from, const std::vector<LayoutAxis>& to) const;

  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;

 private:
  std::vector<AxisBits> from_, to_;
  std::vector<std::uint64_t> columns_;
};

/// Repetition of a tile. Coordinates of axis `from` beyond the tile number its copies; each copy begins on axis `to` where the previous one
/// ends. `count` is the number of copies, not necessarily a power of two.
struct Repeat {
  LayoutAxis from, to;
  std::uint32_t count;
  friend constexpr bool operator==(const Repeat&, const Repeat&) = default;
};

/// A linear tile, repeated along some axes: the register layout of a product whose width n is not a power of two.
class WARPMAT_API TiledLayout {
 public:
  /// Throws std::invalid_argument if a repeat names an axis that the tile's spaces lack or that another repeat has named, or if an axis
  /// would exceed 2^32 coordinates.
  TiledLayout(LinearLayout tile, std::vector<Repeat> repeats);

  const LinearLayout& tile() const { return tile_; }
  const std::vector<Repeat>& repeats() const { return repeats_; }

  /// The number of coordinates of `axis` in the index space, and in the space of places: 1 to 2^32.
  [[nodiscard]] std::uint64_t size_from(LayoutAxis axis) const;
  [[nodiscard]] std::uint64_t size_to(LayoutAxis axis) const;

  friend bool operator==(const TiledLayout&, const TiledLayout&) = default;

  /// The place of `point`. Throws std::invalid_argument for a point outside.
  Point operator()(const Point& point) const;

  /// The inverse. The tile must be invertible.
  [[nodiscard]] TiledLayout inverse() const;

 private:
  LinearLayout tile_;
  std::vector<Repeat> repeats_;
};

/// A fragment as a layout: from row, column and matrix to bit, lane and register. `bit` is the lowest bit of the element's container.
[[nodiscard]] WARPMAT_API LinearLayout linear_layout(const Fragment& fragment);

/// The inverse direction, of every bit of the registers: from bit, lane and register to row, column and matrix. Bits inside an element, and
/// those that number its copies, are free.
[[nodiscard]] WARPMAT_API LinearLayout element_layout(const Fragment& fragment);

/// The swizzle as a map of addresses of `address_bits` bits, 10 to 32, relative to a base aligned to 1,024 bytes. Throws
/// std::invalid_argument for other numbers.
[[nodiscard]] WARPMAT_API LinearLayout swizzle_layout(Swizzle swizzle, int address_bits = 10);

}  // namespace warpmat
