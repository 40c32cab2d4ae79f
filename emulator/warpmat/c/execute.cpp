// Executes an instruction, or lists what it accesses: checks the caller's structs, and takes them as a Call.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <warpmat/c/accesses.h>
#include <warpmat/c/entry.h>
#include <warpmat/c/instruction.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/scalar_form.h>
#include <warpmat/execute/warpgroup.h>
#include <warpmat/instruction.h>
#include <warpmat/numeric/made_as_needed.h>
#include <warpmat/text.h>

using namespace warpmat;
using namespace warpmat::c;

namespace {

/// Adapts the caller's callbacks to RowMemory's; `user` is the caller's warpmat_memory.
bool read_row(void* user, std::size_t warp, int lane, std::uint64_t address, std::uint8_t* row, std::size_t bytes) {
  const auto& memory = *static_cast<const warpmat_memory*>(user);
  return memory.read(memory.user, warp, lane, address, row, bytes) == 0;
}
bool write_row(void* user, std::size_t warp, int lane, std::uint64_t address, const std::uint8_t* row, std::size_t bytes) {
  const auto& memory = *static_cast<const warpmat_memory*>(user);
  return memory.write(memory.user, warp, lane, address, row, bytes) == 0;
}

constexpr unsigned matrix_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH | WARPMAT_WIDE_ADDRESSES;
constexpr unsigned other_flags = WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH;

/// A caller's call as the library takes it. Nothing of it is copied.
class GivenCall {
 public:
  GivenCall(const warpmat_instruction& handle, const warpmat_call& given, warpmat_error* error)
      : handle_(handle), given_(given), error_(error) {
    call_.offset = given.offset;
    call_.wide_addresses = (given.flags & WARPMAT_WIDE_ADDRESSES) != 0;
  }
  GivenCall(const GivenCall&) = delete;
  GivenCall& operator=(const GivenCall&) = delete;

  const Call& get() const { return call_; }
  ExecutionOptions options() const {
    return {(given_.flags & WARPMAT_REFERENCE_PATH) != 0 ? Path::reference : Path::fast,
            (given_.flags & WARPMAT_UNDEFINED_AS_HARDWARE) != 0 ? Undefined::hardware : Undefined::trap};
  }

  /// WARPMAT_OK if the call is for an instruction of this kind, and has as many operands as it has, but for optional ones at the end. Those
  /// of which uses(kind) is true have words of their own.
  template <typename Uses>
  warpmat_status take_operands(Uses uses) {
    if (const warpmat_status status = check_flags(); status != WARPMAT_OK) [[unlikely]]
      return status;
    const std::span<const CallOperand> operands = handle_.operands;
    const std::size_t count = given_.operands == nullptr ? 0 : std::min<std::size_t>(given_.operand_count, operands.size());
    if (count < handle_.fewest_operands) [[unlikely]]
      return bad(format_text("{} operands are needed; {} given", handle_.fewest_operands, count));
    for (std::size_t i = 0; i < count; ++i) {
      if (const char* const what = uses(operands[i].kind) ? problem_of(operands[i], given_.operands[i]) : nullptr) [[unlikely]]
        return bad_operand(i, what);
      views_.make(i, view_of(given_.operands[i]));
    }
    call_.operands = {views_.data(), count};
    return WARPMAT_OK;
  }

  /// WARPMAT_OK if the call has the memory that the instruction addresses.
  warpmat_status take_memory() {
    const warpmat_memory* const memory = given_.memory;
    if (memory == nullptr) return bad("memory is null");
    if (!WARPMAT_HAS_SIZE(memory, user)) return bad("memory->size is not that of a warpmat_memory");
    if (memory->bytes != nullptr) {
      call_.shared = memory->bytes;
      call_.shared_bytes = static_cast<std::size_t>(memory->byte_count);
      call_.shared_stride = static_cast<std::size_t>(memory->warp_stride);
      call_.shared_base = memory->base;
      return WARPMAT_OK;
    }
    if (!handle_.is_matrix()) return WARPMAT_OK;  // Instruction::problem says that it needs bytes
    if (handle_.loads ? memory->read == nullptr : memory->write == nullptr)
      return bad("memory has neither bytes nor the callback that the instruction needs");
    rows_ = {read_row, write_row, const_cast<warpmat_memory*>(memory), memory->base, memory->byte_count};
    call_.rows = &rows_;
    return WARPMAT_OK;
  }

  /// What the library finds wrong with the whole.
  warpmat_status refuse(const std::string& problem) const { return report(error_, WARPMAT_BAD_ARGUMENT, problem); }

