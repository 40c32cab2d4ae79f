#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpmat {

/// Opcodes written as one: "mma.sync.aligned.m16n8k32.row.col[.satfinite].s32.{s8,u8}.{s8,u8}.s32". It stands for all choices, and for no
/// other opcode.
struct OpcodePattern {
  std::string text;
  std::size_t opcodes;  ///< that it stands for
};

/// As few patterns for `opcodes` as pairwise merging finds.
std::vector<OpcodePattern> opcode_patterns(const std::vector<std::string>& opcodes);

/// The mnemonic and the qualifiers of an opcode.
std::vector<std::string> split_opcode(const std::string& opcode);

}  // namespace warpmat
