#include "gpu/lab/rules/deviating.h"

#include <warpmat/execute/reference/execute_with.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <warpmat/tables/form_row.h>

namespace warpmat {
namespace {

using enum Deviation;
using Kind = Value::Kind;

bool is_subnormal(const Value& value) {
  return value.kind == Kind::finite && value.significand >> value.fraction_bits == 0;
}

bool is_nan(Format format, std::uint64_t bits) {
  return decode(format, bits).kind == Kind::nan;
}

/// The same number with the exponent of its leading bit.
Value normalised(Value value) {
  const int shift = value.fraction_bits + 1 - static_cast<int>(std::bit_width(value.significand));
  value.exponent -= shift;
  value.fraction_bits -= shift;
  return value;
}

/// The NaN with only the highest fraction bit set.
std::uint64_t quiet_nan(Format format) {
  return infinity(format, false) | std::uint64_t{1} << (row(format).fraction_bits - 1);
}

/// `bits`, or zero of the same sign if they are a subnormal number.
std::uint64_t flushed(Format format, std::uint64_t bits) {
  return is_subnormal(decode(format, bits)) ? bits & sign_bit(format) : bits;
}

/// The arithmetic that ships, with rules replaced. Without deviations it gives the same bits; a test checks that.
class DeviatingArithmetic : public ReferenceArithmetic<DeviatingArithmetic> {
 public:
  using Base = ReferenceArithmetic<DeviatingArithmetic>;

  explicit DeviatingArithmetic(Deviations deviations) : deviations_(deviations) {}

  // ---- A matrix unit

  Value multiplicand(Format format, std::uint64_t bits) {
    const Value value = Base::multiplicand(has(tf32_low_bits_kept) && format == Format::tf32 ? Format::f32 : format, bits);
    if (!is_subnormal(value)) return value;
    if (has(multiplicand_subnormals_flushed)) return {Kind::zero, value.negative, value.exponent, value.fraction_bits, 0};
    return has(subnormals_normalised) ? normalised(value) : value;
  }

  /// A zero has an exponent here, which counts only if a deviation says so.
  Value addend(Format accumulator, std::uint64_t bits) {
    Value value = Base::addend(accumulator, accumulated(accumulator, bits));
    if (value.kind == Kind::zero) value.exponent = has(zero_terms_aligned) ? exponent_of_zero : no_floor;
    return value;
  }

  /// A zero keeps its sign and has an exponent here; both count only if a deviation says so.
  Value product(const Value& a, const Value& b) {
    const auto exponent = [](const Value& v) { return v.kind == Kind::zero ? exponent_of_zero : v.exponent; };
    const bool zero = a.kind == Kind::zero || b.kind == Kind::zero;
    const bool infinite = a.kind == Kind::infinity || b.kind == Kind::infinity;
    const bool ignored = zero && infinite && has(infinity_times_zero_ignored);
    const Value value = ignored ? Value::special(Kind::zero) : Base::product(a, b);
    if (value.kind == Kind::zero) return {Kind::zero, a.negative != b.negative, exponent(a) + exponent(b), 0, 0};
    const bool reaches_two = value.kind == Kind::finite && value.significand >> (value.fraction_bits + 1) != 0;
    return reaches_two && has(products_normalised) ? normalised(value) : value;
  }

  bool has_exponent(const Value& term) {
    const bool zeros_count = has(zero_terms_aligned) || has(zero_groups_aligned);
    return Base::has_exponent(term) || (term.kind == Kind::zero && zeros_count);
  }

  std::int64_t cut(const Value& term, int unit_exponent) {
    const std::int64_t kept = Base::cut(term, unit_exponent);
    const int lost_bits = std::min(unit_exponent - (term.exponent - term.fraction_bits), 63);
    if (term.kind == Kind::zero || lost_bits <= 0) return kept;
    const std::uint64_t rest = term.significand & ((std::uint64_t{1} << lost_bits) - 1), half = std::uint64_t{1} << (lost_bits - 1);
    std::int64_t magnitude = std::abs(kept);
    if (rest != 0 && has(cut_down) && term.negative) ++magnitude;
    if (rest != 0 && has(cut_sticky)) magnitude |= 1;
    if (has(cut_nearest) && (rest > half || (rest == half && (magnitude & 1) != 0))) ++magnitude;
    return term.negative ? -magnitude : magnitude;
  }

