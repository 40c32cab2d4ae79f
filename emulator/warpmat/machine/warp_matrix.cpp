// Matrix instructions on the warp's registers. Instruction uses 32-bit registers, so a kernel's 64-bit ones are split.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <fmt/core.h>

#include <warpmat/execute/listed_warps.h>
#include <warpmat/execute/product_run.h>
#include <warpmat/execute/row_load.h>
#include <warpmat/instruction.h>
#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/tables/capacity.h>

namespace warpmat::machine {

using code::Operation;

namespace {

bool is_wide(const Operand& operand) {
  return operand.kind == OperandKind::fragment && operand.fragment.register_bits() == 64;
}

/// `from`: 32 lanes of 64 bits, as words. Words shuffle with fewer instructions than shifts of 64 bits.
void split_words(const std::uint32_t* __restrict from, std::uint32_t* __restrict low, std::uint32_t* __restrict high) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    low[lane] = from[2 * lane];
    high[lane] = from[2 * lane + 1];
  }
}

void join_words(const std::uint32_t* __restrict low, const std::uint32_t* __restrict high, std::uint32_t* __restrict to) {
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    to[2 * lane] = low[lane];
    to[2 * lane + 1] = high[lane];
  }
}

/// A statement's operands as lists of registers, and the memory that it addresses.
struct MatrixOperands {
  OperandViews views;
  CallMemory memory;
};

/// The registers of one statement: the warp's own, or copies of the halves of 64-bit ones.
struct MatrixRegisters {
  std::array<std::uint32_t*, capacity::form_words> pointers;
  std::size_t count = 0;
  std::array<Register, capacity::form_words> halves;
  std::size_t used = 0;
};

/// Names the place of what the instruction refuses.
[[gnu::always_inline]] inline void execute_instruction(WarpState& warp, const code::Matrix& matrix, const MatrixOperands& operands) {
  try {
    ListedWarps::execute_one(matrix.instruction, operands.views, operands.memory, warp.launch().options.execution);
  } catch (const Trap& error) {
    warp.trap(error.site.lane, error.address, error.reason, error.kind, error.site.operand);
  }
}

void use_shared(WarpState& warp, CallMemory& memory) {
  const std::span<std::uint8_t> bytes = warp.block().shared();
  memory.shared = bytes.data();
  memory.shared_bytes = bytes.size();
  memory.shared_base = warp.block().shared_base();
}

/// The lanes' row addresses within shared memory, for ldmatrix and stmatrix.
void shared_addresses(WarpState& warp, const Operation& operation, const code::Matrix& matrix, code::Slot slot, Register& out) {
  const auto offset = static_cast<std::uint64_t>(matrix.offset);
  if (matrix.narrow_address) {  // no upper half to select a space: an H200 then reads shared memory (docs/reference/numerics.md)
    const auto* const from = warp.at<std::uint32_t>(slot);
    for (std::size_t lane = 0; lane < warp_size; ++lane) out[lane] = from[lane] + static_cast<std::uint32_t>(offset);
    return;
  }
  const auto* const from = warp.at<std::uint64_t>(slot);
  for (std::size_t lane = 0; lane < warp_size; ++lane) out[lane] = static_cast<std::uint32_t>(from[lane] + offset);
  if (!matrix.generic) return;
  const auto rows = static_cast<std::size_t>(std::min(matrix.instruction.form().rows_in_memory(), warp_size));
  for (std::size_t lane = 0; lane < rows; ++lane)
    if (const std::uint64_t address = from[lane] + offset; address - code::shared_window >= code::window_bytes)
      warp.trap(static_cast<int>(lane), address,
                fmt::format("{} takes addresses of shared memory; this generic address is of another space",
                            warp.program().statements[operation.statement]->opcode),
                Trap::Kind::out_of_range);
}

