#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/forms.h>
#include <warpmat/warp.h>

namespace warpmat::inline v0_1::checks {

// Bank conflicts of shared memory. Word w, of four bytes, is in bank w mod 32. A wavefront reads one word from each bank. A warp's access
// is a sequence of phases, each of consecutive lanes. A phase takes as many wavefronts as its fullest bank has different words.
//
//   ld, st of 1, 2 or 4 bytes    one phase of 32 lanes
//   of 8 bytes                   two phases of 16 lanes
//   of 16 bytes                  four phases of 8 lanes
//   ld of 8 and 16 bytes         phases of twice as many lanes, if every lane i reads what i ^ 1 reads, or every one what i ^ 2 reads
//   ldmatrix, stmatrix           a phase for each matrix, of the 8 lanes that address its rows
//   cp.async of 16 bytes         four phases of 8 lanes; lanes do not share writes, even of the same word
//
// Measured on an H200: the cycles of 1,000 random and 100 structured address patterns (tests/vectors/banks) all agree with this rule.
// cp.async of 4 and 8 bytes also depends on the global side. It is assumed to be like st without sharing between lanes; so are accesses
// with inactive lanes.

/// ld; st; ldmatrix and stmatrix; cp.async.
enum class BankAccess : std::uint8_t { load, store, matrix, copy };

/// A word that a phase accesses.
struct BankWord {
  int bank = 0;
  std::uint64_t word = 0;  ///< its address / 4
  LaneMask lanes = 0;      ///< that access it
};

/// Lanes whose accesses share wavefronts.
struct BankPhase {
  LaneMask lanes = 0;           ///< the participating lanes of the phase
  int wavefronts = 0;           ///< 1 without conflicts
  std::vector<BankWord> words;  ///< by bank, then by address
  LaneMask colliding = 0;       ///< the lanes that access a bank with the most wavefronts, if there is more than one
};

WARPMAT_LOCAL inline constexpr int banks = 32;

/// The phases of a warp's access to shared memory, in order. `bytes` is the size for each lane: 1, 2, 4, 8 or 16 (ldmatrix and stmatrix:
/// 16). `addresses` holds the byte address of each of the 32 lanes; those outside `lanes` are not read. `lanes` are the participating lanes
/// (for ldmatrix and stmatrix those that address rows); if empty, there is no phase. Throws std::invalid_argument for another `bytes` or
/// number of addresses.
[[nodiscard]] WARPMAT_API std::vector<BankPhase> bank_phases(BankAccess access, std::uint32_t bytes,
                                                             std::span<const std::uint64_t> addresses, LaneMask lanes);

/// The wavefronts of all phases. The minimum is one for each phase.
[[nodiscard]] WARPMAT_API int wavefronts(std::span<const BankPhase> phases);

/// The evidence for the wavefronts of an access: measured on an H200, or assumed (see above).
[[nodiscard]] WARPMAT_API Evidence bank_evidence(Hardware hardware, BankAccess access, std::uint32_t bytes, LaneMask lanes);

/// The global memory traffic of a warp's access: sectors of 32 bytes, lines of 128 bytes. Computed, not measured. Arguments as above, for
/// any number of bytes from 1 on.
struct GlobalRequest {
  int sectors = 0, lines = 0;
  int min_sectors = 0;  ///< sectors that the same number of distinct bytes would fill
};
[[nodiscard]] WARPMAT_API GlobalRequest global_request(std::uint32_t bytes, std::span<const std::uint64_t> addresses, LaneMask lanes);

}  // namespace warpmat::inline v0_1::checks
