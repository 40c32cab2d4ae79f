#include <warpmat/execute/reference/deviating.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include <warpmat/execute/reference/deviating_unit.h>
#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/reference/metadata_columns.h>
#include <warpmat/execute/reference/multiplicands.h>
#include <warpmat/execute/reference/scale_factors.h>

namespace warpmat {
namespace {

using enum Deviation;
using Kind = Value::Kind;

constexpr std::size_t max_k = 128;
using Values = Multiplicands<Value, max_k>;

std::uint64_t to_f32(std::uint64_t f16_bits) {
  return encode(Format::f32, decode(Format::f16, f16_bits));
}

/// The unit's sum format.
Format sum_format(const Form& form, Deviations deviations) {
  return deviations.has(accumulated_in_f16) ? Format::f16 : form.accumulator();
}

DeviatingUnit unit_of(const Form& form, const Lowering& lowering, Deviations deviations) {
  return {*lowering.model, deviations, sum_format(form, deviations)};
}

std::uint64_t converted(Format from, Format to, std::uint64_t bits) {
  return from == to ? bits : encode(to, decode(from, bits));
}

/// Converts a sum to D's format.
std::uint64_t result_of_sum(const Form& form, Deviations deviations, std::uint64_t sum) {
  const Format from = sum_format(form, deviations), to = form.format(OperandName::d);
  const std::uint64_t nearest = converted(from, to, sum);
  if (!deviations.has(narrowed_toward_zero)) return nearest;
  const auto magnitude = [](Format format, std::uint64_t bits) {
    return std::fabs(std::bit_cast<float>(static_cast<std::uint32_t>(converted(format, Format::f32, bits))));
  };
  return magnitude(to, nearest) > magnitude(from, sum) ? nearest - 1 : nearest;
}

int step_length(const Form& form, const Lowering& lowering) {
  return lowering.model->step_bytes * 8 / form.operand(OperandName::a).fragment.element_bits;
}

// ---- Sums in a matrix unit ----------------------------------------------------------------------------------------------------------

/// The columns of B that have no stored element in a row of a sparse A, and the product of zero and their elements.
class Unmatched {
 public:
  Unmatched(const Form& form, const Lowering& lowering, const Arguments& arguments) : form_(form), arguments_(arguments) {
    read_metadata(form, lowering, arguments, ExecutionOptions{}, columns_);
  }

  /// Whether zero times an element of column `column` is NaN, if row `row` has no stored element there.
  bool gives_nan(int row, int column) const {
    const auto first = columns_.begin() + row * form_.stored_k();
    for (int k = 0; k < form_.shape.k; ++k) {
      if (std::find(first, first + form_.stored_k(), k) != first + form_.stored_k()) continue;
      const Operand& b = form_.operand(OperandName::b);
      const Value value = decode(*b.format, read_element(b.fragment, arguments_.source(OperandName::b), {k, column}));
      if (value.kind == Kind::nan || value.kind == Kind::infinity) return true;
    }
    return false;
  }

 private:
  const Form& form_;
  const Arguments& arguments_;
  MetadataColumns columns_;
};

/// Calls `compute(a, b, c bits)` for each result, except where unmet_multiplied makes it NaN.
template <typename Compute>
void for_each_sum(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments, Values& multiplicands,
                  Compute compute) {
  std::optional<Unmatched> unmet;
  if (deviations.has(unmet_multiplied)) unmet.emplace(form, lowering, arguments);
  const DeviatingUnit unit = unit_of(form, lowering, deviations);
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    if (unmet && unmet->gives_nan(e.row, e.column)) return unit.nan();
    return compute(multiplicands.a(e.row), multiplicands.b(e.row, e.column), c);
  });
}

void dot(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments) {
  const DeviatingUnit unit = unit_of(form, lowering, deviations);
  Values multiplicands(form, lowering, arguments, ExecutionOptions{},
                       [&](Format format, std::uint64_t bits) { return unit.multiplicand(format, bits); });
  for_each_sum(form, lowering, deviations, arguments, multiplicands, [&](auto a, auto b, std::uint64_t c) {
    const std::uint64_t addend = converted(form.format(OperandName::c), sum_format(form, deviations), c);
    return result_of_sum(form, deviations, unit.dot(step_length(form, lowering), a, b, addend));
  });
}

