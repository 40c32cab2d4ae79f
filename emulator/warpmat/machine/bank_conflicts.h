#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/tables/target.h>
#include <warpmat/warp/lane_mask.h>

namespace warpmat::machine {

// Bank conflicts of shared memory. Word w, four bytes, lies in bank w mod 32, and a wavefront takes one word from each bank. An access of a
// warp is a sequence of phases, each of some lanes one behind the other; a phase takes as many wavefronts as the bank with most different
// words asks for.
//
//   ld, st of 1, 2 or 4 bytes    one phase of 32 lanes
//   of 8 bytes                   two phases of 16 lanes
//   of 16 bytes                  four phases of 8 lanes
//   ld of 8 and 16 bytes         phases of twice as many lanes, where every lane i reads what i ^ 1 reads, or every one what i ^ 2 does
//   ldmatrix, stmatrix           a phase for each matrix, of the 8 lanes that address its rows
//   cp.async of 16 bytes         four phases of 8 lanes; each lane writes for itself, also where another writes the same word
//
// Measured on an H200 by the cycles that 1,000 random and 100 structured patterns of addresses take (tests/vectors/banks), all of them as
// the rule says. cp.async of 4 and 8 bytes depends on the global side as well and is assumed to be as st, each lane for itself; so are
// accesses in which some lanes take no part.

/// ld; st; ldmatrix and stmatrix; cp.async.
enum class BankAccess : std::uint8_t { load, store, matrix, copy };

/// A word that a phase moves.
struct BankWord {
  int bank = 0;
  std::uint64_t word = 0;  ///< its address / 4
  LaneMask lanes = 0;      ///< that access it
};

/// Lanes whose accesses share wavefronts.
struct BankPhase {
  LaneMask lanes = 0;           ///< of the phase, those that take part
  int wavefronts = 0;           ///< 1 without conflicts
  std::vector<BankWord> words;  ///< by bank, then by address
  LaneMask colliding = 0;       ///< the lanes that access a bank with most wavefronts, where those are more than one
};

WARPMAT_LOCAL inline constexpr int banks = 32;

/// The phases of a warp's access to shared memory, in the order in which they are served. `bytes` are those of each lane: 1, 2, 4, 8 or 16
/// (ldmatrix and stmatrix: 16); `addresses` have the byte address of each of the 32 lanes, of which those outside of `lanes` are not read;
/// `lanes` are those that take part (of ldmatrix and stmatrix that address rows); none of them, no phase. Throws std::invalid_argument
/// where `bytes`, or the number of addresses, is another.
[[nodiscard]] WARPMAT_API std::vector<BankPhase> bank_phases(BankAccess access, std::uint32_t bytes,
                                                             std::span<const std::uint64_t> addresses, LaneMask lanes);

/// The wavefronts of all phases; with other addresses it could be one for each phase.
[[nodiscard]] WARPMAT_API int wavefronts(std::span<const BankPhase> phases);

/// How the wavefronts of an access are known: measured on an H200, or assumed (see above).
[[nodiscard]] WARPMAT_API Evidence bank_evidence(Hardware hardware, BankAccess access, std::uint32_t bytes, LaneMask lanes);

/// What a warp's access to global memory moves: sectors of 32 bytes, lines of 128; by arithmetic, no card was asked. Arguments as above,
/// for any number of bytes from 1 on.
struct GlobalRequest {
  int sectors = 0, lines = 0;
  int least_sectors = 0;  ///< those that so many different bytes would fill
};
[[nodiscard]] WARPMAT_API GlobalRequest global_request(std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask lanes);

}  // namespace warpmat::machine
