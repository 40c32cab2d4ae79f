#include <warpmat/c_program/doubles.h>

#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/c_program/handles.h>

namespace warpmat::c {

void check_count(const void* values, std::size_t count, int rows, int columns, std::string_view what) {
  need(values, fmt::format("the values of {}", what).c_str());
  if (count != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
    throw std::invalid_argument(fmt::format("{} has {} rows of {} elements; {} values given", what, rows, columns, count));
}

std::optional<Format> format_of(int number) {
  if (number == -1) return std::nullopt;
  return needed_format(number);
}

Format needed_format(int number) {
  if (number < 0 || number >= warpmat_format_count()) throw std::invalid_argument(fmt::format("there is no format of number {}", number));
  return static_cast<Format>(number);
}

numbers::Matrix matrix_of(const double* values, std::size_t count, int rows, int columns, std::string_view what) {
  check_count(values, count, rows, columns, what);
  numbers::Matrix matrix(rows, columns);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) matrix(row, column) = *values++;
  return matrix;
}

void copy_matrix(const numbers::Matrix& matrix, double* values, std::size_t count, std::string_view what) {
  check_count(values, count, matrix.rows(), matrix.columns(), what);
  for (int row = 0; row < matrix.rows(); ++row)
    for (int column = 0; column < matrix.columns(); ++column) *values++ = matrix(row, column);
}

void copy_text(std::string_view text, char* to, std::size_t capacity, std::size_t* length) {
  if (to != nullptr && capacity != 0) to[text.copy(to, capacity - 1)] = '\0';
  if (length != nullptr) *length = text.size();
}

}  // namespace warpmat::c
