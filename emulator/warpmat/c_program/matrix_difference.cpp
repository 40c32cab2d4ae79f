// The C interface of comparisons of whole matrices.

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include <warpmat/c_program/handles.h>
#include <warpmat/matrices.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

warpmat_matrix_difference compared(Format format, std::uint64_t rows, std::uint64_t columns, const void* held, const void* expected,
                                   const Tolerance& tolerance) {
  const auto bits = static_cast<std::uint64_t>(row(format).bits);
  if (rows == 0 || columns == 0 || rows > std::numeric_limits<std::size_t>::max() / 64 / columns)
    throw std::invalid_argument("rows and columns are at least 1, and fit into memory");
  const std::size_t bytes = (rows * columns * bits + 7) / 8;
  const auto* const a = static_cast<const std::uint8_t*>(held);
  const auto* const b = static_cast<const std::uint8_t*>(expected);
  const MatrixDifference found = warpmat::difference(
      {{a, bytes}, {b, bytes}, {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)}, format, 0, {}, "C"}, tolerance);
  warpmat_matrix_difference difference{};
  difference.elements = found.elements;
  difference.wrong = found.wrong;
  if (!found.first.empty()) {
    difference.row = found.first[0];
    difference.column = found.first[1];
  }
  std::copy_n(found.text.begin(), std::min(found.text.size(), sizeof difference.text - 1), difference.text);
  return difference;
}

}  // namespace

warpmat_status warpmat_compare_matrix(int format, std::uint64_t rows, std::uint64_t columns, const void* held, const void* expected,
                                      double units, double relative, warpmat_matrix_difference* difference, warpmat_error* error) {
  if (held == nullptr || expected == nullptr || difference == nullptr)
    return report(error, WARPMAT_BAD_ARGUMENT, "a matrix or the difference is null");
  if (!WARPMAT_HAS_SIZE(difference, text)) return report(error, WARPMAT_BAD_ARGUMENT, "difference->size is not sizeof *difference");
  if (format < 0 || format >= warpmat_format_count()) return report(error, WARPMAT_BAD_ARGUMENT, "there is no format of that number");
  if (!(units >= 0 && relative >= 0)) return report(error, WARPMAT_BAD_ARGUMENT, "units and relative are 0 or more");
  return done(error, [&] {
    copy_out(compared(static_cast<Format>(format), rows, columns, held, expected, {units, relative, 0}), difference);
  });
}
