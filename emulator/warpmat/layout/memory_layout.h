#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <warpmat/export.h>

namespace warpmat {

/// The places of a matrix's elements in memory, relative to its first byte: consecutive rows, with or without padding, optionally with an
/// XOR swizzle; or any other function of row and column.
class WARPMAT_API MemoryLayout {
 public:
  using BitOf = std::function<std::uint64_t(int row, int column)>;

  /// Consecutive rows without gaps.
  MemoryLayout() = default;

  /// `row_bytes` bytes from one row to the next.
  [[nodiscard]] static MemoryLayout padded(std::size_t row_bytes);

  /// CuTe's Swizzle<bits, base, shift> on byte addresses: bits base+shift to base+shift+bits-1 of a byte's offset are added, modulo 2, to
  /// the `bits` bits from `base` on. swizzled(3, 4, 3) exchanges the 16-byte chunks of rows of 128 bytes. Rows are `row_bytes` bytes apart;
  /// 0 means without gaps. Throws std::invalid_argument unless 0 <= bits <= shift, 0 <= base and base+shift+bits <= 32.
  [[nodiscard]] static MemoryLayout swizzled(int bits, int base, int shift, std::size_t row_bytes = 0);

  /// `bit_of(row, column)` is the number of the element's lowest bit.
  [[nodiscard]] static MemoryLayout function(BitOf bit_of);

  /// "rows", "padded<80>", "swizzle<3,4,3>" or "swizzle<3,4,3,256>", whose last number is the bytes of a row. Throws std::invalid_argument.
  [[nodiscard]] static MemoryLayout parse(std::string_view text);

  /// The number of the lowest bit of element (row, column) of a matrix with `columns` columns.
  [[nodiscard]] std::uint64_t bit(int row, int column, int columns, int element_bits) const;

 private:
  std::size_t row_bytes_ = 0;
  int bits_ = 0, base_ = 0, shift_ = 0;
  BitOf function_;
};

/// A matrix in memory: enough to tell which element an address holds.
struct MemoryMatrix {
  int rows = 0, columns = 0, element_bits = 0;
  MemoryLayout layout = {};
};

}  // namespace warpmat
