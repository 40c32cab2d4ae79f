#pragma once

#include <warpmat/layout.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace warpmat {

/// Matrices in an array: bit patterns of `bytes` bytes (1, 2, 4 or 8) each, with any strides. A matrix at the edge of a larger one has only
/// `rows` rows and `columns` columns.
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

  /// The view of whole matrices that lie consecutively, row by row, in an array of `bytes` bytes an element.
  template <typename Byte>
  MatrixView<Byte> whole(Byte* data, std::size_t bytes) const {
    const auto row = static_cast<std::ptrdiff_t>(bytes) * columns_;
    return {data, bytes, row * rows_, row, static_cast<std::ptrdiff_t>(bytes), rows_, columns_};
  }

 private:
  struct Slot {
    /// word: of the register and lane; of 64 bits the low half, with the high half 32 words later
    std::uint16_t matrix, row, column, word;
    std::uint8_t shift;
    std::uint32_t index;  ///< of the element in whole()
  };
  void add_copy(const Fragment& fragment, int only_matrix, int copy);
  void pack();
  template <typename Byte>
  bool is_whole(const MatrixView<Byte>& view) const;
  template <typename Code>
  void scatter_codes(const ConstMatrices& from, std::uint32_t* words) const;
  template <typename Code, std::size_t count>
  void scatter_packed(const Code* codes, std::uint32_t* words) const;
  template <typename Code>
  void gather_codes(const std::uint32_t* words, const Matrices& to) const;

  int matrices_, rows_, columns_;
  std::size_t words_;
  bool wide_;                   ///< elements of 64 bits
  std::uint32_t mask_;          ///< of an element's own bits
  std::size_t first_copy_ = 0;  ///< slots of the first copies come first
  std::vector<Slot> slots_;
  /// If each word holds `packed_` elements (1, 2, 4 or 8; 0: not so), all at the same bits: their indices, word by word.
  std::size_t packed_ = 0;
  std::vector<std::uint16_t> packed_indices_;
  std::vector<std::uint8_t> packed_shifts_;  ///< of a word's elements
};

}  // namespace warpmat
