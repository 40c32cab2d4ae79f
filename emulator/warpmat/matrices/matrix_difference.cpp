#include <warpmat/matrices.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <warpmat/formats.h>
#include <warpmat/matrices/element_map.h>
#include <warpmat/matrices/index_set.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

constexpr std::size_t first_shown = 3;
constexpr std::size_t most_mapped = std::size_t{1} << 20;  ///< elements among which sources are looked for

/// Bit patterns of a floating-point format as integers in the order of their values; neighbours differ by one, the zeros by nothing.
std::int64_t ordered(const FormatRow& f, std::uint64_t bits) {
  const std::uint64_t sign = f.is_signed ? std::uint64_t{1} << (f.bits - 1) : 0;
  const auto magnitude = static_cast<std::int64_t>((sign != 0 ? bits & (sign - 1) : bits) >> f.ignored_low_bits);
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

/// Element `index` of packed elements of `bits` bits.
std::uint64_t element(std::span<const std::uint8_t> bytes, std::size_t index, int bits) {
  std::uint64_t value = 0;
  if (bits % 8 == 0) {
    const auto size = static_cast<std::size_t>(bits / 8);
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{bytes[index * size + i]} << 8 * i;
    return value;
  }
  for (int b = 0; b < bits; ++b) {
    const std::size_t at = index * static_cast<std::size_t>(bits) + static_cast<std::size_t>(b);
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[at / 8] >> at % 8 & 1)} << b;
  }
  return value;
}

void put_element(std::span<std::uint8_t> bytes, std::size_t index, int bits, std::uint64_t value) {
  for (int b = 0; b < bits; ++b) {
    const std::size_t at = index * static_cast<std::size_t>(bits) + static_cast<std::size_t>(b);
    bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (value >> b & 1) << at % 8);
  }
}

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

class Comparison {
 public:
  Comparison(const MatrixPair& matrices, const Tolerance& tolerance)
      : m_(matrices), tolerance_(tolerance), bits_(m_.format ? row(*m_.format).bits : m_.bits) {
    if (m_.shape.empty() || bits_ < 1 || bits_ > 64) throw std::invalid_argument("a matrix has a shape, and elements of 1 to 64 bits");
    for (const std::size_t size : m_.shape) count_ *= size;
    columns_ = m_.shape.back();
    const std::size_t bytes = (count_ * static_cast<std::size_t>(bits_) + 7) / 8;
    for (const auto& [given, what] : {std::pair(m_.held, "the matrix"), std::pair(m_.expected, "the expected one")})
      if (given.size() != bytes)
        throw std::invalid_argument(
            fmt::format("{} elements of {} bits are {} bytes; {} has {}", count_, bits_, bytes, what, given.size()));
    if (!m_.before.empty() && m_.before.size() != bytes)
      throw std::invalid_argument(fmt::format("what was there before has {} bytes, the matrix {}", m_.before.size(), bytes));
    if (!m_.format && !tolerance.exact()) throw std::invalid_argument("plain bits are equal or not: no tolerance");
  }

