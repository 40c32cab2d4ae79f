#include <warpmat/matrices/packing.h>

#include <stdexcept>

#include <fmt/format.h>

#include <warpmat/numeric/value.h>

namespace warpmat {
namespace {

constexpr Eigen::Index row_elements = 16;  // in as many bytes

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

void check_columns(Eigen::Index columns) {
  if (columns <= 0 || columns % row_elements != 0)
    throw std::invalid_argument(fmt::format("a row has a multiple of {} columns; {} given", row_elements, columns));
}

/// The first bit of an element, counted from the first byte of its row.
Eigen::Index first_bit(RowPacking packing, Format format, Eigen::Index column) {
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

std::vector<std::uint8_t> pack_rows(RowPacking packing, Format format, const Eigen::MatrixXd& matrix) {
  check_format(packing, format);
  check_columns(matrix.cols());
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(matrix.size()));
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      const std::uint64_t element = from_double(format, matrix(i, j));
      const Eigen::Index first = i * matrix.cols() * 8 + first_bit(packing, format, j);
      for (int bit = 0; bit < row(format).bits; ++bit)
        bytes[static_cast<std::size_t>((first + bit) / 8)] |= static_cast<std::uint8_t>((element >> bit & 1) << (first + bit) % 8);
    }
  return bytes;
}

Eigen::MatrixXd unpack_rows(RowPacking packing, Format format, std::span<const std::uint8_t> bytes, int columns) {
  check_format(packing, format);
  check_columns(columns);
  if (bytes.size() % static_cast<std::size_t>(columns) != 0)
    throw std::invalid_argument(fmt::format("{} bytes are not whole rows of {}", bytes.size(), columns));
  Eigen::MatrixXd matrix(static_cast<Eigen::Index>(bytes.size()) / columns, columns);
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    for (Eigen::Index j = 0; j < columns; ++j) {
      const Eigen::Index first = i * columns * 8 + first_bit(packing, format, j);
      std::uint64_t element = 0;
      for (int bit = 0; bit < row(format).bits; ++bit)
        element |= static_cast<std::uint64_t>(bytes[static_cast<std::size_t>((first + bit) / 8)] >> (first + bit) % 8 & 1) << bit;
      matrix(i, j) = to_double(format, element);
    }
  return matrix;
}

}  // namespace warpmat
