#include <warpmat/tables/capacity.h>

#include <algorithm>
#include <string_view>

#include <warpmat/dot.h>
#include <warpmat/text.h>

namespace warpmat::capacity {
namespace {

std::size_t size(int number) {
  return static_cast<std::size_t>(number);
}

void add_mma(const Form& form, Need& out) {
  const Format a = form.format(OperandName::a);
  const Fragment& d = form.operand(OperandName::d).fragment;
  out.m = size(form.shape.m);
  out.n = size(form.shape.n);
  (a == Format::f64 ? out.f64_k : is_integer(row(a)) ? out.integer_k : out.float_k) = size(form.shape.k);
  if (form.sparsity != Sparsity::dense) out.stored_k = size(form.stored_k());
  out.results = size(d.rows() * d.columns() * d.matrices());
  if (form.scale_vector > 1) out.scale_factors = size(form.stored_k()) / group_elements;
}

/// A product of 16x16, 32x8 or 8x32 has a small k: A and B have no more elements than those of the largest mma.
void add_wmma(const Form& form, Need& out) {
  out.results = size(form.shape.m) * size(form.shape.n);
  out.wmma_elements = size(std::max(form.shape.m, form.shape.n)) * size(form.shape.k);
}

}  // namespace

Need need(const Form& form) {
  Need out;
  for (const Operand& operand : form.operands) {
    out.operand_words = std::max(out.operand_words, size(operand.words()));
    out.form_words += size(operand.words());
  }
  if (form.mnemonic == Mnemonic::mma)
    add_mma(form, out);
  else if (form.mnemonic == Mnemonic::wmma_mma)
    add_wmma(form, out);
  else
    out.move_words = out.operand_words;
  if (form.find_operand(OperandName::p) != nullptr) {
    const Fragment& r = form.operand(OperandName::r).fragment;
    out.matrix_bytes =
        moves_matrix(form) ? size(r.rows() * r.columns() * form.memory_bits) / 8 : size(form.rows_in_memory() * Form::row_bytes);
  }
  return out;
}

std::optional<std::string> excess(const Form& form) {
  const Need needed = need(form);
  const struct {
    std::string_view name;
    std::size_t needed, bound;
  } bounds[] = {
      {"m", needed.m, m},
      {"n", needed.n, n},
      {"float_k", needed.float_k, float_k},
      {"f64_k", needed.f64_k, f64_k},
      {"integer_k", needed.integer_k, integer_k},
      {"stored_k", needed.stored_k, stored_k},
      {"results", needed.results, results},
      {"scale_factors", needed.scale_factors, scale_factors},
      {"operand_words", needed.operand_words, operand_words},
      {"form_words", needed.form_words, form_words},
      {"move_words", needed.move_words, move_words},
      {"wmma_elements", needed.wmma_elements, wmma_elements},
      {"matrix_bytes", needed.matrix_bytes, matrix_bytes},
  };
  for (const auto& bound : bounds)
    if (bound.needed > bound.bound)
      return format_text("{} needs capacity::{} = {}; it is {} (tables/capacity.h)", form.opcode, bound.name, bound.needed, bound.bound);
  return std::nullopt;
}

}  // namespace warpmat::capacity