 private:
  warpmat_status check_flags() const {
    const unsigned known = handle_.is_matrix() ? matrix_flags : other_flags;
    if ((given_.flags & ~known) == 0 && (handle_.is_matrix() || given_.offset == 0)) return WARPMAT_OK;
    if ((given_.flags & ~known) != 0) return bad(format_text("flags {:#x} are not known", given_.flags & ~known));
    return bad(format_text("it has no address to add the offset {} to: offset must be 0", given_.offset));
  }

  const char* problem_of(const CallOperand& operand, const warpmat_registers& registers) const {
    if (operand.optional && registers.words == nullptr) return nullptr;
    return problem_of_registers(registers, words_in_call(operand.kind, operand.words, call_.wide_addresses), operand.written);
  }

  [[gnu::cold, gnu::noinline]] warpmat_status bad(std::string_view what) const {
    return report(error_, plain_error(WARPMAT_BAD_ARGUMENT, format_text("{}: {}", handle_.opcode, what)));
  }
  [[gnu::cold, gnu::noinline]] warpmat_status bad_operand(std::size_t index, const char* what) const {
    const std::string_view name = handle_.instruction.operands()[index].name();
    warpmat_error out = plain_error(WARPMAT_BAD_ARGUMENT, format_text("{}: operand {}: {}", handle_.opcode, name, what));
    out.operand = operand_id(handle_.instruction, index);
    return report(error_, out);
  }

  const warpmat_instruction& handle_;
  const warpmat_call& given_;
  warpmat_error* const error_;
  MadeAsNeeded<RegisterView, ScalarForm::most_operands> views_;
  RowMemory rows_;
  Call call_;
};

/// The error of an instruction that is a statement of a program alone.
[[gnu::cold, gnu::noinline]] warpmat_status not_callable(const warpmat_instruction& handle, warpmat_error* error) {
  return report(error, WARPMAT_BAD_ARGUMENT,
                *handle.instruction.problem(Call{}, 1) + "; warpmat_program_parse and warpmat_module_parse of c_program.h take those");
}

warpmat_status execute(const warpmat_instruction& handle, const warpmat_call& given, std::size_t warps, warpmat_error* error) {
  GivenCall call(handle, given, error);
  const auto all = [](InstructionOperand::Kind) { return true; };
  if (const warpmat_status status = call.take_operands(all); status != WARPMAT_OK) return status;
  if (handle.addresses_memory)
    if (const warpmat_status status = call.take_memory(); status != WARPMAT_OK) return status;
  if (!handle.is_matrix())
    if (const auto what = handle.instruction.problem(call.get(), warps)) return call.refuse(*what);
  handle.instruction.execute(call.get(), warps, call.options());
  return WARPMAT_OK;
}

/// Whether an operand says what memory is accessed.
bool says_accesses(InstructionOperand::Kind kind) {
  using enum InstructionOperand::Kind;
  return kind == address || kind == stride || kind == descriptor || kind == number || kind == selector;
}

}  // namespace

warpmat_status warpmat_execute(const warpmat_instruction* instruction, const warpmat_call* call, size_t warps, warpmat_error* error) {
  try {
    if (instruction == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the instruction is null");
    if (call == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the call is null");
    if (!WARPMAT_HAS_SIZE(call, flags)) return report(error, WARPMAT_BAD_ARGUMENT, "call->size is not that of a warpmat_call");
    if (warps == 0) return WARPMAT_OK;
    if (needs_program(instruction->instruction.kind())) return not_callable(*instruction, error);
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
    const bool counts_alone = instruction->is_matrix() && list == nullptr;
    *count = instruction->is_matrix() ? access_count(instruction->instruction.form()) : 0;
    if (needs_program(instruction->instruction.kind())) return not_callable(*instruction, error);
    if (counts_alone || !instruction->addresses_memory) return WARPMAT_OK;
    if (call == nullptr) return report(error, WARPMAT_BAD_ARGUMENT, "the call is null: it says what the instruction accesses");
    if (!WARPMAT_HAS_SIZE(call, flags)) return report(error, WARPMAT_BAD_ARGUMENT, "call->size is not that of a warpmat_call");
    GivenCall given(*instruction, *call, error);
    if (const warpmat_status status = given.take_operands(says_accesses); status != WARPMAT_OK) return status;
    if (!instruction->is_matrix())
      if (const auto what = problem_of_descriptors(instruction->instruction, given.get(), warp)) return given.refuse(*what);
    const std::vector<MemoryAccess> all = accesses(instruction->instruction, given.get(), warp);
    *count = all.size();
    copy_accesses(all, {list, list == nullptr ? 0 : capacity});
    return WARPMAT_OK;
  } catch (...) {
    return report_exception(error);
  }
}
