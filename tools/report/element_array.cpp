#include "tools/report/element_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <warpmat/formats.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

namespace warpmat {
namespace {

// ---- The contents of each dtype -------------------------------------------------------------------------------------------------------

enum class DTypeClass : std::uint8_t { unsigned_of_width, signed_of_width, other_integer, floating };
enum class ElementClass : std::uint8_t { floating, integer, plain_bits };
enum class Verdict : std::uint8_t { bits, values, refused };

constexpr auto bits_ = Verdict::bits;
constexpr auto values_ = Verdict::values;
constexpr auto refused = Verdict::refused;

/// By DTypeClass, then by ElementClass. A width is that of the smallest NumPy integer that holds the element.
constexpr std::array<std::array<Verdict, 3>, 4> verdicts{{
    //                     floating  integer  plain bits
    /* unsigned of width */ {bits_, bits_, bits_},
    /* signed of width   */ {refused, values_, bits_},
    /* other integer     */ {refused, values_, refused},
    /* floating          */ {values_, values_, refused},
}};

/// Bits of the smallest NumPy integer that holds `bits` bits.
constexpr int storage_bits(int bits) {
  return bits <= 8 ? 8 : bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
}

constexpr bool is_floating(DType dtype) {
  return dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64;
}
constexpr bool is_unsigned(DType dtype) {
  return dtype == DType::uint8 || dtype == DType::uint16 || dtype == DType::uint32 || dtype == DType::uint64;
}

DTypeClass class_of(DType dtype, int element_bits) {
  if (is_floating(dtype)) return DTypeClass::floating;
  if (static_cast<int>(8 * size_of(dtype)) != storage_bits(element_bits)) return DTypeClass::other_integer;
  return is_unsigned(dtype) ? DTypeClass::unsigned_of_width : DTypeClass::signed_of_width;
}

ElementClass class_of(const ElementType& type) {
  if (!type.format) return ElementClass::plain_bits;
  return is_integer(row(*type.format)) ? ElementClass::integer : ElementClass::floating;
}

Verdict verdict(DType dtype, const ElementType& type) {
  return verdicts[static_cast<std::size_t>(class_of(dtype, type.bits))][static_cast<std::size_t>(class_of(type))];
}

DType unsigned_of(int bits) {
  switch (storage_bits(bits)) {
    case 8: return DType::uint8;
    case 16: return DType::uint16;
    case 32: return DType::uint32;
    default: return DType::uint64;
  }
}

constexpr DType all_dtypes[] = {DType::uint8, DType::uint16, DType::uint32,  DType::uint64,  DType::int8,   DType::int16,
                                DType::int32, DType::int64,  DType::float16, DType::float32, DType::float64};

/// "float16 float32 float64"
std::string dtypes_with(Verdict wanted, const ElementType& type, std::string_view separator) {
  std::vector<std::string_view> names;
  for (const DType dtype : all_dtypes)
    if (verdict(dtype, type) == wanted) names.push_back(name(dtype));
  return fmt::format("{}", fmt::join(names, separator));
}

// ---- Numbers of an array ------------------------------------------------------------------------------------------------------------

/// Calls `visit` with number `index` of an array, in the C++ type of `dtype`; float16 as a double.
template <typename Visit>
auto visit_number(DType dtype, std::span<const std::byte> elements, std::size_t index, Visit visit) {
  const auto load = [&]<typename T>(T value) {
    std::memcpy(&value, elements.data() + index * sizeof(T), sizeof(T));
    return value;
  };
  switch (dtype) {
    case DType::uint8: return visit(load(std::uint8_t{}));
    case DType::uint16: return visit(load(std::uint16_t{}));
    case DType::uint32: return visit(load(std::uint32_t{}));
    case DType::uint64: return visit(load(std::uint64_t{}));
    case DType::int8: return visit(load(std::int8_t{}));
    case DType::int16: return visit(load(std::int16_t{}));
    case DType::int32: return visit(load(std::int32_t{}));
    case DType::int64: return visit(load(std::int64_t{}));
    case DType::float16: return visit(to_double(Format::f16, load(std::uint16_t{})));
    case DType::float32: return visit(load(float{}));
    default: return visit(load(double{}));
  }
}

[[noreturn]] void refuse_number(double number, const FormatRow& format, std::string_view holds) {
  throw std::runtime_error(fmt::format("{} is no number of {}, which holds {}", number, format.name, holds));
}

std::string range_text(Format format) {
  return fmt::format("{} to {}", to_double(format, largest_finite(format, row(format).is_signed)),
                     to_double(format, largest_finite(format, false)));
}

/// The format of an array's numbers; of unsigned integers nothing, as they are bit patterns.
std::optional<Format> format_of(DType dtype) {
  switch (dtype) {
    case DType::float16: return Format::f16;
    case DType::float32: return Format::f32;
    case DType::float64: return Format::f64;
    case DType::int8: return Format::s8;
    case DType::int32: return Format::s32;
    case DType::uint8: return Format::u8;
    default: return std::nullopt;
  }
}

/// Whether one of the codes is larger than `most`, but for the bits outside of `mask`.
template <typename Code>
bool has_larger(std::span<const std::byte> codes, std::uint64_t mask, std::uint64_t most) {
  Code found = 0;
  for (std::size_t at = 0; at < codes.size(); at += sizeof(Code)) {
    Code code;
    std::memcpy(&code, codes.data() + at, sizeof code);
    found |= static_cast<Code>((code & static_cast<Code>(mask)) > static_cast<Code>(most));
  }
  return found != 0;
}

bool has_larger(std::span<const std::byte> codes, std::size_t bytes, std::uint64_t mask, std::uint64_t most) {
  switch (bytes) {
    case 1: return has_larger<std::uint8_t>(codes, mask, most);
    case 2: return has_larger<std::uint16_t>(codes, mask, most);
    case 4: return has_larger<std::uint32_t>(codes, mask, most);
    default: return has_larger<std::uint64_t>(codes, mask, most);
  }
}

double min_integer(const FormatRow& f) {
  return f.is_signed ? -std::ldexp(1, f.bits - 1) : 0;
}
double largest_integer(const FormatRow& f) {
  return std::ldexp(1, f.is_signed ? f.bits - 1 : f.bits) - 1;
}

}  // namespace

std::string name(const ElementType& type) {
  return type.format ? std::string(name(*type.format)) : fmt::format("b{}", type.bits);
}

std::string element_text(const ElementType& type, std::uint64_t bits) {
  if (!type.format) return fmt::format("{:#0{}x}", bits, 2 + (type.bits + 3) / 4);
  const double value = to_double(*type.format, bits);
  return *type.format == Format::f64 || is_integer(row(*type.format)) ? fmt::format("{}", value)
                                                                      : fmt::format("{}", static_cast<float>(value));
}

ElementType find_element_type(std::string_view text) {
  if (const FormatRow* found = find_format(text)) return ElementType::of(found->format);
  const bool plain = text.starts_with('b') || text.starts_with('x');
  for (const int width : {4, 6, 8, 16, 32, 64})
    if (plain && number_of<int>(text.substr(1)) == width) return {std::nullopt, width};
  std::vector<std::string_view> names;
  for (const FormatRow& f : format_rows()) names.push_back(f.name);
  throw std::runtime_error(
      fmt::format("unknown format '{}': there are {}, and x4, x6, x8, x16, x32, x64 for plain bits", text, fmt::join(names, ", ")));
}

std::optional<Reading> find_reading(std::string_view text) {
  if (text == "values") return Reading::values;
  if (text == "bits") return Reading::bits;
  return std::nullopt;
}

ElementReader::ElementReader(DType dtype, const ElementType& type, Reading said, std::string_view place) : dtype_(dtype), type_(type) {
  const std::string integers = fmt::format("bit patterns of {} are {}", name(type), name(unsigned_of(type.bits)));
  if (said == Reading::values && !type.format)
    throw std::runtime_error(fmt::format("{} has no format that numbers could be rounded to: write one, such as {}:f16", place, place));
  if (said == Reading::bits && is_floating(dtype)) throw std::runtime_error(fmt::format("{} holds numbers; {}", name(dtype), integers));
  const Verdict verdict = said == Reading::values ? Verdict::values : said == Reading::bits ? Verdict::bits : warpmat::verdict(dtype, type);
  if (verdict == Verdict::refused && !type.format)
    throw std::runtime_error(
        fmt::format("{} is neither bits nor in a format: {}, and numbers need a format, such as {}:f16", name(dtype), integers, place));
  if (verdict == Verdict::refused)
    throw std::runtime_error(fmt::format("{} could be numbers or bit patterns of {}: write {}:values or {}:bits ({}, and numbers are {})",
                                         name(dtype), name(type), place, place, integers, dtypes_with(Verdict::values, type, " or ")));
  as_bits_ = verdict == Verdict::bits;
  keeps_codes_ = !as_bits_ && type.format && format_of(dtype) == type.format;
}

/// Whether all elements of an array are codes, so that none is to be converted or refused.
bool ElementReader::are_codes(std::span<const std::byte> elements) const {
  const std::size_t bytes = size_of(dtype_);
  if (as_bits_ && bytes == size_of(unsigned_of(type_.bits)))
    return static_cast<int>(8 * bytes) == type_.bits || !has_larger(elements, bytes, ~std::uint64_t{0}, low_bits(~0ull, type_.bits));
  if (!keeps_codes_) return false;
  const FormatRow& f = row(*type_.format);
  return is_integer(f) || !has_larger(elements, bytes, low_bits(~0ull, f.bits - 1), infinity(f.format, false));  // a NaN is larger
}

std::span<const std::byte> ElementReader::codes(std::span<const std::byte> elements, std::vector<std::byte>& scratch) const {
  if (are_codes(elements)) return elements;
  const std::size_t count = elements.size() / size_of(dtype_), bytes = size_of(unsigned_of(type_.bits));
  scratch.resize(count * bytes);
  for (std::size_t i = 0; i < count; ++i) write_element(scratch, i, bits(elements, i), type_, Reading::bits);
  return scratch;
}

std::uint64_t ElementReader::bits(std::span<const std::byte> elements, std::size_t index) const {
  if (as_bits_) return bits_of_pattern(elements, index);
  return bits_of_number(visit_number(dtype_, elements, index, [](auto number) { return static_cast<double>(number); }));
}

std::uint64_t ElementReader::bits_of_number(double number) const {
  const FormatRow& f = row(*type_.format);
  if (is_integer(f)) {
    if (!(number >= min_integer(f) && number <= largest_integer(f)) || number != std::floor(number))
      refuse_number(number, f, fmt::format("whole numbers from {} to {}", min_integer(f), largest_integer(f)));
    return low_bits(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)), f.bits);
  }
  const bool has_nan = f.specials != Specials::none, has_infinity = f.specials == Specials::ieee;
  if (std::isnan(number) && !has_nan) refuse_number(number, f, "no NaN");
  if (std::isinf(number) && !has_infinity) refuse_number(number, f, range_text(f.format));
  if (!f.is_signed && (number < 0 || (number == 0 && !f.has_zero))) refuse_number(number, f, "positive numbers");
  const std::uint64_t bits = from_double(f.format, number);
  if (std::isfinite(number) && std::abs(number) > to_double(f.format, largest_finite(f.format, false)) &&
      (!has_infinity || bits == infinity(f.format, number < 0)))
    refuse_number(number, f, range_text(f.format));
  return bits;
}

