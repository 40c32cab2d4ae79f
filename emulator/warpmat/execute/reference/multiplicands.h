#pragma once

#include <array>
#include <span>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/reference/metadata_columns.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

/// Throws Trap naming the lane if a container of operand a or b holds nonzero padding. PTX ISA 9.1 pads the 6-bit types with zeros (section
/// 5.2.3). It does not define other padding, nor padding of e2m1 (section 9.7.14.5.14). Neither was measured.
void check_padding(const Operand& operand, const ConstRegisterView& registers);

/// A and B of one mma, decoded; all execute functions of mma use it. T is the decoded element; `max_k` bounds the form's K
/// (tables/capacity.h). Elements are stored as `Kept`, which holds every T of the form: two matrices of them are on the stack.
template <typename T, std::size_t max_k, typename Kept = T>
class Multiplicands {
 public:
  /// Reads both operands and, for a sparse A, its metadata. `decode_element(format, bits)` returns a T. Throws Trap for metadata and
  /// padding that the ISA leaves undefined.
  template <typename Decode>
  Multiplicands(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options, Decode decode_element)
      : k_(static_cast<std::size_t>(form.shape.k)), stored_k_(static_cast<std::size_t>(form.stored_k())) {
    const Operand& a = form.operand(OperandName::a);
    const Operand& b = form.operand(OperandName::b);
    for (const Operand* operand : {&a, &b}) check_padding(*operand, batch.source(operand->name));
    for (int i = 0; i < form.shape.m; ++i)
      for (int k = 0; k < form.stored_k(); ++k)
        a_[static_cast<std::size_t>(i) * stored_k_ + static_cast<std::size_t>(k)] =
            static_cast<Kept>(decode_element(*a.format, read_element(a.fragment, batch.source(OperandName::a), {i, k})));
    for (int j = 0; j < form.shape.n; ++j)
      for (int k = 0; k < form.shape.k; ++k)
        b_[static_cast<std::size_t>(j) * k_ + static_cast<std::size_t>(k)] =
            static_cast<Kept>(decode_element(*b.format, read_element(b.fragment, batch.source(OperandName::b), {k, j})));
    if (form.sparsity != Sparsity::dense) read_metadata(form, lowering, batch, options, columns_);
  }

  /// Row i of the stored A. Valid until the next call.
  std::span<const T> a(int i) {
    const std::size_t first = static_cast<std::size_t>(i) * stored_k_;
    for (std::size_t s = 0; s < stored_k_; ++s) row_[s] = static_cast<T>(a_[first + s]);
    return std::span(row_).first(stored_k_);
  }

  /// The elements of column j of B that multiply row i of A, in the order of a(i). Valid until the next call.
  std::span<const T> b(int i, int j) {
    const std::size_t first = static_cast<std::size_t>(j) * k_, codes = static_cast<std::size_t>(i) * stored_k_;
    for (std::size_t s = 0; s < stored_k_; ++s) multiplied_[s] = static_cast<T>(b_[first + (stored_k_ == k_ ? s : columns_[codes + s])]);
    return std::span(multiplied_).first(stored_k_);
  }

 private:
  std::size_t k_, stored_k_;
  std::array<Kept, capacity::m * max_k> a_;
  std::array<Kept, capacity::n * max_k> b_;
  std::array<T, max_k> row_, multiplied_;
  MetadataColumns columns_;
};

/// Rows and columns of D that one machine instruction computes: all of them, except for wmma.mma the halves of a product larger than 16x8.
/// The second half reads what the first has written if registers of D are also registers of A, B or C [H200].
struct Part {
  int first_row = 0, end_row, first_column = 0, end_column;

  bool contains(const Element& e) const {
    return e.row >= first_row && e.row < end_row && e.column >= first_column && e.column < end_column;
  }
};

/// The number of parts in which D is written in sequence. An f16 D with an f32 C is written last, from the sums of both halves [H200].
inline int parts(const Form& form) {
  if (form.mnemonic != Mnemonic::wmma_mma || form.shape.m * form.shape.n <= 16 * 8) return 1;
  const bool narrowed = form.format(OperandName::d) == Format::f16 && form.format(OperandName::c) == Format::f32;
  return narrowed ? 1 : 2;
}

inline Part part(const Form& form, int number) {
  const int m = form.shape.m, n = form.shape.n;
  if (parts(form) == 1) return {.end_row = m, .end_column = n};
  if (m == 32) return {.first_row = number * m / 2, .end_row = (number + 1) * m / 2, .end_column = n};
  return {.end_row = m, .first_column = number * n / 2, .end_column = (number + 1) * n / 2};
}

/// The number of an element of D among all results, as in ReferenceArithmetic.
inline std::size_t result_number(const Form& form, const Element& e) {
  return static_cast<std::size_t>((e.matrix * form.shape.m + e.row) * form.shape.n + e.column);
}

/// Calls `compute(element of D, bits of that element of C)` for every element of `of` and writes its results to D after all of C, which is
/// in `of_c`, is read, register by register, lane 0 first. `arithmetic` is noted each result.
template <typename Arithmetic, typename Compute>
void for_each_result(Arithmetic& arithmetic, const Form& form, const Batch& batch, const ConstRegisterView& of_c, const Part& of,
                     Compute compute) {
  const Fragment& c = form.operand(OperandName::c).fragment;
  const Fragment& d = form.operand(OperandName::d).fragment;
  std::array<std::uint64_t, capacity::results> results;
  const auto index = [&](const Element& e) { return result_number(form, e); };
  for (int product = 0; product < d.matrices(); ++product)
    for (int i = of.first_row; i < of.end_row; ++i)
      for (int j = of.first_column; j < of.end_column; ++j) {
        const Element element{i, j, product};
        arithmetic.result(index(element));
        results[index(element)] = compute(element, read_element(c, of_c, element));
      }
  for (int reg = 0; reg < d.registers(); ++reg)
    for (int lane = 0; lane < warp_size; ++lane)
      for (int i = 0; i < d.elements_per_register(); ++i) {
        const Element element = d.element({lane, reg, i * d.element_bits()});
        if (of.contains(element)) write_element(d, batch.destination, element, results[index(element)]);
      }
}

/// The same with the C of `batch`.
template <typename Arithmetic, typename Compute>
void for_each_result(Arithmetic& arithmetic, const Form& form, const Batch& batch, const Part& of, Compute compute) {
  for_each_result(arithmetic, form, batch, batch.source(OperandName::c), of, compute);
}

/// The same for all of D at once.
template <typename Arithmetic, typename Compute>
void for_each_result(Arithmetic& arithmetic, const Form& form, const Batch& batch, Compute compute) {
  for_each_result(arithmetic, form, batch, Part{.end_row = form.shape.m, .end_column = form.shape.n}, compute);
}

}  // namespace warpmat
