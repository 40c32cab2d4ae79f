#include <warpmat/layout.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace warpmat {
namespace {

constexpr int field_bits = 14;  // of addresses and offsets, in units of 16 bytes
constexpr int start_at = 0, leading_at = 16, stride_at = 32, base_offset_at = 49, swizzle_at = 62;

/// The swizzles, indexed by bits 62 and 63.
constexpr std::array<Swizzle, 4> swizzles{Swizzle::none, Swizzle::bytes_128, Swizzle::bytes_64, Swizzle::bytes_32};

std::uint32_t decode_bytes(std::uint64_t bits, int at) {
  return static_cast<std::uint32_t>(bits >> at & ((1u << field_bits) - 1)) << 4;
}

void check_bytes(std::uint32_t bytes, const char* what) {
  if (bytes % 16 != 0 || bytes >> (field_bits + 4) != 0)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(bytes) +
                                " does not fit a matrix descriptor, which takes multiples of 16 from 0 to 262128");
}

std::uint64_t encode_bytes(std::uint32_t bytes, int at) {
  return std::uint64_t{bytes >> 4} << at;
}

}  // namespace

MatrixDescriptor::MatrixDescriptor(const Fields& fields) : fields_(fields) {
  if (fields.base_offset < 0 || fields.base_offset > 7)
    throw std::invalid_argument("a matrix descriptor's base offset is 0 to 7, not " + std::to_string(fields.base_offset));
  check_bytes(fields.start, "start address");
  check_bytes(fields.leading, "leading byte offset");
  check_bytes(fields.stride, "stride byte offset");
  if (std::ranges::find(swizzles, fields.swizzle) == swizzles.end())
    throw std::invalid_argument("a matrix descriptor's swizzle is none, bytes_32, bytes_64 or bytes_128, not " +
                                std::to_string(static_cast<int>(fields.swizzle)));
}

MatrixDescriptor MatrixDescriptor::decode(std::uint64_t bits) {
  MatrixDescriptor decoded;
  decoded.fields_ = {.start = decode_bytes(bits, start_at),
                     .leading = decode_bytes(bits, leading_at),
                     .stride = decode_bytes(bits, stride_at),
                     .base_offset = static_cast<int>(bits >> base_offset_at & 7),
                     .swizzle = swizzles[bits >> swizzle_at & 3]};
  return decoded;
}

std::uint64_t MatrixDescriptor::encode() const {
  const auto number = static_cast<std::uint64_t>(std::ranges::find(swizzles, swizzle()) - swizzles.begin());
  return encode_bytes(start(), start_at) | encode_bytes(leading(), leading_at) | encode_bytes(stride(), stride_at) |
         static_cast<std::uint64_t>(base_offset()) << base_offset_at | number << swizzle_at;
}

}  // namespace warpmat
