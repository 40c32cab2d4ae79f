// The C interface of matrices of operands.

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c_program.h>
#include <warpmat/c_program/doubles.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/c_program/staged_operands.h>
#include <warpmat/matrices.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

/// A matrix operand of a call of this interface.
struct Fragments {
  Fragments(const warpmat_instruction* instruction, const warpmat_operand& given, int which, int format_number)
      : form(form_of(instruction)), operand(fragment_of(form, number_of(given))), matrix(which), format(Format::u4) {
    const std::optional<Format> asked = format_of(format_number);
    if (!asked && !operand.format)
      throw std::invalid_argument(fmt::format("operand {} of {} has bits without a format: say which", name(operand.name), form.opcode));
    format = asked ? *asked : *operand.format;
    if (matrix < -1 || matrix >= operand.fragment.matrices())
      throw std::invalid_argument(fmt::format("operand {} of {} has {} matrices; number {} does not exist", name(operand.name), form.opcode,
                                              operand.fragment.matrices(), matrix));
  }

  int rows() const { return matrix == -1 ? matrix_rows(operand.fragment) : operand.fragment.rows(); }
  int columns() const { return operand.fragment.columns(); }
  std::string what() const { return fmt::format("operand {} of {}", name(operand.name), form.opcode); }
  StagedOperand staged(const warpmat_registers* registers, std::size_t warp, bool written = false) const {
    return {form, operand.name, static_cast<std::size_t>(operand.words()), registers, warp, written};
  }

  const Form& form;
  const Operand& operand;
  const int matrix;
  Format format;
};

/// A sparse form and the extents of its matrices.
struct Sparse {
  explicit Sparse(const warpmat_instruction* instruction) : form(form_of(instruction)) {
    if (form.sparsity == Sparsity::dense) throw std::invalid_argument(fmt::format("A of {} is not sparse", form.opcode));
    codes = form.shape.k / metadata_group(form);
  }

  const Form& form;
  int codes;  ///< of a row
};

constexpr const char *stored_a = "the stored A", *codes_of_a = "the metadata", *dense_a = "A";

RowPacking packing_of(const char* packing) {
  need(packing, "packing");
  for (const RowPacking each : {RowPacking::b8x16, RowPacking::b6x16_p32, RowPacking::b4x16_p64})
    if (name(each) == packing) return each;
  throw std::invalid_argument(fmt::format("'{}' is no packing: b8x16, b6x16_p32 and b4x16_p64 are", packing));
}

std::size_t area(int rows, int columns) {
  if (rows <= 0 || columns <= 0) throw std::invalid_argument("rows and columns are at least 1");
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

}  // namespace

warpmat_status warpmat_scatter(const warpmat_instruction* instruction, warpmat_operand operand, int matrix, int format,
                               const double* values, size_t count, const warpmat_registers* registers, size_t warp, warpmat_error* error) {
  return done(error, [&] {
    const Fragments of(instruction, operand, matrix, format);
    const numbers::Matrix given = matrix_of(values, count, of.rows(), of.columns(), of.what());
    const StagedOperand staged = of.staged(registers, warp, true);
    if (matrix == -1)
      numbers::scatter(of.operand.fragment, of.format, given, staged.words());
    else
      numbers::scatter_one(of.operand.fragment, matrix, of.format, given, staged.words());
    staged.store();
  });
}

warpmat_status warpmat_gather(const warpmat_instruction* instruction, warpmat_operand operand, int matrix, int format, double* values,
                              size_t count, const warpmat_registers* registers, size_t warp, warpmat_error* error) {
  return done(error, [&] {
    const Fragments of(instruction, operand, matrix, format);
    const StagedOperand staged = of.staged(registers, warp);
    copy_matrix(matrix == -1 ? numbers::gather(of.operand.fragment, of.format, staged.const_words())
                             : numbers::gather_one(of.operand.fragment, matrix, of.format, staged.const_words()),
                values, count, of.what());
  });
}

