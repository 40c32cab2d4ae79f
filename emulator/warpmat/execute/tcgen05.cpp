#include <warpmat/execute/tcgen05.h>

#include <algorithm>
#include <cstring>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/operand_trap.h>
#include <warpmat/execute/tile_products.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

constexpr std::uint32_t chunk_bytes = 16;  // contiguous in every layout
constexpr std::uint32_t depth_bytes = 32;  // of K, of one row of A in registers and in tensor memory
constexpr std::size_t tile_rows = 16, tile_columns = 8;

/// Of the words of an operand: the index of that with byte `depth` of K, of row or column `line`.
std::size_t word_index(OperandName operand, std::size_t line, std::size_t depth) {
  const std::size_t lane = line % 8 * 4 + depth % chunk_bytes / 4, half = depth / chunk_bytes;
  if (operand == OperandName::b) return (line / tile_columns * 2 + half) * warp_size + lane;
  return (line / tile_rows * 4 + half * 2 + line / 8 % 2) * warp_size + lane;
}

std::size_t word_count(const TensorProduct& product, OperandName operand) {
  const int lines = operand == OperandName::a ? product.shape.m : product.shape.n;
  return static_cast<std::size_t>(lines) * depth_bytes / 4;
}

/// Sixteen elements of 4 or 6 bits, packed from byte 0 on, each in a byte as the registers of mma hold it. In shared memory 16 bytes hold
/// sixteen elements of any narrow type, the rest is padding (PTX ISA 9.1 section 9.7.16.10.4.4, written of kind::mxf8f6f4).
std::array<std::uint8_t, chunk_bytes> widened(const std::uint8_t* chunk, Format format) {
  const auto bits = static_cast<std::size_t>(row(format).bits);
  std::array<std::uint8_t, chunk_bytes> bytes{};
  for (std::size_t i = 0; i < chunk_bytes; ++i) {
    std::uint8_t element = 0;
    for (std::size_t bit = 0; bit < bits; ++bit) {
      const std::size_t at = i * bits + bit;
      element = static_cast<std::uint8_t>(element | (chunk[at / 8] >> at % 8 & 1) << bit);
    }
    bytes[i] = static_cast<std::uint8_t>(element << container_shift(format));
  }
  return bytes;
}

class SharedReader {
 public:
  SharedReader(const TensorProduct& product, OperandName operand, const TensorDescriptor& descriptor, const SharedMemory& memory)
      : operand_(operand),
        format_(product.tile->format(operand)),
        lines_(static_cast<std::uint32_t>(operand == OperandName::a ? product.shape.m : product.shape.n)),
        depth_(static_cast<std::uint32_t>(product.shape.k)),
        descriptor_(descriptor),
        memory_(memory),
        words_(word_count(product, operand)) {}

  ProductWords read(Major major) {
    check_layout(major);
    if (major == Major::k)
      read_lines();
    else
      read_transposed();
    return std::move(words_);
  }

 private:
  /// What goes together: PTX ISA 9.1 table 54. Table 55 has no K-major layout of 32-byte atoms.
  void check_layout(Major major) const {
    const bool transposed_words = major == Major::mn && row(format_).bits == 32;
    if (descriptor_.wide_atoms == transposed_words) return;
    throw OperandTrap(OperandTrap::Kind::undefined, operand_, 0, std::nullopt,
                      format_text("the descriptor of operand {} has {}", name(operand_),
                                  transposed_words ? "another layout than swizzles of 128 bytes by 32-byte atoms, the only one of a "
                                                     "transposed matrix of 32-bit elements"
                                                   : "a swizzle of 32-byte atoms, which only transposed matrices of 32-bit elements have"));
  }

  void read_lines() {
    const bool narrow = row(format_).bits < 8;
    for (std::uint32_t line = 0; line < lines_; ++line)
      for (std::uint32_t byte = 0; byte < depth_bytes; byte += chunk_bytes) {
        const std::uint8_t* const chunk = at(descriptor_.address(Major::k, line, byte));
        std::uint32_t* const to = words_.data() + word_index(operand_, line, byte);
        if (narrow)
          std::memcpy(to, widened(chunk, format_).data(), chunk_bytes);
        else
          std::memcpy(to, chunk, chunk_bytes);
      }
  }

  /// A chunk has several rows or columns of one k.
  void read_transposed() {
    const auto bytes = static_cast<std::uint32_t>(row(format_).bits) / 8;
    auto* const words = reinterpret_cast<std::uint8_t*>(words_.data());
    for (std::uint32_t k = 0; k < depth_; ++k)
      for (std::uint32_t first = 0; first < lines_; first += chunk_bytes / bytes) {
        const std::uint8_t* const chunk = at(descriptor_.address(Major::mn, k, first * bytes));
        const std::uint32_t count = std::min(chunk_bytes / bytes, lines_ - first);
        for (std::uint32_t i = 0; i < count; ++i)
          std::memcpy(words + 4 * word_index(operand_, first + i, k * bytes) + k * bytes % 4, chunk + i * bytes, bytes);
      }
  }

