#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/provenance/meetings.h>

namespace warpmat::provenance {

/// Where a matrix seems to lie.
struct AffineMatrix {
  std::uint64_t address = 0;  ///< of its first element
  std::uint64_t end = 0;      ///< of its buffer
  int bits = 0;               ///< of an element
  bool transposed = false;    ///< its columns are contiguous
  std::uint64_t pitch = 1;    ///< elements from a stored row to the next
  std::uint64_t part = 0;     ///< bytes of one of several matrices in the buffer; 0: there is one

  std::uint64_t elements() const { return ((part != 0 ? part : end - address) * 8) / static_cast<std::uint64_t>(bits); }
  std::uint64_t part_of(std::uint64_t bit) const { return part == 0 ? 0 : (bit - address * 8) / (part * 8); }
  /// Row and column of the element at a bit of memory.
  std::array<std::uint64_t, 2> place(std::uint64_t bit) const;
};

/// C = A * B, as most meetings have it.
struct AffineProduct {
  std::array<AffineMatrix, matrix_count> matrices{};
  bool sparse = false;       ///< A has half of K
  bool sums_parts = false;   ///< the parts of C have different k of the same A and B
  bool sizes_match = false;  ///< the matrices fill their buffers, and are those of a product
  double agreement = 0;      ///< of the meetings' rows, columns and k, 0 to 1
  std::uint64_t m = 0, n = 0, k = 0;
  std::uint64_t padded_k = 0;                ///< the k up to which both factors extend, padding included
  std::size_t elements = 0, exceptions = 0;  ///< of C that were looked at, and those with a product that does not belong there
  /// Most elements fit it; or the buffers have its sizes; or most meetings agree in each of its dimensions.
  bool is_likely = false;

  bool fits_most() const { return exceptions * 2 < elements; }
};

/// What the candidates for pitches, sizes and numbers of parts come from, besides the meetings.
struct AffineHints {
  std::vector<std::uint64_t> numbers;  ///< integer parameters of the kernel
  std::vector<std::uint64_t> parts;    ///< blocks along the dimensions of the grid
};

/// The product that agrees best with meetings of elements of three buffers. Where most elements do not fit it, or the kernel's results are
/// known to be wrong (`errs`), that of the buffers' sizes, if there is one. `matrices` have their addresses, ends and widths.
AffineProduct fit(const std::vector<const Meeting*>& meetings, const Meetings& all, const std::array<AffineMatrix, matrix_count>& matrices,
                  const AffineHints& hints, bool errs);

}  // namespace warpmat::provenance
