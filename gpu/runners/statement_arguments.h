#pragma once

#include <warpmat/instruction.h>
#include <warpmat/program.h>

#include <array>
#include <cstdint>
#include <vector>

namespace warpmat::inline v0_1 {

/// The sources and results of a matrix statement, in the registers and the memory of a warp. `warp` and `statement` must outlive this.
class StatementArguments {
 public:
  StatementArguments(Warp& warp, const Statement& statement) {
    const Form& form = statement.matrix()->form();
    arguments_.shared = &warp.shared();
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      words_[i] = warp.words(statement.operands()[i]);
      const Operand& operand = form.operands[i];
      if (operand.kind == OperandKind::address) arguments_.offset = statement.operands()[i].offset;
      if (operand.written)
        arguments_.destination = words_[i];
      else
        arguments_.source(operand.name) = ConstRegisterList(words_[i].data(), words_[i].size());
    }
  }
  StatementArguments(const StatementArguments&) = delete;
  StatementArguments& operator=(const StatementArguments&) = delete;

  Arguments& get() { return arguments_; }

 private:
  std::array<std::vector<std::uint32_t*>, operand_name_count> words_;
  Arguments arguments_;
};

}  // namespace warpmat::inline v0_1