/// Whether stored element `k` belongs to the first of two steps.
bool in_first_half(Deviations deviations, std::size_t k, std::size_t count) {
  if (deviations.has(halves_alternating)) return k % 2 == 0;
  if (deviations.has(halves_of_k)) return k < count / 2;
  return (k / 2 % 2 == 0) != deviations.has(halves_exchanged);
}

void split_dot(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments) {
  const DeviatingUnit unit = unit_of(form, lowering, deviations);
  const bool one_unit = deviations.has(fp8_in_one_unit), own_exponents = one_unit || deviations.has(fp8_exponents_kept);
  Values multiplicands(form, lowering, arguments, ExecutionOptions{}, [&](Format format, std::uint64_t bits) {
    if (own_exponents) return unit.multiplicand(format, bits);
    return unit.multiplicand(Format::f16, encode(Format::f16, decode(format, bits)));
  });
  for_each_sum(form, lowering, deviations, arguments, multiplicands, [&](auto a, auto b, std::uint64_t c) {
    if (one_unit) return unit.dot(step_length(form, lowering), a, b, c);
    std::uint64_t sum = deviations.has(accumulator_first) ? c : 0;
    std::array<Value, max_k> half_a, half_b;
    for (const bool first : {true, false}) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (in_first_half(deviations, k, a.size()) != first) continue;
        half_a[count] = a[k];
        half_b[count++] = b[k];
      }
      sum = unit.step(std::span(half_a).first(count), std::span(half_b).first(count), sum);
    }
    return deviations.has(accumulator_first) ? sum : unit.last_addition(sum, c);
  });
}

/// The largest exponent that the scales give to a group of products whose sum is zero; no_floor if there is none.
int exponent_of_zero_groups(std::span<const Value> a, std::span<const Value> b, std::span<const Value> scales_a,
                            std::span<const Value> scales_b) {
  int largest = no_floor;
  for (std::size_t group = 0; group < scales_a.size(); ++group) {
    double sum = 0;  // exact: of 16 products of e2m1
    for (std::size_t i = group * group_elements; i < (group + 1) * group_elements; ++i)
      sum += std::ldexp(static_cast<double>(a[i].significand * b[i].significand), a[i].exponent + b[i].exponent) *
             (a[i].negative != b[i].negative ? -1 : 1);
    if (sum == 0) largest = std::max(largest, scales_a[group].exponent + scales_b[group].exponent);
  }
  return largest;
}

/// A zero group that takes part in E acts like a floor there.
void grouped_dot(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments) {
  Values multiplicands(form, lowering, arguments, ExecutionOptions{}, decode);
  const int matrix_a = selected_scales(form, arguments, OperandName::ids_a),
            matrix_b = selected_scales(form, arguments, OperandName::ids_b);
  const std::size_t groups = static_cast<std::size_t>(form.stored_k()) / group_elements;
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    const Scales all_a = read_scales(form, arguments, OperandName::scale_a, matrix_a, e.row, groups);
    const Scales all_b = read_scales(form, arguments, OperandName::scale_b, matrix_b, e.column, groups);
    const std::span<const Value> scales_a = std::span(all_a).first(groups), scales_b = std::span(all_b).first(groups);
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    DotModel model = *lowering.model;
    if (deviations.has(zero_groups_aligned)) model.floor_f32 = std::max(model.floor_f32, exponent_of_zero_groups(a, b, scales_a, scales_b));
    return warpmat::grouped_dot(model, Format::f32, a, b, scales_a, scales_b, c);
  });
}

// ---- m8n8k4 and f64 -----------------------------------------------------------------------------------------------------------------

/// The bits of row `e.row` of A and of column `e.column` of B, of product e.matrix.
struct Line {
  std::vector<std::uint64_t> a, b;
};

Line read_line(const Form& form, const Arguments& arguments, const Element& e) {
  Line line;
  for (int k = 0; k < form.shape.k; ++k) {
    line.a.push_back(read_element(form.operand(OperandName::a).fragment, arguments.source(OperandName::a), {e.row, k, e.matrix}));
    line.b.push_back(read_element(form.operand(OperandName::b).fragment, arguments.source(OperandName::b), {k, e.column, e.matrix}));
  }
  return line;
}

