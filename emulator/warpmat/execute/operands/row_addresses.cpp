#include <warpmat/execute/operands/row_addresses.h>

#include <algorithm>

#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat::inline v0_1 {
namespace {

/// The value of one register, which must be the same in all lanes.
std::uint32_t uniform(OperandName operand, const std::uint32_t* lanes_of, const char* what) {
  const auto* const other = std::find_if(lanes_of, lanes_of + warp_size, [&](std::uint32_t value) { return value != lanes_of[0]; });
  if (other == lanes_of + warp_size) return lanes_of[0];
  throw Trap(Trap::Kind::undefined, operand, static_cast<int>(other - lanes_of), std::nullopt,
             format_text("the {} is {:#x}, and {:#x} in lane 0; all lanes must give the same", what, *other, lanes_of[0]));
}

}  // namespace

int addressing_lanes(const Form& form, const Lowering& lowering) {
  return lowering.exceptions.checks_all_addresses ? warp_size : form.rows_in_memory();
}

std::uint64_t row_address(const Arguments& arguments, int lane) {
  const ConstRegisterList base = arguments.source(OperandName::p);
  const auto at = static_cast<std::size_t>(lane);
  const auto offset = static_cast<std::uint64_t>(arguments.offset);
  // A 32-bit address and its offset are added modulo 2^32, as on hardware.
  return base.size() == 2 ? (base[0][at] | std::uint64_t{base[1][at]} << 32) + offset : static_cast<std::uint32_t>(base[0][at] + offset);
}

std::uint64_t aligned_row_address(const Arguments& arguments, int lane) {
  const std::uint64_t address = row_address(arguments, lane);
  if (address % Form::row_bytes == 0) return address;
  throw Trap(Trap::Kind::misaligned, OperandName::p, lane, address, format_text("the row must be {}-byte aligned", Form::row_bytes));
}

MatrixStorage storage_of(const Form& form, const Arguments& arguments) {
  const ConstRegisterList base = arguments.source(OperandName::p), stride = arguments.source(OperandName::stride);
  std::uint64_t address = uniform(OperandName::p, base[0], "address");
  if (base.size() == 2) address |= std::uint64_t{uniform(OperandName::p, base[1], "high half of the address")} << 32;
  address += static_cast<std::uint64_t>(arguments.offset);
  if (base.size() == 1) address = static_cast<std::uint32_t>(address);
  const MatrixStorage storage{
      address, stride.empty() ? static_cast<std::uint32_t>(form.leading_dimension()) : uniform(OperandName::stride, stride[0], "stride")};
  if (const auto wrong = misaligned(form, storage)) throw Trap(Trap::Kind::misaligned, OperandName::p, 0, address, *wrong);
  return storage;
}

}  // namespace warpmat::inline v0_1
