#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <span>

#include <warpmat/execute/reference/execute.h>
#include <warpmat/execute/reference/multiplicands.h>
#include <warpmat/execute/reference/scale_factors.h>
#include <warpmat/execute/reference/small_value.h>
#include <warpmat/numeric/events.h>
#include <warpmat/numeric/ieee.h>

namespace warpmat {
namespace {

using FloatMultiplicands = Multiplicands<Value, capacity::float_k, SmallValue>;

/// Counts elements of A and B with bits that reading ignores.
void count_dropped_bits(Events& counts, const Form& form, const Arguments& arguments) {
  for (const OperandName name : {OperandName::a, OperandName::b}) {
    const auto dropped = (std::uint32_t{1} << row(form.format(name)).ignored_low_bits) - 1;
    for (const std::uint32_t* words : arguments.source(name))
      for (int lane = 0; lane < warp_size; ++lane) counts.add_if((words[lane] & dropped) != 0, Event::dropped_bits);
  }
}

std::uint64_t to_f32(Format format, std::uint64_t bits) {
  return encode(Format::f32, decode(format, bits));
}

}  // namespace

namespace {

/// Elements along K, from `first` on.
struct Depth {
  std::size_t first, count;

  template <typename T>
  std::span<const T> of(std::span<const T> elements) const {
    return elements.subspan(first, count);
  }
};

/// One machine instruction's part of D and of K.
void execute_part(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options, const Part& of,
                  const Depth& depth) {
  FloatMultiplicands multiplicands(form, lowering, arguments, options, decode);
  const Format accumulator = form.accumulator();
  // Elements in containers count as their container: a step takes 32 of them whether they have 8, 6 or 4 bits.
  const int step = lowering.model->step_bytes * 8 / form.operand(OperandName::a).fragment.element_bits;
  if (form.scale_vector == 0) {
    for_each_result(form, arguments, of, [&](const Element& e, std::uint64_t c) {
      if (Observer* observer = observer_of(arguments.events))
        for (std::size_t k = 0; k < depth.count; ++k) observer->column(depth.first + k);
      const std::uint64_t addend = widened_accumulator(form, c);
      return narrowed_result(form, dot(*lowering.model, step, accumulator, depth.of(multiplicands.a(e.row)),
                                       depth.of(multiplicands.b(e.row, e.column)), addend, 0, arguments.events));
    });
    return;
  }
  const int matrix_a = selected_scales(form, arguments, OperandName::ids_a);
  const int matrix_b = selected_scales(form, arguments, OperandName::ids_b);
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    const Value scale_a = read_scales(form, arguments, OperandName::scale_a, matrix_a, e.row, 1)[0];
    const Value scale_b = read_scales(form, arguments, OperandName::scale_b, matrix_b, e.column, 1)[0];
    if (scale_a.kind == Value::Kind::nan || scale_b.kind == Value::Kind::nan) return canonical_nan(accumulator);
    return dot(*lowering.model, step, accumulator, multiplicands.a(e.row), multiplicands.b(e.row, e.column), c,
               scale_a.exponent + scale_b.exponent, arguments.events);
  });
}

/// Machine instructions in sequence along K. Those of wmma in tf32, one step of the unit each, add to the registers of D, the first ones to
/// C; so ptxas does not accept _ there. Between them A and B are read again [H200].
std::size_t instructions_along_k(const Form& form, const Lowering& lowering) {
  const bool adds_to_d = form.mnemonic == Mnemonic::wmma_mma && !lowering.exceptions.discardable;
  const int bytes = form.shape.k * form.operand(OperandName::a).fragment.element_bits / 8;
  return adds_to_d ? static_cast<std::size_t>(bytes / lowering.model->step_bytes) : 1;
}

/// The registers of C. wmma converts them first if C is f16 and D is f32 [H200].
class ConvertedAccumulator {
 public:
  explicit ConvertedAccumulator(ConstRegisterList c) : words_(c.size()) {
    for (std::size_t i = 0; i < words_; ++i) {
      std::copy_n(c[i], warp_size, kept_[i].begin());
      list_[i] = kept_[i].data();
    }
  }
  ConstRegisterList list() const { return std::span(list_).first(words_); }

 private:
  std::size_t words_;
  std::array<Register, capacity::operand_words> kept_;
  std::array<const std::uint32_t*, capacity::operand_words> list_{};
};

}  // namespace

