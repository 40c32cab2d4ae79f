#include "gpu/runners/form_runner.h"

#include <fmt/core.h>
#include <warpmat/lists/statement_call.h>
#include <warpmat/program.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>

namespace warpmat {

void FormRunner::run(const Program& program, WarpStates& states) {
  assert(program.statements().size() == 1 && program.statements().front().matrix() != nullptr);
  Warp warp(program, states.shared_bytes);
  for (std::size_t i = 0; i < states.warps; ++i) {
    std::ranges::copy(states.registers_of(i), warp.named_registers().begin());
    std::ranges::copy(states.shared_of(i), warp.shared().bytes().begin());
    try {
      const Form& form = program.statements().front().matrix()->form();
      const StatementCall call(warp, program.statements().front());
      execute_(form, Batch::of(form, call.get()));
    } catch (const Trap& trap) {
      throw std::runtime_error(fmt::format("warp {}: {}", i, trap.what()));
    }
    std::ranges::copy(warp.named_registers(), states.registers_of(i).begin());
    std::ranges::copy(warp.shared().bytes(), states.shared_of(i).begin());
  }
}

}  // namespace warpmat
