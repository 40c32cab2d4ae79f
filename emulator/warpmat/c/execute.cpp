// Executes an instruction, or lists what it accesses: checks the caller's structs and converts them to a Batch.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <warpmat/c/accesses.h>
#include <warpmat/c/entry.h>
#include <warpmat/c/instruction.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/execute/listed_warps.h>
#include <warpmat/execute/scalar_form.h>
#include <warpmat/execute/staged_product.h>
#include <warpmat/execute/staged_warp.h>
#include <warpmat/execute/warpgroup.h>
#include <warpmat/instruction.h>
#include <warpmat/text.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

/// The error in a call's description of one operand; nullptr if there is none.
const char* problem(const OperandWords& operand, const warpmat_registers& registers, std::size_t words) {
  if (operand.kind == OperandKind::stride && registers.words == nullptr) return nullptr;
  return problem_of_registers(registers, words, operand.written);
}

/// Adapts the caller's callbacks to RowMemory's; `user` is the caller's warpmat_memory.
bool read_row(void* user, std::size_t warp, int lane, std::uint64_t address, std::uint8_t* row, std::size_t bytes) {
  const auto& memory = *static_cast<const warpmat_memory*>(user);
  return memory.read(memory.user, warp, lane, address, row, bytes) == 0;
}
bool write_row(void* user, std::size_t warp, int lane, std::uint64_t address, const std::uint8_t* row, std::size_t bytes) {
  const auto& memory = *static_cast<const warpmat_memory*>(user);
  return memory.write(memory.user, warp, lane, address, row, bytes) == 0;
}

/// The error in a call's memory; nullptr if there is none. Copies the memory to `to` and callbacks to `rows`.
const char* add_memory(const Form& form, const warpmat_memory* memory, BatchMemory& to, RowMemory& rows) {
  if (memory == nullptr) return "memory is null";
  if (!WARPMAT_HAS_SIZE(memory, user)) return "memory->size is not that of a warpmat_memory";
  if (memory->bytes != nullptr) {
    to.shared = memory->bytes;
    to.shared_bytes = static_cast<std::size_t>(memory->byte_count);
    to.shared_stride = static_cast<std::size_t>(memory->warp_stride);
    to.shared_base = memory->base;
    return nullptr;
  }
  const bool load = form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::wmma_load;
  if (load ? memory->read == nullptr : memory->write == nullptr)
    return "memory has neither bytes nor the callback that the instruction needs";
  rows = {read_row, write_row, const_cast<warpmat_memory*>(memory), memory->base, memory->byte_count};
  to.rows = &rows;
  return nullptr;
}

[[gnu::cold]] warpmat_status bad(warpmat_error* error, const Form& form, std::string_view what) {
  return report(error, plain_error(WARPMAT_BAD_ARGUMENT, format_text("{}: {}", form.opcode, what)));
}

[[gnu::cold, gnu::noinline]] warpmat_status bad_operand(warpmat_error* error, const Form& form, OperandName operand, const char* what) {
  warpmat_error out = plain_error(WARPMAT_BAD_ARGUMENT, format_text("{}: operand {}: {}", form.opcode, name(operand), what));
  out.operand = static_cast<int>(operand);
  return report(error, out);
}

/// The same for a call; `wide` says whether addresses have 64 bits.
inline const char* problem_in_call(const OperandWords& operand, const warpmat_registers& registers, bool wide) {
  return problem(operand, registers, words_in_call(operand.kind, operand.words, wide));
}

bool has_wide_addresses(const warpmat_call& call) {
  return (call.flags & WARPMAT_WIDE_ADDRESSES) != 0;
}

bool is_register_major(const warpmat_instruction& handle, const warpmat_call& call) {
  for (std::size_t i = 0; i < handle.operands.size(); ++i)
    if (!view_of(call.operands[i]).is_register_major()) return false;
  return true;
}

