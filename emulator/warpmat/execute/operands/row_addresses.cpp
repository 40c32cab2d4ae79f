#include <warpmat/execute/operands/row_addresses.h>

#include <cassert>

#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

/// The value of one register, which must be the same in all lanes.
std::uint32_t uniform(OperandName operand, const ConstRegisterView& registers, int word, const char* what) {
  const std::uint32_t first = registers.at(word, 0);
  for (int lane = 1; lane < warp_size; ++lane)
    if (const std::uint32_t other = registers.at(word, lane); other != first)
      throw Trap(Trap::Kind::undefined, operand, lane, std::nullopt,
                 format_text("the {} is {:#x}, and {:#x} in lane 0; all lanes must give the same", what, other, first));
  return first;
}

}  // namespace

int addressing_lanes(const Form& form, const Lowering& lowering) {
  return lowering.exceptions.checks_all_addresses ? warp_size : form.rows_in_memory();
}

SharedMemory memory_of(const CallMemory& memory) {
  assert(memory.shared_base <= UINT32_MAX);
  return SharedMemory::borrowing({memory.shared, memory.shared_bytes}, static_cast<std::uint32_t>(memory.shared_base));
}

std::uint64_t row_address(const Batch& batch, int lane) {
  const ConstRegisterView& base = batch.source(OperandName::p);
  const auto offset = static_cast<std::uint64_t>(batch.offset);
  if (batch.wide_addresses) return (base.at(0, lane) | std::uint64_t{base.at(1, lane)} << 32) + offset;
  return static_cast<std::uint32_t>(base.at(0, lane) + offset);  // they are added modulo 2^32, as on hardware
}

std::uint64_t aligned_row_address(const Batch& batch, int lane) {
  const std::uint64_t address = row_address(batch, lane);
  if (address % Form::row_bytes == 0) return address;
  throw Trap(Trap::Kind::misaligned, OperandName::p, lane, address, format_text("the row must be {}-byte aligned", Form::row_bytes));
}

MatrixStorage storage_of(const Form& form, const Batch& batch) {
  const ConstRegisterView &base = batch.source(OperandName::p), &stride = batch.source(OperandName::stride);
  std::uint64_t address = uniform(OperandName::p, base, 0, "address");
  if (batch.wide_addresses) address |= std::uint64_t{uniform(OperandName::p, base, 1, "high half of the address")} << 32;
  address += static_cast<std::uint64_t>(batch.offset);
  if (!batch.wide_addresses) address = static_cast<std::uint32_t>(address);
  const MatrixStorage storage{address, stride.is_empty() ? static_cast<std::uint32_t>(form.leading_dimension())
                                                         : uniform(OperandName::stride, stride, 0, "stride")};
  if (const auto wrong = misaligned(form, storage)) throw Trap(Trap::Kind::misaligned, OperandName::p, 0, address, *wrong);
  return storage;
}

}  // namespace warpmat