/// Finds the operands' registers. The row addresses of ldmatrix and stmatrix come first in lists.halves.
void place_operands(WarpState& warp, const Operation& operation, const code::Matrix& matrix, MatrixRegisters& lists, OperandViews& views) {
  const Form& form = matrix.instruction.form();
  const code::Slot* result = warp.slots(operation);
  const code::Slot* source = result + operation.results;
  const Operand* full = form.operands.data();
  for (const OperandWords& operand : matrix.operands) {
    std::uint32_t** const first = lists.pointers.data() + lists.count;
    const code::Slot*& slot = operand.written ? result : source;
    if (operand.kind == OperandKind::address) {
      Register& addresses = lists.halves[lists.used++];
      shared_addresses(warp, operation, matrix, *slot++, addresses);
      first[0] = addresses.data();
    } else if (is_wide(*full)) {
      for (int i = 0; i < operand.words; i += 2, ++slot) {
        Register& low = lists.halves[lists.used++];
        Register& high = lists.halves[lists.used++];
        if (!operand.written) split_words(warp.at<std::uint32_t>(*slot), low.data(), high.data());
        first[i] = low.data();
        first[i + 1] = high.data();
      }
    } else {  // the common case: the warp's own registers
      warp.place_registers(slot, operand.words, first);
      slot += operand.words;
    }
    lists.count += operand.words;
    const std::span<std::uint32_t* const> list(first, operand.words);
    operand.written ? views.set_written(list) : views.set_source(operand.name, list);
    ++full;
  }
}

/// Assembles results of 64 bits from their halves.
void join_results(WarpState& warp, const Operation& operation, const RegisterView& halves) {
  for (int i = 0; i < operation.results; ++i) {
    const std::uint32_t* const* const words = halves.list().data() + 2 * i;
    join_words(words[0], words[1], warp.at<std::uint32_t>(warp.result_slot(operation, i)));
  }
}

/// Finds the operands' words, which are the operation's registers in the order of the form.
void place_words(WarpState& warp, const Operation& operation, const code::Matrix& matrix, std::uint32_t** to, OperandViews& views) {
  warp.place_registers(warp.slots(operation), operation.results + operation.sources, to);
  std::uint32_t** source = to + operation.results;
  for (const OperandWords& operand : matrix.operands) {
    if (operand.written) {
      views.set_written(std::span(to, operand.words));
    } else {
      views.set_source(operand.name, std::span(source, operand.words));
      source += operand.words;
    }
  }
}

/// The instruction has checked the rows' addresses and moved the bytes.
void tell_rows(WarpState& warp, const Operation& operation, const Form& form, const Register& addresses) {
  if (!warp.observers().want(EventKinds::accesses | EventKinds::shared_accesses)) return;
  const int rows = form.rows_in_memory();
  WarpState::Addresses of_rows{};
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(std::min(rows, warp_size)); ++lane) {
    of_rows.address[lane] = addresses[lane];
    of_rows.host[lane] = warp.block().shared().data() + (addresses[lane] - warp.block().shared_base());
  }
  const bool writes = form.mnemonic == Mnemonic::stmatrix;
  warp.tell_access(operation, Space::shared, Form::row_bytes, rows >= warp_size ? all_lanes : lane_bit(rows) - 1, !writes, writes, of_rows,
                   false, 0);
}

/// An ldmatrix of the usual kind, with its rows in the block's shared memory. False for all others, and where an address is bad.
bool load_rows(WarpState& warp, const Operation& operation, const code::Matrix& matrix) {
  const std::span<std::uint8_t> shared = warp.block().shared();
  const int rows = matrix.instruction.form().rows_in_memory();
  const LaneMask lanes = rows >= warp_size ? all_lanes : lane_bit(rows) - 1;
  if (shared.size() < Form::row_bytes) return false;
  WarpState::Offsets found;
  found.memory = shared.data();
  found.start = warp.block().shared_base();
  found.pattern = scalar::find_lane_offsets({.base = warp.at<std::uint8_t>(warp.source_slot(operation, 0)),
                                             .wide = !matrix.narrow_address,
                                             .wraps = true,
                                             .add = static_cast<std::uint64_t>(matrix.offset) - found.start,
                                             .lanes = lanes,
                                             .start = static_cast<std::uint32_t>(found.start),
                                             .bytes = Form::row_bytes,
                                             .last = static_cast<std::uint32_t>(shared.size() - Form::row_bytes)},
                                            found.offset.data());
  if (found.pattern == scalar::LanePattern::invalid) return false;
  std::array<std::uint32_t*, capacity::form_words> registers;
  warp.place_registers(warp.slots(operation), operation.results, registers.data());
  if (!warpmat::load_rows(*matrix.kernel, found.memory, found.offset.data(), registers.data())) return false;
  warp.tell_offsets(operation, {.space = Space::shared, .bytes = Form::row_bytes, .reads = true, .writes = false}, lanes, found);
  return true;
}

