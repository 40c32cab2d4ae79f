#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include <warpmat/dot.h>
#include <warpmat/execute/reference/arithmetic.h>
#include <warpmat/execute/reference/multiplicands.h>
#include <warpmat/execute/reference/scale_factors.h>
#include <warpmat/execute/reference/small_value.h>

namespace warpmat {

// Floating-point products: one function for each Semantics, over a ReferenceArithmetic. Each reads all sources in `batch`, then writes
// results. None is inlined into another: each has some 32 KB of decoded elements on the stack (warpmat_instruction_info.stack_bytes).

using FloatMultiplicands = Multiplicands<Value, capacity::float_k, SmallValue>;

/// Elements along K, from `first` on.
struct Depth {
  std::size_t first, count;

  template <typename T>
  std::span<const T> of(std::span<const T> elements) const {
    return elements.subspan(first, count);
  }
};

/// Elements of A that one step of the model takes. Elements in containers count as their container: a step takes 32 of them whether they
/// have 8, 6 or 4 bits.
inline int step_length(const Form& form, const Lowering& lowering) {
  return lowering.model->step_bytes * 8 / form.operand(OperandName::a).fragment.element_bits();
}

/// One machine instruction's part of D and of K, without scale factors. It adds to `of_c`.
template <typename Arithmetic>
[[gnu::noinline]] void execute_part(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                    const ConstRegisterView& of_c, const ExecutionOptions& options, const Part& of, const Depth& depth) {
  FloatMultiplicands multiplicands(form, lowering, batch, options,
                                   [&](Format format, std::uint64_t bits) { return arithmetic.multiplicand(format, bits); });
  const int step = step_length(form, lowering);
  const Format sum_format = arithmetic.sum_format(form);
  for_each_result(arithmetic, form, batch, of_c, of, [&](const Element& e, std::uint64_t c) {
    for (std::size_t k = 0; k < depth.count; ++k) arithmetic.column(depth.first + k);
    return arithmetic.narrowed(form, arithmetic.dot(*lowering.model, step, sum_format, depth.of(multiplicands.a(e.row)),
                                                    depth.of(multiplicands.b(e.row, e.column)), arithmetic.widened(form, c)));
  });
}

/// All of D and K, with a scale factor for each row of A and each column of B.
template <typename Arithmetic>
[[gnu::noinline]] void execute_scaled(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                      const ExecutionOptions& options) {
  FloatMultiplicands multiplicands(form, lowering, batch, options,
                                   [&](Format format, std::uint64_t bits) { return arithmetic.multiplicand(format, bits); });
  const int matrix_a = selected_scales(form, batch, OperandName::ids_a);
  const int matrix_b = selected_scales(form, batch, OperandName::ids_b);
  const int step = step_length(form, lowering);
  const Format sum_format = form.accumulator();
  for_each_result(arithmetic, form, batch, [&](const Element& e, std::uint64_t c) {
    const Value scale_a = read_scales(form, batch, OperandName::scale_a, matrix_a, e.row, 1)[0];
    const Value scale_b = read_scales(form, batch, OperandName::scale_b, matrix_b, e.column, 1)[0];
    if (scale_a.kind == Value::Kind::nan || scale_b.kind == Value::Kind::nan) return arithmetic.nan(sum_format);
    return arithmetic.dot(*lowering.model, step, sum_format, multiplicands.a(e.row), multiplicands.b(e.row, e.column), c,
                          scale_a.exponent + scale_b.exponent);
  });
}

/// Machine instructions in sequence along K. Those of wmma in tf32, one step of the unit each, add to the registers of D, the first ones to
/// C; so ptxas does not accept _ there. Between them A and B are read again [H200].
inline std::size_t instructions_along_k(const Form& form, const Lowering& lowering) {
  const bool adds_to_d = form.mnemonic == Mnemonic::wmma_mma && !lowering.exceptions.discardable;
  const int bytes = form.shape.k * form.operand(OperandName::a).fragment.element_bits() / 8;
  return adds_to_d ? static_cast<std::size_t>(bytes / lowering.model->step_bytes) : 1;
}

/// The registers of C. wmma converts them first if C is f16 and D is f32 [H200].
class ConvertedAccumulator {
 public:
  ConvertedAccumulator(const ConstRegisterView& c, int words) {
    for (int i = 0; i < words; ++i)
      for (int lane = 0; lane < warp_size; ++lane) kept_[static_cast<std::size_t>(i)][static_cast<std::size_t>(lane)] = c.at(i, lane);
  }
  ConstRegisterView view() const { return kept_[0].data(); }

