#pragma once

#include <warpmat/layout/fragment.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmat::python {

/// Matrices in an array of NumPy's: bit patterns of `bytes` bytes (1, 2, 4 or 8) each, at any distances. Of a matrix at the edge of a
/// larger one only `rows` rows and `columns` columns are there.
template <typename Byte>
struct MatrixView {
  Byte* data = nullptr;
  std::size_t bytes = 0;
  std::ptrdiff_t matrix_stride = 0, row_stride = 0, column_stride = 0;  ///< in bytes
  int rows = 0, columns = 0;
};
using ConstMatrices = MatrixView<const std::uint8_t>;
using Matrices = MatrixView<std::uint8_t>;

/// Where each element of a fragment lies among a warp's 32-bit words, word after word with its 32 lanes: made once, then used for many
/// warps. An element with fewer bits than its container leaves the other bits zero.
class ElementTable {
 public:
  /// Of all matrices of `fragment`, or of number `only_matrix` alone.
  explicit ElementTable(const Fragment& fragment, int only_matrix = -1);

  int matrices() const { return matrices_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  /// 32-bit words of all lanes together.
  std::size_t words() const { return words_; }

  /// Writes `words` anew: every element that `from` has, and zeros.
  void scatter(const ConstMatrices& from, std::uint32_t* words) const;
  /// Reads every element that `to` has; of copies the first.
  void gather(const std::uint32_t* words, const Matrices& to) const;

 private:
  struct Slot {
    std::uint16_t matrix, row, column, word;  ///< word: of the register and lane; of 64 bits the low half, the high one is 32 words on
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
  std::size_t first_copy_ = 0;  ///< the slots of the first copies are the first ones
  std::vector<Slot> slots_;
};

}  // namespace warpmat::python
