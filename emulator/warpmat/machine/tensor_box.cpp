#include <warpmat/machine/tensor_box.h>

#include <algorithm>

namespace warpmat::machine {

TensorBox::TensorBox(const TensorMap& map, const Coordinates& coordinates)
    : map_(map),
      coordinates_(coordinates),
      row_bytes_(static_cast<std::uint32_t>(map.box[0] * map.element_bytes())),
      pitch_(static_cast<std::uint32_t>(map.row_pitch())) {
  for (std::size_t i = 1; i < map.rank; ++i) rows_ *= map.extent(i);
}

TensorRow TensorBox::row(std::uint32_t index) const {
  TensorRow row{.address = map_.address, .shared = index * pitch_, .begin = 0, .end = 0};
  for (std::size_t i = 1; i < map_.rank; ++i) {
    const std::uint32_t extent = map_.extent(i);
    const std::int64_t at = std::int64_t{coordinates_[i]} + std::int64_t{index % extent} * map_.element_strides[i];
    index /= extent;
    if (at < 0 || static_cast<std::uint64_t>(at) >= map_.dims[i]) return row;
    row.address += static_cast<std::uint64_t>(at) * map_.strides[i - 1];
  }
  const auto bytes = static_cast<std::int64_t>(map_.element_bytes());
  const auto dimension = static_cast<std::int64_t>(map_.dims[0]), box = static_cast<std::int64_t>(map_.box[0]);
  const std::int64_t first = std::max<std::int64_t>(coordinates_[0], 0), last = std::min(coordinates_[0] + box, dimension);
  if (first >= last) return row;
  row.begin = static_cast<std::uint32_t>((first - coordinates_[0]) * bytes);
  row.end = static_cast<std::uint32_t>((last - coordinates_[0]) * bytes);
  row.address += static_cast<std::uint64_t>(first * bytes);
  return row;
}

TensorRow TensorBox::stored_row(std::uint32_t index) const {
  TensorRow stored = row(index);
  if (stored.end > stored.begin) stored.end = std::min(row_bytes_, (stored.end + 15) / 16 * 16);
  return stored;
}

}  // namespace warpmat::machine
