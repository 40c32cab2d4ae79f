#include <warpmat/execute/row_load.h>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/row_moves.h>

namespace warpmat {

const FastPath* find_row_kernel(const Instruction& instruction) {
  if (instruction.form().mnemonic != Mnemonic::ldmatrix) return nullptr;
  const FastPath* const path = find_fast_path(instruction.form(), instruction.lowering());
  const MovePlan* const plan = path == nullptr ? nullptr : path->moves();
  return plan != nullptr && plan->table.empty() && plan->address_lanes == plan->row_lanes ? path : nullptr;
}

bool load_rows(const FastPath& kernel, const std::uint8_t* memory, const std::uint32_t* offsets, std::uint32_t* const* registers) {
  return fast_load_rows(*kernel.moves(), memory, offsets, registers);
}

}  // namespace warpmat
