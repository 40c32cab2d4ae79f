// The C interface of a warp's operands and shared variables as matrices.

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <fmt/core.h>

#include <warpmat/c_program.h>
#include <warpmat/c_program/doubles.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/operands.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

/// An operand of a program's matrix instruction, by its name.
struct Named {
  Named(const warpmat_warp* warp, const char* place) {
    need(warp, "the warp");
    need(place, "the place");
    at = find_operand_place(warp->warp.program(), place);
    const Program& program = warp->warp.program();
    const Form& form = program.matrix_statements()[at.statement]->matrix()->form();
    const Operand* const found = form.find_operand(at.operand);
    if (found == nullptr || found->kind != OperandKind::fragment)
      throw std::invalid_argument(
          fmt::format("{} has no matrix operand {}; {}", form.opcode, name(at.operand), statements_with(program, at.operand)));
    rows = matrix_rows(found->fragment);
    columns = matrix_columns(found->fragment);
  }

  OperandPlace at;
  int rows, columns;
};

/// A matrix instruction of a program, by its name.
struct Numbered {
  Numbered(const warpmat_warp* warp, const char* name) {
    need(warp, "the warp");
    need(name, "the statement");
    number = find_statement(warp->warp.program(), name);
    form = &warp->warp.program().matrix_statements()[number]->matrix()->form();
  }

  std::size_t number;
  const Form* form;
};

OperandName scale_of(const warpmat_operand& scale) {
  const int number = number_of(scale);
  if (number != WARPMAT_SCALE_A && number != WARPMAT_SCALE_B) throw std::invalid_argument("scale is WARPMAT_SCALE_A or WARPMAT_SCALE_B");
  return static_cast<OperandName>(number);
}

/// A variable's matrix: checked, as C++ has it.
struct VariableMatrix {
  VariableMatrix(const warpmat_warp* warp, const warpmat_variable_matrix* matrix) {
    need(warp, "the warp");
    WARPMAT_NEED_SIZE(matrix, layout, "matrix");
    need(matrix->variable, "matrix->variable");
    if (matrix->rows <= 0 || matrix->columns <= 0) throw std::invalid_argument("rows and columns are at least 1");
    variable = matrix->variable;
    format = needed_format(matrix->format);
    if (matrix->layout != nullptr) layout = MemoryLayout::parse(matrix->layout);
    rows = matrix->rows;
    columns = matrix->columns;
    count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  std::string variable;
  Format format;
  MemoryLayout layout;
  int rows, columns;
  std::size_t count;
};

constexpr const char *of_operand = "the operand", *of_a = "A", *of_scales = "the scale factors", *of_variable = "the matrix";

}  // namespace

warpmat_status warpmat_warp_set_operand(warpmat_warp* warp, const char* place, int format, const double* values, size_t count,
                                        warpmat_error* error) {
  return done(error, [&] {
    const Named of(warp, place);
    numbers::set_operand(warp->warp, of.at.statement, of.at.operand, matrix_of(values, count, of.rows, of.columns, of_operand),
                         format_of(format));
  });
}

warpmat_status warpmat_warp_get_operand(const warpmat_warp* warp, const char* place, int format, double* values, size_t count,
                                        warpmat_error* error) {
  return done(error, [&] {
    const Named of(warp, place);
    copy_matrix(numbers::get_operand(warp->warp, of.at.statement, of.at.operand, format_of(format)), values, count, of_operand);
  });
}

warpmat_status warpmat_warp_compare_operand(const warpmat_warp* warp, const char* place, int format, const double* expected, size_t count,
                                            char* text, size_t capacity, size_t* length, warpmat_error* error) {
  return done(error, [&] {
    const Named of(warp, place);
    const numbers::Matrix wanted = matrix_of(expected, count, of.rows, of.columns, of_operand);
    copy_text(numbers::compare_operand(warp->warp, of.at.statement, of.at.operand, wanted, format_of(format)), text, capacity, length);
  });
}

warpmat_status warpmat_warp_set_sparse_a(warpmat_warp* warp, const char* statement, const double* a, size_t count, warpmat_error* error) {
  return done(error, [&] {
    const Numbered of(warp, statement);
    numbers::set_sparse_a(warp->warp, of.number, matrix_of(a, count, of.form->shape.m, of.form->shape.k, of_a));
  });
}

warpmat_status warpmat_warp_get_sparse_a(const warpmat_warp* warp, const char* statement, double* a, size_t count, warpmat_error* error) {
  return done(error, [&] {
    const Numbered of(warp, statement);
    copy_matrix(numbers::get_sparse_a(warp->warp, of.number), a, count, of_a);
  });
}

warpmat_status warpmat_warp_set_scales(warpmat_warp* warp, const char* statement, warpmat_operand scale, const double* scales, size_t count,
                                       warpmat_error* error) {
  return done(error, [&] {
    const Numbered of(warp, statement);
    const bool of_rows = scale_of(scale) == OperandName::scale_a;
    const int rows = of_rows ? of.form->shape.m : of.form->scale_vector, columns = of_rows ? of.form->scale_vector : of.form->shape.n;
    numbers::set_scales(warp->warp, of.number, scale_of(scale), matrix_of(scales, count, rows, columns, of_scales));
  });
}

warpmat_status warpmat_warp_get_scales(const warpmat_warp* warp, const char* statement, warpmat_operand scale, double* scales, size_t count,
                                       warpmat_error* error) {
  return done(error, [&] {
    const Numbered of(warp, statement);
    copy_matrix(numbers::get_scales(warp->warp, of.number, scale_of(scale)), scales, count, of_scales);
  });
}

warpmat_status warpmat_warp_set_variable(warpmat_warp* warp, const warpmat_variable_matrix* matrix, const double* values,
                                         warpmat_error* error) {
  return done(error, [&] {
    const VariableMatrix of(warp, matrix);
    numbers::set_variable(warp->warp, of.variable, matrix_of(values, of.count, of.rows, of.columns, of_variable), of.format, of.layout);
  });
}

warpmat_status warpmat_warp_get_variable(const warpmat_warp* warp, const warpmat_variable_matrix* matrix, double* values,
                                         warpmat_error* error) {
  return done(error, [&] {
    const VariableMatrix of(warp, matrix);
    copy_matrix(numbers::get_variable(warp->warp, of.variable, of.rows, of.columns, of.format, of.layout), values, of.count, of_variable);
  });
}

warpmat_status warpmat_warp_compare_variable(const warpmat_warp* warp, const warpmat_variable_matrix* matrix, const double* expected,
                                             char* text, size_t capacity, size_t* length, warpmat_error* error) {
  return done(error, [&] {
    const VariableMatrix of(warp, matrix);
    const numbers::Matrix wanted = matrix_of(expected, of.count, of.rows, of.columns, of_variable);
    copy_text(numbers::compare_variable(warp->warp, of.variable, wanted, of.format, of.layout), text, capacity, length);
  });
}
