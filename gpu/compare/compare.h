#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/runners/runner.h"

namespace warpmat {

/// The outputs of statements. An output is a 32-bit word of one lane's registers or of shared memory that a statement can write.
struct Outputs {
  std::vector<bool> registers;   ///< by word of the named registers: whether some statement writes it
  std::size_t memory_words = 0;  ///< words of shared memory that the stores can write at most

  /// The outputs of one warp of `states`: 32 for each written register word, and at most all words of the memory.
  std::size_t count(const WarpStates& states) const;
};

Outputs outputs_of(const Program& program);
Outputs outputs_of(const Program& program, const Statement& statement);

/// A 32-bit word that differs between two runs of a program.
struct Difference {
  enum class Place : std::uint8_t { register_word, shared_word };

  std::size_t warp = 0;
  Place place = Place::register_word;
  std::size_t word = 0;  ///< of the named registers, or of shared memory from its beginning
  std::size_t lane = 0;  ///< of a register
  std::uint32_t expected = 0, found = 0;
  friend bool operator==(const Difference&, const Difference&) = default;
};

struct Comparison {
  std::size_t outputs = 0;              ///< that were compared
  std::size_t mismatches = 0;           ///< words that differ
  std::vector<Difference> differences;  ///< the first of them, in the order of warps
};

/// Compares every bit of two final states of `program`, of equal sizes; lists the first `most` differences. Words that the program does not
/// write must agree too, but are not counted as outputs.
Comparison compare_states(const Program& program, const WarpStates& expected, const WarpStates& found, std::size_t most = 8);

}  // namespace warpmat
