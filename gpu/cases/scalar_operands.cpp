#include "gpu/cases/scalar_operands.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <warpmat/numeric/low_mask.h>

#include "gpu/cases/random.h"

namespace warpmat {
namespace {

/// The fields of a floating-point kind.
struct Layout {
  int bits, exponent_bits;
  constexpr int fraction_bits() const { return bits - 1 - exponent_bits; }
  constexpr std::uint64_t largest_exponent() const { return (std::uint64_t{1} << exponent_bits) - 1; }
  constexpr std::uint64_t make(std::uint64_t sign, std::uint64_t exponent, std::uint64_t fraction) const {
    const std::uint64_t inside = (std::uint64_t{1} << fraction_bits()) - 1;
    return (sign & 1) << (bits - 1) | (exponent & largest_exponent()) << fraction_bits() | (fraction & inside);
  }
};

std::optional<Layout> layout(ValueKind kind) {
  switch (kind) {
    case ValueKind::f16: return Layout{16, 5};
    case ValueKind::bf16: return Layout{16, 8};
    case ValueKind::f32: return Layout{32, 8};
    case ValueKind::f64: return Layout{64, 11};
    default: return std::nullopt;
  }
}

int integer_bits(ValueKind kind) {
  return kind == ValueKind::i8 ? 8 : kind == ValueKind::i16 ? 16 : kind == ValueKind::i64 ? 64 : 32;
}

std::vector<std::uint64_t> special_floats(const Layout& f) {
  const std::uint64_t bias = f.largest_exponent() / 2, top = f.largest_exponent();
  const std::uint64_t ones = ~std::uint64_t{0}, half = std::uint64_t{1} << (f.fraction_bits() - 1);
  std::vector<std::uint64_t> values;
  for (std::uint64_t sign = 0; sign < 2; ++sign) {
    const auto add = [&](std::uint64_t exponent, std::uint64_t fraction) { values.push_back(f.make(sign, exponent, fraction)); };
    add(0, 0), add(0, 1), add(0, 2), add(0, 3), add(0, half), add(0, half - 1), add(0, half + 1), add(0, ones - 1), add(0, ones);
    add(1, 0), add(1, 1), add(1, ones), add(2, 0), add(bias / 2, 0), add(bias / 2, 1), add(bias / 2 + 1, ones);
    add(bias - 1, 0), add(bias - 1, half), add(bias - 1, ones), add(bias, 0), add(bias, 1), add(bias, half), add(bias, half + 1);
    add(bias + 1, 0), add(bias + 1, half / 2), add(bias + 7, ones), add(bias + bias / 2, 0), add(bias + bias / 2, ones);
    add(top - 1, 0), add(top - 1, ones), add(top - 1, ones - 1), add(top, 0), add(top, 1), add(top, half), add(top, half | 5),
        add(top, ones);
  }
  return values;
}

std::vector<std::uint64_t> special_integers(int bits) {
  std::vector<std::uint64_t> values{0, 1, 2, 3, 5, 7, 10};
  for (const int bit : {bits / 4, bits / 2 - 1, bits / 2, bits - 2, bits - 1}) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power - 1, power, power + 1, ~power, 0 - power}) values.push_back(value);
  }
  for (const std::uint64_t value : {31ull, 32ull, 33ull, 63ull, 64ull, 65ull, 255ull, 256ull, 287ull}) values.push_back(value);
  for (std::uint64_t i = 1; i < 4; ++i) values.push_back(0 - i);
  values.push_back(0x5555555555555555), values.push_back(0xaaaaaaaaaaaaaaaa), values.push_back(0x80ff7f0180ff7f01),
      values.push_back(0x7fff80007fff8000);
  return values;
}

const std::vector<std::uint64_t>& specials(ValueKind kind) {
  static const auto all = [] {
    std::array<std::vector<std::uint64_t>, value_kinds> lists;
    for (int i = 0; i < value_kinds; ++i) {
      const auto k = static_cast<ValueKind>(i);
      lists[static_cast<std::size_t>(i)] = layout(k) ? special_floats(*layout(k)) : special_integers(integer_bits(k));
    }
    return lists;
  }();
  return all[static_cast<std::size_t>(kind)];
}