  MatrixDifference result() {
    MatrixDifference result{count_, 0, {}, ""};
    wrong_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (close(held(i), expected(i))) continue;
      wrong_[i] = true;
      if (result.wrong++ == 0) result.first = indices(i);
    }
    wrong_count_ = result.wrong;
    if (result.wrong != 0) result.text = text();
    return result;
  }

 private:
  std::uint64_t held(std::size_t i) const { return element(m_.held, i, bits_); }
  std::uint64_t expected(std::size_t i) const { return element(m_.expected, i, bits_); }
  double number(std::uint64_t bits) const { return to_double(*m_.format, bits); }

  bool close(std::uint64_t a, std::uint64_t wanted) const {
    if (a == wanted) return true;
    if (!m_.format) return false;
    const double x = number(a), y = number(wanted);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (tolerance_.exact() || std::isinf(x) || std::isinf(y)) return false;
    return units_between(*m_.format, a, wanted) <= tolerance_.units ||
           std::abs(x - y) <= tolerance_.absolute + tolerance_.relative * std::abs(y);
  }

  std::vector<std::size_t> indices(std::size_t i) const {
    std::vector<std::size_t> all(m_.shape.size());
    for (std::size_t d = all.size(); d-- > 0; i /= m_.shape[d]) all[d] = i % m_.shape[d];
    return all;
  }
  std::string place(std::size_t i) const { return fmt::format("{}[{}]", m_.name, joined(indices(i), ",")); }

  std::string show(std::uint64_t bits) const {
    if (!m_.format) return fmt::format("{:#x}", bits);
    const double x = number(bits);
    return std::isnan(x) ? std::string("NaN") : *m_.format == Format::f32 ? fmt::format("{}", static_cast<float>(x)) : fmt::format("{}", x);
  }

  /// "458,752 units in the last place apart", "apart by 3".
  std::string distance(std::uint64_t a, std::uint64_t b) const {
    if (!m_.format) return fmt::format("bits {:#x} differ", a ^ b);
    const double units = units_between(*m_.format, a, b);
    if (std::isinf(units)) return "one of them is no number";
    if (units == 0) return "equal numbers, other bits";
    if (is_integer(row(*m_.format))) return fmt::format("apart by {}", units);
    if (units >= 1e15) return fmt::format("{:.3g} units in the last place apart", units);
    return fmt::format("{} {} in the last place apart", with_commas(static_cast<std::uint64_t>(units)), units == 1 ? "unit" : "units");
  }

  std::string line(std::size_t i) const {
    return fmt::format("{} is {}, expected {}: {}\n", place(i), show(held(i)), show(expected(i)), distance(held(i), expected(i)));
  }

  std::string text() const {
    const std::string type = m_.format ? std::string(name(*m_.format)) : fmt::format("b{}", bits_);
    std::string text = fmt::format("{} of {} elements of {} differ ({}, {}; {})\n", with_commas(wrong_count_), with_commas(count_), m_.name,
                                   type, joined(m_.shape, " x "), tolerance_text());
    text +=
        fmt::format("where: {}{}\n", describe_mask(wrong_, columns_), m_.shape.size() > 2 ? "; rows of all matrices are counted on" : "");
    if (const std::string what = contents(); !what.empty()) text += fmt::format("what: {}\n", what);
    std::size_t shown = 0, largest = 0;
    double most = -1;
    for (std::size_t i = 0; i < count_; ++i) {
      if (!wrong_[i]) continue;
      if (shown++ < first_shown) text += line(i);
      const double units = m_.format ? units_between(*m_.format, held(i), expected(i)) : -1;
      if (units > most) most = units, largest = i;
    }
    if (m_.format && wrong_count_ > first_shown) text += "largest distance: " + line(largest);
    return text;
  }

  std::string tolerance_text() const {
    if (tolerance_.exact()) return "compared bit for bit";
    std::vector<std::string> parts;
    if (tolerance_.units != 0) parts.push_back(fmt::format("{} units in the last place", tolerance_.units));
    if (tolerance_.relative != 0) parts.push_back(fmt::format("{} of the number", tolerance_.relative));
    if (tolerance_.absolute != 0) parts.push_back(fmt::format("{}", tolerance_.absolute));
    return fmt::format("allowed: {}", joined(parts, tolerance_.units != 0 ? ", or " : " and "));
  }

  // ---- What the wrong elements hold
  // -------------------------------------------------------------------------------------------------------

  std::string contents() const {
    if (auto text = one_value(); !text.empty()) return text;
    if (auto text = as_before(); !text.empty()) return text;
    if (auto text = sources(); !text.empty()) return text;
    if (auto text = factor(); !text.empty()) return text;
    if (auto text = rounding(); !text.empty()) return text;
    return specials();
  }

  /// Whether `test` is true of all wrong elements.
  template <typename Test>
  bool of_all(Test test) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (wrong_[i] && !test(i)) return false;
    return true;
  }

  std::string one_value() const {
    const auto first = static_cast<std::size_t>(std::ranges::find(wrong_, true) - wrong_.begin());
    const std::string value = show(held(first));
    if (wrong_count_ < 2 || !of_all([&](std::size_t i) { return held(i) == held(first) || (value == "NaN" && show(held(i)) == value); }))
      return "";
    const bool unchanged = !m_.before.empty() && of_all([&](std::size_t i) { return held(i) == element(m_.before, i, bits_); });
    return fmt::format("they hold {}{}", value, unchanged ? ", as before the launch: nothing, or the same, was written there" : "");
  }

  std::string as_before() const {
    if (m_.before.empty() || wrong_count_ < 2 || !of_all([&](std::size_t i) { return held(i) == element(m_.before, i, bits_); })) return "";
    return "they hold what the buffer held before the launch: nothing was written there";
  }

  /// Codes of which equal ones are equal numbers; where numbers need only be close, of fewer digits.
  std::uint64_t code(std::uint64_t bits) const {
    if (!m_.format || tolerance_.exact() || is_integer(row(*m_.format))) return bits;
    int exponent = 0;
    const double fraction = std::frexp(number(bits), &exponent);
    return std::bit_cast<std::uint64_t>(std::ldexp(std::nearbyint(std::ldexp(fraction, 12)), exponent));
  }

  /// The rule by which elements stand in other places; of a large matrix among the rows of its first wrong ones.
  std::string sources() const {
    const std::size_t rows = count_ / columns_;
    std::size_t block = std::bit_floor(std::max<std::size_t>(most_mapped / columns_, 1)), begin = 0;
    if (block < rows) begin = static_cast<std::size_t>(std::ranges::find(wrong_, true) - wrong_.begin()) / columns_ / block * block;
    const std::size_t end = std::min(rows, begin + block), from = begin * columns_, size = (end - begin) * columns_;
    std::vector<std::uint64_t> here(size), wanted(size);
    std::vector<bool> wrong(size);
    for (std::size_t i = 0; i < size; ++i) {
      here[i] = code(held(from + i));
      wanted[i] = code(expected(from + i));
      wrong[i] = wrong_[from + i];
    }
    const ElementMap map = map_by_values(here, wanted, end - begin, columns_);
    const StandsThere stands = [&](std::size_t at, std::size_t source) { return close(held(from + at), expected(from + source)); };
    if (const auto rule = describe_map(map, wrong, stands, m_.name)) return *rule;
    return elsewhere(map, wrong, from);
  }

  /// Without a rule: how many stand elsewhere, where that are a quarter of the wrong ones.
  std::string elsewhere(const ElementMap& map, const std::vector<bool>& wrong, std::size_t from) const {
    std::size_t found = 0, first = 0, all = 0;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      if (!wrong[i]) continue;
      ++all;
      if (map.sources[i] && close(held(from + i), expected(from + *map.sources[i])) && found++ == 0) first = i;
    }
    if (4 * found < all || found < 2 || !tolerance_.exact()) return "";  // close numbers meet by chance
    return fmt::format("{:.2g} % of them belong elsewhere, by no rule that was found: {} holds what belongs at {}",
                       100.0 * static_cast<double>(found) / static_cast<double>(all), place(from + first),
                       place(from + *map.sources[first]));
  }

  /// All are the same multiple of what they should be.
  std::string factor() const {
    if (!m_.format || wrong_count_ < 2) return "";
    double factor = 0;
    const bool one = of_all([&](std::size_t i) {
      const double x = number(held(i)), y = number(expected(i));
      if (!std::isfinite(x) || !std::isfinite(y) || y == 0) return x == y;
      if (factor == 0) factor = x / y;
      return factor != 0 && std::abs(x - factor * y) <= std::abs(0.01 * factor * y);
    });
    const double nearest = std::abs(factor) >= 1 ? std::round(factor) : factor == 0 ? 0 : 1 / std::round(1 / factor);
    if (!one || factor == 0 || std::abs(factor - 1) < 0.02) return "";
    return fmt::format("they are {:.4g} times what is expected", std::abs(factor - nearest) <= std::abs(0.01 * factor) ? nearest : factor);
  }

  std::string rounding() const {
    if (!m_.format || is_integer(row(*m_.format))) return "";
    const double digits = std::ldexp(1.0, -row(*m_.format).fraction_bits / 2 - 1);  // half of the format's digits are right
    const bool near = of_all([&](std::size_t i) {
      const double x = number(held(i)), y = number(expected(i));
      return std::isfinite(x) && std::isfinite(y) &&
             (units_between(*m_.format, held(i), expected(i)) <= 4 || std::abs(x - y) <= digits * std::abs(y));
    });
    return near ? "all are close: another order or rounding of sums, rather than other elements" : "";
  }

  std::string specials() const {
    std::size_t nans = 0, infinities = 0;
    if (!m_.format) return "";
    for (std::size_t i = 0; i < count_; ++i) {
      if (!wrong_[i]) continue;
      if (std::isnan(number(held(i)))) ++nans;
      if (std::isinf(number(held(i)))) ++infinities;
    }
    if (nans + infinities == 0) return "";
    return fmt::format("{} of them are NaN, {} infinite", with_commas(nans), with_commas(infinities));
  }

  const MatrixPair& m_;
  const Tolerance& tolerance_;
  int bits_;
  std::size_t count_ = 1, columns_ = 1;
  std::uint64_t wrong_count_ = 0;
  std::vector<bool> wrong_{};
};

}  // namespace

double units_between(Format format, std::uint64_t a, std::uint64_t b) {
  if (a == b) return 0;
  const FormatRow& f = row(format);
  const double first = to_double(format, a), second = to_double(format, b);
  if (is_integer(f)) return std::abs(first - second);
  if (std::isnan(first) || std::isnan(second)) return std::isnan(first) && std::isnan(second) ? 0 : std::numeric_limits<double>::infinity();
  const auto [low, high] = std::minmax({ordered(f, a), ordered(f, b)});
  return static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
}

MatrixDifference difference(const MatrixPair& matrices, const Tolerance& tolerance) {
  return Comparison(matrices, tolerance).result();
}

namespace numbers {

std::vector<std::uint8_t> row_bytes(Format format, const Matrix& matrix) {
  const int bits = row(format).bits;
  const auto count = static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(matrix.columns());
  std::vector<std::uint8_t> bytes((count * static_cast<std::size_t>(bits) + 7) / 8);
  std::size_t index = 0;
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.columns(); ++j) put_element(bytes, index++, bits, from_double(format, matrix(i, j)));
  return bytes;
}

}  // namespace numbers
}  // namespace warpmat
