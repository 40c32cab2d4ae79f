#include <warpmat/matrices.h>
#include <warpmat/text.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include <warpmat/formats.h>
#include <warpmat/forms.h>

namespace warpmat::numbers {
namespace {

constexpr unsigned ascending_codes[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};

void check_sparse(const Form& form) {
  if (form.sparsity == Sparsity::dense) throw std::invalid_argument(fmt::format("{} has no sparse A: that is for mma.sp", form.opcode));
}

void check_size(const char* what, const Matrix& matrix, int rows, int columns) {
  if (matrix.rows() != rows || matrix.columns() != columns)
    throw std::invalid_argument(fmt::format("{} is {}x{}; {}x{} given", what, rows, columns, matrix.rows(), matrix.columns()));
}

bool covers(int group, unsigned code, int column) {
  for (int stored = 0; stored < group / 2; ++stored)
    if (metadata_column(group, code, stored) == column) return true;
  return false;
}

std::string_view rule(int group) {
  return group == 2 ? "one of two" : group == 4 ? "two of four" : "two pairs of neighbours of four";
}

/// The first code whose places include all of `columns`, which count from the group's first element.
unsigned code_for(const Form& form, const std::vector<int>& columns, int row, int group_number) {
  const int group = metadata_group(form);
  for (const unsigned code : ascending_codes)
    if (valid_metadata(form, code) && std::ranges::all_of(columns, [&](int column) { return covers(group, code, column); })) return code;
  std::vector<int> of_row;
  for (const int column : columns) of_row.push_back(group_number * group + column);
  throw std::invalid_argument(
      fmt::format("row {}, group {} of A (columns {} to {}) has elements other than zero in columns {}; only {} may be", row, group_number,
                  group_number * group, group_number * group + group - 1, joined(of_row, ", "), rule(group)));
}

/// Calls `visit(row, stored column, column)` for every stored element, with the codes that `code(row, group)` returns.
template <typename Code, typename Visit>
void for_each_stored(const Form& form, int rows, int groups, Code code, Visit visit) {
  const int group = metadata_group(form);
  for (int row = 0; row < rows; ++row)
    for (int g = 0; g < groups; ++g) {
      const unsigned bits = code(row, g);
      for (int stored = 0; stored < group / 2; ++stored)
        visit(row, g * group / 2 + stored, g * group + metadata_column(group, bits, stored));
    }
}

}  // namespace

SparseMatrix compress(const Form& form, const Matrix& a) {
  check_sparse(form);
  check_size("A", a, form.shape.m, form.shape.k);
  return compress_groups(form, a);
}

SparseMatrix compress_groups(const Form& form, const Matrix& a) {
  check_sparse(form);
  const int group = metadata_group(form), groups = a.columns() / group;
  if (a.columns() % group != 0) throw std::invalid_argument(fmt::format("A has {} columns, which are no groups of {}", a.columns(), group));
  const Matrix rounded = numbers::rounded(form.format(OperandName::a), a);
  SparseMatrix sparse{Matrix(a.rows(), a.columns() / 2), Matrix(a.rows(), groups)};
  const auto code = [&](int row, int g) {
    std::vector<int> columns;
    for (int column = 0; column < group; ++column)
      if (rounded(row, g * group + column) != 0) columns.push_back(column);
    const unsigned bits = code_for(form, columns, row, g);
    sparse.metadata(row, g) = bits;
    return bits;
  };
  for_each_stored(form, a.rows(), groups, code,
                  [&](int row, int stored, int column) { sparse.stored(row, stored) = rounded(row, column); });
  return sparse;
}

Matrix expand(const Form& form, const SparseMatrix& sparse) {
  check_sparse(form);
  check_size("the stored A", sparse.stored, form.shape.m, form.stored_k());
  check_size("the metadata of A", sparse.metadata, form.shape.m, form.shape.k / metadata_group(form));
  Matrix a(form.shape.m, form.shape.k);
  const auto code = [&](int row, int g) {
    const double number = sparse.metadata(row, g);
    for (unsigned bits = 0; bits < 16; ++bits)
      if (bits == number && valid_metadata(form, bits)) return bits;
    throw std::invalid_argument(
        fmt::format("row {}, group {} of the metadata holds {}; defined are {}", row, g, number, describe_valid_metadata(form)));
  };
  const int groups = form.shape.k / metadata_group(form);
  for_each_stored(form, form.shape.m, groups, code, [&](int row, int stored, int column) { a(row, column) = sparse.stored(row, stored); });
  return a;
}

}  // namespace warpmat::numbers
