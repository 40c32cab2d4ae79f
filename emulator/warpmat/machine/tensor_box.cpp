#include <warpmat/machine/tensor_box.h>

#include <algorithm>

#include <fmt/core.h>

namespace warpmat::inline v0_1::machine {
namespace {

using Coordinates = std::array<std::int64_t, TensorMap::max_dimensions>;

/// What all rows of a map have in common.
struct RowShape {
  explicit RowShape(const TensorMap& map)
      : slices(map.interleave != TensorMap::Interleave::none), bits(static_cast<std::int64_t>(map.unit_bits())), bytes(map.row_bytes()) {}
  bool slices;
  std::int64_t bits;  ///< of a unit: an element, or what an interleaved tensor moves
  std::uint64_t bytes;
};

/// The row that begins at these coordinates; the caller sets `shared`.
TensorRow row_at(const TensorMap& map, const RowShape& shape, const Coordinates& at) {
  TensorRow row{.address = map.address};
  const bool slices = shape.slices;
  for (std::size_t i = slices ? 0 : 1; i < map.rank; ++i) {
    if (at[i] < 0 || static_cast<std::uint64_t>(at[i]) >= map.dims[i]) return row;
    row.address += static_cast<std::uint64_t>(at[i]) * (i == 0 ? static_cast<std::uint64_t>(shape.bits) / 8 : map.strides[i - 1]);
  }
  if (slices) {
    row.end = static_cast<std::uint32_t>(shape.bytes);
    return row;
  }
  const std::int64_t bits = shape.bits, elements = static_cast<std::int64_t>(shape.bytes) * 8 / bits;
  const std::int64_t first = std::max<std::int64_t>(at[0], 0), last = std::min(at[0] + elements, static_cast<std::int64_t>(map.dims[0]));
  if (first >= last) return row;
  row.begin = static_cast<std::uint32_t>((first - at[0]) * bits / 8);
  row.end = static_cast<std::uint32_t>((last - at[0]) * bits / 8);
  row.address += static_cast<std::uint64_t>(first * bits / 8);
  return row;
}

/// Advances to the next place of the box.
void step_in_tile(const TensorMap& map, const Coordinates& first, Coordinates& at) {
  for (std::size_t i = map.first_spatial(); i < map.rank; ++i) {
    at[i] += map.element_strides[i];
    if (at[i] < first[i] + std::int64_t{map.extent(i)} * map.element_strides[i]) return;
    at[i] = first[i];
  }
}

/// Advances the filter's base to the next pixel.
void step_in_image(const TensorMap& map, Coordinates& base) {
  const std::size_t first = map.first_spatial();
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    const std::int64_t last = static_cast<std::int64_t>(map.dims[first + i]) - 1 + map.upper_corner[i];
    base[first + i] += map.element_strides[first + i];
    if (base[first + i] <= last) return;
    base[first + i] = map.lower_corner[i];
  }
  ++base[map.rank - 1];
}

}  // namespace

std::optional<std::string> coordinates_problem(const TensorMap& map, const TensorPlace& place, bool stores) {
  const auto& at = place.coordinates;
  const bool padded = map.chunk_bytes() != 16;
  if (padded && at[0] % 128 != 0)
    return fmt::format("coordinate {} of dimension 0: elements of {} are copied from multiples of 128 on", at[0], name(map.type));
  if (!padded && map.interleave == TensorMap::Interleave::none &&
      std::int64_t{at[0]} * static_cast<std::int64_t>(map.element_bits()) % 128 != 0)
    return fmt::format("coordinate {} of dimension 0: elements of {} bits are copied from multiples of 16 bytes on", at[0],
                       map.element_bits());
  if (stores && padded)
    return map.element_bits() == 4 ? fmt::format("stores take no elements of {}", name(map.type))
                                   : std::string("stores of 6-bit elements are not executed");
  for (std::size_t i = 0; stores && i < map.rank; ++i)
    if (at[i] < 0) return fmt::format("coordinate {} of dimension {}: stores take none below 0", at[i], i);
  if (map.mode != TensorMap::Mode::im2col) return std::nullopt;
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    const std::size_t dimension = map.first_spatial() + i;
    const std::int64_t last = static_cast<std::int64_t>(map.dims[dimension]) - 1 + map.upper_corner[i];
    if (at[dimension] < map.lower_corner[i] || at[dimension] > last)
      return fmt::format("coordinate {} of dimension {} lies outside of the box, which goes from {} to {}", at[dimension], dimension,
                         map.lower_corner[i], last);
    if (stores && (map.lower_corner[i] < 0 || map.upper_corner[i] > 0))
      return fmt::format("the box goes from {} to {} in dimension {}, beyond the tensor: stores take none such", map.lower_corner[i], last,
                         dimension);
  }
  return std::nullopt;
}

std::vector<TensorRow> tensor_rows(const TensorMap& map, const TensorPlace& place) {
  Coordinates first{};
  std::ranges::copy(place.coordinates, first.begin());
  Coordinates at = first;
  std::vector<TensorRow> rows(map.rows());
  const auto pitch = static_cast<std::uint32_t>(map.row_pitch());
  const RowShape shape(map);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Coordinates element = at;
    if (map.mode == TensorMap::Mode::im2col)
      for (std::size_t j = 0; j + 2 < map.rank; ++j) element[map.first_spatial() + j] += place.offsets[j];
    rows[i] = row_at(map, shape, element);
    rows[i].shared = static_cast<std::uint32_t>(i) * pitch;
    if (map.mode == TensorMap::Mode::tile) {
      step_in_tile(map, first, at);
    } else {
      step_in_image(map, at);
    }
  }
  return rows;
}

std::vector<TensorRow> stored_rows(const TensorMap& map, const TensorPlace& place) {
  std::vector<TensorRow> rows = tensor_rows(map, place);
  const auto row_bytes = static_cast<std::uint32_t>(map.row_bytes());
  for (TensorRow& row : rows)
    if (row.end > row.begin) row.end = std::min(row_bytes, (row.end + 15) / 16 * 16);
  return rows;
}

}  // namespace warpmat::inline v0_1::machine
