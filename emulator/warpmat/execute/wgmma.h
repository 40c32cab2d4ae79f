#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/execute/arguments.h>
#include <warpmat/export.h>
#include <warpmat/layout/matrix_descriptor.h>
#include <warpmat/tables/wgmma.h>

namespace warpmat {

class FastPath;

/// What a wgmma.mma_async says beside its registers and descriptors.
struct WgmmaImmediates {
  bool negates_a = false, negates_b = false;     ///< imm-scale -1
  Major major_a = Major::k, major_b = Major::k;  ///< imm-trans: 0 is K-major; A's counts where A is in memory
  int selector = 0;                              ///< of metadata

  friend bool operator==(const WgmmaImmediates&, const WgmmaImmediates&) = default;
};

/// A wgmma.mma_async, ready to execute: cheap to copy, immutable, usable from many threads.
///
/// A warpgroup executes it, but its warps share nothing except the descriptors: each multiplies its 16 rows of A by all of B. So one warp's
/// part is what is executed here, in two steps, as the hardware reads shared memory and writes registers whenever it likes between the
/// statement and the wait for it: read_a and read_b bring operands from shared memory into the order of a tile's registers, multiply adds
/// up.
class WARPMAT_API Wgmma {
 public:
  /// Throws std::invalid_argument where `form` does not exist for `target` and `version`, or is no row of the table, and where an immediate
  /// is none that the form has.
  Wgmma(const WgmmaForm& form, const Target& target, PtxVersion version, const WgmmaImmediates& immediates);

  const WgmmaForm& form() const { return *form_; }
  const WgmmaImmediates& immediates() const { return immediates_; }
  const Lowering& lowering() const { return lowering_of(*form_); }

  /// 32-bit words that read_a and read_b write: registers of 32 lanes.
  std::size_t a_words() const { return static_cast<std::size_t>(form_->a_registers()) * lanes; }
  std::size_t b_words() const { return static_cast<std::size_t>(form_->tiles() * form_->tile_b_registers()) * lanes; }

  /// Every 16 bytes of shared memory that operand A of warp `warp` (0 to 3) has behind a descriptor, and those of B, as addresses.
  [[nodiscard]] std::vector<std::uint32_t> a_chunks(std::uint64_t descriptor, int warp) const;
  [[nodiscard]] std::vector<std::uint32_t> b_chunks(std::uint64_t descriptor) const;

  /// The registers of A of warp `warp`, and those of B for all tiles one behind the other, from `memory`. Throws OperandTrap naming the
  /// operand and the address where the matrix leaves the memory.
  void read_a(const SharedMemory& memory, std::uint64_t descriptor, int warp, std::uint32_t* words) const;
  void read_b(const SharedMemory& memory, std::uint64_t descriptor, std::uint32_t* words) const;

  /// One warp's D = A * B + D, or A * B where `accumulates` (scale-d) is false: `d` are its d_registers() registers, `a` and `b` what
  /// read_a and read_b write, `metadata` 32 words where A is sparse. Throws OperandTrap for metadata that the ISA leaves undefined, having
  /// changed nothing.
  void multiply(RegisterList d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* metadata, bool accumulates,
                const ExecutionOptions& options = {}) const;

 private:
  const WgmmaForm* form_;
  WgmmaImmediates immediates_;
  const FastPath* fast_;  ///< of the tile; nullptr where there is none
};

}  // namespace warpmat