void m8n8k4_dot(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments) {
  const DeviatingUnit unit = unit_of(form, lowering, deviations);
  const bool widen = form.format(OperandName::c) != form.format(OperandName::d);
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    const Line line = read_line(form, arguments, e);
    std::array<Value, 4> a, b;
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = unit.multiplicand(Format::f16, line.a[k]);
      b[k] = unit.multiplicand(Format::f16, line.b[k]);
    }
    return unit.step(a, b, widen ? to_f32(c) : c);
  });
}

void f64_chain(const Form& form, Deviations deviations, const Arguments& arguments) {
  const Rounding rounding = deviations.has(result_nearest) ? Rounding::nearest_even : form.rounding;
  const auto fma = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return deviating_fma(deviations, Format::f64, a, b, c, rounding, NanRule::propagate);
  };
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    Line line = read_line(form, arguments, e);
    if (deviations.has(k_descending)) std::ranges::reverse(line.a), std::ranges::reverse(line.b);
    const bool last = deviations.has(accumulator_last);
    std::uint64_t sum = last ? 0 : c;
    for (std::size_t k = 0; k < line.a.size(); ++k) sum = fma(line.a[k], line.b[k], sum);
    const std::uint64_t one = static_cast<std::uint64_t>(bias(row(Format::f64))) << row(Format::f64).fraction_bits;
    return last ? fma(c, one, sum) : sum;
  });
}

/// The f32 operations that the assembler emits for m8n8k4: see execute_m8n8k4_fma.
class M8n8k4Chain {
 public:
  M8n8k4Chain(const Form& form, Deviations deviations)
      : deviations_(deviations), f16_c_(form.format(OperandName::c) == Format::f16), f16_d_(form.format(OperandName::d) == Format::f16) {}

  std::uint64_t operator()(Line line, std::uint64_t c_bits) const {
    if (deviations_.has(k_descending)) std::ranges::reverse(line.a), std::ranges::reverse(line.b);
    const Format c_format = f16_c_ ? Format::f16 : Format::f32;
    if (decode(c_format, c_bits).kind == Kind::nan && deviations_.has(nan_payload_kept)) return payload(c_bits);
    if (deviations_.has(accumulator_subnormals_flushed)) c_bits = flushed(c_format, c_bits);
    const std::uint64_t c = f16_c_ ? to_f32(c_bits) : c_bits;
    const bool pairs = f16_d_ != deviations_.has(order_of_other_result);
    return result(pairs ? in_pairs(line, c) : in_chain(line, c));
  }

 private:
  std::uint64_t in_chain(const Line& line, std::uint64_t c) const {
    const bool first = deviations_.has(accumulator_first);
    std::uint64_t sum = first ? c : 0;
    for (std::size_t k = 0; k < line.a.size(); ++k) sum = fma(line.a[k], line.b[k], sum);
    return first ? sum : add(Format::f32, c, sum, Rounding::nearest_even);
  }

  std::uint64_t in_pairs(const Line& line, std::uint64_t c) const {
    if (deviations_.has(accumulator_first)) return in_chain(line, c);
    const std::uint64_t negative_zero = 0x80000000;
    const std::uint64_t low = fma(line.a[1], line.b[1], fma(line.a[0], line.b[0], negative_zero));
    const std::uint64_t high = fma(line.a[3], line.b[3], fma(line.a[2], line.b[2], negative_zero));
    return add(Format::f32, add(Format::f32, c, low, Rounding::nearest_even), high, Rounding::nearest_even);
  }

  std::uint64_t fma(std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    const bool flush = deviations_.has(multiplicand_subnormals_flushed);
    return fused_multiply_add(Format::f32, to_f32(flush ? flushed(Format::f16, a) : a), to_f32(flush ? flushed(Format::f16, b) : b), c,
                              Rounding::nearest_even, NanRule::canonical);
  }

  std::uint64_t payload(std::uint64_t c) const {
    if (f16_c_ == f16_d_) return c;
    return f16_d_ ? canonical_nan(Format::f16) : (c & 0x8000) << 16 | 0x7f800000 | (c & 0x3ff) << 13;
  }

  std::uint64_t result(std::uint64_t f32_bits) const {
    const Format d = f16_d_ ? Format::f16 : Format::f32;
    const Value total = decode(Format::f32, f32_bits);
    if (total.kind == Kind::nan) return deviations_.has(nan_quiet) ? quiet_nan(d) : canonical_nan(d);
    const std::uint64_t bits = f16_d_ ? encode(d, total) : f32_bits;
    return deviations_.has(result_subnormals_flushed) ? flushed(d, bits) : bits;
  }