/// Runs kernels directly on the caller's registers. Separate functions, so that these calls need no stack for staged registers.
[[gnu::noinline]] void execute_plain(const warpmat_instruction& handle, const warpmat_call& call, const BatchMemory& memory,
                                     std::size_t warps, const ExecutionOptions& options) {
  ListedWarps listed(handle.instruction, memory);
  for (std::size_t i = 0; i < handle.operands.size(); ++i) listed.add(handle.operands[i], view_of(call.operands[i]));
  listed.execute(warps, options);
}

/// Runs the warps from `first` on. Checks operands while reading them, in one pass.
[[gnu::noinline]] warpmat_status execute_staged(const warpmat_instruction& handle, const warpmat_call& call, const BatchMemory& memory,
                                                std::size_t first, std::size_t warps, const ExecutionOptions& options,
                                                warpmat_error* error) {
  StagedWarp staged(handle.instruction, memory, options.path, handle.lane_kernel, first);
  warpmat_status status = WARPMAT_OK;
  const auto place = [&, given = call.operands, wide = has_wide_addresses(call)](std::size_t i, const OperandWords& operand,
                                                                                 RegisterView& registers) {
    if (const char* const what = problem_in_call(operand, given[i], wide); what != nullptr) [[unlikely]] {
      status = bad_operand(error, handle.instruction.form(), operand.name, what);
      return false;
    }
    registers = view_of(given[i]);
    return true;
  };
  if (!staged.add(handle.operands, place)) return status;
  staged.execute(warps, options);
  return WARPMAT_OK;
}

/// Describes the operands of a product to a LaneProduct or a StagedProduct. Returns false if it refuses them, or if an operand's
/// description is wrong, which execute_staged then reports.
template <typename Product>
bool add_operands(Product& product, const warpmat_instruction& handle, const warpmat_call& call) {
  return product.add(handle.operands, [given = call.operands](std::size_t i, const OperandWords& operand, RegisterView& registers) {
    if (problem(operand, given[i], operand.words) != nullptr) [[unlikely]]
      return false;
    registers = view_of(given[i]);
    return true;
  });
}

bool is_split(const warpmat_instruction& handle) {
  return handle.instruction.lowering().semantics == Semantics::split_dot;
}

/// Runs a product on registers that lie in any way, one warp after another, as far as its kernel supports it. Returns the number of warps
/// done.
[[gnu::noinline]] std::size_t multiply_staged(const warpmat_instruction& handle, const warpmat_call& call, std::size_t warps) {
  StagedProduct product(*handle.product, is_split(handle));
  return add_operands(product, handle, call) ? product.execute(warps) : 0;
}

/// The same for a kernel that works on these registers where they are, without copies. This is the common case of a simulator: the function
/// has little to save and to set up.
[[gnu::noinline]] std::size_t multiply_in_place(const warpmat_instruction& handle, const warpmat_call& call, std::size_t warps) {
  LaneProduct product(*handle.lane_product, is_split(handle));
  return add_operands(product, handle, call) ? product.execute(warps) : 0;
}

/// Runs ldmatrix and stmatrix directly on the caller's registers, as far as kernels support it. Returns the number of warps done.
std::size_t move_directly(const warpmat_instruction& handle, const warpmat_call& call, const BatchMemory& memory, std::size_t warps,
                          const ExecutionOptions& options) {
  if (handle.moves == nullptr || options.path != Path::fast || !usable_in_place(memory)) return 0;
  const bool r_is_first = handle.operands[0].name == OperandName::r;
  const ConstRegisterView p = view_of<const std::uint32_t>(call.operands[r_is_first ? 1 : 0]);
  return move_by_threads(*handle.moves, view_of(call.operands[r_is_first ? 0 : 1]), p, memory, warps);
}

constexpr unsigned known_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH | WARPMAT_WIDE_ADDRESSES;

constexpr std::size_t most_other_operands = ScalarForm::most_operands;  // wgmma has fewer

std::size_t given_operands(const warpmat_call& call) {
  return call.operands == nullptr ? 0 : call.operand_count;
}

