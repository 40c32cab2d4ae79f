#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace warpmat {

// Several opcodes as one, for tables: "mma.sync.aligned.m16n8k{8,16}.row.col.f32.f16.f16.f32".

using Qualifiers = std::vector<std::string>;

/// The choices for each place between dots; an empty string means nothing. The pattern represents all combinations.
using QualifierList = std::vector<Qualifiers>;

QualifierList pattern_of(const std::string& opcode);

/// A small set of patterns for the same opcodes.
std::vector<QualifierList> collapse(std::vector<QualifierList> patterns);

/// "mma.sync.aligned.{m16n8k8,m16n8k16}.row.col[.satfinite].s32.s8.s8.s32".
std::string pattern_text(const QualifierList& pattern);

/// The number of opcodes that a pattern represents.
std::size_t opcodes_of(const QualifierList& pattern);

/// A pattern as text, with the number of its opcodes.
struct OpcodePattern {
  std::string text;
  std::size_t opcodes;
};

/// A small set of patterns for `opcodes`, as text.
std::vector<OpcodePattern> opcode_patterns(const std::vector<std::string>& opcodes);

}  // namespace warpmat
