#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runner.h"

namespace warpmat {

/// What statements can change: the words that two runs of them are judged by.
struct Outputs {
  std::vector<bool> registers;  ///< by word of the named registers: whether some statement writes it
  bool shared = false;          ///< whether some statement writes shared memory

  /// 32-bit words of one warp of `states`: 32 of each written register word, and all of the shared memory if that is written.
  std::size_t words(const WarpStates& states) const;
};

Outputs outputs_of(const Program& program);
Outputs outputs_of(const Program& program, const Statement& statement);

/// A 32-bit word that two runs of a program left different.
struct Difference {
  enum class Place : std::uint8_t { register_word, shared_word };

  std::size_t warp = 0;
  Place place = Place::register_word;
  std::size_t word = 0;  ///< of the named registers; of shared memory, counted from its beginning
  std::size_t lane = 0;  ///< of a register
  std::uint32_t expected = 0, found = 0;
  friend bool operator==(const Difference&, const Difference&) = default;
};

struct Comparison {
  std::size_t words = 0;                ///< outputs compared
  std::size_t mismatches = 0;           ///< words that differ
  std::vector<Difference> differences;  ///< the first of them, in the order of warps
};

/// Compares every bit of two final states of `program`, of equal sizes; lists the first `most` differences. Words that the program does not
/// write must agree too, but do not count as compared.
Comparison compare_states(const Program& program, const WarpStates& expected, const WarpStates& found, std::size_t most = 8);

}  // namespace warpmat