void execute_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  if (arguments.events != nullptr) count_dropped_bits(*arguments.events, form, arguments);
  Arguments machine = arguments;
  std::optional<ConvertedAccumulator> converted;
  if (form.format(OperandName::c) != form.format(OperandName::d))
    machine.source(OperandName::c) = converted.emplace(arguments.source(OperandName::c)).list();
  const std::size_t instructions = instructions_along_k(form, lowering), k = static_cast<std::size_t>(form.stored_k()) / instructions;
  for (std::size_t i = 0; i < instructions; ++i) {
    for (int number = 0; number < parts(form); ++number) execute_part(form, lowering, machine, options, part(form, number), {i * k, k});
    machine.source(OperandName::c) = ConstRegisterList(arguments.destination);
  }
}

namespace {

/// Counts the operands of the addition of C. The sum of the products matters only if it is infinite.
void count_addition(Events& counts, Format format, std::uint64_t sum, std::uint64_t c) {
  const Value value = decode(format, sum), one = {Value::Kind::finite, false, 0, 0, 1};
  const Value product = value.kind == Value::Kind::infinity ? value : Value::special(Value::Kind::zero);
  count_operands(counts, {&product, 1}, {&one, 1}, decode(format, c));
}

/// D = product + C, register by register: the assembler emits an addition for each. So a register of C that is also an earlier register of
/// D already holds the result [H200].
template <typename Product>
void add_to_c(const Form& form, const Arguments& arguments, Product product) {
  const Fragment& fragment = form.operand(OperandName::d).fragment;
  const Format accumulator = form.format(OperandName::d);
  const auto for_each_in = [&](int reg, auto visit) {
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i) visit(fragment.element({lane, reg, i * fragment.element_bits}));
  };
  std::array<std::uint64_t, capacity::results> products;
  std::size_t next = 0;
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for_each_in(reg, [&](const Element& element) { products[next++] = product(element); });
  next = 0;
  for (int reg = 0; reg < fragment.registers(); ++reg) {
    const std::size_t first = next;
    for_each_in(reg, [&](const Element& element) {
      const std::uint64_t c = read_element(fragment, arguments.source(OperandName::c), element);
      if (arguments.events != nullptr) count_addition(*arguments.events, accumulator, products[next], c);
      if (Observer* observer = observer_of(arguments.events)) observer->result(result_number(form, element));
      products[next] = add(accumulator, products[next], c, Rounding::nearest_even, arguments.events);
      ++next;
    });
    next = first;
    for_each_in(reg, [&](const Element& element) { write_element(fragment, arguments.destination, element, products[next++]); });
  }
}

}  // namespace

void execute_split_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  FloatMultiplicands multiplicands(form, lowering, arguments, options, [](Format format, std::uint64_t bits) {
    return decode(Format::f16, encode(Format::f16, decode(format, bits)));  // a subnormal of e4m3 is a normal f16, and is aligned as one
  });
  const Format accumulator = form.format(OperandName::d);
  std::array<Value, capacity::float_k> half_a, half_b;
  const auto product = [&](const Element& e) {
    if (Observer* observer = observer_of(arguments.events)) observer->result(result_number(form, e));
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    std::uint64_t sum = 0;
    for (const std::size_t half : {0u, 1u}) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (k / 2 % 2 != half) continue;
        if (Observer* observer = observer_of(arguments.events)) observer->column(k);
        half_a[count] = a[k];
        half_b[count++] = b[k];
      }
      sum =
          dot_step(*lowering.model, accumulator, std::span(half_a).first(count), std::span(half_b).first(count), sum, 0, arguments.events);
    }
    return sum;
  };
  add_to_c(form, arguments, product);
}

void execute_grouped_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  FloatMultiplicands multiplicands(form, lowering, arguments, options, decode);
  const int matrix_a = selected_scales(form, arguments, OperandName::ids_a);
  const int matrix_b = selected_scales(form, arguments, OperandName::ids_b);
  const std::size_t groups = static_cast<std::size_t>(form.stored_k()) / group_elements;
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    const Scales scales_a = read_scales(form, arguments, OperandName::scale_a, matrix_a, e.row, groups);
    const Scales scales_b = read_scales(form, arguments, OperandName::scale_b, matrix_b, e.column, groups);
    return grouped_dot(*lowering.model, Format::f32, multiplicands.a(e.row), multiplicands.b(e.row, e.column),
                       std::span(scales_a).first(groups), std::span(scales_b).first(groups), c, arguments.events);
  });
}

