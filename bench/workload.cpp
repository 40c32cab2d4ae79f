#include "workload.h"

namespace warpmat {
namespace {

constexpr std::uint64_t seed = 1;

/// The words of `operand` if all are immediates; empty if it has registers.
std::vector<Register> numbers_of(const Program& program, const OperandText& operand) {
  std::vector<Register> numbers;
  for (const Item& item : operand.items)
    if (item.kind == Item::Kind::number)
      numbers.push_back(program.constants()[static_cast<std::size_t>(item.slot - program.first_constant())]);
  return numbers;
}

}  // namespace

Workload::Workload(const Form& form, const Target& target, const OperandClass& operand_class)
    : program_(program_for(form, target, operand_class)), states_(make_case(program_, form, operand_class, seed, 0, warps, 0)) {
  for (const OperandText& operand : program_.statements().front().operands()) numbers_.push_back(numbers_of(program_, operand));
}

Batch Workload::batch(WarpStates& states) const {
  const Statement& statement = program_.statements().front();
  const std::size_t stride = states.words * warp_size;
  Batch batch;
  for (std::size_t i = 0; i < statement.operands().size(); ++i) {
    const Operand& operand = instruction().form().operands[i];
    if (!numbers_[i].empty()) {
      batch.source(operand.name) = {numbers_[i].front().data(), 0};
      continue;
    }
    // program_for names the registers in the operands' order, so an operand's registers are consecutive.
    std::uint32_t* words = states.registers[static_cast<std::size_t>(statement.operands()[i].items.front().slot)].data();
    if (operand.written) {
      batch.destination = {words, stride};
    } else {
      batch.source(operand.name) = {words, stride};
    }
  }
  batch.shared = states.shared.data();
  batch.shared_bytes = batch.shared_stride = states.shared_bytes;
  return batch;
}

}  // namespace warpmat
