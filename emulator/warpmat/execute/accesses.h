#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>

namespace warpmat {

struct Batch;
class Instruction;

/// An access of an instruction to memory: contiguous bytes. For timing models and caches.
struct MemoryAccess {
  AddressSpace space = AddressSpace::shared;  ///< generic: the opcode names none
  bool writes = false;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;
  int lane = 0;  ///< ldmatrix, stmatrix: whose address it is; wmma: whose register it is; -1: the matrix unit's, of wgmma
  OperandName operand = OperandName::r;  ///< whose elements the bytes are
  int reg = -1, bit = 0;                 ///< wmma: where the bytes begin in the lane's registers; reg is -1 elsewhere
  Element element;                       ///< the first of the elements

  friend bool operator==(const MemoryAccess&, const MemoryAccess&) = default;
};

/// Accesses of one warp; 0 for forms that address no memory. It does not depend on addresses.
[[nodiscard]] WARPMAT_API std::size_t access_count(const Form& form);

/// The accesses of warp `warp` of a batch, in the order in which callbacks of RowMemory see them, without executing. Of `batch` it reads p,
/// the stride, `offset` and `wide_addresses`, no memory. Throws OperandTrap for what execute() refuses before it looks for the memory: an
/// address that is misaligned, or of wmma not the same in all lanes.
[[nodiscard]] WARPMAT_API std::vector<MemoryAccess> accesses(const Instruction& instruction, const Batch& batch, std::size_t warp = 0);

}  // namespace warpmat