  Rounding rounding(Format accumulator) {
    if (has(accumulator == Format::f16 ? result_toward_zero : result_nearest))
      return accumulator == Format::f16 ? Rounding::toward_zero : Rounding::nearest_even;
    return Base::rounding(accumulator);
  }
  Overflow overflow() { return has(overflow_to_largest) ? Overflow::saturate : Base::overflow(); }
  std::uint64_t nan(Format accumulator) { return has(nan_quiet) ? quiet_nan(accumulator) : Base::nan(accumulator); }
  std::uint64_t opposite_infinities(Format accumulator) {
    return has(opposite_infinities_positive) ? infinity(accumulator, false) : Base::opposite_infinities(accumulator);
  }
  std::size_t part_of_k(std::size_t i, std::size_t count) { return has(k_descending) ? count - 1 - i : Base::part_of_k(i, count); }

  std::uint64_t step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t c,
                     int scale_exponent = 0) {
    if (has(nan_payload_kept) && is_nan(accumulator, c)) return c;
    if (!has(accumulator_last)) return Base::step(model, accumulator, a, b, c, scale_exponent);
    std::array<Value, max_step_elements> products;
    std::transform(a.begin(), a.end(), b.begin(), products.begin(), [&](const Value& x, const Value& y) { return product(x, y); });
    const std::uint64_t of_products = sum(model, accumulator, std::span(products).first(a.size()));
    const std::array<Value, 2> last{decode(accumulator, of_products), addend(accumulator, c)};
    return sum(model, accumulator, last);
  }

  std::uint64_t sum(const DotModel& model, Format accumulator, std::span<const Value> terms) {
    all_negative_ = std::ranges::all_of(terms, &Value::negative);
    return Base::sum(model, accumulator, terms);
  }

  std::uint64_t round(const DotModel& model, Format accumulator, const AlignedSum& aligned) {
    const std::uint64_t bits = Base::round(model, accumulator, aligned);
    const bool negative_zero =
        (aligned.sum < 0 && has(sign_of_zero_kept)) || (aligned.sum == 0 && all_negative_ && has(negative_zero_kept));
    return bits == 0 && negative_zero ? sign_bit(accumulator) : bits;
  }

  std::uint64_t round_magnitude(const DotModel& model, Format accumulator, const Exact& magnitude) {
    const int zeros = zero_bits(model, accumulator);
    std::uint64_t bits = 0;
    if (zeros > 0 && rounding(accumulator) == Rounding::nearest_even) {
      // A sum without its lowest bits is no longer than an f32, so it is rounded only once.
      bits = round_to(accumulator, magnitude, Rounding::toward_zero, overflow());
      bits += (std::uint64_t{1} << (zeros - 1)) - 1 + (bits >> zeros & 1);
      bits = bits >> zeros << zeros;
    } else {
      bits = Base::round_magnitude(model, accumulator, magnitude);
    }
    return as_result(accumulator, bits);
  }

  /// A group that adds up to zero takes part in E by its scales.
  Value group(std::span<const Value> a, std::span<const Value> b, const Value& scale_a, const Value& scale_b) {
    Value value = Base::group(a, b, scale_a, scale_b);
    if (value.kind == Kind::zero) value.exponent = sum_of_group(a, b) == 0 ? scale_a.exponent + scale_b.exponent : no_floor;
    return value;
  }

  // ---- Types of C and D that differ

  Format sum_format(const Form& form) { return has(accumulated_in_f16) ? Format::f16 : Base::sum_format(form); }

  std::uint64_t narrowed(const Form& form, std::uint64_t sum) {
    const std::uint64_t nearest = Base::narrowed(form, sum);
    if (!has(narrowed_toward_zero)) return nearest;
    const auto magnitude = [](Format format, std::uint64_t bits) {
      return std::fabs(std::bit_cast<float>(static_cast<std::uint32_t>(converted(format, Format::f32, bits))));
    };
    return magnitude(form.format(OperandName::d), nearest) > magnitude(sum_format(form), sum) ? nearest - 1 : nearest;
  }

  // ---- fp8 in two halves

  Value split_multiplicand(Format format, std::uint64_t bits) {
    return has(fp8_exponents_kept) ? multiplicand(format, bits) : Base::split_multiplicand(format, bits);
  }
  bool in_first_half(std::size_t k, std::size_t count) {
    if (has(halves_alternating)) return k % 2 == 0;
    if (has(halves_of_k)) return k < count / 2;
    return Base::in_first_half(k, count) != has(halves_exchanged);
  }
  std::uint64_t last_addition(Format format, std::uint64_t sum, std::uint64_t c) {
    c = accumulated(format, c);
    if (is_nan(format, c) && has(nan_payload_kept)) return c;
    const std::uint64_t bits =
        has(last_addition_toward_zero) ? add(format, sum, c, Rounding::toward_zero) : Base::last_addition(format, sum, c);
    return is_nan(format, bits) ? nan(format) : as_result(format, bits);
  }

  // ---- f64 and m8n8k4

