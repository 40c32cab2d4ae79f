#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/provenance.h>

namespace warpmat::provenance {

/// Bits that an element may have.
inline constexpr std::array element_widths{64, 32, 16, 8, 6, 4};

/// A matrix of a product, placed in global memory: its name is that by which reports call it. `bits` is 0 where it is not in memory, but
/// the result of another product.
struct GemmMatrix : ProductMatrix {
  std::int64_t rows = 0, columns = 0;
  std::uint64_t address = 0;  ///< of its first element
  int producer = -1;          ///< a factor that is the result of another product: its number
  std::vector<int> sizes{};   ///< of a tensor that is taken as a matrix, the outermost first; empty for a matrix

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

/// C = A * B in a launch.
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

/// The k of a block of scale factors, or of a code of metadata, in the kernel's instructions; 0 if none has any.
int block_of(CompanionMatrix::Kind kind, const code::Program& program);

/// Finds the matrices in `memory`, by the names of buffers or by the parameters of the kernel, and the width of their elements by their
/// sizes. Throws std::invalid_argument.
std::vector<Gemm> find_gemms(const std::vector<MatrixProduct>& products, const DeviceMemory& memory, const code::Program& program,
                             const std::vector<Argument>& arguments);

/// An element of a product's result.
struct GemmElement {
  std::size_t gemm;
  std::pair<int, int> place;
};

/// Throws std::invalid_argument.
GemmElement find_element(const ProductElement& element, const std::vector<Gemm>& gemms);

}  // namespace warpmat::provenance
