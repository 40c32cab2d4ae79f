#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpmat {

// Several opcodes as one, for tables: "mma.sync.aligned.m16n8k{8,16}.row.col.f32.f16.f16.f32".

using Qualifiers = std::vector<std::string>;

/// What may stand at each place between dots, where an empty string is nothing. The pattern stands for all choices.
using Pattern = std::vector<Qualifiers>;

/// The parts of an opcode between its dots.
Qualifiers split_opcode(const std::string& opcode);

Pattern pattern_of(const std::string& opcode);

/// Few patterns that stand for the same opcodes.
std::vector<Pattern> collapse(std::vector<Pattern> patterns);

/// "mma.sync.aligned.{m16n8k8,m16n8k16}.row.col[.satfinite].s32.s8.s8.s32".
std::string pattern_text(const Pattern& pattern);

/// How many opcodes a pattern stands for.
std::size_t opcodes_of(const Pattern& pattern);

/// A pattern as a text, and how many opcodes it stands for.
struct OpcodePattern {
  std::string text;
  std::size_t opcodes;
};

/// Few patterns for `opcodes`, as texts.
std::vector<OpcodePattern> opcode_patterns(const std::vector<std::string>& opcodes);

}  // namespace warpmat