namespace {

void count_factors(Events& counts, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const Value factors[] = {decode(Format::f64, a), decode(Format::f64, b)};
  count_operands(counts, {&factors[0], 1}, {&factors[1], 1}, decode(Format::f64, c));
}

}  // namespace

void execute_f64_chain(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions& options) {
  Multiplicands<std::uint64_t, capacity::f64_k> multiplicands(form, lowering, arguments, options,
                                                              [](Format, std::uint64_t bits) { return bits; });
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t sum) {
    const auto a = multiplicands.a(e.row), b = multiplicands.b(e.row, e.column);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (arguments.events != nullptr) count_factors(*arguments.events, a[k], b[k], sum);
      if (Observer* observer = observer_of(arguments.events)) observer->column(k);
      sum = fused_multiply_add(Format::f64, a[k], b[k], sum, form.rounding, NanRule::propagate, arguments.events);
    }
    return sum;
  });
}

namespace {

/// The four products of m8n8k4, with all k of them for one element.
struct Quad {
  std::array<std::uint64_t, 4> a, b;
};

std::array<Value, 4> decode_f16(const std::array<std::uint64_t, 4>& codes) {
  std::array<Value, 4> values;
  std::ranges::transform(codes, values.begin(), [](std::uint64_t code) { return decode(Format::f16, code); });
  return values;
}

Quad read_quad(const Form& form, const Arguments& arguments, const Element& e) {
  Quad quad;
  for (int k = 0; k < 4; ++k) {
    quad.a[static_cast<std::size_t>(k)] =
        read_element(form.operand(OperandName::a).fragment, arguments.source(OperandName::a), {e.row, k, e.matrix});
    quad.b[static_cast<std::size_t>(k)] =
        read_element(form.operand(OperandName::b).fragment, arguments.source(OperandName::b), {k, e.column, e.matrix});
  }
  return quad;
}

}  // namespace

void execute_m8n8k4_dot(const Form& form, const Lowering& lowering, const Arguments& arguments, const ExecutionOptions&) {
  const Format result = form.format(OperandName::d), accumulator = form.format(OperandName::c);
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c) {
    const Quad quad = read_quad(form, arguments, e);
    return dot_step(*lowering.model, result, decode_f16(quad.a), decode_f16(quad.b), result == accumulator ? c : to_f32(accumulator, c), 0,
                    arguments.events);
  });
}

void execute_m8n8k4_fma(const Form& form, const Lowering&, const Arguments& arguments, const ExecutionOptions&) {
  const Format result = form.format(OperandName::d), accumulator = form.format(OperandName::c);
  const auto fma = [&](const Quad& quad, std::size_t k, std::uint64_t c) {
    if (Observer* observer = observer_of(arguments.events)) observer->column(k);
    return fused_multiply_add(Format::f32, to_f32(Format::f16, quad.a[k]), to_f32(Format::f16, quad.b[k]), c, Rounding::nearest_even,
                              NanRule::canonical, arguments.events);
  };
  const auto sum = [&](std::uint64_t a, std::uint64_t b) { return add(Format::f32, a, b, Rounding::nearest_even, arguments.events); };
  const std::uint64_t negative_zero = 0x80000000;  // x * y alone: adding -0 changes nothing
  for_each_result(form, arguments, [&](const Element& e, std::uint64_t c_bits) {
    const Quad quad = read_quad(form, arguments, e);
    if (arguments.events != nullptr) count_operands(*arguments.events, decode_f16(quad.a), decode_f16(quad.b), decode(accumulator, c_bits));
    const std::uint64_t c = accumulator == Format::f32 ? c_bits : to_f32(accumulator, c_bits);
    if (result == Format::f32) return sum(c, fma(quad, 3, fma(quad, 2, fma(quad, 1, fma(quad, 0, 0)))));
    const std::uint64_t low = fma(quad, 1, fma(quad, 0, negative_zero));
    const std::uint64_t high = fma(quad, 3, fma(quad, 2, negative_zero));
    const Value total = decode(Format::f32, sum(sum(c, low), high));
    const std::uint64_t d = total.kind == Value::Kind::nan ? canonical_nan(Format::f16) : encode(Format::f16, total);
    if (arguments.events != nullptr && total.kind == Value::Kind::finite)
      count_rounding(*arguments.events, Format::f16, {total.negative, total.significand, total.exponent - total.fraction_bits}, d, 1);
    return d;
  });
}

}  // namespace warpmat
