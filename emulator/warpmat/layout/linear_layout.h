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

/// The swizzle as a map of addresses of `address_bits` bits, 10 to 32, relative to a base aligned to 1,024 bytes. Throws
/// std::invalid_argument for other numbers.
[[nodiscard]] WARPMAT_API LinearLayout swizzle_layout(Swizzle swizzle, int address_bits = 10);

}  // namespace warpmat
