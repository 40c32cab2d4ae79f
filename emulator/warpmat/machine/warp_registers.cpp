// setmaxnreg: the warps of a block share the registers of the launch and exchange them (PTX ISA 9.1 section 9.7.20.5). The emulator has
// enough registers. It reports programs for which an H200 would wait forever, or that the ISA leaves undefined.

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::Operation;

Step body::max_registers(WarpState& warp, const Operation& operation, LaneMask mask) {
  if (!warp.gather(warp.live(), mask, false)) return Step::leave_split;
  const std::string& opcode = warp.program().statements[operation.statement]->opcode;
  const auto first = static_cast<std::size_t>(warp.index() / WgmmaForm::warps * WgmmaForm::warps);
  if (first + WgmmaForm::warps > warp.block().warps().size())
    warp.trap(first_lane(mask), std::nullopt, fmt::format("{} needs all four warps of the warpgroup; some do not exist", opcode));
  const std::int64_t count = warp.program().of<code::RegisterChange>(operation).count;
  const bool raises = warp.program().has(operation, ".inc");
  RegisterLimit& limit = warp.register_limit();
  if (limit.count != 0) {  // else ptxas ignores the statement
    if (raises ? count < limit.count : count > limit.count)
      warp.trap(-1, std::nullopt, fmt::format("{} {}: each thread has {} registers at this point", opcode, count, limit.count));
    if (raises) limit.raised_at = operation.statement;
    limit.set_at = operation.statement;
    limit.count = count;
  }
  return warp.advance_gathered(mask, false);
}

/// At the end of the block: traps if the warps have more registers than the launch, so that a setmaxnreg.inc would wait forever, or if
/// some warps of a warpgroup have executed setmaxnreg and others have not. Different numbers are told: CUTLASS's attention has them.
void check_max_registers(WarpState& warp) {
  const std::int64_t at_entry = warp.program().limits.registers;
  std::int64_t all = 0;
  for (WarpState* const each : warp.block().warps()) {
    WarpState* const first = warp.block().warps()[static_cast<std::size_t>(each->index() / WgmmaForm::warps * WgmmaForm::warps)];
    const RegisterLimit &limit = each->register_limit(), &first_limit = first->register_limit();
    if (warp.index() == 0 && limit.count != first_limit.count) {
      const std::string problem =
          fmt::format("the warps of a warpgroup part at setmaxnreg: warp {} ends with {} registers a thread, warp {} with {}",
                      first->index(), first_limit.count, each->index(), limit.count);
      if (!first_limit.set_at || !limit.set_at) warp.trap(-1, std::nullopt, problem);
      const Trap report =
          kernel_trap(warp.block().site_of(each->index(), *limit.set_at), std::nullopt, {problem, {{"PTX ISA 9.1 section 9.7.20.5"}}});
      warp.observers().tell_all(&Observer::registers_differ, RegistersEvent{*limit.set_at, report.what(), report});
    }
    all += limit.count * warp_size;
  }
  const std::int64_t pool = at_entry * warp_size * static_cast<std::int64_t>(warp.block().warps().size());
  const std::optional<std::uint32_t> raised_at = warp.register_limit().raised_at;
  if (!raised_at || all <= pool) return;
  throw kernel_trap(
      warp.block().site_of(warp.index(), *raised_at), std::nullopt,
      fmt::format("it would wait for ever: the block's warps ask for {} registers, and the block is launched with {} ({} a thread)", all,
                  pool, at_entry),
      Trap::Kind::deadlock);
}

}  // namespace warpmat::machine