[[gnu::cold, gnu::noinline]] warpmat_status bad_call(const warpmat_instruction& handle, const warpmat_call& call, warpmat_error* error) {
  const Form& form = handle.instruction.form();
  if ((call.flags & ~known_flags) != 0) return bad(error, form, format_text("flags {:#x} are not known", call.flags & ~known_flags));
  const std::size_t fewest = fewest_operands(handle.instruction.operands());
  return bad(error, form, format_text("{} operands are needed; {} given", fewest, given_operands(call)));
}

/// Does `act` with a call that has a place for each operand: optional ones at the end may be missing.
template <typename Act>
[[gnu::cold, gnu::noinline]] warpmat_status with_all_operands(const warpmat_instruction& handle, const warpmat_call& call,
                                                              warpmat_error* error, Act act) {
  const std::size_t given = given_operands(call), whole = handle.operands.size();
  if (given >= whole || given < fewest_operands(handle.instruction.operands())) return bad_call(handle, call, error);
  std::array<warpmat_registers, operand_name_count> places{};
  std::copy_n(call.operands, given, places.begin());
  warpmat_call all = call;
  all.operands = places.data();
  all.operand_count = whole;
  return act(all);
}

/// Whether the call has known flags and a place for each operand.
bool is_whole(const warpmat_instruction& handle, const warpmat_call& call) {
  return (call.flags & ~known_flags) == 0 && given_operands(call) >= handle.operands.size();
}

warpmat_status list_accesses(const warpmat_instruction& handle, const warpmat_call& call, std::size_t warp,
                             std::span<warpmat_memory_access> list, warpmat_error* error) {
  if (!is_whole(handle, call))
    return with_all_operands(handle, call, error, [&](const warpmat_call& all) { return list_accesses(handle, all, warp, list, error); });
  Batch batch;
  batch.offset = call.offset;
  batch.wide_addresses = has_wide_addresses(call);
  for (std::size_t i = 0; i < handle.operands.size(); ++i) {
    const OperandWords& operand = handle.operands[i];
    if (operand.kind != OperandKind::address && operand.kind != OperandKind::stride) continue;
    if (const char* const what = problem_in_call(operand, call.operands[i], batch.wide_addresses))
      return bad_operand(error, handle.instruction.form(), operand.name, what);
    batch.source(operand.name) = view_of(call.operands[i]);
  }
  copy_accesses(accesses(handle.instruction, batch, warp), list);
  return WARPMAT_OK;
}

/// The words of an operand of an instruction of another kind that a call needs at least.
const char* problem(const InstructionOperand& operand, const warpmat_registers& registers) {
  if (operand.is_optional() && registers.words == nullptr) return nullptr;
  return problem_of_registers(registers, static_cast<std::size_t>(operand.words()), operand.is_written());
}

warpmat_status bad_operand(warpmat_error* error, const warpmat_instruction& handle, std::size_t index, const char* what) {
  const std::string_view name = handle.instruction.operands()[index].name();
  warpmat_error out = plain_error(WARPMAT_BAD_ARGUMENT, format_text("{}: operand {}: {}", handle.opcode, name, what));
  out.operand = operand_id(handle.instruction, index);
  return report(error, out);
}

/// The views of a call of a scalar instruction or wgmma.
using Views = std::array<RegisterView, most_other_operands>;

/// WARPMAT_OK if there are as many operands as the instruction has, but for optional ones at the end, and `uses` of them, as
/// InstructionOperand, can be used.
template <typename Uses>
warpmat_status take_views(const warpmat_instruction& handle, const warpmat_call& given, Views& views, warpmat_error* error, Uses uses) {
  const std::span<const InstructionOperand> operands = handle.instruction.operands();
  const std::size_t count = std::min(given_operands(given), operands.size());
  if (const std::size_t fewest = fewest_operands(operands); count < fewest)
    return report(error, WARPMAT_BAD_ARGUMENT, format_text("{}: {} operands are needed; {} given", handle.opcode, fewest, count));
  for (std::size_t i = 0; i < count; ++i) {
    if (const char* const what = uses(operands[i]) ? problem(operands[i], given.operands[i]) : nullptr)
      return bad_operand(error, handle, i, what);
    views[i] = view_of(given.operands[i]);
  }
  return WARPMAT_OK;
}

