// setmaxnreg: the warps of a block share the registers of the launch and exchange them (PTX ISA 9.1 section 9.7.20.5). The emulator has
// enough registers. It reports programs for which an H200 would wait forever, or that the ISA leaves undefined.

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::inline v0_1::machine {

using code::Operation;

WarpState::Step WarpState::set_max_registers(const Operation& operation, LaneMask mask) {
  if (!gather(live_, mask, false)) return Step::leave_split;
  const std::string& opcode = program_.statements[operation.statement]->opcode;
  const auto first = static_cast<std::size_t>(index_ / WgmmaForm::warps * WgmmaForm::warps);
  if (first + WgmmaForm::warps > block_.warps().size())
    trap(first_lane(mask), std::nullopt, fmt::format("{} needs all four warps of the warpgroup; some do not exist", opcode));
  const std::int64_t count = operation.detail / 2;
  const bool raises = operation.detail % 2 != 0;
  if (max_registers_ != 0) {  // else ptxas ignores the statement
    if (raises ? count < max_registers_ : count > max_registers_)
      trap(-1, std::nullopt, fmt::format("{} {}: each thread has {} registers at this point", opcode, count, max_registers_));
    if (raises) raised_at_ = operation.statement;
    registers_set_at_ = operation.statement;
    max_registers_ = count;
  }
  advance_gathered(mask, false);
  return Step::next;
}

/// At the end of the block: traps if the warps have more registers than the launch, so that a setmaxnreg.inc would wait forever, or if
/// some warps of a warpgroup have executed setmaxnreg and others have not. Different numbers are told: CUTLASS's attention has them.
void WarpState::check_max_registers() const {
  const std::int64_t at_entry = program_.limits.registers;
  if (at_entry == 0) return;
  std::int64_t all = 0;
  for (const auto& warp : block_.warps()) {
    const auto& first = block_.warps()[static_cast<std::size_t>(warp->index_ / WgmmaForm::warps * WgmmaForm::warps)];
    if (index_ == 0 && warp->max_registers_ != first->max_registers_) {
      const std::string problem =
          fmt::format("the warps of a warpgroup part at setmaxnreg: warp {} ends with {} registers a thread, warp {} with {}",
                      first->index_, first->max_registers_, warp->index_, warp->max_registers_);
      if (!first->registers_set_at_ || !warp->registers_set_at_) trap(-1, std::nullopt, problem);
      const Dim3 block = block_.index();
      const std::string report = fmt::format("{}, block ({}, {}, {}): {} (PTX ISA 9.1 section 9.7.20.5)",
                                             statement_name(*warp->registers_set_at_), block.x, block.y, block.z, problem);
      observers_.tell_all(&Observer::registers_differ, RegistersEvent{*warp->registers_set_at_, report});
    }
    all += warp->max_registers_ * warp_size;
  }
  const std::int64_t pool = at_entry * warp_size * static_cast<std::int64_t>(block_.warps().size());
  if (!raised_at_ || all <= pool) return;
  const syntax::Statement& statement = *program_.statements[*raised_at_];
  throw kernel_trap(
      {.kernel = std::string(program_.entry),
       .block = block_.index(),
       .warp = index_,
       .lane = -1,
       .line = statement.location.line,
       .statement = statement.opcode,
       .source = {}},
      std::nullopt,
      fmt::format("it would wait for ever: the block's warps ask for {} registers, and the block is launched with {} ({} a thread)", all,
                  pool, at_entry),
      Trap::Kind::deadlock);
}

}  // namespace warpmat::inline v0_1::machine