  std::uint64_t fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, NanRule nan_rule) {
    if (format != Format::f64) return Base::fused(format, a, b, c, rounding, nan_rule);
    a = multiplied(format, a);
    b = multiplied(format, b);
    c = accumulated(format, c);
    const auto quiet = [&](std::uint64_t bits) { return bits | (quiet_nan(format) ^ infinity(format, false)); };
    if (is_nan(format, a) && has(nan_of_a_first)) return quiet(a);
    if (is_nan(format, c) && has(nan_of_accumulator_first)) return quiet(c);
    if (is_nan(format, c) && has(nan_payload_kept)) return c;
    const std::uint64_t bits = has(products_rounded) && is_sum_of_numbers(format, a, b, c)
                                   ? add(format, Base::fused(format, a, b, sign_bit(format), rounding, nan_rule), c, rounding)
                                   : Base::fused(format, a, b, c, rounding, nan_rule);
    if (!is_nan(format, bits)) return as_result(format, bits);
    if (has(nan_quiet)) return quiet_nan(format);
    const bool any_nan = is_nan(format, a) || is_nan(format, b) || is_nan(format, c);
    return !any_nan && has(nan_positive) ? bits & ~sign_bit(format) : bits;
  }

  std::uint64_t f64_chain(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, std::uint64_t c, Rounding rounding) {
    if (has(result_nearest)) rounding = Rounding::nearest_even;
    if (!has(accumulator_last)) return Base::f64_chain(a, b, c, rounding);
    return fused(Format::f64, c, one(Format::f64), Base::f64_chain(a, b, 0, rounding), rounding, NanRule::propagate);
  }

  std::uint64_t m8n8k4(Quad quad, std::uint64_t c, Format c_format, Format d_format) {
    if (is_nan(c_format, c) && has(nan_payload_kept)) return payload(c, c_format, d_format);
    c = accumulated(c_format, c);
    if (has(k_descending)) std::ranges::reverse(quad.a), std::ranges::reverse(quad.b);
    for (std::uint64_t& bits : quad.a) bits = multiplied(Format::f16, bits);
    for (std::uint64_t& bits : quad.b) bits = multiplied(Format::f16, bits);
    if (has(accumulator_first)) return m8n8k4_result(chain(quad, 0, 4, converted(c_format, Format::f32, c)), d_format);
    return Base::m8n8k4(quad, c, c_format, d_format);
  }
  bool adds_pairs(Format d) { return Base::adds_pairs(d) != has(order_of_other_result); }
  std::uint64_t m8n8k4_result(std::uint64_t sum, Format d) {
    if (is_nan(Format::f32, sum) && has(nan_quiet)) return quiet_nan(d);
    return as_result(d, Base::m8n8k4_result(sum, d));
  }

  // ---- Integers

  std::int64_t integer_sum(std::span<const std::int64_t> a, std::span<const std::int64_t> b, std::int64_t c) {
    const bool clamps = !has(clamp_left_out) || has(clamp_added);
    if (!clamps || !(has(clamped_each_product) || has(clamped_each_half))) return Base::integer_sum(a, b, c);
    for (std::size_t k = 0; k < a.size(); ++k) {
      c += a[k] * b[k];
      if (has(clamped_each_product) || k + 1 == a.size() / 2) c = clamped(c);
    }
    return c;
  }
  std::uint32_t s32(std::int64_t sum, bool satfinite) {
    const bool clamps = (satfinite && !has(clamp_left_out)) || has(clamp_added);
    return Base::s32(clamps ? clamped(sum) : sum, clamps);
  }

 private:
  static constexpr int exponent_of_zero = -126;  ///< in MMA-Sim 2, whatever the format

  bool has(Deviation deviation) const { return deviations_.has(deviation); }

  std::uint64_t accumulated(Format format, std::uint64_t c) const { return has(accumulator_subnormals_flushed) ? flushed(format, c) : c; }
  std::uint64_t multiplied(Format format, std::uint64_t bits) const {
    return has(multiplicand_subnormals_flushed) ? flushed(format, bits) : bits;
  }
  std::uint64_t as_result(Format format, std::uint64_t bits) const { return has(result_subnormals_flushed) ? flushed(format, bits) : bits; }

  static bool is_sum_of_numbers(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const Kind addend = decode(format, c).kind;
    return decode(format, a).kind == Kind::finite && decode(format, b).kind == Kind::finite &&
           (addend == Kind::finite || addend == Kind::zero);
  }

  /// A NaN of C as D.
  static std::uint64_t payload(std::uint64_t c, Format c_format, Format d_format) {
    if (c_format == d_format) return c;
    return d_format == Format::f16 ? canonical_nan(d_format) : (c & 0x8000) << 16 | 0x7f800000 | (c & 0x3ff) << 13;
  }

