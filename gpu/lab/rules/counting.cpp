#include "gpu/lab/rules/counting.h"

#include <warpmat/execute/reference/execute_with.h>

#include <algorithm>
#include <array>

namespace warpmat {

std::uint64_t CountingArithmetic::step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                                       std::uint64_t c, int scale_exponent) {
  count_operands(counts_, a, b, decode(accumulator, c));
  return Base::step(model, accumulator, a, b, c, scale_exponent);
}

std::uint64_t CountingArithmetic::grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                                              std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c) {
  count_operands(counts_, {}, {}, decode(accumulator, c));
  return Base::grouped_dot(model, accumulator, a, b, scales_a, scales_b, c);
}

std::uint64_t CountingArithmetic::sum(const DotModel& model, Format accumulator, std::span<const Value> terms) {
  terms_ = terms;
  return Base::sum(model, accumulator, terms);
}

std::uint64_t CountingArithmetic::round(const DotModel& model, Format accumulator, const AlignedSum& aligned) {
  const std::uint64_t result = Base::round(model, accumulator, aligned);
  count_sum(counts_, model, accumulator, terms_, aligned, result);
  return result;
}

std::uint64_t CountingArithmetic::fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding,
                                        NanRule nan_rule) {
  const std::uint64_t result = Base::fused(format, a, b, c, rounding, nan_rule);
  if (format == Format::f64) {
    const Value factor_a = decode(format, a), factor_b = decode(format, b);
    count_operands(counts_, {&factor_a, 1}, {&factor_b, 1}, decode(format, c));
  }
  count_fused(counts_, format, a, b, c, result);
  return result;
}

/// Counts the operands of the addition. The sum of the products matters only if it is infinite.
std::uint64_t CountingArithmetic::last_addition(Format format, std::uint64_t sum, std::uint64_t c) {
  const Value value = decode(format, sum), one = {Value::Kind::finite, false, 0, 0, 1};
  const Value product = value.kind == Value::Kind::infinity ? value : Value::special(Value::Kind::zero);
  count_operands(counts_, {&product, 1}, {&one, 1}, decode(format, c));
  return Base::last_addition(format, sum, c);
}

std::uint64_t CountingArithmetic::m8n8k4(const Quad& quad, std::uint64_t c, Format c_format, Format d_format) {
  std::array<Value, 4> a, b;
  for (std::size_t k = 0; k < a.size(); ++k) {
    a[k] = decode(Format::f16, quad.a[k]);
    b[k] = decode(Format::f16, quad.b[k]);
  }
  count_operands(counts_, a, b, decode(c_format, c));
  return Base::m8n8k4(quad, c, c_format, d_format);
}

std::uint64_t CountingArithmetic::m8n8k4_result(std::uint64_t sum, Format d) {
  const std::uint64_t result = Base::m8n8k4_result(sum, d);
  const Value total = decode(Format::f32, sum);
  if (d == Format::f16 && total.kind == Value::Kind::finite)
    count_rounding(counts_, d, {total.negative, total.significand, total.exponent - total.fraction_bits}, result, 1);
  return result;
}

/// Counts the partial sums too, C first.
std::int64_t CountingArithmetic::integer_sum(std::span<const std::int64_t> a, std::span<const std::int64_t> b, std::int64_t c) {
  std::int64_t sum = c, least = c, largest = c;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += a[k] * b[k];
    least = std::min(least, sum);
    largest = std::max(largest, sum);
  }
  count_integer(counts_, sum, least, largest);
  return Base::integer_sum(a, b, c);
}

std::int64_t CountingArithmetic::bit_sum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::int64_t c,
                                         BitOperation operation) {
  const std::int64_t sum = Base::bit_sum(a, b, c, operation);
  count_integer(counts_, sum, c, sum);
  return sum;
}

// ---- Operands other than factors and C ------------------------------------------------------------------------------------------------

namespace {

/// Counts elements of A and B with bits that reading ignores.
void count_dropped_bits(Events& counts, const Form& form, const Batch& batch) {
  for (const OperandName name : {OperandName::a, OperandName::b}) {
    const auto dropped = (std::uint32_t{1} << row(form.format(name)).ignored_low_bits) - 1;
    for (int word = 0; word < form.operand(name).words(); ++word)
      for (int lane = 0; lane < warp_size; ++lane) counts.add_if((batch.source(name).at(word, lane) & dropped) != 0, Event::dropped_bits);
  }
}

void count_metadata(Events& counts, const Form& form, const Batch& batch) {
  const Fragment& fragment = form.operand(OperandName::e).fragment;
  const std::uint32_t selector = batch.source(OperandName::selector).at(0, 0);
  if (selector >= static_cast<std::uint32_t>(fragment.matrices())) return;  // executing traps
  counts.add(Event::selector, selector);
  for (int i = 0; i < form.shape.m; ++i)
    for (int group = 0; group < fragment.columns(); ++group)
      counts.add(Event::metadata_code, read_element(fragment, batch.source(OperandName::e), {i, group, static_cast<int>(selector)}));
}

/// Counts the scale factors of each result, `count` of each operand.
void count_scales(Events& counts, const Form& form, const Batch& batch, std::size_t count) {
  const int matrix_a = selected_scales(form, batch, OperandName::ids_a), matrix_b = selected_scales(form, batch, OperandName::ids_b);
  counts.add(Event::scale_ids_a, static_cast<std::size_t>(matrix_a));
  counts.add(Event::scale_ids_b, static_cast<std::size_t>(matrix_b));
  const auto count_line = [&](OperandName name, int matrix, int line) {
    const Operand& operand = form.operand(name);
    for (std::size_t i = 0; i < count; ++i)
      count_scale(counts, *operand.format,
                  read_element(operand.fragment, batch.source(name), scale_element(form, name, matrix, line, i, count)));
  };
  for (int i = 0; i < form.shape.m; ++i)
    for (int j = 0; j < form.shape.n; ++j) {
      count_line(OperandName::scale_a, matrix_a, i);
      count_line(OperandName::scale_b, matrix_b, j);
    }
}

void count_selectors(Events& counts, const Form& form, const Lowering& lowering, const Batch& batch) {
  if (lowering.semantics == Semantics::ldmatrix || lowering.semantics == Semantics::stmatrix)
    for (int lane = 0; lane < form.rows_in_memory(); ++lane) counts.add(Event::row_address, static_cast<std::size_t>(lane));
  if (lowering.semantics == Semantics::dot) count_dropped_bits(counts, form, batch);
  if (form.sparsity != Sparsity::dense) count_metadata(counts, form, batch);
  const bool grouped = lowering.semantics == Semantics::grouped_dot;
  if (form.scale_vector != 0) count_scales(counts, form, batch, grouped ? static_cast<std::size_t>(form.stored_k()) / group_elements : 1);
}

}  // namespace

void execute_counting(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options, Events& counts) {
  count_selectors(counts, form, lowering, batch);
  CountingArithmetic arithmetic(counts);
  execute_with(arithmetic, form, lowering, batch, options);
}

}  // namespace warpmat
