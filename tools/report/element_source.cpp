#include "tools/report/element_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/formats.h>
#include <warpmat/words/words.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace warpmat {
namespace {

bool counts(const ElementType& type, double number) {
  if (!type.format) return number < std::ldexp(1, type.bits);
  return to_double(*type.format, from_double(*type.format, number)) == number;
}

/// The first number, from 0 on, that the format does not represent: 2049 for f16, 0 for ue8m0.
double first_uncounted(const ElementType& type, std::size_t count) {
  double number = 0;
  while (number < static_cast<double>(count) && counts(type, number)) ++number;
  return number;
}

std::vector<std::uint64_t> iota(const ElementType& type, std::size_t count) {
  const double end = first_uncounted(type, count);
  if (end < static_cast<double>(count))
    throw std::runtime_error(fmt::format("iota would count to {}, but {} has no {}: iota-bits gives the bit patterns 0, 1, 2 ... instead",
                                         count - 1, name(type), end));
  std::vector<std::uint64_t> elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = type.format ? from_double(*type.format, static_cast<double>(i)) : i;
  return elements;
}

/// The seed after "random:".
std::uint64_t seed_of(const std::string& source) {
  WordReader words(source, "source", "write random:SEED, as in random:7");
  words.until(':');
  return words.ended() ? 0 : words.number<std::uint64_t>(words.rest(), 0, UINT64_MAX, "seed");
}

std::uint64_t random_element(std::mt19937_64& generator, const ElementType& type) {
  constexpr int scale_exponents = 8;  // of ue8m0: 2^-4 to 2^3
  const std::uint64_t random = generator();
  if (!type.format || is_integer(row(*type.format))) return low_bits(random >> (64 - type.bits), type.bits);
  if (*type.format == Format::ue8m0) return from_double(Format::ue8m0, std::ldexp(1, static_cast<int>(random % scale_exponents) - 4));
  const double number = std::ldexp(static_cast<double>(random >> 11), -52) - 1;
  return from_double(*type.format, row(*type.format).is_signed ? number : std::abs(number));
}

}  // namespace

std::optional<std::vector<std::uint64_t>> generated_elements(const std::string& source, const ElementType& type, std::size_t count) {
  if (source == "zeros") return std::vector<std::uint64_t>(count);
  if (source == "iota") return iota(type, count);
  std::vector<std::uint64_t> elements(count);
  if (source == "iota-bits") {
    for (std::size_t i = 0; i < count; ++i) elements[i] = low_bits(i, type.bits);
    return elements;
  }
  if (source != "random" && !source.starts_with("random:")) return std::nullopt;
  std::mt19937_64 generator(seed_of(source));
  for (std::uint64_t& element : elements) element = random_element(generator, type);
  return elements;
}

std::string source_help() {
  std::vector<std::string> limits;
  constexpr std::size_t enough = 1 << 12;
  for (const FormatRow& f : format_rows())
    if (const double end = first_uncounted(ElementType::of(f.format), enough); end < enough)
      limits.push_back(end == 0 ? fmt::format("{} not at all", f.name) : fmt::format("{} to {}", f.name, end - 1));
  return fmt::format(
      "  iota           the numbers 0, 1, 2 ... in the order of rows, as far as the format can count:\n"
      "                 {}\n"
      "  iota-bits      the bit patterns 0, 1, 2 ..., which begin again after the format's last\n"
      "  random[:SEED]  numbers from -1 to 1; of ue4m3 from 0 to 1, of ue8m0 powers of two from 2^-4 to 2^3; integers and bits over their\n"
      "                 whole range\n"
      "  zeros          bits that are all zero; of ue8m0 that is 2^-127\n",
      fmt::join(limits, ", "));
}

}  // namespace warpmat