  std::int64_t clamped(std::int64_t sum) const {
    using Limits = std::numeric_limits<std::int32_t>;
    return std::clamp<std::int64_t>(sum, Limits::min() + (has(clamp_symmetric) ? 1 : 0), Limits::max());
  }

  Deviations deviations_;
  bool all_negative_ = false;  ///< the terms of the current sum
};

// ---- Deviations around the arithmetic -----------------------------------------------------------------------------------------------

/// The form whose execution is that of `form` with the deviations of its types and operations.
std::optional<Form> changed_form(const Form& form, Deviations deviations) {
  if (!deviations.has(sign_of_a_turned) && !deviations.has(sign_of_b_turned) && !deviations.has(bit_operation_turned)) return std::nullopt;
  FormRow changed = FormRow::of(form);
  const auto turn_sign = [&](OperandName name) {
    constexpr std::array<std::array<Format, 2>, 2> pairs{{{Format::s8, Format::u8}, {Format::s4, Format::u4}}};
    std::optional<Format>& format = std::ranges::find(changed.operands, name, &OperandRow::name)->format;
    for (const auto& [is_signed, is_unsigned] : pairs)
      if (format == is_signed || format == is_unsigned) {
        format = format == is_signed ? is_unsigned : is_signed;
        return;
      }
  };
  if (deviations.has(sign_of_a_turned)) turn_sign(OperandName::a);
  if (deviations.has(sign_of_b_turned)) turn_sign(OperandName::b);
  if (deviations.has(bit_operation_turned))
    changed.bit_operation = form.bit_operation == BitOperation::bit_xor ? BitOperation::bit_and : BitOperation::bit_xor;
  return std::move(changed).form();
}

/// The results of a sparse form that are NaN if elements of B without a stored element of A are multiplied by zero.
std::vector<Element> nan_of_unmatched(const Form& form, const Lowering& lowering, const Batch& batch) {
  MetadataColumns columns;
  read_metadata(form, lowering, batch, ExecutionOptions{}, columns);
  const Operand& b = form.operand(OperandName::b);
  std::vector<Element> found;
  for (int i = 0; i < form.shape.m; ++i)
    for (int k = 0; k < form.shape.k; ++k) {
      const auto first = columns.begin() + i * form.stored_k(), end = first + form.stored_k();
      if (std::find(first, end, k) != end) continue;
      for (int j = 0; j < form.shape.n; ++j) {
        const Kind kind = decode(*b.format, read_element(b.fragment, batch.source(OperandName::b), {k, j})).kind;
        if (kind == Kind::nan || kind == Kind::infinity) found.push_back({i, j});
      }
    }
  return found;
}

/// execute_split_dot with C the first addend instead of the last.
void execute_from_accumulator(DeviatingArithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch) {
  FloatMultiplicands multiplicands(form, lowering, batch, ExecutionOptions{},
                                   [&](Format format, std::uint64_t bits) { return arithmetic.split_multiplicand(format, bits); });
  for_each_result(arithmetic, form, batch, [&](const Element& e, std::uint64_t c) {
    return arithmetic.halves(*lowering.model, form.format(OperandName::d), multiplicands.a(e.row), multiplicands.b(e.row, e.column), c);
  });
}

bool are_known(const Form& form, const Lowering& lowering) {
  return multiplies(form.mnemonic) && (form.scale_vector == 0 || lowering.semantics == Semantics::grouped_dot);
}

}  // namespace

void execute_deviating(const Form& form, const Lowering& lowering, Deviations deviations, const Batch& batch) {
  if (!are_known(form, lowering))
    throw std::invalid_argument(std::string("deviations are not known for ") +
                                (form.scale_vector != 0 ? "block-scaled forms such as " : "") + form.opcode);
  const std::optional<Form> changed = changed_form(form, deviations);
  std::vector<Element> nans;
  if (deviations.has(unmet_multiplied)) nans = nan_of_unmatched(form, lowering, batch);
  const Semantics semantics = deviations.has(fp8_in_one_unit) ? Semantics::dot : lowering.semantics;
  const Lowering row{lowering.machine, semantics, lowering.model, lowering.evidence, lowering.source, lowering.exceptions};
  DeviatingArithmetic arithmetic(deviations);
  if (row.semantics == Semantics::split_dot && deviations.has(accumulator_first))
    execute_from_accumulator(arithmetic, form, row, batch);
  else
    execute_with(arithmetic, changed ? *changed : form, row, batch, ExecutionOptions{});
  for (const Element& element : nans)
    write_element(form.operand(OperandName::d).fragment, batch.destination, element, arithmetic.nan(form.accumulator()));
}

}  // namespace warpmat
