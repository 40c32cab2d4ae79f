#include <warpmat/matrices.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/formats.h>
#include <warpmat/matrices/same_number.h>

namespace warpmat {

using numbers::Matrix;

namespace {

Element element_at(const Fragment& fragment, int row, int column) {
  return {row % fragment.rows(), column, row / fragment.rows()};
}

template <typename Visit>
void for_each_element(const Fragment& fragment, Visit visit) {
  for (int i = 0; i < matrix_rows(fragment); ++i)
    for (int j = 0; j < matrix_columns(fragment); ++j) visit(i, j, element_at(fragment, i, j));
}

void check_registers(const Fragment& fragment, Format format, std::size_t registers) {
  if (row(format).bits != fragment.payload_bits())
    throw std::invalid_argument(
        fmt::format("the fragment's elements have {} bits; {} has {}", fragment.payload_bits(), name(format), row(format).bits));
  const auto words = static_cast<std::size_t>(fragment.registers() * fragment.register_bits() / 32);
  if (registers != words)
    throw std::invalid_argument(fmt::format("the fragment fills {} registers of 32 bits; {} given", words, registers));
}

void check_matrix(const Fragment& fragment, const Matrix& matrix) {
  if (matrix.rows() != matrix_rows(fragment) || matrix.columns() != matrix_columns(fragment))
    throw std::invalid_argument(fmt::format("the fragment holds a {}x{} matrix; {}x{} given", matrix_rows(fragment),
                                            matrix_columns(fragment), matrix.rows(), matrix.columns()));
}

void check_number(const Fragment& fragment, int matrix_number) {
  if (matrix_number < 0 || matrix_number >= fragment.matrices())
    throw std::invalid_argument(fmt::format("the fragment's matrices are 0 to {}; {} given", fragment.matrices() - 1, matrix_number));
}

std::string describe_place(const Fragment& fragment, const Element& element) {
  const Place place = fragment.place(element);
  const std::string bits =
      fragment.element_bits() < 32 ? fmt::format(", bits {}-{}", place.bit, place.bit + fragment.element_bits() - 1) : "";
  const std::string matrix = fragment.matrices() > 1 ? fmt::format("matrix {}, ", element.matrix) : "";
  return fmt::format("{}row {}, column {} (lane {}, register {}{})", matrix, element.row, element.column, place.lane, place.reg, bits);
}

}  // namespace

namespace numbers {

void scatter(const Fragment& fragment, Format format, const Matrix& matrix, RegisterList registers) {
  check_registers(fragment, format, registers.size());
  check_matrix(fragment, matrix);
  for_each_element(fragment, [&](int i, int j, const Element& element) {
    write_element(fragment, registers, element, from_double(format, matrix(i, j)));
  });
}

Matrix gather(const Fragment& fragment, Format format, ConstRegisterList registers) {
  check_registers(fragment, format, registers.size());
  Matrix matrix(matrix_rows(fragment), matrix_columns(fragment));
  for_each_element(fragment, [&](int i, int j, const Element& element) {
    matrix(i, j) = to_double(format, read_element(fragment, registers, element));
  });
  return matrix;
}

void scatter_one(const Fragment& fragment, int matrix_number, Format format, const Matrix& matrix, RegisterList registers) {
  check_registers(fragment, format, registers.size());
  check_number(fragment, matrix_number);
  if (matrix.rows() != fragment.rows() || matrix.columns() != fragment.columns())
    throw std::invalid_argument(fmt::format("one of the fragment's matrices is {}x{}; {}x{} given", fragment.rows(), fragment.columns(),
                                            matrix.rows(), matrix.columns()));
  for (int i = 0; i < fragment.rows(); ++i)
    for (int j = 0; j < fragment.columns(); ++j)
      write_element(fragment, registers, {i, j, matrix_number}, from_double(format, matrix(i, j)));
}

Matrix gather_one(const Fragment& fragment, int matrix_number, Format format, ConstRegisterList registers) {
  check_registers(fragment, format, registers.size());
  check_number(fragment, matrix_number);
  Matrix matrix(fragment.rows(), fragment.columns());
  for (int i = 0; i < fragment.rows(); ++i)
    for (int j = 0; j < fragment.columns(); ++j) matrix(i, j) = to_double(format, read_element(fragment, registers, {i, j, matrix_number}));
  return matrix;
}

std::vector<Mismatch> compare(const Fragment& fragment, Format format, ConstRegisterList registers, const Matrix& expected) {
  check_matrix(fragment, expected);
  const Matrix held = numbers::gather(fragment, format, registers);
  const Matrix wanted = rounded(format, expected);
  std::vector<Mismatch> mismatches;
  for_each_element(fragment, [&](int i, int j, const Element& element) {
    if (same_number(held(i, j), wanted(i, j))) return;
    Mismatch mismatch{element, fragment.place(element), held(i, j), wanted(i, j), {}};
    for_each_element(fragment, [&](int x, int y, const Element& other) {
      if (same_number(wanted(x, y), held(i, j))) mismatch.held_belongs_to.push_back(other);
    });
    mismatches.push_back(std::move(mismatch));
  });
  return mismatches;
}

Matrix rounded(Format format, const Matrix& matrix) {
  Matrix out(matrix.rows(), matrix.columns());
  std::transform(matrix.data(), matrix.data() + matrix.rows() * matrix.columns(), out.data(),
                 [&](double x) { return to_double(format, from_double(format, x)); });
  return out;
}

}  // namespace numbers

std::string describe(const Fragment& fragment, const std::vector<Mismatch>& mismatches, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, mismatches.size()); ++i) {
    const Mismatch& m = mismatches[i];
    text += fmt::format("{} holds {}, expected {}", describe_place(fragment, m.element), m.held, m.expected);
    if (m.held_belongs_to.size() == 1)
      text += fmt::format("; {} belongs to {}", m.held, describe_place(fragment, m.held_belongs_to.front()));
    if (m.held_belongs_to.size() > 1)
      text += fmt::format("; {} belongs to {} places, the first is {}", m.held, m.held_belongs_to.size(),
                          describe_place(fragment, m.held_belongs_to.front()));
    text += '\n';
  }
  if (mismatches.size() > most) text += fmt::format("and {} more\n", mismatches.size() - most);
  return text;
}

}  // namespace warpmat
