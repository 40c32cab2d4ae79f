#pragma once

#include <warpmat/instruction.h>
#include <warpmat/program.h>

#include <array>
#include <cstdint>
#include <vector>

namespace warpmat {

/// The call of a matrix statement on the registers and the memory of a warp. `warp` and `statement` must outlive this.
class StatementCall {
 public:
  StatementCall(Warp& warp, const Statement& statement) {
    const Form& form = statement.matrix()->form();
    call_.use(warp.shared());
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      words_[i] = warp.words(statement.operands()[i]);
      if (form.operands[i].kind == OperandKind::address) {
        call_.offset = statement.operands()[i].offset;
        call_.wide_addresses = words_[i].size() == 2;
      }
      views_[i] = words_[i];
    }
    call_.operands = std::span(views_).first(form.operands.size());
  }
  StatementCall(const StatementCall&) = delete;
  StatementCall& operator=(const StatementCall&) = delete;

  const Call& get() const { return call_; }

 private:
  std::array<std::vector<std::uint32_t*>, operand_name_count> words_;
  std::array<RegisterView, operand_name_count> views_;
  Call call_;
};

}  // namespace warpmat
