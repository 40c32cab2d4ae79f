#pragma once

#include <warpmat/layout.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmat {

/// Matrices in memory: bit patterns of `bytes` bytes (1, 2, 4 or 8) each, with any strides. A matrix at the edge of a larger one has
/// only `rows` rows and `columns` columns.
template <typename Byte>
struct MatrixView {
  Byte* data = nullptr;
  std::size_t bytes = 0;
  std::ptrdiff_t matrix_stride = 0, row_stride = 0, column_stride = 0;  ///< in bytes
  int rows = 0, columns = 0;
};
using ConstMatrices = MatrixView<const std::uint8_t>;
using Matrices = MatrixView<std::uint8_t>;

/// The place of each element of a fragment among a warp's 32-bit words, ordered by word and lane. Computed once and used for many warps. If
/// an element has fewer bits than its container, the other bits are zero.
class ElementTable {
 public:
  /// For all matrices of `fragment`, or only for number `only_matrix`.
  explicit ElementTable(const Fragment& fragment, int only_matrix = -1);

  int matrices() const { return matrices_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  /// 32-bit words of all lanes together.
  std::size_t words() const { return words_; }

  /// Writes `words`: every element of `from`, and zeros elsewhere.
  void scatter(const ConstMatrices& from, std::uint32_t* words) const;
  /// Reads every element of `to`; of several copies the first.
  void gather(const std::uint32_t* words, const Matrices& to) const;

 private:
  struct Slot {
    /// word: of the register and lane; of 64 bits the low half, with the high half 32 words later
    std::uint16_t matrix, row, column, word;
    std::uint8_t shift;
  };
  void add_copy(const Fragment& fragment, int only_matrix, int copy);
  template <typename Code>
  void scatter_codes(const ConstMatrices& from, std::uint32_t* words) const;
  template <typename Code>
  void gather_codes(const std::uint32_t* words, const Matrices& to) const;

  int matrices_, rows_, columns_;
  std::size_t words_;
  bool wide_;                   ///< elements of 64 bits
  std::uint32_t mask_;          ///< of an element's own bits
  std::size_t first_copy_ = 0;  ///< slots of the first copies come first
  std::vector<Slot> slots_;
};

}  // namespace warpmat