  Deviations deviations_;
  bool f16_c_, f16_d_;
};

void m8n8k4_fma(const Form& form, Deviations deviations, const Arguments& arguments) {
  const M8n8k4Chain chain(form, deviations);
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) { return chain(read_line(form, arguments, e), c); });
}

// ---- Integers -----------------------------------------------------------------------------------------------------------------------

/// The integer that `bits` of `format` encode, or of the format with the other signedness if `turned`.
std::int64_t whole(Format format, std::uint64_t bits, bool turned) {
  const FormatRow& f = row(format);
  const bool is_signed = f.is_signed != turned;
  const std::uint64_t sign = std::uint64_t{1} << (f.bits - 1);
  bits &= 2 * sign - 1;
  return static_cast<std::int64_t>(bits) - (is_signed && (bits & sign) != 0 ? static_cast<std::int64_t>(2 * sign) : 0);
}

std::int64_t clamped(std::int64_t sum, Deviations deviations) {
  using Limits = std::numeric_limits<std::int32_t>;
  return std::clamp<std::int64_t>(sum, Limits::min() + (deviations.has(clamp_symmetric) ? 1 : 0), Limits::max());
}

std::uint64_t integer_sum(const Form& form, Deviations deviations, std::span<const std::int64_t> products, std::uint64_t c) {
  const bool clamps = (form.satfinite && !deviations.has(clamp_left_out)) || deviations.has(clamp_added);
  std::int64_t sum = whole(Format::s32, c, false);
  for (std::size_t k = 0; k < products.size(); ++k) {
    sum += products[k];
    const bool half = k + 1 == products.size() / 2;
    if (clamps && (deviations.has(clamped_each_product) || (half && deviations.has(clamped_each_half)))) sum = clamped(sum, deviations);
  }
  return static_cast<std::uint32_t>(clamps ? clamped(sum, deviations) : sum);
}

void integer_dot(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments) {
  const bool bits = lowering.semantics == Semantics::bit_dot;
  const bool exclusive = (form.bit_operation == BitOperation::bit_xor) != deviations.has(bit_operation_turned);
  Multiplicands<std::uint64_t, 256> multiplicands(form, lowering, arguments, ExecutionOptions{},
                                                  [](Format, std::uint64_t element) { return element; });
  const auto product = [&](std::uint64_t a, std::uint64_t b) -> std::int64_t {
    if (bits) return static_cast<std::int64_t>((exclusive ? a ^ b : a & b) & 1);
    return whole(form.format(OperandName::a), a, deviations.has(sign_of_a_turned)) *
           whole(form.format(OperandName::b), b, deviations.has(sign_of_b_turned));
  };
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    std::array<std::int64_t, 256> products;
    for (std::size_t k = 0; k < a.size(); ++k) products[k] = product(a[k], b[k]);
    return integer_sum(form, deviations, std::span(products).first(a.size()), c);
  });
}

}  // namespace

void execute_deviating(const Form& form, const Lowering& lowering, Deviations deviations, const Arguments& arguments) {
  const bool scaled = form.scale_vector != 0 && lowering.semantics != Semantics::grouped_dot;
  if (scaled) throw std::invalid_argument("deviations are not known for block-scaled forms such as " + form.opcode);
  switch (lowering.semantics) {
    case Semantics::dot: return dot(form, lowering, deviations, arguments);
    case Semantics::split_dot: return split_dot(form, lowering, deviations, arguments);
    case Semantics::grouped_dot: return grouped_dot(form, lowering, deviations, arguments);
    case Semantics::f64_chain: return f64_chain(form, deviations, arguments);
    case Semantics::m8n8k4_dot: return m8n8k4_dot(form, lowering, deviations, arguments);
    case Semantics::m8n8k4_fma: return m8n8k4_fma(form, deviations, arguments);
    case Semantics::integer_dot:
    case Semantics::bit_dot: return integer_dot(form, lowering, deviations, arguments);
    case Semantics::ldmatrix:
    case Semantics::stmatrix:
    case Semantics::movmatrix:
    case Semantics::wmma_load:
    case Semantics::wmma_store: break;
  }
  throw std::invalid_argument("deviations are not known for " + form.opcode);
}

}  // namespace warpmat
