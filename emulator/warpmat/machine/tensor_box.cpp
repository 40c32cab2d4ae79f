#include <warpmat/machine/tensor_box.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace warpmat::machine {
namespace {

using Coordinates = std::array<std::int64_t, TensorMap::max_dimensions>;

/// What all rows of a map have in common.
struct RowShape {
  explicit RowShape(const TensorMap& map)
      : slices(map.interleave() != TensorMap::Interleave::none), bits(static_cast<std::int64_t>(map.unit_bits())), bytes(map.row_bytes()) {}
  bool slices;
  std::int64_t bits;  ///< of a unit: an element, or what an interleaved tensor moves
  std::uint64_t bytes;
};

/// The row that begins at these coordinates; the caller sets `shared`.
TensorRow row_at(const TensorMap& map, const RowShape& shape, const Coordinates& at) {
  TensorRow row{.address = map.address()};
  const bool slices = shape.slices;
  for (std::size_t i = slices ? 0 : 1; i < map.rank(); ++i) {
    if (at[i] < 0 || static_cast<std::uint64_t>(at[i]) >= map.dims()[i]) return row;
    row.address += static_cast<std::uint64_t>(at[i]) * (i == 0 ? static_cast<std::uint64_t>(shape.bits) / 8 : map.strides()[i - 1]);
  }
  if (slices) {
    row.end = static_cast<std::uint32_t>(shape.bytes);
    return row;
  }
  const std::int64_t bits = shape.bits, elements = static_cast<std::int64_t>(shape.bytes) * 8 / bits;
  const std::int64_t first = std::max<std::int64_t>(at[0], 0), last = std::min(at[0] + elements, static_cast<std::int64_t>(map.dims()[0]));
  if (first >= last) return row;
  row.begin = static_cast<std::uint32_t>((first - at[0]) * bits / 8);
  row.end = static_cast<std::uint32_t>((last - at[0]) * bits / 8);
  row.address += static_cast<std::uint64_t>(first * bits / 8);
  return row;
}

/// Advances to the next place of the box, from dimension `lowest` on.
void step_in_tile(const TensorMap& map, std::size_t lowest, const Coordinates& first, Coordinates& at) {
  for (std::size_t i = lowest; i < map.rank(); ++i) {
    at[i] += map.element_strides()[i];
    if (at[i] < first[i] + std::int64_t{map.extent(i)} * map.element_strides()[i]) return;
    at[i] = first[i];
  }
}

/// Advances the filter's base to the next pixel.
void step_in_image(const TensorMap& map, Coordinates& base) {
  const std::size_t first = map.first_spatial();
  for (std::size_t i = 0; i + 2 < map.rank(); ++i) {
    const std::int64_t last = static_cast<std::int64_t>(map.dims()[first + i]) - 1 + map.upper_corner()[i];
    base[first + i] += map.element_strides()[first + i];
    if (base[first + i] <= last) return;
    base[first + i] = map.lower_corner()[i];
  }
  ++base[map.rank() - 1];
}

}  // namespace

std::optional<std::string> coordinates_problem(const TensorMap& map, const TensorPlace& place, bool stores) {
  const auto& at = place.coordinates;
  const bool padded = map.chunk_bytes() != 16;
  if (padded && at[0] % 128 != 0)
    return fmt::format("coordinate {} of dimension 0: elements of {} are copied from multiples of 128 on", at[0], name(map.type()));
  if (!padded && map.interleave() == TensorMap::Interleave::none &&
      std::int64_t{at[0]} * static_cast<std::int64_t>(map.element_bits()) % 128 != 0)
    return fmt::format("coordinate {} of dimension 0: elements of {} bits are copied from multiples of 16 bytes on", at[0],
                       map.element_bits());
  if (stores && padded)
    return map.element_bits() == 4 ? fmt::format("stores take no elements of {}", name(map.type()))
                                   : std::string("stores of 6-bit elements are not executed");
  for (std::size_t i = 0; stores && i < map.rank(); ++i)
    if (at[i] < 0) return fmt::format("coordinate {} of dimension {}: stores take none below 0", at[i], i);
  if (map.mode() != TensorMap::Mode::im2col) return std::nullopt;
  for (std::size_t i = 0; i + 2 < map.rank(); ++i) {
    const std::size_t dimension = map.first_spatial() + i;
    const std::int64_t last = static_cast<std::int64_t>(map.dims()[dimension]) - 1 + map.upper_corner()[i];
    if (at[dimension] < map.lower_corner()[i] || at[dimension] > last)
      return fmt::format("coordinate {} of dimension {} lies outside of the box, which goes from {} to {}", at[dimension], dimension,
                         map.lower_corner()[i], last);
    if (stores && (map.lower_corner()[i] < 0 || map.upper_corner()[i] > 0))
      return fmt::format("the box goes from {} to {} in dimension {}, beyond the tensor: stores take none such", map.lower_corner()[i],
                         last, dimension);
  }
  return std::nullopt;
}

