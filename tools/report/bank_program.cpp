#include "tools/report/bank_program.h"

#include <algorithm>
#include <utility>

#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

/// The addresses in a statement's operand before the statement runs.
std::vector<std::uint64_t> addresses_of(const Warp& warp, const OperandText& operand) {
  const std::vector<const std::uint32_t*> words = warp.words(operand);
  std::vector<std::uint64_t> addresses(warp_size);
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const std::uint64_t base = words.size() == 2 ? words[0][lane] | std::uint64_t{words[1][lane]} << 32 : words[0][lane];
    addresses[lane] = base + static_cast<std::uint64_t>(operand.offset);
    if (words.size() == 1) addresses[lane] = static_cast<std::uint32_t>(addresses[lane]);
  }
  return addresses;
}

/// A statement's access to shared memory; 0 bytes mean none.
BankExample example_of(const Warp& warp, const Statement& statement) {
  BankExample example{.lanes = all_lanes, .where = "the warp"};
  if (const Instruction* instruction = statement.matrix()) {
    const Form& form = instruction->form();
    if (form.mnemonic != Mnemonic::ldmatrix && form.mnemonic != Mnemonic::stmatrix) return example;
    example.access = checks::BankAccess::matrix;
    example.bytes = Form::row_bytes;
    if (form.rows_in_memory() < warp_size) example.lanes = lane_bit(form.rows_in_memory()) - 1;
    for (std::size_t i = 0; i < form.operands.size(); ++i)
      if (form.operands[i].kind == OperandKind::address) example.addresses = addresses_of(warp, statement.operands()[i]);
    return example;
  }
  const Instruction& scalar = statement.instruction();
  const bool load = scalar.kind() == InstructionKind::load;
  if (!load && scalar.kind() != InstructionKind::store) return example;
  example.access = load ? checks::BankAccess::load : checks::BankAccess::store;
  example.lanes = warp.executing(statement);
  example.bytes = static_cast<std::uint32_t>(scalar.access_bytes());
  example.addresses = addresses_of(warp, statement.operands()[load ? 1 : 0]);
  return example;
}

}  // namespace

void count_program(Warp& warp, const ExecutionOptions& options, BankReport& report) {
  const Program& program = warp.program();
  for (const Statement& statement : program.statements()) {
    BankExample example = example_of(warp, statement);
    if (example.bytes != 0) {
      const Evidence evidence = checks::bank_evidence(program.target()->hardware, example.access, example.bytes, example.lanes);
      report.shared(statement.location().line, std::string(statement_opcode(statement)), evidence, std::move(example));
    }
    warp.execute(statement, options);
  }
}

void count_program(const std::string& file, const std::string& target, std::size_t shared_bytes, BankReport& report) {
  const Program program = read_program(file, target);
  Warp warp(program, shared_bytes);
  count_program(warp, {}, report);
}

}  // namespace warpmat