std::uint64_t ElementReader::bits_of_pattern(std::span<const std::byte> elements, std::size_t index) const {
  const bool own_width = static_cast<int>(8 * size_of(dtype_)) == type_.bits;
  return visit_number(dtype_, elements, index, [&](auto number) {
    const auto bits = low_bits(static_cast<std::uint64_t>(number), own_width ? type_.bits : 64);
    if (bits != low_bits(bits, type_.bits))
      throw std::runtime_error(fmt::format("{} is no bit pattern of {}, which has {} bits: 0 to {:#x}", number, name(type_), type_.bits,
                                           low_bits(~0ull, type_.bits)));
    return bits;
  });
}

DType written_dtype(const ElementType& type, Reading reading) {
  if (!type.format || reading == Reading::bits) return unsigned_of(type.bits);
  switch (*type.format) {
    case Format::f64: return DType::float64;
    case Format::f16: return DType::float16;
    case Format::s32: return DType::int32;
    case Format::s8:
    case Format::s4: return DType::int8;
    case Format::u8:
    case Format::u4:
    case Format::b1: return DType::uint8;
    default: return DType::float32;
  }
}

bool holds_codes(const ElementType& type, Reading reading) {
  return !type.format || reading == Reading::bits || format_of(written_dtype(type, reading)) == type.format;
}