/// Last bits on, below and above a tie of some shorter format.
std::uint64_t patterned_fraction(const Layout& f, Random& random) {
  const int low = random.between(0, f.fraction_bits());
  const std::uint64_t end = std::uint64_t{1} << low, upper = random.next() & ~(end - 1);
  switch (random.below(6)) {
    case 0: return upper;
    case 1: return upper | (end >> 1);
    case 2: return upper | ((end >> 1) + (low > 1 ? 1 : 0));
    case 3: return upper | ((end >> 1) - (low > 1 ? 1 : 0));
    case 4: return upper | (end - 1);
    default: return random.next();
  }
}

std::uint64_t draw_float(const Layout& f, ScalarClass operand_class, Random& random) {
  const auto bias = static_cast<int>(f.largest_exponent() / 2), top = static_cast<int>(f.largest_exponent());
  int exponent = 0;
  if (operand_class == ScalarClass::ordinary) {
    exponent = bias + random.between(-13, 13);
  } else if (operand_class == ScalarClass::extreme) {
    const std::array centres{0, bias / 2, bias, bias + bias / 2, top};
    exponent = centres[random.below(centres.size())] + random.between(-f.fraction_bits() - 3, f.fraction_bits() + 3);
  } else {
    exponent = random.between(0, top);
  }
  const std::uint64_t fraction = patterned_fraction(f, random);  // drawn before the sign: recorded answers rest on the order
  return f.make(random.next(), static_cast<std::uint64_t>(std::clamp(exponent, 0, top)), fraction);
}

std::uint64_t draw_integer(int bits, ScalarClass operand_class, Random& random) {
  if (operand_class == ScalarClass::extreme) {
    const auto list = std::array<std::uint64_t, 4>{0, std::uint64_t{1} << (bits - 1), ~std::uint64_t{0}, std::uint64_t{1} << (bits / 2)};
    return list[random.below(4)] + random.below(64) - 32;
  }
  const std::uint64_t magnitude = random.next() >> random.between(64 - bits, 63);
  return random.one_in(2) ? magnitude : 0 - magnitude;
}

/// One number of the kind, in its low bits.
std::uint64_t draw(ValueKind kind, ScalarClass operand_class, Random& random) {
  if (operand_class == ScalarClass::special) return specials(kind)[random.below(specials(kind).size())];
  if (const auto f = layout(kind)) return draw_float(*f, operand_class, random);
  return draw_integer(integer_bits(kind), operand_class, random);
}

std::uint64_t value(ValueKind kind, ScalarClass operand_class, std::size_t operand, std::uint64_t element) {
  Random random(combine(combine(combine(static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(operand_class)), operand), element));
  if (kind == ValueKind::predicate || operand_class == ScalarClass::random) return random.next();
  const int bits = layout(kind) ? layout(kind)->bits : integer_bits(kind);
  std::uint64_t low = draw(kind, operand_class, random);
  if (operand_class == ScalarClass::special) {
    const std::vector<std::uint64_t>& list = specials(kind);
    std::uint64_t place = element;
    for (std::size_t i = 0; i < operand; ++i) place /= list.size();
    low = list[place % list.size()];
  }
  if (operand_class == ScalarClass::exhaustive && bits <= 16 && operand == 0) low = element;
  // Other numbers of the same kind fill the word of a narrow number: packed types use them, all others must ignore them.
  std::uint64_t word = 0;
  for (int at = 0; at < 64; at += bits) {
    const std::uint64_t part = at == 0 ? low : draw(kind, operand_class, random);
    word |= (part & low_mask(bits)) << at;
  }
  return word;
}

}  // namespace

void fill_operand(ValueKind kind, ScalarClass operand_class, std::size_t operand, std::uint64_t first, std::span<std::uint64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(kind, operand_class, operand, first + i);
}

ScalarOperands draw_scalar_operands(std::span<const ScalarCase> cases, ScalarClass operand_class, std::uint64_t first, std::size_t count) {
  return {count, cases, [&](ValueKind kind, std::size_t operand, std::span<std::uint64_t> values) {
            fill_operand(kind, operand_class, operand, first, values);
          }};
}

}  // namespace warpmat
