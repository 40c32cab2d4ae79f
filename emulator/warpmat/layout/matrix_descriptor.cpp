#include <warpmat/layout.h>

#include <array>
#include <stdexcept>
#include <string>

namespace warpmat::inline v0_1 {
namespace {

constexpr int field_bits = 14;  // of addresses and offsets, in units of 16 bytes
constexpr int start_at = 0, leading_at = 16, stride_at = 32, base_offset_at = 49, swizzle_at = 62;

/// The swizzles, indexed by bits 62 and 63.
constexpr std::array<Swizzle, 4> swizzles{Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64, Swizzle::bytes_32};

std::uint32_t decode_bytes(std::uint64_t bits, int at) {
  return static_cast<std::uint32_t>(bits >> at & ((1u << field_bits) - 1)) << 4;
}

std::uint64_t encode_bytes(std::uint32_t bytes, int at, const char* what) {
  if (bytes % 16 != 0 || bytes >> (field_bits + 4) != 0)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(bytes) +
                                " does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128");
  return std::uint64_t{bytes >> 4} << at;
}

}  // namespace

MatrixDescriptor MatrixDescriptor::decode(std::uint64_t bits) {
  return {.start = decode_bytes(bits, start_at),
          .leading = decode_bytes(bits, leading_at),
          .stride = decode_bytes(bits, stride_at),
          .base_offset = static_cast<int>(bits >> base_offset_at & 7),
          .swizzle = swizzles[bits >> swizzle_at & 3]};
}

std::uint64_t MatrixDescriptor::encode() const {
  if (base_offset < 0 || base_offset > 7)
    throw std::invalid_argument("a matrix descriptor's base offset is 0 to 7, not " + std::to_string(base_offset));
  std::uint64_t number = 0;
  while (swizzles[number] != swizzle) ++number;
  return encode_bytes(start, start_at, "start address") | encode_bytes(leading, leading_at, "leading byte offset") |
         encode_bytes(stride, stride_at, "stride byte offset") | static_cast<std::uint64_t>(base_offset) << base_offset_at |
         number << swizzle_at;
}

}  // namespace warpmat::inline v0_1
