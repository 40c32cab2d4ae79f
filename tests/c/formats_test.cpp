// Formats, values and matrix descriptors through the C interface. Expected bits are written out from the formats' definitions, and from the
// fields of PTX ISA 9.1 section 9.7.15.5.1.2.

#include <warpmat/c.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::c_formats_test {
namespace {

warpmat_format_info info_of(const char* name) {
  auto info = sized<warpmat_format_info>();
  REQUIRE(warpmat_format_describe(warpmat_find_format(name), &info) == WARPMAT_OK);
  return info;
}

warpmat_value decoded(const char* format, std::uint64_t bits) {
  warpmat_value value{};
  REQUIRE(warpmat_decode(warpmat_find_format(format), bits, &value) == WARPMAT_OK);
  return value;
}

std::uint64_t encoded(const char* format, const warpmat_value& value, warpmat_rounding rounding = WARPMAT_NEAREST_EVEN,
                      warpmat_overflow overflow = WARPMAT_OVERFLOW_IEEE) {
  std::uint64_t bits = 0xdead;
  REQUIRE(warpmat_encode(warpmat_find_format(format), &value, rounding, overflow, &bits) == WARPMAT_OK);
  return bits;
}

TEST_CASE("C: what a format consists of", "[c]") {
  const warpmat_format_info e4m3 = info_of("e4m3"), tf32 = info_of("tf32"), s8 = info_of("s8"), ue8m0 = info_of("ue8m0");
  CHECK((e4m3.bits == 8 && e4m3.is_signed == 1 && e4m3.exponent_bits == 4 && e4m3.fraction_bits == 3));
  CHECK((e4m3.specials == WARPMAT_ONE_NAN && e4m3.has_zero == 1 && e4m3.name == std::string("e4m3")));
  CHECK((tf32.bits == 32 && tf32.ignored_low_bits == 13 && tf32.specials == WARPMAT_IEEE_SPECIALS));
  CHECK((s8.exponent_bits == 0 && s8.is_signed == 1));
  CHECK((ue8m0.has_zero == 0 && ue8m0.is_signed == 0));
  CHECK(info_of("e2m1").specials == WARPMAT_NO_SPECIALS);
  auto info = sized<warpmat_format_info>();
  CHECK(warpmat_format_describe(-1, &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_format_describe(warpmat_format_count(), &info) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_format_describe(0, nullptr) == WARPMAT_BAD_ARGUMENT);
  info.size = 8;
  CHECK(warpmat_format_describe(0, &info) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: elements are decoded, and values rounded in each direction", "[c]") {
  const warpmat_value subnormal = decoded("f16", 0x8003);  // -3 * 2^-24
  CHECK((subnormal.kind == WARPMAT_FINITE && subnormal.negative == 1 && subnormal.significand == 3));
  CHECK(subnormal.exponent - subnormal.fraction_bits == -24);
  CHECK(decoded("f32", 0x7f800000).kind == WARPMAT_INFINITY);
  CHECK(decoded("e4m3", 0xff).kind == WARPMAT_NAN);
  CHECK(decoded("f32", 0x80000000).kind == WARPMAT_ZERO);
  CHECK((decoded("s8", 0x80).significand == 128 && decoded("s8", 0x80).negative == 1));

  // 1 + 2^-11 lies between 0x3c00 and 0x3c01 of f16, in the middle.
  const warpmat_value middle{WARPMAT_FINITE, 0, 0, 11, (1 << 11) + 1}, negative{WARPMAT_FINITE, 1, 0, 11, (1 << 11) + 1};
  CHECK(encoded("f16", middle) == 0x3c00);
  CHECK(encoded("f16", middle, WARPMAT_UP) == 0x3c01);
  CHECK(encoded("f16", middle, WARPMAT_DOWN) == 0x3c00);
  CHECK(encoded("f16", negative, WARPMAT_DOWN) == 0xbc01);
  CHECK(encoded("f16", negative, WARPMAT_TOWARD_ZERO) == 0xbc00);
  const warpmat_value large{WARPMAT_FINITE, 0, 30, 0, 1};
  CHECK(encoded("f16", large) == 0x7c00);
  CHECK(encoded("f16", large, WARPMAT_TOWARD_ZERO) == 0x7bff);
  CHECK(encoded("f16", large, WARPMAT_TOWARD_ZERO, WARPMAT_OVERFLOW_INFINITY) == 0x7c00);
  CHECK(encoded("f16", large, WARPMAT_NEAREST_EVEN, WARPMAT_OVERFLOW_SATURATE) == 0x7bff);
  CHECK(encoded("s32", decoded("s8", 0x80)) == 0xffffff80);
  CHECK(encoded("f16", {WARPMAT_NAN, 0, 0, 10, 5}) == 0x7c05);
  CHECK(encoded("f16", {WARPMAT_NAN, 0, 0, 23, 5}) == 0x7fff);
  // Payloads that are those of an infinity or of a finite number.
  CHECK(encoded("f16", {WARPMAT_NAN, 0, 0, 10, 0}) == 0x7fff);
  CHECK(encoded("f32", {WARPMAT_NAN, 1, 0, 23, 0}) == 0x7fffffff);
  CHECK(encoded("e4m3", {WARPMAT_NAN, 0, 0, 3, 0}) == 0x7f);
  CHECK(encoded("e4m3", {WARPMAT_NAN, 1, 0, 3, 5}) == 0x7f);
  CHECK(encoded("e4m3", {WARPMAT_NAN, 1, 0, 3, 7}) == 0xff);

  std::uint64_t bits = 7;
  warpmat_value value = large;
  const int f16 = warpmat_find_format("f16");
  const auto refused = [&](const warpmat_value& of) {
    CHECK(warpmat_encode(f16, &of, WARPMAT_NEAREST_EVEN, WARPMAT_OVERFLOW_IEEE, &bits) == WARPMAT_BAD_ARGUMENT);
    CHECK(bits == 7);
  };
  refused({WARPMAT_FINITE, 0, 0, 10, 0});
  refused({WARPMAT_FINITE, 0, 10001, 10, 1});
  refused({WARPMAT_FINITE, 0, -10001, 10, 1});
  refused({WARPMAT_FINITE, 0, 0, -1, 1});
  refused({WARPMAT_NAN, 0, 0, 10, 1 << 10});
  CHECK(warpmat_encode(-1, &value, WARPMAT_UP, WARPMAT_OVERFLOW_IEEE, &bits) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_encode(f16, nullptr, WARPMAT_UP, WARPMAT_OVERFLOW_IEEE, &bits) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_encode(f16, &value, WARPMAT_UP, WARPMAT_OVERFLOW_IEEE, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_decode(f16, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_decode(99, 0, &value) == WARPMAT_BAD_ARGUMENT);
}

TEST_CASE("C: a matrix descriptor's fields, bits and addresses", "[c][wgmma]") {
  auto error = sized<warpmat_error>();
  auto descriptor = sized<warpmat_matrix_descriptor>();
  descriptor.start = 0x1240;
  descriptor.leading = 16;
  descriptor.stride = 1024;
  descriptor.base_offset = 3;
  descriptor.swizzle = 128;
  std::uint64_t bits = 0;
  REQUIRE(warpmat_descriptor_encode(&descriptor, &bits, &error) == WARPMAT_OK);
  // Bits 0 to 13: start / 16; 16 to 29: leading / 16; 32 to 45: stride / 16; 49 to 51: base offset; 62 and 63: 1 is 128 bytes.
  CHECK(bits ==
        (std::uint64_t{0x124} | std::uint64_t{1} << 16 | std::uint64_t{64} << 32 | std::uint64_t{3} << 49 | std::uint64_t{1} << 62));
  auto back = sized<warpmat_matrix_descriptor>();
  REQUIRE(warpmat_descriptor_decode(bits, &back) == WARPMAT_OK);
  CHECK((back.start == 0x1240 && back.leading == 16 && back.stride == 1024 && back.base_offset == 3 && back.swizzle == 128));

  descriptor.start = 0x1000;
  descriptor.base_offset = 0;
  CHECK(warpmat_descriptor_address(&descriptor, 0, 0, 0) == 0x1000);
  CHECK(warpmat_descriptor_address(&descriptor, 0, 3, 20) == 0x1000 + 3 * 128 + (1 ^ 3) * 16 + 4);  // chunk 1 of row 3
  CHECK(warpmat_descriptor_address(&descriptor, 0, 9, 0) == 0x1000 + 1024 + 128 + 16);              // row 1 of the next eight
  // Without a swizzle, MN-major operands exchange the offsets.
  descriptor.swizzle = 0;
  CHECK(warpmat_descriptor_address(&descriptor, 0, 8, 16) == 0x1000 + 1024 + 16);
  CHECK(warpmat_descriptor_address(&descriptor, 1, 8, 16) == 0x1000 + 16 + 1024);
  CHECK(warpmat_descriptor_address(&descriptor, 1, 8, 0) == 0x1000 + 16);
  CHECK(warpmat_descriptor_address(nullptr, 0, 1, 0) == 0);

  const auto expect = [&](warpmat_status status, const char* part) {
    CHECK(status == WARPMAT_BAD_ARGUMENT);
    CHECK(contains(error.message, part));
    error = sized<warpmat_error>();
  };
  descriptor.swizzle = 16;
  expect(warpmat_descriptor_encode(&descriptor, &bits, &error), "0, 32, 64 or 128 bytes");
  CHECK(warpmat_descriptor_address(&descriptor, 0, 1, 0) == 0);
  descriptor.swizzle = 0;
  descriptor.stride = 8;
  expect(warpmat_descriptor_encode(&descriptor, &bits, &error), "stride");
  CHECK(warpmat_descriptor_address(&descriptor, 0, 1, 0) == 0);
  expect(warpmat_descriptor_encode(nullptr, &bits, &error), "null");
  expect(warpmat_descriptor_encode(&descriptor, nullptr, &error), "null");
  descriptor.size = 8;
  expect(warpmat_descriptor_encode(&descriptor, &bits, &error), "size");
  CHECK(warpmat_descriptor_decode(bits, &descriptor) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace
}  // namespace warpmat::c_formats_test
