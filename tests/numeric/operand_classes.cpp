#include "numeric/operand_classes.h"

#include "numeric/oracle_format.h"

namespace {

using warpmat::Format;

std::uint64_t mask(int bits) {
  return (std::uint64_t{1} << bits) - 1;
}

std::uint64_t sign_of(const oracle::FloatFormat& f) {
  return std::uint64_t{1} << (f.bits - 1);
}

/// Random sign, fraction and dropped bits around the given exponent field.
std::uint64_t with_field(const oracle::FloatFormat& f, std::uint64_t field, std::mt19937_64& random) {
  const int below = f.fraction_bits + f.dropped_low_bits;
  return (random() & (sign_of(f) | mask(below))) | field << below;
}

std::uint64_t below(std::uint64_t end, std::mt19937_64& random) {
  return random() % end;
}

std::uint64_t special_code(const oracle::FloatFormat& f, std::mt19937_64& random) {
  const std::uint64_t unit = std::uint64_t{1} << f.dropped_low_bits;
  const std::uint64_t top = mask(f.exponent_bits) << (f.fraction_bits + f.dropped_low_bits);
  const std::uint64_t ones = sign_of(f) - 1;
  const std::uint64_t one = mask(f.exponent_bits - 1) << (f.fraction_bits + f.dropped_low_bits);
  const std::uint64_t smallest_normal = std::uint64_t{1} << (f.fraction_bits + f.dropped_low_bits);
  // top is infinity in IEEE formats; top + 1 has, in tf32, a payload of dropped bits only.
  const std::uint64_t codes[] = {0,    0,    top, top, top + 1,         ones,     top - unit, ones - unit,
                                 unit, unit, one, one, smallest_normal, unit - 1, one + unit, smallest_normal - unit};
  return codes[below(std::size(codes), random)] | (random() & sign_of(f));
}

/// 2^(its place among the format's powers of two, 0 for the smallest), with a random sign.
std::uint64_t power(const oracle::FloatFormat& f, std::uint64_t place, std::mt19937_64& random) {
  const auto subnormal = static_cast<std::uint64_t>(f.fraction_bits);
  const std::uint64_t rank = place < subnormal ? std::uint64_t{1} << place : (place - subnormal + 1) << f.fraction_bits;
  return rank << f.dropped_low_bits | (random() & sign_of(f));
}

std::uint64_t powers_of(const oracle::FloatFormat& f) {
  return (std::uint64_t{1} << f.exponent_bits) - (f.has_infinity ? 2 : 1) + static_cast<std::uint64_t>(f.fraction_bits);
}

/// A power of two of one of the lowest `end` places, or one time in four a zero.
std::uint64_t power_or_zero(const oracle::FloatFormat& f, std::uint64_t end, std::mt19937_64& random) {
  if (random() % 4 == 0) return random() & sign_of(f);
  return power(f, below(end, random), random);
}

}  // namespace

std::string_view name(DotClass operand_class) {
  switch (operand_class) {
    case DotClass::random_bits: return "random bits";
    case DotClass::narrow_exponents: return "narrow exponents";
    case DotClass::wide_exponents: return "wide exponents";
    case DotClass::subnormals: return "subnormals";
    case DotClass::cancelling: return "cancelling sums";
    case DotClass::specials: return "specials";
    case DotClass::powers: return "powers";
  }
  return "";
}

std::uint64_t draw_code(DotClass operand_class, Format format, std::mt19937_64& random) {
  const oracle::FloatFormat f = *oracle_format(format);
  const std::uint64_t fields = std::uint64_t{1} << f.exponent_bits;
  const std::uint64_t bias = fields / 2 - 1;
  switch (operand_class) {
    case DotClass::random_bits: return random() & mask(f.bits);
    case DotClass::narrow_exponents:
    case DotClass::cancelling: return with_field(f, bias - 1 + below(3, random), random);
    case DotClass::wide_exponents: return with_field(f, below(fields - 1, random), random);
    case DotClass::subnormals: return random() % 3 != 0 ? with_field(f, 0, random) : with_field(f, below(fields - 1, random), random);
    case DotClass::specials: return random() % 4 == 0 ? special_code(f, random) : with_field(f, below(fields - 1, random), random);
    case DotClass::powers: return power_or_zero(f, powers_of(f), random);
  }
  return 0;
}

std::uint64_t opposite_of_sum(Format a_format, Format b_format, Format accumulator, std::span<const std::uint64_t> a,
                              std::span<const std::uint64_t> b) {
  oracle::Dyadic sum;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum = sum + oracle::value(*oracle_format(a_format), a[i]) * oracle::value(*oracle_format(b_format), b[i]);
  return oracle::nearest(*oracle_format(accumulator), -sum);
}

DotOperands draw_operands(DotClass operand_class, Format a, Format b, Format accumulator, std::size_t length, std::mt19937_64& random) {
  DotOperands out;
  for (std::size_t i = 0; i < length; ++i) {
    out.a.push_back(draw_code(operand_class, a, random));
    out.b.push_back(draw_code(operand_class, b, random));
  }
  out.c = draw_code(operand_class, accumulator, random);

  const std::uint64_t choice = random();
  if (operand_class == DotClass::specials && choice % 2 == 0) {
    // One special among ordinary numbers: several at once nearly always give a NaN.
    for (std::size_t i = 0; i < length; ++i) {
      out.a[i] = draw_code(DotClass::wide_exponents, a, random);
      out.b[i] = draw_code(DotClass::wide_exponents, b, random);
    }
    out.a[random() % length] = special_code(*oracle_format(a), random);
    out.c = draw_code(DotClass::wide_exponents, accumulator, random);
  }
  if (operand_class == DotClass::powers) {
    const oracle::FloatFormat f = *oracle_format(a), g = *oracle_format(b), h = *oracle_format(accumulator);
    const std::uint64_t end_a = 1 + below(powers_of(f), random), end_b = 1 + below(powers_of(g), random);
    for (std::uint64_t& code : out.a) code = power_or_zero(f, end_a, random);
    for (std::uint64_t& code : out.b) code = power_or_zero(g, end_b, random);
    if (random() % 4 != 0) out.c &= sign_of(h);
  }
  if (operand_class != DotClass::cancelling) return out;

  // Pairs of opposite products, some of them off by a bit, among numbers of far larger and smaller exponents.
  const DotClass spread = choice % 2 == 0 ? DotClass::wide_exponents : DotClass::narrow_exponents;
  for (std::size_t i = 0; i + 1 < length; i += 2) {
    out.a[i] = draw_code(spread, a, random);
    out.a[i + 1] = out.a[i] ^ sign_of(*oracle_format(a));
    out.b[i + 1] = out.b[i];
    if (random() % 4 == 0) out.b[i + 1] ^= std::uint64_t{1} << oracle_format(b)->dropped_low_bits;
  }
  if (choice % 8 < 3) out.c = opposite_of_sum(a, b, accumulator, out.a, out.b);
  if (choice % 8 == 3) out.c = random() % 2 == 0 ? 0 : sign_of(*oracle_format(accumulator));
  return out;
}
