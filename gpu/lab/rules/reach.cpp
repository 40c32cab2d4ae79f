#include "gpu/lab/rules/reach.h"

#include <warpmat/forms.h>

#include <algorithm>
#include <array>

namespace warpmat {
namespace {

/// Kinds of arithmetic, as bits of a set.
enum Arithmetic : unsigned {
  unit = 1,
  grouped = 2,
  split = 4,
  chain_f64 = 8,
  chain_f32 = 16,
  integers = 32,
  bits = 64,
  rows = 128,
  moves = 256
};
constexpr unsigned units = unit | grouped | split, chains = chain_f64 | chain_f32, floats = units | chains, whole = integers | bits;

Arithmetic arithmetic_of(const Lowering& lowering) {
  switch (lowering.semantics) {
    case Semantics::ldmatrix:
    case Semantics::stmatrix: return rows;
    case Semantics::movmatrix:
    case Semantics::wmma_load:
    case Semantics::wmma_store: return moves;
    case Semantics::dot:
    case Semantics::m8n8k4_dot: return unit;
    case Semantics::split_dot: return split;
    case Semantics::grouped_dot: return grouped;
    case Semantics::f64_chain: return chain_f64;
    case Semantics::m8n8k4_fma: return chain_f32;
    case Semantics::integer_dot: return integers;
    case Semantics::bit_dot: return bits;
  }
  return moves;
}

struct Range {
  int least, largest;
};

/// Alignment exponents of a format's nonzero numbers.
Range exponents(const FormatRow& f) {
  return {min_exponent(f), max_exponent(f)};
}

/// The quantities from which the rules derive their answers.
struct Facts {
  const Form& form;
  const Lowering& lowering;
  Arithmetic arithmetic;
  std::size_t number;

  const FormatRow& row_of(OperandName name) const { return row(form.format(name)); }
  const FormatRow& d() const { return row(form.accumulator()); }
  const DotModel& model() const { return *lowering.model; }
  int floor() const { return model().floor(form.accumulator()); }
  bool f16_result() const { return form.accumulator() == Format::f16; }