/// WARPMAT_OK unless the instruction is a statement of a program alone.
warpmat_status check_callable(const warpmat_instruction& handle, warpmat_error* error) {
  if (!needs_program(handle.instruction.kind())) return WARPMAT_OK;
  return report(error, WARPMAT_BAD_ARGUMENT,
                *handle.instruction.problem(Call{}, 1) + "; warpmat_program_parse and warpmat_module_parse of c_program.h take those");
}

/// WARPMAT_OK unless a call of a scalar instruction or wgmma has flags or an offset, which those do not know.
warpmat_status check_other_call(const warpmat_instruction& handle, const warpmat_call& given, warpmat_error* error) {
  constexpr unsigned flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH;
  if ((given.flags & ~flags) != 0)
    return report(error, WARPMAT_BAD_ARGUMENT, format_text("{}: flags {:#x} are not known", handle.opcode, given.flags & ~flags));
  if (given.offset != 0)
    return report(error, WARPMAT_BAD_ARGUMENT,
                  format_text("{}: it has no address to add the offset {} to: offset must be 0", handle.opcode, given.offset));
  return WARPMAT_OK;
}

/// Whether warpgroup_accesses reads an operand's words.
bool says_accesses(const InstructionOperand& operand) {
  return operand.kind() == InstructionOperand::Kind::descriptor || operand.kind() == InstructionOperand::Kind::number ||
         operand.kind() == InstructionOperand::Kind::selector;
}

