#include "gpu/cases/random_descriptor.h"

#include <utility>

namespace warpmat {
namespace {

constexpr std::uint32_t granule = 16;                      // bytes: of addresses and offsets
constexpr std::uint32_t pattern = 1024;                    // bytes after which every swizzle repeats
constexpr std::uint64_t no_field = 0x3ff1'c000'c000'c000;  // bits 14, 15, 30, 31, 46 to 48, 52 to 61

/// A multiple of 16 from 0 to `most`.
std::uint32_t random_offset(std::uint32_t most, Random& random) {
  return static_cast<std::uint32_t>(random.below(most / granule + 1)) * granule;
}

/// An offset that is added `times` times, at most `available` in total. If it is never added, any value of the field.
std::uint32_t random_stride(std::uint32_t times, std::uint32_t available, Random& random) {
  constexpr std::uint32_t largest = (1u << 18) - granule;
  return random_offset(times == 0 ? largest : available / times, random);
}

}  // namespace

std::uint64_t random_descriptor(const MatrixLines& matrix, std::uint32_t memory_bytes, Random& random) {
  MatrixDescriptor::Fields d;
  d.swizzle = static_cast<Swizzle>(random.below(4));
  const std::uint32_t eight_lines = 8 * MatrixDescriptor::line_bytes(d.swizzle), line_steps = matrix.line_steps(),
                      byte_steps = matrix.byte_steps(d.swizzle);
  std::uint32_t lines_on = eight_lines, bytes_on = eight_lines * (line_steps + 1);
  if (random.one_in(3)) {
    const std::uint32_t size = bytes_on * (byte_steps + 1);
    d.start = static_cast<std::uint32_t>(random.below((memory_bytes - size) / pattern + 1)) * pattern;
  } else {
    std::uint32_t available = memory_bytes - eight_lines;
    d.start = random_offset(available / 4, random);
    available -= d.start;
    lines_on = random_stride(line_steps, available / 2, random);
    bytes_on = random_stride(byte_steps, available / 2, random);
    if (random.one_in(2)) d.base_offset = static_cast<int>(random.below(8));
  }
  d.stride = lines_on;
  d.leading = bytes_on;
  if (matrix.major == Major::mn && d.swizzle == Swizzle::none) std::swap(d.stride, d.leading);
  return MatrixDescriptor(d).encode() | (random.next() & no_field);
}

}  // namespace warpmat