  /// Exponents of factors from A or B. In split products they are f16 numbers; a subnormal fp8 may then be a normal number.
  Range factor(OperandName name) const {
    const FormatRow& f = row_of(name);
    if (arithmetic != split || min_exponent(f) <= min_exponent(row(Format::f16))) return exponents(f);
    return {min_exponent(f) - f.fraction_bits, max_exponent(f)};
  }
  /// Exponents of the terms other than C.
  Range products() const {
    Range sum = factor(OperandName::a);
    sum.least += factor(OperandName::b).least;
    sum.largest += factor(OperandName::b).largest;
    if (form.scale_vector == 0) return sum;
    const Range scale = exponents(row_of(OperandName::scale_a));
    if (arithmetic == grouped) sum = {0, 0};  // aligned by the scales alone
    return {sum.least + 2 * scale.least, sum.largest + 2 * scale.largest};
  }
  /// The exponent of the lowest bit of any product.
  int lowest_bit() const {
    int lowest = 0;
    for (const OperandName name : {OperandName::a, OperandName::b}) lowest += min_exponent(row_of(name)) - row_of(name).fraction_bits;
    if (form.scale_vector != 0) lowest += 2 * (min_exponent(row_of(OperandName::scale_a)) - row_of(OperandName::scale_a).fraction_bits);
    return lowest;
  }
  /// The exponent of C as a term. In split products C is not a term, but a step's result is; it is within the products' range.
  Range accumulator() const {
    if (arithmetic == split) return products();
    const Range of_c = exponents(row_of(OperandName::c));
    return c_becomes_wider() ? Range{of_c.least - row_of(OperandName::c).fraction_bits, of_c.largest} : of_c;
  }
  /// The maximum distance of a term below E. Only one term is C.
  int max_distance() const {
    const Range p = products(), c = accumulator();
    return std::max(p.largest - std::min(p.least, c.least), c.largest - p.least);
  }
  /// The maximum distance of a term's bit below E.
  int max_distance_of_a_bit() const {
    const Range p = products(), c = accumulator();
    const int lowest_of_c =
        arithmetic == split ? lowest_bit() : min_exponent(row_of(OperandName::c)) - row_of(OperandName::c).fraction_bits;
    return std::max(p.largest - std::min(lowest_bit(), lowest_of_c), c.largest - lowest_bit());
  }
  /// m8n8k4 with an f16 C and an f32 result.
  bool c_becomes_wider() const { return row_of(OperandName::c).bits < d().bits; }
  int smallest_result() const { return min_exponent(d()) - d().fraction_bits; }
  bool infinite(OperandName name) const { return row_of(name).specials == Specials::ieee; }
  bool infinite_factor() const { return infinite(OperandName::a) || infinite(OperandName::b); }
  bool nan(OperandName name) const { return row_of(name).specials != Specials::none; }
  bool signed_factor() const { return row_of(OperandName::a).is_signed || row_of(OperandName::b).is_signed; }
  bool nearest() const { return arithmetic != chain_f64 && (f16_result() || arithmetic == split || arithmetic == chain_f32); }
};

/// Why the region cannot be reached; empty if it can.
using Why = std::string_view;

Why unless(bool reached, Why why) {
  return reached ? Why() : why;
}

Why subnormal_factor(const Facts& f, OperandName name) {
  const bool becomes_normal = f.arithmetic == split && min_exponent(f.row_of(name)) > min_exponent(row(Format::f16));
  return unless(!becomes_normal, "as f16 they are normal");
}

Why below_floor(const Facts& f, int above) {
  if (f.floor() == no_floor) return "no floor is known";
  return unless(f.products().least < f.floor() + above, "no product is so small");
}

Why floor_cuts(const Facts& f) {
  if (f.floor() == no_floor) return "no floor is known";
  return unless(f.lowest_bit() < f.floor() - f.model().fraction_bits, "no product has a bit so small");
}

Why cut_range(const Facts& f, int distance) {
  return unless(f.max_distance() >= distance, "exponents do not lie so far apart");
}

Why alignment_cuts(const Facts& f) {
  return unless(f.max_distance_of_a_bit() > f.model().fraction_bits, "no bit lies so far below E");
}

/// Whether a sum has bits below those of the result. A unit with few bits and an f32 result has none.
Why sum_has_more_bits(const Facts& f) {
  if (f.arithmetic & chains || f.arithmetic == split) return {};
  constexpr int carries = 6;  // of up to 33 terms less than 4
  return unless(f.model().fraction_bits + carries > f.d().fraction_bits, "the sum has fewer bits than the result");
}

Why overflow(const Facts& f) {
  if (f.f16_result() || f.arithmetic == chain_f64) return {};
  if (f.arithmetic == chain_f32 || f.arithmetic == split) return "beside so large a C the products are too small to count";
  constexpr int significands = 2;
  return unless(f.products().largest + significands > max_exponent(f.d()) - f.model().fraction_bits,
                "beside so large a C the products are cut whole");
}

Why if_c_as_wide(const Facts& f) {
  return unless(!f.c_becomes_wider(), "C is a normal number of f32 that f16 holds");
}

Why largest_result_why(const Facts& f) {
  if (f.c_becomes_wider()) return if_c_as_wide(f);
  if (f.arithmetic & chains || f.f16_result()) return {};
  return unless(f.model().result_fraction_bits == f.d().fraction_bits, "the unit does not keep its last bits");
}

Why overflow_by_rounding_why(const Facts& f) {
  if (f.arithmetic == chain_f64) return unless(f.form.rounding != Rounding::toward_zero, "rounded toward zero");
  return unless(f.f16_result(),
                f.arithmetic & (split | chain_f32) ? "beside so large a C the products are too small to count" : "rounded toward zero");
}

Why rounding_carries_why(const Facts& f) {
  if (f.arithmetic == chain_f64) return unless(f.form.rounding != Rounding::toward_zero, "rounded toward zero");
  return unless(f.nearest(), "rounded toward zero");
}

Why rounds_to_zero(const Facts& f, bool negative) {
  if (f.arithmetic == chain_f64) return unless(f.form.rounding != (negative ? Rounding::down : Rounding::up), "rounded away from zero");
  return unless(f.lowest_bit() < f.smallest_result(), "no sum is so small");
}

Why integer_below_why(const Facts& f) {
  return unless(f.arithmetic == integers && f.signed_factor(), "no product is negative");
}

using O = OperandName;

bool always(const Facts&) {
  return true;
}
bool sparse(const Facts& f) {
  return f.form.sparsity != Sparsity::dense;
}
bool scaled(const Facts& f) {
  return f.form.scale_vector != 0;
}
bool scales_have_zero(const Facts& f) {
  return scaled(f) && f.row_of(O::scale_a).has_zero;
}
bool drops_bits(const Facts& f) {
  return f.row_of(O::a).ignored_low_bits > 0;
}
bool drops_result_bits(const Facts& f) {
  return f.model().result_fraction_bits < f.d().fraction_bits;
}

/// The number of values of a selector or ids.
std::size_t choices(const Facts& f, O name) {
  if (name == O::selector) return sparse(f) ? static_cast<std::size_t>(f.form.operand(O::e).fragment.matrices()) : 0;
  return scaled(f) ? static_cast<std::size_t>(4 / f.form.scale_vector * f.form.operand(name).choices) : 0;
}

Why can(const Facts&) {
  return {};
}

/// The operand's format lacks what the region needs.
template <bool (Facts::*has)(O) const, O name>
Why if_format(const Facts& f) {
  return unless((f.*has)(name), "the format has none");
}
Why if_infinite_factor(const Facts& f) {
  return unless(f.infinite_factor(), "no factor is infinite");
}

/// The sum of split products may be infinite; the addition of C treats it as a product.
Why if_infinite_product(const Facts& f) {
  return unless(f.infinite_factor() || (f.arithmetic == split && f.f16_result()), "no product is infinite");
}

struct Rule {
  Event event;
  unsigned arithmetic;  ///< kinds that have the region
  bool (*concerns)(const Facts&) = always;
  Why (*why)(const Facts&) = can;  ///< why it cannot be reached
};

using enum Event;

constexpr Rule rules[] = {
    {subnormal_a, floats & ~grouped, always, [](const Facts& f) { return subnormal_factor(f, O::a); }},
    {subnormal_b, floats & ~grouped, always, [](const Facts& f) { return subnormal_factor(f, O::b); }},
    {subnormal_c, floats, always, [](const Facts& f) { return f.arithmetic == unit ? if_c_as_wide(f) : Why(); }},
    {dropped_bits, unit, drops_bits},

    {e_above_floor, units},
    {e_at_floor, units, always, [](const Facts& f) { return below_floor(f, 1); }},
    {e_below_floor, units, always, [](const Facts& f) { return below_floor(f, 0); }},
    {e_of_c_alone, units},
    {e_of_product_and_c, units},
    {all_terms_zero, floats},
    {distance, units, [](const Facts& f) { return f.number <= distance_beyond(f.model()); },
     [](const Facts& f) { return cut_range(f, static_cast<int>(f.number)); }},
    {term_kept, units},
    {term_cut_in_part, units, always, alignment_cuts},
    {term_cut_whole, units, always, alignment_cuts},
    {cut_by_floor, units, always, floor_cuts},
    {product_of_two_or_more, units},
    {subnormal_product, units | chain_f64, always,
     [](const Facts& f) { return unless(f.lowest_bit() < min_exponent(f.d()), "no product is so small"); }},

    {sum_carries, units},
    {cancels_to_zero, floats},
    {rest_cut_to_zero, units, always, alignment_cuts},

    {exact, floats},
    {just_above, floats, always, sum_has_more_bits},
    {below_half, floats, always, sum_has_more_bits},
    {just_below_half, floats, always, sum_has_more_bits},
    {half_beside_even, floats, always, sum_has_more_bits},
    {half_beside_odd, floats, always, sum_has_more_bits},
    {just_above_half, floats, always, sum_has_more_bits},
    {above_half, floats, always, sum_has_more_bits},
    {just_below_next, floats, always, sum_has_more_bits},
    {rounding_carries, floats, always, rounding_carries_why},

    {zero_of_positive, floats, always, [](const Facts& f) { return rounds_to_zero(f, false); }},
    {zero_of_negative, floats, always, [](const Facts& f) { return rounds_to_zero(f, true); }},
    {negative_zero, chains, always,
     [](const Facts& f) { return unless(f.arithmetic == chain_f64 || f.f16_result(), "the chain begins with +0"); }},
    {subnormal_result, floats, always, if_c_as_wide},
    {largest_result, floats, always, largest_result_why},
    {overflow_by_sum, floats, always, overflow},
    {overflow_by_rounding, floats, always, overflow_by_rounding_why},
    {result_bits_dropped, units, drops_result_bits, [](const Facts& f) { return unless(!f.f16_result(), "f16 has no more bits"); }},

    {infinity_of_product, floats & ~grouped, always, if_infinite_product},
    {infinity_of_c, floats},
    {nan_of_a, floats & ~grouped, always, if_format<&Facts::nan, O::a>},
    {nan_of_b, floats & ~grouped, always, if_format<&Facts::nan, O::b>},
    {nan_of_c, floats},
    {nan_of_zero_times_infinity, floats & ~grouped, always, if_format<&Facts::infinite, O::b>},
    {nan_of_infinity_times_zero, floats & ~grouped, always, if_format<&Facts::infinite, O::a>},
    {nan_of_products, (units & ~grouped) | chain_f32, always, if_infinite_factor},
    {nan_of_product_and_c, floats & ~grouped, always, if_infinite_product},
    {nan_of_scale, unit | grouped, scaled},

    {integer_inside, whole},
    {integer_at_highest, whole},
    {integer_at_lowest, whole},
    {integer_one_above, whole},
    {integer_one_below, whole, always, integer_below_why},
    {integer_above, whole},
    {integer_below, whole, always, integer_below_why},
    {integer_leaves_and_returns, integers, always, integer_below_why},

    {metadata_code, unit | grouped | split | integers,
     [](const Facts& f) { return sparse(f) && valid_metadata(f.form, static_cast<unsigned>(f.number)); }},
    {selector, unit | grouped | split | integers, [](const Facts& f) { return f.number < choices(f, O::selector); }},
    {scale_ids_a, unit | grouped, [](const Facts& f) { return f.number < choices(f, O::ids_a); }},
    {scale_ids_b, unit | grouped, [](const Facts& f) { return f.number < choices(f, O::ids_b); }},
    {scale_zero, unit | grouped, scales_have_zero},
    {scale_subnormal, unit | grouped, scales_have_zero},
    {scale_smallest, unit | grouped, scaled},
    {scale_largest, unit | grouped, scaled},
    {row_address, rows, [](const Facts& f) { return f.number < static_cast<std::size_t>(f.form.rows_in_memory()); }},
};
static_assert([] {
  for (std::size_t i = 0; i < std::size(rules); ++i)
    if (static_cast<std::size_t>(rules[i].event) != i) return false;
  return std::size(rules) == event_count;
}());

}  // namespace

Reach reach(const Form& form, const Lowering& lowering, Event event, std::size_t number) {
  const Facts facts{form, lowering, arithmetic_of(lowering), number};
  const Rule& rule = rules[static_cast<std::size_t>(event)];
  if ((rule.arithmetic & facts.arithmetic) == 0 || !rule.concerns(facts)) return {};
  return {true, rule.why(facts)};
}

}  // namespace warpmat
