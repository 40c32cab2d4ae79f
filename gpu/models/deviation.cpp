#include "gpu/models/deviation.h"

#include <warpmat/forms.h>

#include <algorithm>
#include <utility>

namespace warpmat {
namespace {

// ---- Properties of a form and its lowering ------------------------------------------------------------------------------------

using Concerns = bool (*)(const Form&, const Lowering&);

bool sums_in_unit(const Form& f, const Lowering& l) {
  return (l.semantics == Semantics::dot || l.semantics == Semantics::split_dot || l.semantics == Semantics::m8n8k4_dot) &&
         f.scale_vector == 0;
}

bool split(const Form&, const Lowering& l) {
  return l.semantics == Semantics::split_dot;
}
bool grouped(const Form&, const Lowering& l) {
  return l.semantics == Semantics::grouped_dot;
}
bool chain(const Form&, const Lowering& l) {
  return l.semantics == Semantics::f64_chain || l.semantics == Semantics::m8n8k4_fma;
}
bool f64_chain(const Form&, const Lowering& l) {
  return l.semantics == Semantics::f64_chain;
}
bool m8n8k4_fma(const Form&, const Lowering& l) {
  return l.semantics == Semantics::m8n8k4_fma;
}
bool integer(const Form&, const Lowering& l) {
  return l.semantics == Semantics::integer_dot;
}
bool bits(const Form&, const Lowering& l) {
  return l.semantics == Semantics::bit_dot;
}
bool floating(const Form& f, const Lowering& l) {
  return sums_in_unit(f, l) || chain(f, l);
}

const FormatRow& row_of(const Form& f, OperandName name) {
  return row(f.format(name));
}

bool gives_f16(const Form& f) {
  return f.accumulator() == Format::f16;
}

/// Whether products can reach the smallest and the largest numbers of f32.
bool has_wide_multiplicands(const Form& f) {
  return row_of(f, OperandName::a).exponent_bits == row(Format::f32).exponent_bits;
}

bool has_infinite_multiplicands(const Form& f) {
  return row_of(f, OperandName::a).specials == Specials::ieee || row_of(f, OperandName::b).specials == Specials::ieee;
}

/// The exponent of the lowest bit that a product can have.
int lowest_product_bit(const Form& f) {
  const auto lowest = [&](OperandName name) { return min_exponent(row_of(f, name)) - row_of(f, name).fraction_bits; };
  return lowest(OperandName::a) + lowest(OperandName::b);
}

/// Whether the exponent of a product of a subnormal number can decide how many bits other terms lose.
bool subnormals_align(const Form& f, const Lowering& l) {
  int largest = no_floor;
  for (const auto& [x, y] : {std::pair(OperandName::a, OperandName::b), std::pair(OperandName::b, OperandName::a)})
    if (!split(f, l) || min_exponent(row_of(f, x)) == min_exponent(row(Format::f16)))
      largest = std::max(largest, min_exponent(row_of(f, x)) + max_exponent(row_of(f, y)));
  return largest - l.model->fraction_bits > lowest_product_bit(f);
}

/// The same for subnormal numbers of fp8 formats that are normal as f16, by fp8's own exponents.
bool fp8_subnormals_align(const Form& f, const Lowering& l) {
  int largest = no_floor;
  for (const auto& [x, y] : {std::pair(OperandName::a, OperandName::b), std::pair(OperandName::b, OperandName::a)})
    if (min_exponent(row_of(f, x)) > min_exponent(row(Format::f16)))
      largest = std::max(largest, min_exponent(row_of(f, x)) + max_exponent(row_of(f, y)));
  return largest - l.model->fraction_bits > lowest_product_bit(f);
}

/// False if no product is negative: sums then only grow from C on, and clamping partial sums changes nothing.
bool has_negative_products(const Form& f) {
  return row_of(f, OperandName::a).is_signed || row_of(f, OperandName::b).is_signed;
}

/// Whether A or B has numbers that are subnormal in the multiplier.
bool multiplies_subnormals(const Form& f, const Lowering& l) {
  if (!split(f, l)) return true;
  return min_exponent(row_of(f, OperandName::a)) == min_exponent(row(Format::f16)) ||
         min_exponent(row_of(f, OperandName::b)) == min_exponent(row(Format::f16));
}

/// Whether a nonzero sum can round to a zero of the unit's sum format.
bool rounds_to_zero(const Form& f, const Lowering& l) {
  if (!sums_in_unit(f, l)) return false;
  const FormatRow& sum = row(f.accumulator());
  const int smallest = min_exponent(sum) - sum.fraction_bits;
  return gives_f16(f) ? lowest_product_bit(f) <= smallest - 1 : lowest_product_bit(f) < smallest;
}

/// Whether one of C and D is f16, the other f32, and the unit adds in f32.
bool converts(const Form& f, const Lowering& l) {
  return l.semantics == Semantics::dot && f.format(OperandName::c) != f.format(OperandName::d);
}

/// converts() with an f16 C: as f32 it is never subnormal, and its NaN is canonical.
bool widens(const Form& f, const Lowering& l) {
  return converts(f, l) && f.format(OperandName::c) == Format::f16;
}

/// converts() with an f16 D: it does not show which NaN the sum was.
bool narrows(const Form& f, const Lowering& l) {
  return converts(f, l) && f.format(OperandName::d) == Format::f16;
}

/// Whether K takes more than one step of the model.
bool has_steps(const Form& f, const Lowering& l) {
  if (l.semantics != Semantics::dot) return false;
  return f.stored_k() * f.operand(OperandName::a).fragment.element_bits() > 8 * l.model->step_bytes;
}

bool aligns_accumulator(const Form& f, const Lowering& l) {
  return sums_in_unit(f, l) && !split(f, l);
}

// ---- The table ----------------------------------------------------------------------------------------------------------------------

using enum Deviation;

constexpr DeviationRow rows[] = {
    {multiplicand_subnormals_flushed, "multiplicand_subnormals_flushed", "subnormal numbers of A and B count as zero",
     [](const Form& f, const Lowering& l) { return chain(f, l) || (sums_in_unit(f, l) && multiplies_subnormals(f, l)); }},
    {accumulator_subnormals_flushed, "accumulator_subnormals_flushed", "subnormal numbers of C count as zero",
     [](const Form& f, const Lowering& l) { return floating(f, l) && !widens(f, l); }},
    {subnormals_normalised, "subnormals_normalised", "a subnormal number of A or B is aligned by its leading bit",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && subnormals_align(f, l); }},
    {tf32_low_bits_kept, "tf32_low_bits_kept", "the low 13 bits of a tf32 register count",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && f.format(OperandName::a) == Format::tf32; }},
    {products_normalised, "products_normalised", "a product whose significand reaches 2 is aligned by its leading bit", sums_in_unit},
    {unmet_multiplied, "unmet_multiplied", "elements of B without a stored element of A are multiplied by zero",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && f.sparsity != Sparsity::dense; }},

    {zero_terms_aligned, "zero_terms_aligned", "a zero has the exponent -126 and takes part in E, alone or in a product (MMA-Sim)",
     [](const Form& f, const Lowering& l) { return aligns_accumulator(f, l) && f.format(OperandName::c) == Format::f32; }},
    {zero_groups_aligned, "zero_groups_aligned", "a group of 4-bit products that adds up to zero takes part in E by its scales (MMA-Sim)",
     grouped},
    {cut_down, "cut_down", "terms are cut toward minus infinity, not toward zero", sums_in_unit},
    {cut_nearest, "cut_nearest", "terms are rounded to the nearest unit, ties to even, not cut toward zero", sums_in_unit},
    {cut_sticky, "cut_sticky", "the lowest bit of a term that is cut says that something was cut", sums_in_unit},

    {k_descending, "k_descending", "K is walked from its end",
     [](const Form& f, const Lowering& l) { return chain(f, l) || has_steps(f, l); }},
    {accumulator_first, "accumulator_first", "the sum begins with C where it is added at the end",
     [](const Form& f, const Lowering& l) { return split(f, l) || m8n8k4_fma(f, l); }},
    {accumulator_last, "accumulator_last", "the products are added and rounded, then C",
     [](const Form& f, const Lowering& l) { return aligns_accumulator(f, l) || f64_chain(f, l); }},
    {products_rounded, "products_rounded", "each product is rounded before it is added", f64_chain},
    {order_of_other_result, "order_of_other_result", "products are added in the order that the form with the other result format has",
     m8n8k4_fma},

    {result_nearest, "result_nearest", "an f32 result is rounded to nearest, not toward zero; f64 whatever the statement says",
     [](const Form& f, const Lowering& l) {
       return (sums_in_unit(f, l) && !gives_f16(f)) || (f64_chain(f, l) && f.rounding != Rounding::nearest_even);
     }},
    {result_toward_zero, "result_toward_zero", "an f16 result is rounded toward zero, not to nearest",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && gives_f16(f); }},
    {result_subnormals_flushed, "result_subnormals_flushed", "subnormal results become zero",
     [](const Form& f, const Lowering& l) { return floating(f, l) && f.format(OperandName::c) == f.format(OperandName::d); }},
    {overflow_to_largest, "overflow_to_largest", "a sum that is too large becomes the largest finite number, not infinity",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && (gives_f16(f) || has_wide_multiplicands(f)); }},
    {negative_zero_kept, "negative_zero_kept", "the sum of terms that are all -0 is -0", aligns_accumulator},
    {sign_of_zero_kept, "sign_of_zero_kept", "a negative sum that rounds to zero becomes -0", rounds_to_zero},

    {nan_payload_kept, "nan_payload_kept", "where C is NaN, the result is that NaN",
     [](const Form& f, const Lowering& l) { return floating(f, l) && !f64_chain(f, l) && !converts(f, l); }},
    {nan_quiet, "nan_quiet", "NaN results have the highest fraction bit alone: 0x7fc00000, 0x7e00, 0x7ff8000000000000",
     [](const Form& f, const Lowering& l) { return floating(f, l) && !narrows(f, l); }},
    {nan_of_a_first, "nan_of_a_first", "the NaN of A goes before those of B and C", f64_chain},
    {nan_of_accumulator_first, "nan_of_accumulator_first", "the NaN of C goes before those of A and B", f64_chain},
    {nan_positive, "nan_positive", "an invalid operation gives a positive NaN", f64_chain},
    {infinity_times_zero_ignored, "infinity_times_zero_ignored", "infinity times zero is zero",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && has_infinite_multiplicands(f); }},
    {opposite_infinities_positive, "opposite_infinities_positive", "infinities of both signs give +infinity",
     [](const Form& f, const Lowering& l) { return sums_in_unit(f, l) && has_infinite_multiplicands(f); }},

    {accumulated_in_f16, "accumulated_in_f16", "where one of C and D is f16 and the other f32, the unit adds in f16", converts},
    {narrowed_toward_zero, "narrowed_toward_zero", "an f32 sum becomes f16 toward zero, not to nearest", narrows},

    {fp8_exponents_kept, "fp8_exponents_kept", "fp8 products are aligned by fp8's exponents, not by those of f16",
     [](const Form& f, const Lowering& l) { return split(f, l) && fp8_subnormals_align(f, l); }},
    {fp8_in_one_unit, "fp8_in_one_unit", "fp8 products and C are added in one step, aligned by fp8's exponents (MMA-Sim)", split},
    {halves_exchanged, "halves_exchanged", "the half with k mod 4 in {2, 3} is added first", split},
    {halves_alternating, "halves_alternating", "the halves are the even and the odd k", split},
    {halves_of_k, "halves_of_k", "the halves are the lower and the upper half of K", split},
    {last_addition_toward_zero, "last_addition_toward_zero", "the addition of C is rounded toward zero", split},

    {clamped_each_product, "clamped_each_product", ".satfinite clamps after each product",
     [](const Form& f, const Lowering& l) { return integer(f, l) && f.satfinite && has_negative_products(f); }},
    {clamped_each_half, "clamped_each_half", ".satfinite clamps after each half of K",
     [](const Form& f, const Lowering& l) { return integer(f, l) && f.satfinite && has_negative_products(f); }},
    {clamp_left_out, "clamp_left_out", ".satfinite does nothing",
     [](const Form& f, const Lowering& l) { return integer(f, l) && f.satfinite; }},
    {clamp_added, "clamp_added", "sums are clamped without .satfinite too",
     [](const Form& f, const Lowering& l) { return (integer(f, l) && !f.satfinite) || bits(f, l); }},
    {clamp_symmetric, "clamp_symmetric", "the smallest result of .satfinite is -(2^31 - 1)",
     [](const Form& f, const Lowering& l) { return integer(f, l) && f.satfinite; }},
    {sign_of_a_turned, "sign_of_a_turned", "A is read as unsigned where it is signed, and the other way round", integer},
    {sign_of_b_turned, "sign_of_b_turned", "B is read as unsigned where it is signed, and the other way round", integer},
    {bit_operation_turned, "bit_operation_turned", ".and is executed as .xor, and the other way round", bits},
};

}  // namespace

std::span<const DeviationRow> deviation_rows() {
  return rows;
}

std::string_view name(Deviation deviation) {
  return rows[static_cast<std::size_t>(deviation)].name;
}

const DeviationRow* find_deviation(std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &DeviationRow::name);
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace warpmat