  const std::uint8_t* at(std::uint32_t address) const {
    const std::uint32_t offset = address - memory_.base();
    if (address >= memory_.base() && offset + chunk_bytes <= memory_.size()) return memory_.bytes().data() + offset;
    throw OperandTrap(
        OperandTrap::Kind::out_of_range, operand_, 0, address,
        format_text("the matrix that the descriptor of operand {} names leaves shared memory, which has {} bytes from {:#x} on "
                    "(start {:#x}, leading byte offset {}, stride byte offset {})",
                    name(operand_), memory_.size(), memory_.base(), descriptor_.matrix.start, descriptor_.matrix.leading,
                    descriptor_.matrix.stride));
  }

  OperandName operand_;
  Format format_;
  std::uint32_t lines_, depth_;
  const TensorDescriptor& descriptor_;
  const SharedMemory& memory_;
  ProductWords words_;
};

/// The bits of a word's signs, each above its element.
std::uint32_t signs_of(Format format) {
  const int bits = row(format).bits, container = std::max(bits, 8), sign = (bits < 8 ? container_shift(format) : 0) + bits - 1;
  std::uint32_t signs = 0;
  for (int at = sign; at < 32; at += container) signs |= std::uint32_t{1} << at;
  return signs;
}

/// One element of D in a tile's registers: the word, and the bit from which on it lies.
struct TileCell {
  std::size_t word;
  int bit;
};

TileCell d_cell(bool narrow, std::size_t tile, std::size_t tile_row, std::size_t column) {
  const std::size_t lane = tile_row % 8 * 4 + column / 2;
  if (narrow) return {(tile * 2 + tile_row / 8) * warp_size + lane, static_cast<int>(column % 2) * 16};
  return {(tile * 4 + tile_row / 8 * 2 + column % 2) * warp_size + lane, 0};
}

/// Calls visit(cell, word of tensor memory) for the elements of D of 16 rows, but of lanes that are disabled.
template <typename Visit>
void for_each_d(const TensorProduct& product, int first_row, TensorMemory& memory, TensorCell at, const DisabledLanes& disabled,
                Visit visit) {
  const bool narrow = row(product.tile->format(OperandName::d)).bits == 16;
  for (int r = 0; r < static_cast<int>(tile_rows); ++r) {
    const int lane = at.lane + product.lane(first_row + r);
    if ((disabled[static_cast<std::size_t>(lane / 32)] >> lane % 32 & 1) != 0) continue;
    for (int column = 0; column < product.shape.n; ++column)
      visit(d_cell(narrow, static_cast<std::size_t>(column / 8), static_cast<std::size_t>(r), static_cast<std::size_t>(column % 8)),
            memory.word(lane, at.column + column));
  }
}

}  // namespace

ProductWords read_operand(const TensorProduct& product, OperandName operand, const TensorDescriptor& descriptor,
                          const SharedMemory& memory) {
  return SharedReader(product, operand, descriptor, memory).read(operand == OperandName::a ? product.major_a : product.major_b);
}

ProductWords read_operand_a(const TensorProduct& product, TensorCell at, const TensorMemory& memory) {
  ProductWords words(word_count(product, OperandName::a));
  for (int line = 0; line < product.shape.m; ++line)
    for (int column = 0; column < a_columns; ++column)
      words[word_index(OperandName::a, static_cast<std::size_t>(line), static_cast<std::size_t>(column) * 4)] =
          memory.word(at.lane + product.lane(line), at.column + column);
  return words;
}

void multiply(const TensorProduct& product, TensorMemory& memory, TensorCell at, ProductWords a, const ProductWords& b, bool accumulates,
              const DisabledLanes& disabled, const ExecutionOptions& options) {
  const Form& tile = *product.tile;
  if (product.negates_a != product.negates_b) {  // only products count, and their signs are exact
    const std::uint32_t signs = signs_of(tile.format(OperandName::a));
    for (std::uint32_t& word : a) word ^= signs;
  }
  const TileProducts products{tile, *product.lowering, find_fast_path(tile, *product.lowering), product.column_tiles()};
  const bool narrow = row(tile.format(OperandName::d)).bits == 16;
  ProductWords d(static_cast<std::size_t>(product.shape.n) * tile_rows / (narrow ? 2 : 1));
  const std::size_t a_words = word_count(product, OperandName::a) / static_cast<std::size_t>(product.row_tiles());
  for (int i = 0; i < product.row_tiles(); ++i) {
    const int first_row = i * static_cast<int>(tile_rows);
    std::ranges::fill(d, 0u);
    if (accumulates)
      for_each_d(product, first_row, memory, at, disabled,
                 [&](const TileCell& cell, std::uint32_t word) { d[cell.word] |= (narrow ? word & 0xffff : word) << cell.bit; });
    Arguments arguments;
    multiply_tiles(products, d.data(), a.data() + static_cast<std::size_t>(i) * a_words, b.data(), arguments, accumulates, options);
    for_each_d(product, first_row, memory, at, disabled,
               [&](const TileCell& cell, std::uint32_t& word) { word = narrow ? d[cell.word] >> cell.bit & 0xffff : d[cell.word]; });
  }
}

}  // namespace warpmat
