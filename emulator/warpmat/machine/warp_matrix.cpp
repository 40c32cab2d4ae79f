// Matrix instructions on the warp's registers. Instruction uses 32-bit registers, so 64-bit ones are split.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/execute/operand_words.h>
#include <warpmat/instruction.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/program/address_windows.h>
#include <warpmat/tables/capacity.h>

namespace warpmat::inline v0_1::machine {

using code::Operation;

namespace {

bool is_wide(const Operand& operand) {
  return operand.kind == OperandKind::fragment && operand.fragment.register_bits == 64;
}

void split_words(const std::uint64_t* from, Register& low, Register& high) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    low[lane] = static_cast<std::uint32_t>(from[lane]);
    high[lane] = static_cast<std::uint32_t>(from[lane] >> 32);
  }
}

}  // namespace

/// The registers of one statement (the warp's own, or copies of the halves of 64-bit ones) and the memory that it addresses.
struct WarpState::MatrixRegisters {
  std::array<std::uint32_t*, capacity::form_words> pointers;
  std::size_t count = 0;
  std::array<Register, capacity::form_words> halves;
  std::size_t used = 0;
  std::optional<SharedMemory> memory;
};

WarpState::Step WarpState::matrix(const Operation& operation, LaneMask mask) {
  const code::Matrix& matrix = program_.matrices[operation.detail];
  if (!gather(live_, mask, false)) return Step::leave_split;
  if (mask != all_lanes)
    trap(first_lane(mask), std::nullopt,
         fmt::format("{} needs all 32 lanes of the warp; lanes {:#010x} have exited or do not exist",
                     program_.statements[operation.statement]->opcode, ~mask));
  if (observers_.want(EventKinds::operations)) observers_.tell(EventKinds::operations, &Observer::performs, Event(*this, operation, mask));
  const Form& form = matrix.instruction.form();
  if (moves_matrix(form)) {
    move_matrix(operation, matrix);
    advance_gathered(mask, false);
    return Step::next;
  }
  MatrixRegisters lists;
  Arguments arguments;
  const bool addresses = form.find_operand(OperandName::p) != nullptr;
  if (addresses) {
    lists.memory = SharedMemory::borrowing(block_.shared(), program_.shared_base);
    arguments.shared = &*lists.memory;
  }
  place_operands(operation, matrix, lists, arguments);
  try {
    matrix.instruction.execute(arguments, launch_.options.execution);
  } catch (const Trap& error) {
    trap(error.site.lane, error.address, error.reason, error.kind);
  }
  if (is_wide(form.operands.front())) join_results(operation, arguments.destination);
  if (addresses) tell_rows(operation, form, lists.halves.front());
  advance_gathered(mask, false);
  return Step::next;
}

/// Finds the operands' registers. The row addresses of ldmatrix and stmatrix come first in lists.halves.
void WarpState::place_operands(const Operation& operation, const code::Matrix& matrix, MatrixRegisters& lists, Arguments& arguments) {
  const Form& form = matrix.instruction.form();
  const code::Slot* result = slots(operation);
  const code::Slot* source = result + operation.results;
  const Operand* full = form.operands.data();
  for (const OperandWords& operand : operand_words(form)) {
    std::uint32_t** const first = lists.pointers.data() + lists.count;
    const code::Slot*& slot = operand.written ? result : source;
    if (operand.kind == OperandKind::address) {
      Register& addresses = lists.halves[lists.used++];
      shared_addresses(operation, matrix, *slot++, addresses);
      first[0] = addresses.data();
    } else if (is_wide(*full)) {
      for (int i = 0; i < operand.words; i += 2, ++slot) {
        Register& low = lists.halves[lists.used++];
        Register& high = lists.halves[lists.used++];
        if (!operand.written) split_words(at<std::uint64_t>(*slot), low, high);
        first[i] = low.data();
        first[i + 1] = high.data();
      }
    } else {  // the common case: the warp's own registers
      place_registers(slot, operand.words, first);
      slot += operand.words;
    }
    lists.count += operand.words;
    if (operand.written)
      arguments.destination = {first, operand.words};
    else
      arguments.source(operand.name) = ConstRegisterList(first, operand.words);
    ++full;
  }
}

/// Assembles results of 64 bits from their halves.
void WarpState::join_results(const Operation& operation, RegisterList halves) {
  for (int i = 0; i < operation.results; ++i) {
    auto* const to = at<std::uint64_t>(result_slot(operation, i));
    const auto half = static_cast<std::size_t>(2 * i);
    for (std::size_t lane = 0; lane < warp_size; ++lane) to[lane] = halves[half][lane] | std::uint64_t{halves[half + 1][lane]} << 32;
  }
}

/// Pointers to the registers of these slots.
void WarpState::place_registers(const code::Slot* slot, int count, std::uint32_t** to) {
  std::uint8_t* const frame = registers_ + split().frame;
  const std::uint8_t* const constants = launch_.constants;
  for (int i = 0; i < count; ++i)
    to[i] = reinterpret_cast<std::uint32_t*>(slot[i] >= 0 ? frame + slot[i] : const_cast<std::uint8_t*>(constants) + ~slot[i]);
}

/// The lanes' row addresses within shared memory, for ldmatrix and stmatrix.
void WarpState::shared_addresses(const Operation& operation, const code::Matrix& matrix, code::Slot slot, Register& out) {
  const auto offset = static_cast<std::uint64_t>(matrix.offset);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    std::uint64_t address = matrix.narrow_address ? at<std::uint32_t>(slot)[lane] : at<std::uint64_t>(slot)[lane];
    address += offset;
    // A 32-bit register has no upper half to select a space: an H200 then reads shared memory (docs/numerics.md).
    if (matrix.generic && !matrix.narrow_address && address - code::shared_window >= code::window_bytes &&
        static_cast<int>(lane) < matrix.instruction.form().rows_in_memory())
      trap(static_cast<int>(lane), address,
           fmt::format("{} takes addresses of shared memory; this generic address is of another space",
                       program_.statements[operation.statement]->opcode),
           Trap::Kind::out_of_range);
    out[lane] = static_cast<std::uint32_t>(address);
  }
}

/// The instruction has checked the rows' addresses and moved the bytes.
void WarpState::tell_rows(const Operation& operation, const Form& form, const Register& addresses) const {
  if (!observers_.want(EventKinds::accesses | EventKinds::shared_accesses)) return;
  const int rows = form.rows_in_memory();
  Addresses of_rows{};
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(std::min(rows, warp_size)); ++lane) {
    of_rows.address[lane] = addresses[lane];
    of_rows.host[lane] = block_.shared().data() + (addresses[lane] - program_.shared_base);
  }
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  tell_access(operation, Space::shared, Form::row_bytes, rows >= warp_size ? all_lanes : lane_bit(rows) - 1, !writes, writes, of_rows,
              false, 0);
}

}  // namespace warpmat::inline v0_1::machine
