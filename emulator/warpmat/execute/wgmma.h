#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/execute/accesses.h>
#include <warpmat/execute/arguments.h>
#include <warpmat/export.h>
#include <warpmat/layout/matrix_descriptor.h>
#include <warpmat/tables/wgmma.h>

namespace warpmat {

class FastPath;

/// The immediate operands of a wgmma.mma_async.
struct WgmmaImmediates {
  bool negates_a = false, negates_b = false;     ///< imm-scale -1
  Major major_a = Major::k, major_b = Major::k;  ///< imm-trans: 0 is K-major; A's is used only if A is in memory
  int selector = 0;                              ///< of metadata

  friend bool operator==(const WgmmaImmediates&, const WgmmaImmediates&) = default;
};

/// A wgmma.mma_async, ready to execute: cheap to copy, immutable, thread-safe.
///
/// A warpgroup executes it, but its warps share only the descriptors: each multiplies its 16 rows of A by all of B. So this class executes
/// one warp's part, in two steps, because the hardware reads shared memory and writes registers at any time between the statement and the
/// wait for it. read_a and read_b copy operands from shared memory into the order of a tile's registers; multiply computes the product.
/// up.
class WARPMAT_API Wgmma {
 public:
  /// Throws std::invalid_argument if `form` does not exist for `target` and `version`, is not a row of the table, or lacks an immediate.
  Wgmma(const WgmmaForm& form, const Target& target, PtxVersion version, const WgmmaImmediates& immediates);

  const WgmmaForm& form() const { return *form_; }
  const WgmmaImmediates& immediates() const { return immediates_; }
  const Lowering& lowering() const { return lowering_of(*form_); }

  /// 32-bit words that read_a and read_b write: registers of 32 lanes.
  std::size_t a_words() const { return static_cast<std::size_t>(form_->a_registers()) * warp_size; }
  std::size_t b_words() const { return static_cast<std::size_t>(form_->tiles() * form_->tile_b_registers()) * warp_size; }

  /// The addresses of all 16-byte chunks that a descriptor gives operand A of warp `warp` (0 to 3), and of those of B.
  [[nodiscard]] std::vector<std::uint32_t> a_chunks(std::uint64_t descriptor, int warp) const;
  [[nodiscard]] std::vector<std::uint32_t> b_chunks(std::uint64_t descriptor) const;
  /// The same as accesses of the matrix unit. An element's row and column are m and k of A, of all 64 rows and stored k; of B they are k
  /// and n.
  [[nodiscard]] std::vector<MemoryAccess> a_accesses(std::uint64_t descriptor, int warp) const;
  [[nodiscard]] std::vector<MemoryAccess> b_accesses(std::uint64_t descriptor) const;

  /// Reads the registers of A of warp `warp`, and those of B for all tiles in order, from `memory`. Throws OperandTrap naming the operand
  /// and the address if the matrix leaves the memory.
  void read_a(const SharedMemory& memory, std::uint64_t descriptor, int warp, std::uint32_t* words) const;
  void read_b(const SharedMemory& memory, std::uint64_t descriptor, std::uint32_t* words) const;

  /// One warp's D = A * B + D, or A * B if `accumulates` (scale-d) is false. `d` are its d_registers() registers, `a` and `b` the output of
  /// read_a and read_b, and `metadata` 32 words if A is sparse. Throws OperandTrap for metadata that the ISA leaves undefined, having
  /// changed nothing.
  void multiply(RegisterList d, const std::uint32_t* a, const std::uint32_t* b, const std::uint32_t* metadata, bool accumulates,
                const ExecutionOptions& options = {}) const;

 private:
  const WgmmaForm* form_;
  WgmmaImmediates immediates_;
  const FastPath* fast_;  ///< of the tile; nullptr if there is none
};

}  // namespace warpmat
