#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/runners/unary_function.h"

namespace warpmat {

// Instructions of one operand whose answers to all 2^32 operands are recorded: the approximate ones. Their file holds a digest for each
// block of 2^20 operands: block b has the operands b · 2^20 to b · 2^20 + 2^20 - 1 as words of a UnaryFunction.
//
//   OPCODE.digests    4096 little-endian 32-bit words: for each block the lower half of XXH64 (seed 0) of its 2^20 answers, each a
//                     little-endian 32-bit word
//   source.txt        one line: the origin of the answers

inline constexpr std::size_t block_operands = std::size_t{1} << 20, block_count = std::size_t{1} << 12;

/// A recorded instruction.
struct AllOperands {
  std::string opcode;                  ///< as in PTX
  std::vector<std::uint32_t> digests;  ///< of the blocks
};

/// The name and the bytes of its file.
std::string file_name(const AllOperands& recorded);
std::string encode(const AllOperands& recorded);

struct AllOperandsRecording {
  std::string source;                     ///< the line of source.txt
  std::vector<AllOperands> instructions;  ///< sorted
};
inline constexpr const char* source_file_name = "source.txt";

/// Reads `directory`. Throws std::runtime_error if a file cannot be read, has another size, or does not name an instruction of one operand.
AllOperandsRecording read_all_operands(const std::filesystem::path& directory);

/// The digest of a block.
std::uint32_t block_digest(UnaryFunction& function, std::size_t block);

/// Opens an instruction for block_digests; each of its threads calls it once.
using OpenFunction = std::function<std::unique_ptr<UnaryFunction>()>;

/// The digests of `blocks`, in order. Uses `jobs` threads. Any thread calls `done` after each block, one at a time. Throws what `open` or a
/// function throws.
std::vector<std::uint32_t> block_digests(const OpenFunction& open, const std::vector<std::size_t>& blocks, unsigned jobs,
                                         const std::function<void()>& done);

/// The blocks of `blocks` in which a function's results differ from the recorded ones.
std::vector<std::size_t> different_blocks(const AllOperands& recorded, const OpenFunction& open, const std::vector<std::size_t>& blocks,
                                          unsigned jobs, const std::function<void()>& done);

/// An operand for which two functions differ.
struct DifferentAnswer {
  std::uint32_t operand, first, second;
};

/// The first difference in a block; nothing if there is none.
std::optional<DifferentAnswer> first_difference(UnaryFunction& first, UnaryFunction& second, std::size_t block);

}  // namespace warpmat