 private:
  std::array<Register, capacity::operand_words> kept_;
};

/// D = A · B + C in steps of lowering.model, K ascending (dot.h), with block scales if the form has them. A sparse A is processed
/// by its stored elements: an element of B without a stored element of A does not affect the result [H200].
template <typename Arithmetic>
[[gnu::noinline]] void execute_dot(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                   const ExecutionOptions& options) {
  if (form.scale_vector != 0) return execute_scaled(arithmetic, form, lowering, batch, options);
  ConstRegisterView c = batch.source(OperandName::c);
  std::optional<ConvertedAccumulator> converted;
  if (form.format(OperandName::c) != form.format(OperandName::d)) c = converted.emplace(c, form.operand(OperandName::c).words()).view();
  const std::size_t instructions = instructions_along_k(form, lowering), k = static_cast<std::size_t>(form.stored_k()) / instructions;
  for (std::size_t i = 0; i < instructions; ++i) {
    const Depth depth{arithmetic.part_of_k(i, instructions) * k, k};
    for (int number = 0; number < parts(form); ++number)
      execute_part(arithmetic, form, lowering, batch, c, options, part(form, number), depth);
    c = batch.destination;
  }
}

/// D = product + C, register by register: the assembler emits an addition for each. So a register of C that is also an earlier register of
/// D already holds the result [H200].
template <typename Arithmetic, typename Product>
void add_to_c(Arithmetic& arithmetic, const Form& form, const Batch& batch, Product product) {
  const Fragment& fragment = form.operand(OperandName::d).fragment;
  const Format accumulator = form.format(OperandName::d);
  const auto for_each_in = [&](int reg, auto visit) {
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < fragment.elements_per_register(); ++i) visit(fragment.element({lane, reg, i * fragment.element_bits()}));
  };
  std::array<std::uint64_t, capacity::results> products;
  std::size_t next = 0;
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for_each_in(reg, [&](const Element& element) { products[next++] = product(element); });
  next = 0;
  for (int reg = 0; reg < fragment.registers(); ++reg) {
    const std::size_t first = next;
    for_each_in(reg, [&](const Element& element) {
      const std::uint64_t c = read_element(fragment, batch.source(OperandName::c), element);
      arithmetic.result(result_number(form, element));
      products[next] = arithmetic.last_addition(accumulator, products[next], c);
      ++next;
    });
    next = first;
    for_each_in(reg, [&](const Element& element) { write_element(fragment, batch.destination, element, products[next++]); });
  }
}

/// fp8 on hardware without a unit for it. Elements become f16. d1 sums the stored k with k mod 4 in {0, 1} from zero, d2 the others from
/// d1, and D = d2 + C in one IEEE addition, register by register. If a register of C is an earlier one of D, the addition reads the new
/// value [H200].
template <typename Arithmetic>
[[gnu::noinline]] void execute_split_dot(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                         const ExecutionOptions& options) {
  FloatMultiplicands multiplicands(form, lowering, batch, options,
                                   [&](Format format, std::uint64_t bits) { return arithmetic.split_multiplicand(format, bits); });
  const Format accumulator = form.format(OperandName::d);
  add_to_c(arithmetic, form, batch, [&](const Element& e) {
    arithmetic.result(result_number(form, e));
    return arithmetic.halves(*lowering.model, accumulator, multiplicands.a(e.row), multiplicands.b(e.row, e.column), 0);
  });
}

