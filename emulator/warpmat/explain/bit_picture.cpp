#include <warpmat/explain/bit_picture.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

#include <fmt/core.h>

namespace warpmat {
namespace {

/// A magnitude · 2^exponent.
struct Bits {
  std::uint64_t magnitude = 0;
  int exponent = 0;

  int highest() const { return exponent + static_cast<int>(std::bit_width(magnitude)) - 1; }
  int lowest() const { return exponent + std::countr_zero(magnitude); }
  char at(int position) const {
    const int shift = position - exponent;
    return shift < 0 || shift > 63 || (magnitude >> shift & 1) == 0 ? '0' : '1';
  }
};

Bits exact(const Value& value) {
  return {value.significand, value.exponent - value.fraction_bits};
}

std::uint64_t magnitude(std::int64_t number) {
  return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

/// The columns `first` down to `last` of `bits`.
std::string columns(const Bits& bits, int first, int last) {
  std::string text;
  for (int position = first; position >= last; --position)
    text += bits.magnitude == 0 || position > bits.highest() ? '.' : bits.at(position);
  return text;
}

bool is_finite(const Term& term) {
  return term.value.kind == Value::Kind::finite;
}

}  // namespace

std::string term_name(const Term& term) {
  if (term.products.empty()) return "C";
  const int first = term.products.front().a.element.column, last = term.products.back().a.element.column;
  return first == last ? fmt::format("k = {}", first) : fmt::format("k = {} to {}", first, last);
}

BitPicture bit_picture(const ExplainedStep& step) {
  constexpr int max_cut = 40;  // columns
  const Value result = decode(step.format, step.result);
  const Bits sum{magnitude(step.sum), step.unit_exponent};
  BitPicture picture{.highest = step.largest_exponent, .lowest = step.unit_exponent, .rows = {}};
  int lowest = step.unit_exponent;
  for (const Term& term : step.terms)
    if (is_finite(term)) {
      picture.highest = std::max(picture.highest, exact(term.value).highest());
      lowest = std::min(lowest, exact(term.value).lowest());
    }
  if (step.sum != 0) picture.highest = std::max(picture.highest, sum.highest());
  if (result.kind == Value::Kind::finite) picture.highest = std::max(picture.highest, exact(result).highest());
  picture.more_cut = lowest < step.unit_exponent - max_cut;
  lowest = std::max(lowest, step.unit_exponent - max_cut);
  for (const Term& term : step.terms) {
    if (!is_finite(term)) continue;
    const Bits kept{magnitude(term.kept), step.unit_exponent};
    picture.rows.push_back({term_name(term), term.value.negative, columns(kept, picture.highest, picture.lowest),
                            columns(exact(term.value), picture.lowest - 1, lowest)});
  }
  picture.rows.push_back({"sum", step.sum < 0, columns(sum, picture.highest, picture.lowest), ""});
  if (result.kind == Value::Kind::finite)
    picture.rows.push_back({std::string(name(step.format)), result.negative, columns(exact(result), picture.highest, picture.lowest), ""});
  return picture;
}

}  // namespace warpmat