namespace {

/// Where the rows of a copy are added, in their order.
class Runs {
 public:
  explicit Runs(const TensorMap& map) : map_(map), shape_(map), pitch_(static_cast<std::uint32_t>(map.row_pitch())) {}

  /// The row at these coordinates, and `count - 1` behind it, each `step` bytes further on in global memory.
  void add(const Coordinates& at, std::size_t count = 1, std::uint64_t step = 0) {
    if (count == 0) return;
    TensorRow row = row_at(map_, shape_, at);
    row.shared = next_;
    next_ += static_cast<std::uint32_t>(count) * pitch_;
    all_.push_back({row, count, step, pitch_});
  }
  std::vector<TensorRun> take() { return std::move(all_); }

 private:
  const TensorMap& map_;
  RowShape shape_;
  std::uint32_t pitch_, next_ = 0;
  std::vector<TensorRun> all_;
};

/// Rows along dimension 1 of a tile: those before the tensor, those inside, and those behind it.
void add_rows(const TensorMap& map, Coordinates at, Runs& runs) {
  const std::int64_t stride = map.element_strides()[1], count = map.extent(1), size = static_cast<std::int64_t>(map.dims()[1]);
  const std::int64_t before = at[1] >= 0 ? 0 : std::min(count, (-at[1] + stride - 1) / stride);
  const std::int64_t not_behind = at[1] >= size ? 0 : std::min(count, (size - at[1] + stride - 1) / stride);
  const auto add = [&](std::int64_t first, std::int64_t last, std::uint64_t step) {
    Coordinates from = at;
    from[1] += first * stride;
    if (last > first) runs.add(from, static_cast<std::size_t>(last - first), step);
  };
  add(0, before, 0);
  add(before, not_behind, static_cast<std::uint64_t>(stride) * map.strides()[0]);
  add(std::max(before, not_behind), count, 0);
}

}  // namespace

std::vector<TensorRun> tensor_runs(const TensorMap& map, const TensorPlace& place) {
  Coordinates first{};
  std::ranges::copy(place.coordinates, first.begin());
  Coordinates at = first;
  Runs runs(map);
  const std::size_t rows = map.rows();
  if (map.mode() == TensorMap::Mode::tile && map.interleave() == TensorMap::Interleave::none && map.rank() > 1) {
    for (std::size_t done = 0; done < rows; done += map.extent(1)) {
      add_rows(map, at, runs);
      step_in_tile(map, 2, first, at);
    }
    return runs.take();
  }
  for (std::size_t i = 0; i < rows; ++i) {
    Coordinates element = at;
    if (map.mode() == TensorMap::Mode::im2col)
      for (std::size_t j = 0; j + 2 < map.rank(); ++j) element[map.first_spatial() + j] += place.offsets[j];
    runs.add(element);
    if (map.mode() == TensorMap::Mode::tile) {
      step_in_tile(map, map.first_spatial(), first, at);
    } else {
      step_in_image(map, at);
    }
  }
  return runs.take();
}

std::vector<TensorRun> stored_runs(const TensorMap& map, const TensorPlace& place) {
  std::vector<TensorRun> runs = tensor_runs(map, place);
  const auto row_bytes = static_cast<std::uint32_t>(map.row_bytes());
  for (TensorRun& run : runs)
    if (run.first.end > run.first.begin) run.first.end = std::min(row_bytes, (run.first.end + 15) / 16 * 16);
  return runs;
}

}  // namespace warpmat::machine