/// kind::mxf4 and kind::mxf4nvf4: lowering.model over groups of 16 products with their scale factors.
template <typename Arithmetic>
[[gnu::noinline]] void execute_grouped_dot(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                           const ExecutionOptions& options) {
  FloatMultiplicands multiplicands(form, lowering, batch, options, decode);
  const int matrix_a = selected_scales(form, batch, OperandName::ids_a);
  const int matrix_b = selected_scales(form, batch, OperandName::ids_b);
  const std::size_t groups = static_cast<std::size_t>(form.stored_k()) / group_elements;
  for_each_result(arithmetic, form, batch, [&](const Element& e, std::uint64_t c) {
    const Scales scales_a = read_scales(form, batch, OperandName::scale_a, matrix_a, e.row, groups);
    const Scales scales_b = read_scales(form, batch, OperandName::scale_b, matrix_b, e.column, groups);
    return arithmetic.grouped_dot(*lowering.model, Format::f32, multiplicands.a(e.row), multiplicands.b(e.row, e.column),
                                  std::span(scales_a).first(groups), std::span(scales_b).first(groups), c);
  });
}

/// f64: a chain of fused multiply-adds from C, K ascending, each rounded as the form says.
template <typename Arithmetic>
[[gnu::noinline]] void execute_f64_chain(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch,
                                         const ExecutionOptions& options) {
  Multiplicands<std::uint64_t, capacity::f64_k> multiplicands(form, lowering, batch, options,
                                                              [](Format, std::uint64_t bits) { return bits; });
  for_each_result(arithmetic, form, batch, [&](const Element& e, std::uint64_t c) {
    return arithmetic.f64_chain(multiplicands.a(e.row), multiplicands.b(e.row, e.column), c, form.rounding);
  });
}

inline Quad read_quad(const Form& form, const Batch& batch, const Element& e) {
  Quad quad;
  for (int k = 0; k < 4; ++k) {
    quad.a[static_cast<std::size_t>(k)] =
        read_element(form.operand(OperandName::a).fragment, batch.source(OperandName::a), {e.row, k, e.matrix});
    quad.b[static_cast<std::size_t>(k)] =
        read_element(form.operand(OperandName::b).fragment, batch.source(OperandName::b), {k, e.column, e.matrix});
  }
  return quad;
}

/// m8n8k4 of f16 in the matrix unit: four products, one step each.
template <typename Arithmetic>
[[gnu::noinline]] void execute_m8n8k4_dot(Arithmetic& arithmetic, const Form& form, const Lowering& lowering, const Batch& batch) {
  const Format c_format = form.format(OperandName::c), d_format = form.format(OperandName::d);
  for_each_result(arithmetic, form, batch, [&](const Element& e, std::uint64_t c) {
    const Quad quad = read_quad(form, batch, e);
    std::array<Value, 4> a, b;
    for (std::size_t k = 0; k < a.size(); ++k) {
      a[k] = arithmetic.multiplicand(Format::f16, quad.a[k]);
      b[k] = arithmetic.multiplicand(Format::f16, quad.b[k]);
    }
    return arithmetic.step(*lowering.model, d_format, a, b, Arithmetic::converted(c_format, d_format, c));
  });
}

/// m8n8k4 of f16 on the ordinary f32 cores, as the assembler emits it from sm_80 on.
template <typename Arithmetic>
[[gnu::noinline]] void execute_m8n8k4_fma(Arithmetic& arithmetic, const Form& form, const Batch& batch) {
  const Format c_format = form.format(OperandName::c), d_format = form.format(OperandName::d);
  for_each_result(arithmetic, form, batch,
                  [&](const Element& e, std::uint64_t c) { return arithmetic.m8n8k4(read_quad(form, batch, e), c, c_format, d_format); });
}

}  // namespace warpmat