void write_element(std::span<std::byte> elements, std::size_t index, std::uint64_t bits, const ElementType& type, Reading reading) {
  const DType dtype = written_dtype(type, reading);
  if (!holds_codes(type, reading)) bits = from_double(*format_of(dtype), to_double(*type.format, bits));
  std::memcpy(elements.data() + index * size_of(dtype), &bits, size_of(dtype));
}

std::string dtype_help() {
  Table table({"  format", "bit patterns", "numbers"});
  std::vector<std::pair<std::string, ElementType>> lines;  // formats with the same text
  const auto same = [](const ElementType& a, const ElementType& b) {
    return storage_bits(a.bits) == storage_bits(b.bits) && class_of(a) == class_of(b);
  };
  const auto add = [&](const ElementType& type) {
    const auto line = std::ranges::find_if(lines, [&](const auto& l) { return same(l.second, type); });
    if (line == lines.end())
      lines.emplace_back("  " + name(type), type);
    else
      line->first += " " + name(type);
  };
  for (const FormatRow& f : format_rows()) add(ElementType::of(f.format));
  for (const int bits : {8, 16, 32, 64}) add({std::nullopt, bits});
  for (const auto& [formats, type] : lines)
    table.add({formats, dtypes_with(Verdict::bits, type, " "), dtypes_with(Verdict::values, type, " ")});
  return "The dtype of an array says whether it holds bit patterns or numbers, which are rounded to the format. What could be either is "
         "refused,\n"
         "until :bits or :values behind the FORMAT says it.\n" +
         table.text();
}

}  // namespace warpmat
