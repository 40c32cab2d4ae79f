#include "tools/report/element_array.h"

#include <warpmat/formats.h>

#include "command.h"
#include "test.h"
#include "tools/report/npy.h"

// The rule of docs and --help, written down once more by hand: unsigned integers of the format's width are bit patterns, floats are
// numbers, integers of other kinds are the numbers of an integer format and nothing else.

namespace warpmat::element_array_test {
namespace {

struct FormatFacts {
  const char* format;
  int storage_bits;  ///< of NumPy's integer that holds its bit patterns
  bool integer;
  std::uint64_t one;  ///< the bit pattern of the number 1
};

/// What numeric/format_test.cpp holds against the standards.
const std::vector<FormatFacts> formats = [] {
  std::vector<FormatFacts> all;
  for (const FormatRow& f : format_rows()) all.push_back({f.name.data(), std::max(8, f.bits), is_integer(f), from_double(f.format, 1)});
  return all;
}();

constexpr DType dtypes[] = {DType::uint8, DType::uint16, DType::uint32,  DType::uint64,  DType::int8,   DType::int16,
                            DType::int32, DType::int64,  DType::float16, DType::float32, DType::float64};

bool is_float(DType dtype) {
  return std::string(name(dtype)).starts_with("float");
}
bool is_unsigned(DType dtype) {
  return std::string(name(dtype)).starts_with("uint");
}

enum class Expected { bits, values, refused };

Expected expected(DType dtype, const FormatFacts& format) {
  if (is_float(dtype)) return Expected::values;
  if (is_unsigned(dtype) && static_cast<int>(8 * size_of(dtype)) == format.storage_bits) return Expected::bits;
  return format.integer ? Expected::values : Expected::refused;
}

/// An array of `dtype` all of whose elements are the number `number`; float16 only of 1.
NpyArray filled(DType dtype, std::vector<std::size_t> shape, std::uint64_t number) {
  NpyArray array = NpyArray::zeros(dtype, std::move(shape));
  for (std::size_t i = 0; i < array.bytes.size() / size_of(dtype); ++i) {
    std::uint64_t element = number;
    const float single = 1;
    const double twice = 1;
    if (dtype == DType::float16) element = 0x3c00;
    if (dtype == DType::float32) std::memcpy(&element, &single, sizeof single);
    if (dtype == DType::float64) std::memcpy(&element, &twice, sizeof twice);
    std::memcpy(array.bytes.data() + i * size_of(dtype), &element, size_of(dtype));
  }
  return array;
}

/// The number that an array must hold so that its elements are 1 of the format, if it is taken at all.
std::uint64_t number_for(DType dtype, const FormatFacts& format) {
  return expected(dtype, format) == Expected::bits ? format.one : 1;
}

TEST_CASE("every dtype is bit patterns, numbers, or refused for every format", "[tools]") {
  for (const FormatFacts& format : formats)
    for (const DType dtype : dtypes) {
      CAPTURE(format.format, name(dtype));
      const NpyArray array = filled(dtype, {1}, number_for(dtype, format));
      const auto read = [&](Reading said) {
        return ElementReader(dtype, find_element_type(format.format), said, "0.a").bits(array.bytes, 0);
      };
      if (expected(dtype, format) == Expected::refused) {
        std::string message;
        try {
          (void)read(Reading::by_dtype);
        } catch (const std::runtime_error& e) {
          message = e.what();
        }
        CHECK(contains(message, std::string(name(dtype)) + " could be numbers or bit patterns of " + format.format));
        CHECK(contains(message, "0.a:values"));
        CHECK(contains(message, "0.a:bits"));
      } else {
        CHECK(read(Reading::by_dtype) == format.one);
      }
      const NpyArray one = filled(dtype, {1}, 1), code = filled(dtype, {1}, format.one);
      CHECK(ElementReader(dtype, find_element_type(format.format), Reading::values, "0.a").bits(one.bytes, 0) == format.one);
      if (is_float(dtype))
        CHECK_THROWS(read(Reading::bits));
      else if (static_cast<int>(8 * size_of(dtype)) >= format.storage_bits)
        CHECK(ElementReader(dtype, find_element_type(format.format), Reading::bits, "0.a").bits(code.bytes, 0) == format.one);
    }
}

/// The codes of all elements, or the error, by `read`.
template <typename Read>
std::string codes_or_error(Read read) {
  try {
    const std::vector<std::byte> codes = read();
    return {reinterpret_cast<const char*>(codes.data()), codes.size()};
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

TEST_CASE("an array read at once has the codes of its elements read one by one", "[tools]") {
  std::mt19937_64 random(58);
  for (const FormatFacts& format : formats)
    for (const DType dtype : dtypes)
      for (const Reading said : {Reading::by_dtype, Reading::values, Reading::bits})
        for (const int kept : {4, 6, 64}) {  // bits of an element: few formats take all that 64 random ones make
          if (said == Reading::bits ? is_float(dtype) : said == Reading::by_dtype && expected(dtype, format) == Expected::refused) continue;
          CAPTURE(format.format, name(dtype), kept);
          const ElementType type = find_element_type(format.format);
          const ElementReader reader(dtype, type, said, "0.a");
          NpyArray array = NpyArray::zeros(dtype, {64});
          for (std::size_t i = 0; i < 64; ++i) {
            const std::uint64_t element = low_bits(random(), kept);
            std::memcpy(array.bytes.data() + i * size_of(dtype), &element, size_of(dtype));
          }
          std::vector<std::byte> scratch;
          const auto at_once = [&] {
            const auto codes = reader.codes(array.bytes, scratch);
            return std::vector<std::byte>(codes.begin(), codes.end());
          };
          const auto one_by_one = [&] {
            const std::size_t bytes = static_cast<std::size_t>(format.storage_bits) / 8;
            std::vector<std::byte> codes(64 * bytes);
            for (std::size_t i = 0; i < 64; ++i) {
              const std::uint64_t code = reader.bits(array.bytes, i);
              std::memcpy(codes.data() + i * bytes, &code, bytes);
            }
            return codes;
          };
          CHECK(codes_or_error(at_once) == codes_or_error(one_by_one));
        }
}

TEST_CASE("a NaN of a file is the format's own, in whatever place of the array", "[tools]") {
  NpyArray array = NpyArray::zeros(DType::float16, {40});
  constexpr std::uint16_t nan = 0xfe01, infinite = 0xfc00;
  std::memcpy(array.bytes.data() + 2 * 37, &nan, 2);
  std::memcpy(array.bytes.data() + 2 * 5, &infinite, 2);
  std::vector<std::byte> scratch;
  const auto codes = ElementReader(DType::float16, ElementType::of(Format::f16), Reading::by_dtype, "x").codes(array.bytes, scratch);
  std::uint16_t code = 0;
  std::memcpy(&code, codes.data() + 2 * 37, 2);
  CHECK(code == 0x7fff);
  std::memcpy(&code, codes.data() + 2 * 5, 2);
  CHECK(code == infinite);
}

TEST_CASE("numbers and codes that a format does not have are refused, not bent", "[tools]") {
  const auto read = [](DType dtype, const char* format, std::uint64_t number, Reading said = Reading::by_dtype) {
    NpyArray array = NpyArray::zeros(dtype, {1});
    std::memcpy(array.bytes.data(), &number, size_of(dtype));
    return ElementReader(dtype, find_element_type(format), said, "x").bits(array.bytes, 0);
  };
  CHECK_THROWS_WITH(read(DType::int64, "s8", 300), "300 is no number of s8, which holds whole numbers from -128 to 127");
  CHECK_THROWS_WITH(read(DType::uint8, "e2m1", 0x10), "16 is no bit pattern of e2m1, which has 4 bits: 0 to 0xf");
  CHECK_THROWS_WITH(read(DType::uint8, "s4", 200), "200 is no bit pattern of s4, which has 4 bits: 0 to 0xf");
  CHECK_THROWS_WITH(read(DType::int64, "ue8m0", 0, Reading::values), "0 is no number of ue8m0, which holds positive numbers");
  CHECK_THROWS_WITH(read(DType::int64, "e4m3", 500, Reading::values), "500 is no number of e4m3, which holds -448 to 448");
  CHECK_THROWS_WITH(read(DType::float64, "s8", 0x3ff8000000000000), "1.5 is no number of s8, which holds whole numbers from -128 to 127");
  CHECK(read(DType::int64, "s4", static_cast<std::uint64_t>(-3)) == 0xd);
  CHECK(read(DType::uint8, "s8", 0xfd) == 0xfd);
  CHECK(read(DType::int16, "f16", 0xbc00, Reading::bits) == 0xbc00);
}

}  // namespace
}  // namespace warpmat::element_array_test
