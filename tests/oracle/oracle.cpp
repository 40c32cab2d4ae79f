#include "oracle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

namespace oracle {
namespace {

constexpr std::uint64_t two_to(int power) {
  return std::uint64_t{1} << power;
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

// ---- Floating-point codes --------------------------------------------------------------------------------------------------------

// The codes without their sign and their dropped bits, called ranks here, grow with the value from 0 for zero.
std::uint64_t rank_of(FloatFormat format, std::uint64_t bits) {
  return bits % two_to(format.bits - 1) / two_to(format.dropped_low_bits);
}

std::uint64_t code_of(FloatFormat format, bool negative, std::uint64_t rank) {
  return (negative ? two_to(format.bits - 1) : 0) + rank * two_to(format.dropped_low_bits);
}

std::uint64_t infinity_rank(FloatFormat format) {
  return (two_to(format.exponent_bits) - 1) * two_to(format.fraction_bits);
}

std::uint64_t all_ones_rank(FloatFormat format) {
  return two_to(format.exponent_bits + format.fraction_bits) - 1;
}

// The highest rank that a rounded number may get: infinity, or the largest finite value where there is none.
std::uint64_t highest_rank(FloatFormat format) {
  if (format.has_infinity) return infinity_rank(format);
  return all_ones_rank(format) - (format.has_nan ? 1 : 0);
}

// The exponent that a significand 1.fraction or, for subnormal numbers, 0.fraction goes with.
int exponent_of_rank(FloatFormat format, std::uint64_t rank) {
  const int biased = static_cast<int>(rank / two_to(format.fraction_bits));
  const int bias = static_cast<int>(two_to(format.exponent_bits - 1)) - 1;
  return std::max(biased, 1) - bias;
}

Dyadic value_of_rank(FloatFormat format, std::uint64_t rank) {
  const std::uint64_t hidden = two_to(format.fraction_bits);
  const std::uint64_t significand = rank % hidden + (rank >= hidden ? hidden : 0);
  return Dyadic(static_cast<std::int64_t>(significand), exponent_of_rank(format, rank) - format.fraction_bits);
}

// The highest rank whose value is not above magnitude, by bisection.
std::uint64_t rank_below(FloatFormat format, const Dyadic& magnitude) {
  std::uint64_t low = 0;
  std::uint64_t high = highest_rank(format) + 1;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (value_of_rank(format, middle) <= magnitude ? low : high) = middle;
  }
  return low;
}

// The highest rank of a finite value that is not above magnitude.
std::uint64_t finite_rank_below(FloatFormat format, const Dyadic& magnitude) {
  const std::uint64_t largest_finite = highest_rank(format) - (format.has_infinity ? 1 : 0);
  return std::min(rank_below(format, magnitude), largest_finite);
}

// The lowest rank whose value is not below magnitude, or the highest one there is.
std::uint64_t rank_above(FloatFormat format, const Dyadic& magnitude) {
  const std::uint64_t below = rank_below(format, magnitude);
  return value_of_rank(format, below) == magnitude ? below : std::min(below + 1, highest_rank(format));
}

std::uint64_t nearest_rank(FloatFormat format, const Dyadic& magnitude) {
  const std::uint64_t below = rank_below(format, magnitude);
  if (below == highest_rank(format)) return below;
  const Dyadic down = magnitude - value_of_rank(format, below);
  const Dyadic up = value_of_rank(format, below + 1) - magnitude;
  if (down != up) return down < up ? below : below + 1;
  return below % 2 == 0 ? below : below + 1;
}

// ---- One step of a floating-point dot product (measured) -------------------------------------------------------------------------

struct Formats {
  FloatFormat a, b, accumulator;
};

struct Step {
  std::span<const std::uint64_t> a, b;
  std::uint64_t c;
  int product_exponent = 0;  // of a power of two that every product is multiplied by
};

struct Term {
  Dyadic number;
  int exponent;  // of a product the sum of its factors' exponents, also when the product of the significands is 2 or more
};

bool is_zero(FloatFormat format, std::uint64_t bits) {
  return rank_of(format, bits) == 0;
}

// NaN for a NaN among the inputs, for 0 * infinity, and for infinities of both signs; the infinity for those of one sign.
class Specials {
 public:
  void add(FloatFormat format, std::uint64_t bits) {
    nan_ = nan_ || is_nan(format, bits);
    if (is_inf(format, bits)) add_infinity(is_negative(format, bits));
  }

