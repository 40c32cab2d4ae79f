#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/layout/fragment.h>
#include <warpmat/layout/swizzle.h>

namespace warpmat {

// Layouts are linear over bits.
//
// A layout says at which place an element lies. Number the bits of an element's coordinates, and those of a place's: each index bit that is
// set flips some bits of the place, and the place is the exclusive or of what all of them flip. So a layout is a matrix over GF(2), one
// column for each index bit. Registers need permutations alone (each index bit flips one bit of its own, layout/fragment.h); shared memory
// is swizzled, where one index bit flips several. What is linear composes, and has an inverse that can be computed (PTX ISA 9.1 sections
// 9.7.14.5 and 9.7.15.5; the idea is also that of Triton's LinearLayout, arXiv 2505.23819).

/// The axes of index spaces and of places.
enum class LayoutAxis : std::uint8_t { row, column, matrix, bit, lane, reg, warp, address };
WARPMAT_LOCAL inline constexpr std::size_t layout_axes = 8;

/// "row", "column", ..., "address".
[[nodiscard]] WARPMAT_API std::string_view name(LayoutAxis axis);

/// An axis and how many bits its coordinates have.
struct AxisBits {
  LayoutAxis axis;
  int bits;
  friend constexpr bool operator==(const AxisBits&, const AxisBits&) = default;
};

/// A coordinate for each axis; 0 on the axes that a space does not have.
struct Point {
  std::array<std::uint32_t, layout_axes> coordinates{};

  constexpr std::uint32_t& operator[](LayoutAxis axis) { return coordinates[static_cast<std::size_t>(axis)]; }
  constexpr std::uint32_t operator[](LayoutAxis axis) const { return coordinates[static_cast<std::size_t>(axis)]; }
  friend constexpr bool operator==(const Point&, const Point&) = default;
};

/// A linear map from the points of one space to those of another. Both spaces are lists of axes; a point is packed into a number with the
/// first axis in the lowest bits.
class WARPMAT_API LinearLayout {
 public:
  /// `columns[i]` is the packed place to which index bit i alone leads. Throws std::invalid_argument unless there is a column for each bit
  /// of `from`, all of them lie in `to`, no axis is named twice in a space, and no space has more than 64 bits.
  LinearLayout(std::vector<AxisBits> from, std::vector<AxisBits> to, std::vector<std::uint64_t> columns);

  /// Each bit of `from` becomes the bit of the same number of `to`; both have the same number of bits.
  [[nodiscard]] static LinearLayout identity(const std::vector<AxisBits>& from, const std::vector<AxisBits>& to);

  const std::vector<AxisBits>& from() const { return from_; }
  const std::vector<AxisBits>& to() const { return to_; }
  const std::vector<std::uint64_t>& columns() const { return columns_; }

  /// The place of `point`. Throws std::invalid_argument for a coordinate that its axis has no bits for.
  Point operator()(const Point& point) const;

  /// This layout, then `next`: next(this(point)). Throws std::invalid_argument unless next.from() is to().
  [[nodiscard]] LinearLayout then(const LinearLayout& next) const;

  /// Whether no two points share a place.
  [[nodiscard]] bool injective() const;

  /// The layout that leads back. Throws std::invalid_argument unless this one is injective and both spaces have the same number of bits.
  [[nodiscard]] LinearLayout inverse() const;

  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;

 private:
  std::vector<AxisBits> from_, to_;
  std::vector<std::uint64_t> columns_;
};

/// A tile that is repeated: the coordinates of axis `from` beyond the tile count `count` tiles, of any number, and each tile begins on axis
/// `to` where the one before it ends.
struct Repeat {
  LayoutAxis from, to;
  std::uint32_t count;
  friend constexpr bool operator==(const Repeat&, const Repeat&) = default;
};

/// A linear tile, repeated along some axes: how a product of any width n, no power of two, lies in registers.
class WARPMAT_API TiledLayout {
 public:
  /// Throws std::invalid_argument where a repeat names an axis that the tile's spaces do not have, or one that another repeat has named,
  /// and where an axis would have more than 2^32 coordinates.
  TiledLayout(LinearLayout tile, std::vector<Repeat> repeats);

  const LinearLayout& tile() const { return tile_; }
  const std::vector<Repeat>& repeats() const { return repeats_; }

  /// How many coordinates axis `axis` of the index space has, and of the places: 1 to 2^32.
  [[nodiscard]] std::uint64_t size_from(LayoutAxis axis) const;
  [[nodiscard]] std::uint64_t size_to(LayoutAxis axis) const;

  friend bool operator==(const TiledLayout&, const TiledLayout&) = default;

  /// The place of `point`. Throws std::invalid_argument for a point outside.
  Point operator()(const Point& point) const;

  /// The layout that leads back; the tile must be invertible.
  [[nodiscard]] TiledLayout inverse() const;

 private:
  LinearLayout tile_;
  std::vector<Repeat> repeats_;
};

/// A fragment as a layout: from row, column and matrix to bit, lane and register. `bit` is the lowest bit of the element's container.
[[nodiscard]] WARPMAT_API LinearLayout linear_layout(const Fragment& fragment);

/// The swizzle as a map of addresses of `address_bits` bits, 10 to 32 of them, relative to a place that is aligned to 1,024 bytes. Throws
/// std::invalid_argument for other numbers.
[[nodiscard]] WARPMAT_API LinearLayout swizzle_layout(Swizzle swizzle, int address_bits = 10);

}  // namespace warpmat
