#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace warpmat {

// Instructions of one operand whose answers to all 2^32 operands are recorded: the approximate ones. Their file holds a digest for each
// block of 2^20 operands: block b has the operands b · 2^20 to b · 2^20 + 2^20 - 1 as 32-bit words, of f64 the upper words, the lower ones
// being 0.
//
//   OPCODE.digests    4096 little-endian 32-bit words: for each block the lower half of XXH64 (seed 0) of its 2^20 results, each a
//                     little-endian 32-bit word; of an f64 its upper word exclusive-or its lower one

inline constexpr std::size_t block_operands = std::size_t{1} << 20, block_count = std::size_t{1} << 12;

/// A recorded instruction.
struct AllOperands {
  std::string opcode;                  ///< as in PTX
  std::vector<std::uint32_t> digests;  ///< of the blocks
};

/// The files of `directory`, by name. Throws std::runtime_error where one cannot be read, has another size, or names no instruction of one
/// operand.
std::vector<AllOperands> read_all_operands(const std::filesystem::path& directory);

/// The digest of what this library gives for a block.
std::uint32_t block_digest(const std::string& opcode, std::size_t block);

/// The blocks among `blocks` in which this library gives something else than recorded. Uses `jobs` threads; `done` is called after each
/// block, by any of them, one at a time.
std::vector<std::size_t> different_blocks(const AllOperands& recorded, const std::vector<std::size_t>& blocks, unsigned jobs,
                                          const std::function<void()>& done);

}  // namespace warpmat