/// Executes a statement in all lanes.
void perform_matrix(WarpState& warp, const Operation& operation, const code::Matrix& matrix) {
  if (matrix.kernel != nullptr && matrix.run == 0 && warp.launch().options.execution.path == Path::fast &&
      load_rows(warp, operation, matrix))
    return;
  const Form& form = matrix.instruction.form();
  if (moves_matrix(form)) return move_matrix(warp, operation, matrix);
  MatrixRegisters lists;
  MatrixOperands operands;
  const bool addresses = form.find_operand(OperandName::p) != nullptr;
  if (addresses) use_shared(warp, operands.memory);
  place_operands(warp, operation, matrix, lists, operands.views);
  execute_instruction(warp, matrix, operands);
  if (is_wide(form.operands.front())) join_results(warp, operation, operands.views.written());
  if (addresses) tell_rows(warp, operation, form, lists.halves.front());
}

/// Executes `count` products (product_runs.h). Returns the number of those before the first that the kernel declines.
int multiply(WarpState& warp, const Operation* first, const code::Matrix& matrix, int count) {
  std::array<std::uint32_t*, ProductRun::most * capacity::form_words> pointers;
  OperandViews views;
  place_words(warp, *first, matrix, pointers.data(), views);
  const int step = first->results + first->sources;  // as many in each product of a run
  ProductRun run{.first = views, .count = static_cast<std::size_t>(count), .step = static_cast<std::size_t>(step)};
  for (int i = 1; i < count; ++i) {
    warp.place_registers(warp.slots(first[i]), step, pointers.data() + i * step);
    const code::Matrix& same = warp.program().of<code::Matrix>(first[i]);
    run.same_a |= std::uint32_t{same.same_a} << i;
    run.same_b |= std::uint32_t{same.same_b} << i;
  }
  return static_cast<int>(warpmat::execute(*matrix.kernel, run));
}

}  // namespace

/// Executes statements from `first` on in all lanes, at most `most`, for which no lane waits. Returns their number.
int perform_matrices(WarpState& warp, const Operation& first, int most) {
  const code::Matrix& matrix = warp.program().of<code::Matrix>(first);
  warp.tell_meeting(all_lanes);
  if (matrix.run != 0 && warp.launch().options.execution.path == Path::fast)
    if (const int done = multiply(warp, &first, matrix, std::min<int>(matrix.run, most)); done != 0) return done;
  perform_matrix(warp, first, matrix);
  return 1;
}

Step body::matrix(WarpState& warp, const Operation& operation, LaneMask mask) {
  if (!warp.gather(warp.live(), mask, false)) return Step::leave_split;
  if (mask != all_lanes)
    warp.trap(first_lane(mask), std::nullopt,
              fmt::format("{} needs all 32 lanes of the warp; lanes {:#010x} have exited or do not exist",
                          warp.program().statements[operation.statement]->opcode, ~mask));
  if (warp.observers().want(EventKinds::operations))
    warp.observers().tell(EventKinds::operations, &Observer::performs, warp.event(operation, mask));
  perform_matrix(warp, operation, warp.program().of<code::Matrix>(operation));
  return warp.advance_gathered(mask, false);
}

/// Pointers to the registers of these slots.
void WarpState::place_registers(const code::Slot* slot, int count, std::uint32_t** to) {
  std::uint8_t* const frame = registers_ + split().frame;
  for (int i = 0; i < count; ++i)
    to[i] = reinterpret_cast<std::uint32_t*>(slot[i] >= 0 ? frame + slot[i] : const_cast<std::uint8_t*>(constants_) + ~slot[i]);
}

}  // namespace warpmat::machine
