#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/wgmma.h>

namespace warpmat {

/// How a tile's registers hold operand A of a warp, or B, of wgmma. Lane l holds bytes 4 (l mod 4) to 4 (l mod 4) + 3 of sixteen along k,
/// of line l / 4 of eight (fragment_a, fragment_b).
class OperandRegisters {
 public:
  OperandRegisters(const WgmmaForm& form, OperandName operand)
      : next_lines_(operand == OperandName::a ? 1 : static_cast<std::size_t>(form.tile_b_registers())),
        next_depth_(operand == OperandName::a ? 2 : 1) {}

  static constexpr std::uint32_t elements = 8;  ///< of 16 bits: a chunk of an MN-major matrix has eight lines for one k

  /// K-major: the word where the four words of chunk `chunk` of line `line` begin.
  std::size_t word(std::size_t line, std::size_t chunk) const { return first_word(line / 8, chunk) + line % 8 * 4; }
  /// MN-major: the half word of the first of the chunk's elements, which belong to lines 8 `eight_lines` on; each next one is
  /// `next_element` further on, and that of the next k of eight is the next half word.
  std::size_t half(std::size_t k, std::size_t eight_lines) const { return first_word(eight_lines, k / elements) * 2 + k % elements; }
  static constexpr std::size_t next_element = 8;

 private:
  std::size_t first_word(std::size_t eight_lines, std::size_t depth) const {
    return (eight_lines * next_lines_ + depth * next_depth_) * warp_size;
  }

  std::size_t next_lines_;  ///< registers from eight lines (m, n) to the next eight
  std::size_t next_depth_;  ///< registers from 16 bytes of k to the next
};

/// An operand whose chunks are known: `addresses` are those of Wgmma::a_chunks or b_chunks.
class OperandChunks {
 public:
  OperandChunks(const Wgmma& wgmma, OperandName operand, std::span<const std::uint32_t> addresses);

  /// Writes the words that Wgmma::read_a and read_b write. `memory` has the byte of address `base` first, and all chunks.
  void read(std::uint32_t* words, const std::uint8_t* memory, std::uint32_t base) const;
  /// Whether read() would write these words.
  bool equal(const std::uint32_t* words, const std::uint8_t* memory, std::uint32_t base) const;

 private:
  static constexpr std::size_t bytes = 16;  ///< of a chunk

  template <typename Visit>
  void for_each_of_two(const std::uint8_t* memory, std::uint32_t base, Visit visit) const;
  template <typename Visit>
  void for_each_eight(const std::uint8_t* memory, std::uint32_t base, Visit visit) const;
  template <typename Visit>
  void for_each_chunk(const std::uint8_t* memory, std::uint32_t base, Visit visit) const;

  OperandRegisters registers_;
  Major major_;
  std::span<const std::uint32_t> addresses_;
  std::size_t lines_, in_line_;  ///< lines, and chunks of each
};

}  // namespace warpmat
