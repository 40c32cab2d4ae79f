#include <warpmat/c_program/staged_operands.h>

#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/c_program/handles.h>
#include <warpmat/execute/instruction_operands.h>
#include <warpmat/execute/operand_words.h>

namespace warpmat::c {

const Instruction& matrix_of(const warpmat_instruction* instruction) {
  need(instruction, "the instruction");
  if (!instruction->is_matrix()) throw std::invalid_argument(fmt::format("{} is no matrix instruction of one warp", instruction->opcode));
  return instruction->instruction;
}

const Form& form_of(const warpmat_instruction* instruction) {
  return matrix_of(instruction).form();
}

const Operand& fragment_of(const Form& form, int operand) {
  std::vector<std::string_view> names;
  for (const Operand& each : form.operands) {
    if (each.kind != OperandKind::fragment) continue;
    if (static_cast<int>(each.name) == operand) return each;
    names.push_back(name(each.name));
  }
  throw std::invalid_argument(
      fmt::format("{} has no matrix operand of number {}: its are {}", form.opcode, operand, fmt::join(names, ", ")));
}

StagedOperand::StagedOperand(const Form& form, OperandName operand, std::size_t words, const warpmat_registers* registers, std::size_t warp,
                             bool written)
    : held_(words) {
  const auto refuse = [&](const char* what) {
    throw std::invalid_argument(fmt::format("{}: operand {}: {}", form.opcode, name(operand), what));
  };
  if (registers == nullptr) refuse("registers is null");
  if (const char* const what = problem_of_registers(*registers, words, written)) refuse(what);
  given_ = view_of(*registers).from_warp(warp);
  for (std::size_t word = 0; word < words; ++word) {
    pointers_.push_back(held_[word].data());
    for (int lane = 0; lane < warp_size; ++lane) held_[word][static_cast<std::size_t>(lane)] = given_.at(static_cast<int>(word), lane);
  }
}

void StagedOperand::store() const {
  for (std::size_t word = 0; word < held_.size(); ++word)
    for (int lane = 0; lane < warp_size; ++lane) given_.at(static_cast<int>(word), lane) = held_[word][static_cast<std::size_t>(lane)];
}

StagedCall::StagedCall(const Instruction& instruction, const warpmat_call& call, std::size_t warp) {
  const Form& form = instruction.form();
  const std::size_t given = call.operands == nullptr ? 0 : call.operand_count;
  if (const std::size_t fewest = fewest_operands(instruction.operands()); given < fewest)
    throw std::invalid_argument(fmt::format("{}: {} operands are needed; {} given", form.opcode, fewest, given));
  need_known_flags(call.flags, WARPMAT_UNDEFINED_AS_HARDWARE | WARPMAT_REFERENCE_PATH | WARPMAT_WIDE_ADDRESSES);
  operands_.reserve(form.operands.size());  // views_ have pointers to them
  views_.resize(form.operands.size());
  call_.operands = views_;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const Operand& operand = form.operands[i];
    if (operand.kind == OperandKind::stride && (i >= given || call.operands[i].words == nullptr)) continue;
    const bool wide = (call.flags & WARPMAT_WIDE_ADDRESSES) != 0;
    const std::size_t words = words_in_call(operand.kind, static_cast<std::size_t>(operand.words()), wide);
    const StagedOperand& staged = operands_.emplace_back(form, operand.name, words, &call.operands[i], warp, operand.written);
    views_[i] = staged.words();
    if (operand.kind != OperandKind::address) continue;
    call_.wide_addresses = wide;
    add_memory(call, warp);
  }
}

void StagedCall::add_memory(const warpmat_call& call, std::size_t warp) {
  WARPMAT_NEED_SIZE(call.memory, user, "the memory");
  const warpmat_memory& memory = *call.memory;
  need(memory.bytes, "memory->bytes");
  if (memory.base > std::numeric_limits<std::uint32_t>::max()) throw std::invalid_argument("memory->base is not below 2^32");
  call_.shared = memory.bytes + memory.warp_stride * static_cast<std::ptrdiff_t>(warp);
  call_.shared_bytes = static_cast<std::size_t>(memory.byte_count);
  call_.shared_base = memory.base;
  call_.offset = call.offset;
}

}  // namespace warpmat::c
