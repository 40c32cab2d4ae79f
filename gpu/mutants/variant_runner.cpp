#include "gpu/mutants/variant_runner.h"

#include <fmt/core.h>
#include <warpmat/ptx/run.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>

#include "gpu/runners/statement_arguments.h"

namespace warpmat {
namespace {

void execute_statement(const VariantRunner::Execute& execute, const Statement& statement, Warp& warp, Events* events) {
  StatementArguments arguments(warp, statement);
  arguments.get().events = events;
  execute(statement.matrix()->form(), arguments.get());
}

}  // namespace

void VariantRunner::run(const Program& program, WarpStates& states) {
  assert(program.statements.size() == 1 && program.statements.front().matrix() != nullptr);
  Warp warp(program, states.shared_bytes);
  for (std::size_t i = 0; i < states.warps; ++i) {
    std::ranges::copy(states.registers_of(i), warp.named_registers().begin());
    std::ranges::copy(states.shared_of(i), warp.shared().bytes().begin());
    try {
      execute_statement(execute_, program.statements.front(), warp, events_);
    } catch (const Trap& trap) {
      throw std::runtime_error(fmt::format("warp {}: {}", i, trap.what()));
    }
    std::ranges::copy(warp.named_registers(), states.registers_of(i).begin());
    std::ranges::copy(warp.shared().bytes(), states.shared_of(i).begin());
  }
}

}  // namespace warpmat