  void add_product(const Formats& formats, std::uint64_t a, std::uint64_t b) {
    const bool a_infinite = is_inf(formats.a, a);
    const bool b_infinite = is_inf(formats.b, b);
    nan_ = nan_ || is_nan(formats.a, a) || is_nan(formats.b, b);
    nan_ = nan_ || (a_infinite && is_zero(formats.b, b)) || (b_infinite && is_zero(formats.a, a));
    if (a_infinite || b_infinite) add_infinity(is_negative(formats.a, a) != is_negative(formats.b, b));
  }

  std::optional<std::uint64_t> result(FloatFormat format) const {
    if (nan_ || (plus_ && minus_)) return code_of(format, false, all_ones_rank(format));
    if (plus_ || minus_) return code_of(format, minus_, infinity_rank(format));
    return std::nullopt;
  }

 private:
  void add_infinity(bool negative) { (negative ? minus_ : plus_) = true; }

  bool nan_ = false;
  bool plus_ = false;
  bool minus_ = false;
};

std::optional<std::uint64_t> special_result(const Formats& formats, const Step& step) {
  Specials specials;
  specials.add(formats.accumulator, step.c);
  for (std::size_t i = 0; i < step.a.size(); ++i) specials.add_product(formats, step.a[i], step.b[i]);
  return specials.result(formats.accumulator);
}

Term term_of(FloatFormat format, std::uint64_t bits) {
  return {value(format, bits), exponent_of_rank(format, rank_of(format, bits))};
}

std::vector<Term> nonzero_terms(const Formats& formats, const Step& step) {
  std::vector<Term> terms{term_of(formats.accumulator, step.c)};
  for (std::size_t i = 0; i < step.a.size(); ++i) {
    const Term a = term_of(formats.a, step.a[i]);
    const Term b = term_of(formats.b, step.b[i]);
    terms.push_back({a.number * b.number * Dyadic(1, step.product_exponent), a.exponent + b.exponent + step.product_exponent});
  }
  std::erase_if(terms, [](const Term& term) { return term.number.is_zero(); });
  return terms;
}

// Every term loses what lies more than fraction_bits below the largest exponent, or below the lowest one that counts; the rest is added
// exactly.
Dyadic truncated_sum(const std::vector<Term>& terms, int fraction_bits, std::optional<int> lowest) {
  int largest = lowest.value_or(std::numeric_limits<int>::min());
  for (const Term& term : terms) largest = std::max(largest, term.exponent);
  Dyadic sum;
  for (const Term& term : terms) sum = sum + term.number.truncated(largest - fraction_bits);
  return sum;
}

// f32 toward zero, with fewer fraction bits where the unit keeps fewer; f16 to nearest. A zero is +0 whatever it came from.
std::uint64_t encode(const Unit& unit, FloatFormat accumulator, const Dyadic& sum) {
  std::uint64_t result = 0;
  if (accumulator.bits == f32.bits) {
    FloatFormat kept = accumulator;
    kept.dropped_low_bits = accumulator.fraction_bits - unit.result_fraction_bits;
    kept.fraction_bits = unit.result_fraction_bits;
    result = toward_zero(kept, sum);
  } else {
    result = nearest(accumulator, sum);
  }
  return is_zero(accumulator, result) ? 0 : result;
}

std::uint64_t float_step(const Unit& unit, const Formats& formats, const Step& step) {
  if (const auto special = special_result(formats, step)) return *special;
  const std::optional<int> lowest = formats.accumulator.bits == f16.bits ? unit.lowest_f16 : unit.lowest_f32;
  return encode(unit, formats.accumulator, truncated_sum(nonzero_terms(formats, step), unit.fraction_bits, lowest));
}

// Measured: ascending k, and the encoded result of a step is the c of the next.
std::uint64_t all_steps(const Unit& unit, const Formats& formats, const Step& whole) {
  require(whole.a.size() == whole.b.size(), "A and B differ in length");
  require(unit.step_elements > 0, "a step needs elements");
  std::uint64_t c = whole.c;
  for (std::size_t k = 0; k < whole.a.size();) {
    const std::size_t count = std::min(static_cast<std::size_t>(unit.step_elements), whole.a.size() - k);
    c = float_step(unit, formats, {whole.a.subspan(k, count), whole.b.subspan(k, count), c, whole.product_exponent});
    k += count;
  }
  return c;
}

// ---- Block scaling (published) ---------------------------------------------------------------------------------------------------

constexpr std::size_t group_products = 16;

// e4m3 without its sign.
std::uint64_t positive(std::uint64_t bits) {
  return bits % two_to(7);
}

bool is_nan_scale(ScaleFormat format, std::uint64_t bits) {
  return format == ScaleFormat::ue8m0 ? bits == 0xFF : is_nan(e4m3, positive(bits));
}

Term scale_term(ScaleFormat format, std::uint64_t bits) {
  if (format == ScaleFormat::ue4m3) return term_of(e4m3, positive(bits));
  const int exponent = static_cast<int>(bits) - 127;
  return {Dyadic(1, exponent), exponent};
}

Dyadic sum_of_products(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  Dyadic sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + value(e2m1, a[i]) * value(e2m1, b[i]);
  return sum;
}

// ---- Integers --------------------------------------------------------------------------------------------------------------------

Dyadic integer_value(int bits, bool is_signed, std::uint64_t code) {
  const std::uint64_t low = code % two_to(bits);
  const bool negative = is_signed && low >= two_to(bits - 1);
  return Dyadic(static_cast<std::int64_t>(low)) - (negative ? Dyadic(1, bits) : Dyadic());
}

// The code of number modulo 2^32, also for negative numbers.
std::uint32_t wrapped(const Dyadic& number) {
  return (number - number.floor(32)).as_uint32();
}

Dyadic clamped(const Dyadic& number) {
  const Dyadic lowest = -Dyadic(1, 31);
  const Dyadic highest = Dyadic(1, 31) - Dyadic(1);
  return std::clamp(number, lowest, highest);
}

// ---- Layouts ---------------------------------------------------------------------------------------------------------------------

// A case label for elements of some bits in a fragment of A (extent m) or B (extent n) that spans k.
constexpr int shape(int element_bits, int extent, int k) {
  return (element_bits * 1000 + extent) * 1000 + k;
}

void require_element(int lane, int i, int matrix_elements) {
  require(lane >= 0 && lane < 32, "no such lane");
  require(i >= 0 && i < matrix_elements / 32, "no such element in the lane's fragment");
}

bool between(int low, int i, int high) {
  return low <= i && i < high;
}

}  // namespace

bool is_nan(FloatFormat format, std::uint64_t bits) {
  if (!format.has_nan) return false;
  const std::uint64_t rank = rank_of(format, bits);
  return format.has_infinity ? rank > infinity_rank(format) : rank == all_ones_rank(format);
}

bool is_inf(FloatFormat format, std::uint64_t bits) {
  return format.has_infinity && rank_of(format, bits) == infinity_rank(format);
}

bool is_negative(FloatFormat format, std::uint64_t bits) {
  return bits / two_to(format.bits - 1) % 2 == 1;
}

Dyadic value(FloatFormat format, std::uint64_t bits) {
  const Dyadic magnitude = value_of_rank(format, rank_of(format, bits));
  return is_negative(format, bits) ? -magnitude : magnitude;
}

std::uint64_t nearest(FloatFormat format, const Dyadic& number) {
  return code_of(format, number.is_negative(), nearest_rank(format, number.absolute()));
}

std::uint64_t toward_zero(FloatFormat format, const Dyadic& number) {
  return code_of(format, number.is_negative(), rank_below(format, number.absolute()));
}

std::uint64_t down(FloatFormat format, const Dyadic& number) {
  if (number.is_negative()) return code_of(format, true, rank_above(format, number.absolute()));
  return code_of(format, false, finite_rank_below(format, number));
}

std::uint64_t up(FloatFormat format, const Dyadic& number) {
  if (number.is_negative()) return code_of(format, true, finite_rank_below(format, number.absolute()));
  return code_of(format, false, rank_above(format, number));
}

std::uint64_t float_dot(const Unit& unit, FloatFormat a, FloatFormat b, FloatFormat accumulator, std::span<const std::uint64_t> a_bits,
                        std::span<const std::uint64_t> b_bits, std::uint64_t c_bits) {
  require(accumulator.bits == f32.bits || accumulator.bits == f16.bits, "the accumulator is neither f32 nor f16");
  return all_steps(unit, {a, b, accumulator}, {a_bits, b_bits, c_bits});
}

std::uint64_t scaled_dot(const Unit& unit, FloatFormat a, FloatFormat b, std::span<const std::uint64_t> a_bits,
                         std::span<const std::uint64_t> b_bits, std::uint64_t a_scale, std::uint64_t b_scale, std::uint64_t c_bits) {
  constexpr auto scale = ScaleFormat::ue8m0;
  if (is_nan_scale(scale, a_scale) || is_nan_scale(scale, b_scale)) return code_of(f32, false, all_ones_rank(f32));
  return all_steps(unit, {a, b, f32}, {a_bits, b_bits, c_bits, scale_term(scale, a_scale).exponent + scale_term(scale, b_scale).exponent});
}

std::uint64_t grouped_dot(ScaleFormat scale, std::span<const std::uint64_t> a_bits, std::span<const std::uint64_t> b_bits,
                          std::span<const std::uint64_t> a_scales, std::span<const std::uint64_t> b_scales, std::uint64_t c_bits) {
  require(a_bits.size() == b_bits.size() && a_scales.size() == b_scales.size(), "A and B differ in length");
  require(!a_scales.empty() && a_bits.size() % (group_products * a_scales.size()) == 0, "scale factors are not for whole groups");
  const auto nan_scale = [&](std::uint64_t bits) { return is_nan_scale(scale, bits); };
  if (std::ranges::any_of(a_scales, nan_scale) || std::ranges::any_of(b_scales, nan_scale)) return code_of(f32, false, all_ones_rank(f32));
  Specials specials;  // no product is one
  specials.add(f32, c_bits);
  if (const auto special = specials.result(f32)) return *special;

  std::vector<Term> terms{term_of(f32, c_bits)};
  const std::size_t block = a_bits.size() / a_scales.size();
  for (std::size_t k = 0; k < a_bits.size(); k += group_products) {
    const Term a = scale_term(scale, a_scales[k / block]), b = scale_term(scale, b_scales[k / block]);
    const Dyadic sum = sum_of_products(a_bits.subspan(k, group_products), b_bits.subspan(k, group_products));
    terms.push_back({sum * a.number * b.number, a.exponent + b.exponent});
  }
  std::erase_if(terms, [](const Term& term) { return term.number.is_zero(); });
  return encode({0, 0, 23}, f32, truncated_sum(terms, 35, std::nullopt));
}

// PTX ISA 9.7.14.5.14: without .satfinite the sum wraps, with it it is clamped; once, at the end (measured).
std::uint32_t integer_dot(int bits, bool a_signed, bool b_signed, bool satfinite, std::span<const std::uint64_t> a_bits,
                          std::span<const std::uint64_t> b_bits, std::uint32_t c_bits) {
  require(a_bits.size() == b_bits.size(), "A and B differ in length");
  require(bits >= 1 && bits <= 8, "no such integer type");
  Dyadic sum = integer_value(32, true, c_bits);
  for (std::size_t k = 0; k < a_bits.size(); ++k) {
    sum = sum + integer_value(bits, a_signed, a_bits[k]) * integer_value(bits, b_signed, b_bits[k]);
  }
  return wrapped(satfinite ? clamped(sum) : sum);
}

// PTX ISA 9.7.14.5.14: the number of positions where the bits differ is added to C.
std::uint32_t xor_popc_dot(std::span<const std::uint64_t> a_bits, std::span<const std::uint64_t> b_bits, std::uint32_t c_bits) {
  require(a_bits.size() == b_bits.size(), "A and B differ in length");
  Dyadic sum = integer_value(32, true, c_bits);
  for (std::size_t k = 0; k < a_bits.size(); ++k) {
    if (a_bits[k] % 2 != b_bits[k] % 2) sum = sum + Dyadic(1);
  }
  return wrapped(sum);
}

// Every case is one formula of the PTX ISA, groupID and threadID_in_group shortened to group and thread.
Position a_position(int m, int k, int element_bits, int lane, int i) {
  require_element(lane, i, m * k);
  const int group = lane >> 2;
  const int thread = lane % 4;
  switch (shape(element_bits, m, k)) {
    case shape(64, 8, 4):  // 9.7.14.5.2
      return {lane >> 2, lane % 4};
    case shape(8, 8, 16):  // 9.7.14.5.3
      return {group, thread * 4 + i};
    case shape(4, 8, 32):  // 9.7.14.5.4
      return {group, thread * 8 + i};
    case shape(1, 8, 128):  // 9.7.14.5.5
      return {group, thread * 32 + i};
    case shape(32, 16, 4):  // 9.7.14.5.6, .tf32
    case shape(64, 16, 4):  // 9.7.14.5.6, .f64
      return {i == 0 ? group : group + 8, thread};
    case shape(16, 16, 8):  // 9.7.14.5.7, .f16 and .bf16
      return {i == 0 || i == 1 ? group : group + 8, thread * 2 + (i & 0x1)};
    case shape(32, 16, 8):  // 9.7.14.5.7, .tf32
    case shape(64, 16, 8):  // 9.7.14.5.7, .f64
      return {i == 0 || i == 2 ? group : group + 8, i == 0 || i == 1 ? thread : thread + 4};
    case shape(16, 16, 16):  // 9.7.14.5.8, .f16 and .bf16
      return {between(0, i, 2) || between(4, i, 6) ? group : group + 8, i < 4 ? thread * 2 + (i & 0x1) : thread * 2 + (i & 0x1) + 8};
    case shape(64, 16, 16):  // 9.7.14.5.8, .f64
      return {i % 2 == 0 ? group : group + 8, i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread};
    case shape(8, 16, 16):  // 9.7.14.5.9
      return {i < 4 ? group : group + 8, thread * 4 + (i & 0x3)};
    case shape(4, 16, 32):  // 9.7.14.5.10, 4 bits
      return {i < 8 ? group : group + 8, thread * 8 + (i & 0x7)};
    case shape(8, 16, 32):  // 9.7.14.5.10, 8 bits
      return {between(0, i, 4) || between(8, i, 12) ? group : group + 8, i < 8 ? thread * 4 + (i & 0x3) : thread * 4 + (i & 0x3) + 16};
    case shape(4, 16, 64):  // 9.7.14.5.11
      return {between(0, i, 8) || between(16, i, 24) ? group : group + 8, i < 16 ? thread * 8 + (i & 0x7) : thread * 8 + (i & 0x7) + 32};
    case shape(1, 16, 128):  // 9.7.14.5.12
      return {i < 32 ? group : group + 8, thread * 32 + (i & 0x1F)};
    case shape(1, 16, 256):  // 9.7.14.5.13, whose text lacks the mask where i < 64: i >= 32 would leave the thread's columns
      return {between(0, i, 32) || between(64, i, 96) ? group : group + 8,
              i < 64 ? thread * 32 + (i & 0x1F) : thread * 32 + (i & 0x1F) + 128};
    default: throw std::invalid_argument("no such fragment of A");
  }
}

Position b_position(int k, int n, int element_bits, int lane, int i) {
  require_element(lane, i, k * n);
  const int group = lane >> 2;
  const int thread = lane % 4;
  switch (shape(element_bits, n, k)) {
    case shape(64, 8, 4):  // 9.7.14.5.2 and 9.7.14.5.6, .f64
    case shape(32, 8, 4):  // 9.7.14.5.6, .tf32
      return {thread, group};
    case shape(16, 8, 8):  // 9.7.14.5.7, .f16 and .bf16
      return {thread * 2 + i, group};
    case shape(32, 8, 8):  // 9.7.14.5.7, .tf32
    case shape(64, 8, 8):  // 9.7.14.5.7, .f64
      return {i == 0 ? thread : thread + 4, group};
    case shape(16, 8, 16):  // 9.7.14.5.8, .f16 and .bf16
      return {i < 2 ? thread * 2 + (i & 0x1) : thread * 2 + (i & 0x1) + 8, group};
    case shape(64, 8, 16):  // 9.7.14.5.8, .f64
      return {thread + i * 4, group};
    case shape(8, 8, 16):  // 9.7.14.5.3 and 9.7.14.5.9
      return {thread * 4 + i, group};
    case shape(4, 8, 32):  // 9.7.14.5.4 and 9.7.14.5.10, 4 bits
      return {thread * 8 + i, group};
    case shape(8, 8, 32):  // 9.7.14.5.10, 8 bits
      return {i < 4 ? thread * 4 + (i & 0x3) : thread * 4 + (i & 0x3) + 16, group};
    case shape(4, 8, 64):  // 9.7.14.5.11
      return {i < 8 ? thread * 8 + (i & 0x7) : thread * 8 + (i & 0x7) + 32, group};
    case shape(1, 8, 128):  // 9.7.14.5.5 and 9.7.14.5.12
      return {thread * 32 + i, group};
    case shape(1, 8, 256):  // 9.7.14.5.13
      return {i < 32 ? thread * 32 + (i & 0x1F) : thread * 32 + (i & 0x1F) + 128, group};
    case shape(8, 8, 64):  // figures of 9.7.14.6.2.6
      return {i / 4 * 16 + thread * 4 + i % 4, group};
    case shape(4, 8, 128):  // figures of 9.7.14.6.2.8
      return {i / 8 * 32 + thread * 8 + i % 8, group};
    default: throw std::invalid_argument("no such fragment of B");
  }
}

Position c_position(int m, int lane, int i) {
  require_element(lane, i, m * 8);
  const int group = lane >> 2;
  const int thread = lane % 4;
  switch (m) {
    case 8:  // 9.7.14.5.2 to 9.7.14.5.5
      return {group, thread * 2 + i};
    case 16:  // 9.7.14.5.6 to 9.7.14.5.13, all types
      return {i < 2 ? group : group + 8, thread * 2 + (i & 0x1)};
    default: throw std::invalid_argument("no such fragment of C");
  }
}

}  // namespace oracle