warpmat_status warpmat_compare_operand(const warpmat_instruction* instruction, warpmat_operand operand, int format, const double* expected,
                                       size_t count, const warpmat_registers* registers, size_t warp,
                                       warpmat_operand_difference* difference, warpmat_error* error) {
  return done(error, [&] {
    WARPMAT_NEED_SIZE(difference, text, "difference");
    const Fragments of(instruction, operand, -1, format);
    const numbers::Matrix wanted = matrix_of(expected, count, of.rows(), of.columns(), of.what());
    const StagedOperand staged = of.staged(registers, warp);
    const std::vector<Mismatch> wrong = numbers::compare(of.operand.fragment, of.format, staged.const_words(), wanted);
    warpmat_operand_difference all{};
    all.elements = count;
    all.wrong = wrong.size();
    if (!wrong.empty()) {
      const Mismatch& first = wrong.front();
      all.element = {first.element.row, first.element.column, first.element.matrix};
      all.place = {first.place.lane, first.place.reg, first.place.bit};
      all.held = first.held;
      all.expected = first.expected;
    }
    copy_text(describe(of.operand.fragment, wrong), all.text, sizeof all.text, nullptr);
    copy_out(all, difference);
  });
}

int warpmat_metadata_group(const warpmat_instruction* instruction) {
  try {
    return metadata_group(Sparse(instruction).form);
  } catch (...) {
    return 0;
  }
}

warpmat_status warpmat_compress(const warpmat_instruction* instruction, const double* a, size_t a_count, double* stored,
                                size_t stored_count, double* metadata, size_t metadata_count, warpmat_error* error) {
  return done(error, [&] {
    const Sparse of(instruction);
    const numbers::SparseMatrix sparse = numbers::compress(of.form, matrix_of(a, a_count, of.form.shape.m, of.form.shape.k, dense_a));
    check_count(metadata, metadata_count, sparse.metadata.rows(), sparse.metadata.columns(), codes_of_a);  // before `stored` changes
    copy_matrix(sparse.stored, stored, stored_count, stored_a);
    copy_matrix(sparse.metadata, metadata, metadata_count, codes_of_a);
  });
}

warpmat_status warpmat_expand(const warpmat_instruction* instruction, const double* stored, size_t stored_count, const double* metadata,
                              size_t metadata_count, double* a, size_t a_count, warpmat_error* error) {
  return done(error, [&] {
    const Sparse of(instruction);
    const int m = of.form.shape.m;
    const numbers::SparseMatrix sparse{matrix_of(stored, stored_count, m, of.form.stored_k(), stored_a),
                                       matrix_of(metadata, metadata_count, m, of.codes, codes_of_a)};
    copy_matrix(numbers::expand(of.form, sparse), a, a_count, dense_a);
  });
}

warpmat_status warpmat_scale_matrix(const warpmat_instruction* instruction, warpmat_operand ids, uint32_t byte_id, uint32_t thread_id,
                                    int* matrix, warpmat_error* error) {
  return done(error, [&] {
    const Form& form = form_of(instruction);
    need(matrix, "matrix");
    const int number = number_of(ids);
    if (number != WARPMAT_IDS_A && number != WARPMAT_IDS_B) throw std::invalid_argument("ids is WARPMAT_IDS_A or WARPMAT_IDS_B");
    *matrix = scale_matrix(form, static_cast<OperandName>(number), {byte_id, thread_id});
  });
}

warpmat_status warpmat_pack_rows(const char* packing, int format, int rows, int columns, const double* values, uint8_t* bytes,
                                 warpmat_error* error) {
  return done(error, [&] {
    const numbers::Matrix matrix = matrix_of(values, area(rows, columns), rows, columns, "the matrix");
    need(bytes, "bytes");
    std::ranges::copy(numbers::pack_rows(packing_of(packing), needed_format(format), matrix), bytes);
  });
}

warpmat_status warpmat_unpack_rows(const char* packing, int format, int rows, int columns, const uint8_t* bytes, double* values,
                                   warpmat_error* error) {
  return done(error, [&] {
    const std::size_t count = area(rows, columns);
    need(bytes, "bytes");
    copy_matrix(numbers::unpack_rows(packing_of(packing), needed_format(format), std::span(bytes, count), columns), values, count,
                "the matrix");
  });
}
