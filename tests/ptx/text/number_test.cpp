#include <warpmat/ptx/text/number.h>

#include "test.h"

namespace warpmat::number_test {
namespace {

using Bits = std::optional<std::uint64_t>;

Bits number(std::string_view text, std::string_view type) {
  const bool negative = text.starts_with('-');
  return parse_number(text.substr(negative ? 1 : 0), negative, *find_data_type(type));
}

TEST_CASE("integers of PTX: decimal, hexadecimal, binary, octal") {
  struct Case {
    const char* text;
    Bits value;
  };
  const Case cases[] = {
      {"0", 0},
      {"00", 0},
      {"7", 7},
      {"10", 10},
      {"017", 15},
      {"0x1F", 31},
      {"0X1f", 31},
      {"0b101", 5},
      {"0B11", 3},
      {"5U", 5},
      {"0x1FU", 31},
      {"0U", 0},
      {"", {}},
      {"U", {}},
      {"08", {}},
      {"0x", {}},
      {"0b", {}},
      {"0b2", {}},
      {"0xg", {}},
      {"5u", {}},
      {"5UU", {}},
      {"1.0", {}},
      {"-1", {}},
      {"+1", {}},
      {" 1", {}},
      {"1 ", {}},
      {"1e3", {}},
      {"0f3F800000", {}},
      {"18446744073709551615", ~0ull},
      {"18446744073709551616", {}},
      {"0xFFFFFFFFFFFFFFFF", ~0ull},
      {"0x10000000000000000", {}},
      {"01777777777777777777777", ~0ull},
      {"02000000000000000000000", {}},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    CHECK(parse_integer(c.text) == c.value);
  }
}

TEST_CASE("integers of PTX: every spelling of a random number has its value") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t value = random() >> random() % 64;
    for (const std::string& text : {fmt::format("{}", value), fmt::format("0x{:x}", value), fmt::format("0X{:X}U", value),
                                    fmt::format("0b{:b}", value), fmt::format("0{:o}", value)}) {
      INFO(text);
      REQUIRE(parse_integer(text) == value);
    }
  }
}

TEST_CASE("integer operands: signed and unsigned numbers that the width holds, as two's complement") {
  for (const DataType& type : data_types()) {
    if (type.type_class != DataType::Class::bits && type.type_class != DataType::Class::integer) continue;
    INFO(type.name);
    const std::uint64_t largest = type.bits == 64 ? ~0ull : (1ull << type.bits) - 1, half = 1ull << (type.bits - 1);
    CHECK(number(fmt::format("{}", largest), type.name) == largest);
    CHECK(number(fmt::format("-{}", half), type.name) == half);
    CHECK(number("-1", type.name) == largest);
    CHECK(number("-0", type.name) == 0u);
    CHECK(number(fmt::format("-{}", half + 1), type.name) == Bits{});
    if (type.bits < 64) CHECK(number(fmt::format("{}", largest + 1), type.name) == Bits{});
    CHECK(number("1.0", type.name) == Bits{});
  }
}

TEST_CASE("floating operands: bit patterns of their width and decimal fractions") {
  struct Case {
    const char *text, *type;
    Bits bits;
  };
  const std::uint64_t one = 0x3f800000, one64 = 0x3ff0000000000000;
  const Case cases[] = {
      {"0f3F800000", "f32", one},
      {"0F3f800000", "f32", one},
      {"0f3F800000", "b32", one},
      {"0f3F800000", "u32", {}},
      {"0f3F800000", "b64", {}},
      {"0f3F80000", "f32", {}},
      {"0f3F8000000", "f32", {}},
      {"0f3F80000g", "f32", {}},
      {"-0f3F800000", "f32", {}},
      {"0d3FF0000000000000", "f64", one64},
      {"0d3FF0000000000000", "b64", one64},
      {"0d3FF0000000000000", "f32", {}},
      {"0d3FF000000000000", "f64", {}},
      {"1.0", "f32", one},
      {"-1.0", "f32", one | 0x80000000},
      {"1.0", "f64", one64},
      {"-0.0", "f32", 0x80000000},
      {"1.5e1", "f32", std::bit_cast<std::uint32_t>(15.0f)},
      {"0.1", "f32", std::bit_cast<std::uint32_t>(0.1f)},
      {"0.1", "f64", std::bit_cast<std::uint64_t>(0.1)},
      {"1", "f32", {}},
      {"1e3", "f32", {}},
      {"1.0", "b32", {}},
      {"1.0", "f16", {}},
      {"1.0x", "f32", {}},
      {"1.0", "f16x2", {}},
      {"1", "f16x2", {}},
      {"", "f32", {}},
      {"1.0e999", "f64", {}},
      {"1.0e39", "f32", 0x7f800000},
  };
  for (const Case& c : cases) {
    INFO(c.text << " as " << c.type);
    CHECK(number(c.text, c.type) == c.bits);
  }
}

}  // namespace
}  // namespace warpmat::number_test
