#include <warpmat/matrices.h>

#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/formats.h>

namespace warpmat {
namespace {

constexpr std::ptrdiff_t row_elements = 16;  // in 16 bytes

int bits_per_element(RowPacking packing) {
  switch (packing) {
    case RowPacking::b8x16: return 8;
    case RowPacking::b6x16_p32: return 6;
    case RowPacking::b4x16_p64: return 4;
  }
  return 0;
}

void check_format(RowPacking packing, Format format) {
  const FormatRow& f = row(format);
  const bool in_container = packing == RowPacking::b8x16 && !is_integer(f) && (f.bits == 6 || f.bits == 4);
  if (f.bits == bits_per_element(packing) || in_container) return;
  throw std::invalid_argument(fmt::format("{} holds elements of {} bits{}; {} has {}", name(packing), bits_per_element(packing),
                                          packing == RowPacking::b8x16 ? ", or fp6 and fp4 in containers" : "", f.name, f.bits));
}

void check_columns(std::ptrdiff_t columns) {
  if (columns <= 0 || columns % row_elements != 0)
    throw std::invalid_argument(fmt::format("a row has a multiple of {} columns; {} given", row_elements, columns));
}

/// The number of an element's first bit, from the first byte of its row.
std::ptrdiff_t first_bit(RowPacking packing, Format format, std::ptrdiff_t column) {
  const int shift = packing == RowPacking::b8x16 ? container_shift(format) : 0;
  return column / row_elements * row_elements * 8 + column % row_elements * bits_per_element(packing) + shift;
}

}  // namespace

std::string_view name(RowPacking packing) {
  switch (packing) {
    case RowPacking::b8x16: return "b8x16";
    case RowPacking::b6x16_p32: return "b6x16_p32";
    case RowPacking::b4x16_p64: return "b4x16_p64";
  }
  return "";
}

namespace numbers {

std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Matrix& matrix) {
  check_format(packing, format);
  check_columns(matrix.columns());
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(matrix.columns()));
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.columns(); ++j) {
      const std::uint64_t element = from_double(format, matrix(i, j));
      const std::ptrdiff_t first = std::ptrdiff_t{i} * matrix.columns() * 8 + first_bit(packing, format, j);
      for (int bit = 0; bit < row(format).bits; ++bit)
        bytes[static_cast<std::size_t>((first + bit) / 8)] |= static_cast<std::uint8_t>((element >> bit & 1) << (first + bit) % 8);
    }
  return bytes;
}

Matrix unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns) {
  check_format(packing, format);
  check_columns(columns);
  if (bytes.size() % static_cast<std::size_t>(columns) != 0)
    throw std::invalid_argument(fmt::format("{} bytes are not whole rows of {}", bytes.size(), columns));
  Matrix matrix(static_cast<int>(bytes.size() / static_cast<std::size_t>(columns)), columns);
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < columns; ++j) {
      const std::ptrdiff_t first = std::ptrdiff_t{i} * columns * 8 + first_bit(packing, format, j);
      std::uint64_t element = 0;
      for (int bit = 0; bit < row(format).bits; ++bit)
        element |= static_cast<std::uint64_t>(bytes[static_cast<std::size_t>((first + bit) / 8)] >> (first + bit) % 8 & 1) << bit;
      matrix(i, j) = to_double(format, element);
    }
  return matrix;
}

}  // namespace numbers

}  // namespace warpmat