/// Those of wgmma on the four warps from `warp` on; scalar instructions have none.
warpmat_status list_other_accesses(const warpmat_instruction& handle, const warpmat_call* given, std::size_t warp,
                                   std::span<warpmat_memory_access> list, std::size_t& count, warpmat_error* error) {
  count = 0;
  if (const warpmat_status status = check_callable(handle, error); status != WARPMAT_OK) return status;
  if (!handle.addresses_memory) return WARPMAT_OK;
  if (given == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the call is null: what wgmma accesses its descriptors say");
  if (!WARPMAT_HAS_SIZE(given, flags)) return report(error, WARPMAT_BAD_ARGUMENT, "call->size is not that of a warpmat_call");
  if (const warpmat_status status = check_other_call(handle, *given, error); status != WARPMAT_OK) return status;
  Views views;
  if (const warpmat_status status = take_views(handle, *given, views, error, says_accesses); status != WARPMAT_OK) return status;
  Call call;
  call.operands = std::span(views).first(handle.operand_count);
  if (const auto what = problem_of_descriptors(handle.instruction, call, warp)) return report(error, WARPMAT_BAD_ARGUMENT, *what);
  const std::vector<MemoryAccess> all = warpgroup_accesses(handle.instruction, call, warp);
  count = all.size();
  copy_accesses(all, list);
  return WARPMAT_OK;
}

warpmat_status execute(const warpmat_instruction& handle, const warpmat_call& call, std::size_t warps, warpmat_error* error) {
  const Form& form = handle.instruction.form();
  if (!is_whole(handle, call)) [[unlikely]]
    return with_all_operands(handle, call, error, [&](const warpmat_call& all) { return execute(handle, all, warps, error); });
  const std::size_t count = handle.operands.size();
  const bool fast = (call.flags & WARPMAT_REFERENCE_PATH) == 0;
  const bool plain = is_register_major(handle, call);
  std::size_t done = fast && !plain && handle.lane_product != nullptr ? multiply_in_place(handle, call, warps) : 0;
  if (done == warps) return WARPMAT_OK;
  const ExecutionOptions options{fast ? Path::fast : Path::reference,
                                 (call.flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap};
  if (!plain && !handle.addresses_memory) {
    if (done == 0 && fast && handle.product != nullptr) done = multiply_staged(handle, call, warps);
    return done == warps ? WARPMAT_OK : execute_staged(handle, call, {}, done, warps, options, error);
  }
  for (std::size_t i = 0; i < count; ++i)
    if (const char* const what = problem_in_call(handle.operands[i], call.operands[i], has_wide_addresses(call)))
      return bad_operand(error, form, handle.operands[i].name, what);
  BatchMemory memory;
  RowMemory rows;
  memory.offset = call.offset;
  memory.wide_addresses = has_wide_addresses(call);
  if (handle.addresses_memory)
    if (const char* what = add_memory(form, call.memory, memory, rows)) return bad(error, form, what);
  if (plain && usable_in_place(memory)) {
    execute_plain(handle, call, memory, warps, options);
    return WARPMAT_OK;
  }
  const std::size_t moved = move_directly(handle, call, memory, warps, options);
  return moved == warps ? WARPMAT_OK : execute_staged(handle, call, memory, moved, warps, options, error);
}

/// A scalar instruction or wgmma.
[[gnu::noinline]] warpmat_status execute_other(const warpmat_instruction& handle, const warpmat_call& given, std::size_t warps,
                                               warpmat_error* error) {
  const Instruction& instruction = handle.instruction;
  const auto refused = [&](const std::string& what) { return report(error, WARPMAT_BAD_ARGUMENT, what); };
  if (const warpmat_status status = check_callable(handle, error); status != WARPMAT_OK) return status;
  if (const warpmat_status status = check_other_call(handle, given, error); status != WARPMAT_OK) return status;
  Views views;
  const auto all = [](const InstructionOperand&) { return true; };
  if (const warpmat_status status = take_views(handle, given, views, error, all); status != WARPMAT_OK) return status;
  Call call;
  call.operands = std::span(views).first(handle.operand_count);
  if (handle.addresses_memory) {
    const warpmat_memory* const memory = given.memory;
    if (memory == nullptr || !WARPMAT_HAS_SIZE(memory, user) || memory->bytes == nullptr || memory->base > UINT32_MAX)
      return refused(format_text("{}: memory must be bytes from an address below 2^32 on: a whole warpmat_memory", handle.opcode));
    call.shared = memory->bytes;
    call.shared_bytes = static_cast<std::size_t>(memory->byte_count);
    call.shared_stride = static_cast<std::size_t>(memory->warp_stride);
    call.shared_base = memory->base;
  }
  if (const auto what = instruction.problem(call, warps)) return refused(*what);
  instruction.execute(call, warps,
                      {(given.flags & WARPMAT_REFERENCE_PATH) != 0 ? Path::reference : Path::fast,
                       (given.flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap});
  return WARPMAT_OK;
}

}  // namespace

warpmat_status warpmat_execute(const warpmat_instruction* instruction, const warpmat_call* call, size_t warps, warpmat_error* error) {
  try {
    if (instruction == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the instruction is null");
    if (call == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the call is null");
    if (!WARPMAT_HAS_SIZE(call, flags)) return report(error, WARPMAT_BAD_ARGUMENT, "call->size is not that of a warpmat_call");
    if (warps == 0) return WARPMAT_OK;
    if (!instruction->is_matrix()) [[unlikely]]
      return execute_other(*instruction, *call, warps, error);
    return execute(*instruction, *call, warps, error);
  } catch (...) {
    return report_exception(error);
  }
}

warpmat_status warpmat_accesses(const warpmat_instruction* instruction, const warpmat_call* call, size_t warp, warpmat_memory_access* list,
                                size_t capacity, size_t* count, warpmat_error* error) {
  try {
    if (instruction == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the instruction is null");
    if (count == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "count is null");
    if (!instruction->is_matrix())
      return list_other_accesses(*instruction, call, warp, {list, list == nullptr ? 0 : capacity}, *count, error);
    *count = access_count(instruction->instruction.form());
    if (list == nullptr) return WARPMAT_OK;
    if (call == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the call is null");
    if (!WARPMAT_HAS_SIZE(call, flags)) return report(error, WARPMAT_BAD_ARGUMENT, "call->size is not that of a warpmat_call");
    return list_accesses(*instruction, *call, warp, {list, capacity}, error);
  } catch (...) {
    return report_exception(error);
  }
}
