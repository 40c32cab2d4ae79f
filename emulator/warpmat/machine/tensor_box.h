#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/layout.h>
#include <warpmat/numeric/checked_size.h>

namespace warpmat::machine {

/// The starting coordinates of a copy with a tensor map.
struct TensorPlace {
  std::array<std::int32_t, TensorMap::max_dimensions> coordinates{};
  /// im2col: offsets from the base of the filter to the copied element, along W, {H, {D}}.
  std::array<std::uint16_t, TensorMap::max_dimensions - 2> offsets{};
};

/// The accelerator's requirements on coordinates, as one sentence if they are not met; an H200 reports "illegal instruction" then
/// (measured). Each row of elements begins at a multiple of 16 bytes, stores have no negative coordinates, and the base of im2col's filter
/// is inside its box, for stores inside a part of the tensor.
std::optional<std::string> coordinates_problem(const TensorMap& map, const TensorPlace& place, bool stores);

/// A row of a copy: bytes that are contiguous in global memory.
struct TensorRow {
  std::uint64_t address = 0;  ///< generic address of the first byte inside the tensor
  std::uint32_t shared = 0;   ///< beginning of the row in the box's bytes, before the swizzle
  std::uint32_t begin = 0;    ///< leading bytes of the row outside the tensor
  std::uint32_t end = 0;      ///< trailing bytes outside begin here; begin == end if no byte is inside
  friend bool operator==(const TensorRow&, const TensorRow&) = default;
};

/// Consecutive rows of a copy: each begins `step` bytes behind the one before in global memory, and `pitch` bytes behind it in the box.
struct TensorRun {
  TensorRow first;
  std::size_t count = 1;
  std::uint64_t step = 0;
  std::uint32_t pitch = 0;

  /// From the first row's first byte to the last one's last in global memory. Precondition: the rows have bytes.
  CheckedSize reach() const { return CheckedSize(count - 1) * step + (first.end - first.begin); }
  TensorRow row(std::size_t i) const {
    TensorRow row = first;
    row.address += i * step;
    row.shared += static_cast<std::uint32_t>(i) * pitch;
    return row;
  }
  friend bool operator==(const TensorRun&, const TensorRun&) = default;
};

/// Calls visit(row) for each row, in their order.
template <typename Visit>
void for_each_row(std::span<const TensorRun> runs, Visit visit) {
  for (const TensorRun& run : runs)
    for (std::size_t i = 0; i < run.count; ++i) visit(run.row(i));
}

/// The rows of a copy in the order of shared memory (PTX ISA 9.1 sections 5.5.3, 5.5.4 and 5.5.6; what the text leaves open was measured on
/// an H200).
///
/// Tile: every place of the box, dimension 0 fastest. im2col: the filter's base begins at the coordinates and moves in the box between the
/// corners, W fastest, by element strides. At the end of a dimension it continues at its lower corner, at the end of the last one in the
/// next image.
std::vector<TensorRun> tensor_runs(const TensorMap& map, const TensorPlace& place);

/// The same for stores. They write whole 16 bytes, so up to 15 bytes after the tensor's last element of a row (measured on an H200).
std::vector<TensorRun> stored_runs(const TensorMap& map, const TensorPlace& place);

/// Calls visit(begin, count, at) for the contiguous parts of bytes [begin, end) of a row under the swizzle. The row begins at offset `row`
/// of shared memory, whose first byte has the address `shared_base`; `at` is the part's offset there. `begin` is a multiple of 16, but
/// where the row's bytes inside of its tensor begin or end.
template <typename Visit>
void for_each_chunk(const TensorMap& map, std::uint32_t shared_base, std::uint32_t row, std::uint32_t begin, std::uint32_t end,
                    Visit visit) {
  const std::uint32_t chunk = map.chunk_bytes(), piece = map.atom() == TensorMap::Atom::bytes_32_flip_8 ? 8 : chunk;
  const bool usual = map.atom() == TensorMap::Atom::bytes_16;
  const Swizzle swizzle = map.swizzle();
  const std::uint32_t line = 16u << static_cast<unsigned>(swizzle);  // the swizzle exchanges the chunks of a line
  if (usual && chunk == 16 && begin == 0 && end == line && (shared_base + row) % line == 0) {
    const std::uint32_t exchange = swizzled(swizzle, shared_base + row) - (shared_base + row);
    for (; begin < line; begin += 16) visit(begin, std::uint32_t{16}, row + (begin ^ exchange));
    return;
  }
  while (begin < end) {
    const std::uint32_t inside = begin % chunk, address = shared_base + row + begin / chunk * 16 + inside;
    const std::uint32_t count = std::min(end - begin, piece - inside % piece);
    visit(begin, count, (usual ? swizzled(swizzle, address) : map.swizzled(address)) - shared_base);
    begin += count;
  }
}

}  // namespace warpmat::machine
