#pragma once

#include <warpmat/instruction.h>
#include <warpmat/program.h>

#include <array>
#include <cstdint>
#include <vector>

namespace warpmat {

/// The sources and results of a matrix statement, in the registers and the memory of a warp. `warp` and `statement` must outlive this.
class StatementBatch {
 public:
  StatementBatch(Warp& warp, const Statement& statement) {
    const Form& form = statement.matrix()->form();
    batch_.use(warp.shared());
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      words_[i] = warp.words(statement.operands()[i]);
      const Operand& operand = form.operands[i];
      if (operand.kind == OperandKind::address) {
        batch_.offset = statement.operands()[i].offset;
        batch_.wide_addresses = words_[i].size() == 2;
      }
      if (operand.written)
        batch_.destination = words_[i];
      else
        batch_.source(operand.name) = words_[i];
    }
  }
  StatementBatch(const StatementBatch&) = delete;
  StatementBatch& operator=(const StatementBatch&) = delete;

  Batch& get() { return batch_; }
  const Batch& get() const { return batch_; }

 private:
  std::array<std::vector<std::uint32_t*>, operand_name_count> words_;
  Batch batch_;
};

}  // namespace warpmat
