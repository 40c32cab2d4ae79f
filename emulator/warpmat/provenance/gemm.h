#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/provenance/convolution.h>
#include <warpmat/launch.h>
#include <warpmat/ptx/program/code.h>

namespace warpmat::checks {

/// A matrix of a product in global memory.
struct GemmMatrix {
  std::string name;         ///< of the buffer, or of the kernel's parameter that has its address
  bool transposed = false;  ///< its columns are contiguous
  std::int64_t rows = 0, columns = 0;
  std::int64_t pitch = 0;          ///< elements from a stored row to the next; 0: as many as it has
  std::uint64_t address = 0;       ///< of its first element
  int bits = 0;                    ///< of an element; 0: it is not in memory, but the result of another product
  std::optional<Format> format{};  ///< of an element, where the launch is told it
  int producer = -1;               ///< a factor that is the result of another product: its number
  std::vector<int> sizes{};        ///< of a tensor that is taken as a matrix, the outermost first; empty for a matrix

  std::int64_t stored_rows() const { return transposed ? columns : rows; }
  std::int64_t stored_columns() const { return transposed ? rows : columns; }
  std::uint64_t end() const {
    return address + static_cast<std::uint64_t>(((stored_rows() - 1) * pitch + stored_columns()) * bits + 7) / 8;
  }
  bool contains(std::uint64_t at) const { return bits != 0 && at >= address && at < end(); }
  /// Row and column of the element that begins at bit `bit`, an address times 8; nothing outside of the matrix.
  std::optional<std::pair<int, int>> place(std::uint64_t bit) const;
  /// The bit at which element (row, column) begins.
  std::uint64_t bit_of(std::int64_t row, std::int64_t column) const;
  /// "A[3,8]"; of a tensor "X[0,5,7,3]"
  std::string element(std::int64_t row, std::int64_t column) const;
};

/// The block scale factors or the sparse metadata of a factor.
struct CompanionMatrix {
  enum class Kind : std::uint8_t { scale, metadata };
  std::string_view key;  ///< by which a launch is told it: "sfa"
  Kind kind;
  bool of_b;               ///< those of B; else of A
  GemmMatrix matrix{};     ///< a row for each row of A or column of B, a column for each block of k; no name where it is not told
  std::int64_t depth = 0;  ///< the product's k
  bool told() const { return !matrix.name.empty(); }
};

/// C = A * B, as a launch is told it.
struct Gemm {
  GemmMatrix c, a, b;
  std::int64_t k = 0;
  /// A is formed from an image: `a` has a row for each pixel and a column for each channel.
  std::optional<Convolution> convolution{};
  static constexpr std::size_t companion_count = 3;
  std::array<CompanionMatrix, companion_count> companions{{{"sfa", CompanionMatrix::Kind::scale, false},
                                                           {"sfb", CompanionMatrix::Kind::scale, true},
                                                           {"e", CompanionMatrix::Kind::metadata, false}}};
};

/// "C=A*B^T:128x128x64": names, ^T for a matrix whose columns are contiguous, then M, N and K. ",lda=72" and the like give the elements
/// from a stored row to the next, ",sfa=SA,sfb=SB" the block scale factors and ",e=E" the metadata of a sparse A, with a row for each row
/// of A or column of B. "Y=conv(X,F):2x16x16x32*64x3x3,stride=2,pad=1,dilation=1": a convolution of images N x H x W x C with filters
/// K x R x S (x C); "pad=1x0" gives it by height and width. Throws std::invalid_argument that says what is right.
Gemm parse_gemm(std::string_view text);

/// The k of a block of scale factors, or of a code of metadata, in the kernel's instructions; 0 if none has any.
int block_of(CompanionMatrix::Kind kind, const code::Program& program);

/// Several of these, separated by semicolons. Their buffers are found in `memory` or by the parameters of the kernel, the width of their
/// elements by their sizes. A result that is a factor of a later product need not be a buffer: "S=Q*K^T:64x64x32;O=S*V:64x32x64". None if
/// `text` is empty. Throws std::invalid_argument.
std::vector<Gemm> find_gemms(std::string_view text, const DeviceMemory& memory, const code::Program& program,
                             const std::vector<std::uint8_t>& parameters);

/// An element of a product's result.
struct GemmElement {
  std::size_t gemm;
  std::pair<int, int> place;
};

/// "C[5,3]", or "Y[0,5,7,3]" of a convolution. Throws std::invalid_argument.
GemmElement parse_element(std::string_view text, const std::vector<Gemm>& gemms);

}  // namespace warpmat::checks
