// What each operation does: its body by its semantics.

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::machine {

using catalogue::Semantics;
using code::Operation;

namespace {

/// trap, and what becomes one.
[[noreturn]] void stop(const WarpState& warp, const Operation& operation, LaneMask mask) {
  const code::TrapCause cause = warp.program().of<code::TrapCause>(operation);
  warp.trap(first_lane(mask), std::nullopt,
            cause == code::TrapCause::call    ? "the register holds the address of no function that this call may mean"
            : cause == code::TrapCause::stack ? "alloca finds too few of the 16 KiB that a function's stack has"
                                              : "the kernel executes a trap",
            cause == code::TrapCause::statement ? Trap::Kind::stopped : Trap::Kind::misuse);
}

[[noreturn]] void refuse_absent(const WarpState& warp, const Operation& operation, LaneMask mask) {
  const std::string& opcode = warp.program().statements[operation.statement]->opcode;
  warp.trap(first_lane(mask), std::nullopt, fmt::format("'{}' is not executed: {}", opcode, catalogue::why_absent(opcode)),
            Trap::Kind::misuse);
}

}  // namespace

Step reserve(WarpState& warp) {
  if (!warp.block().has_reservation()) return Step::needs_reservation;
  return warp.block().use_reservation() ? Step::next : Step::reservation_is_over;
}

Step execute(WarpState& warp, const Operation& operation, LaneMask mask) {
  switch (operation.semantics) {
    case Semantics::load:
    case Semantics::store:
    case Semantics::atomic:
    case Semantics::multimem:
    case Semantics::fence:
      if (warp.is_ordered(operation)) {
        if (const Step step = reserve(warp); step != Step::next) return step;
      }
      if (operation.semantics == Semantics::load) load<true>(warp, operation, mask);
      if (operation.semantics == Semantics::store) store<true>(warp, operation, mask);
      if (operation.semantics == Semantics::atomic) atomic<true>(warp, operation, mask);
      if (operation.semantics == Semantics::multimem) multimem(warp, operation, mask);
      if (operation.semantics == Semantics::fence) warp.tell_order(Synchronisation::Kind::fence, 0, nullptr);
      break;
    case Semantics::special: special(warp, operation, mask); break;
    case Semantics::cp_async: cp_async(warp, operation, mask); break;
    case Semantics::cp_async_commit: commit_group(warp, mask); break;
    case Semantics::cp_async_wait: wait_group(warp, operation, mask); break;
    case Semantics::branch_table: return branch_table(warp, operation, mask);
    case Semantics::call: return call(warp, operation);
    case Semantics::return_: return return_from_call(warp, operation);
    case Semantics::exit:
      if (waits_for_sums(warp, mask) && !warp.block().has_reservation()) return Step::needs_reservation;
      return exit_lanes(warp, mask);
    case Semantics::trap: stop(warp, operation, mask);
    case Semantics::absent: refuse_absent(warp, operation, mask);
    case Semantics::barrier: return barrier(warp, operation, mask);
    case Semantics::warp_barrier: return warp_barrier(warp, operation, mask);
    case Semantics::exchange: return exchange(warp, operation, mask);
    case Semantics::elect: return elect(warp, operation, mask);
    case Semantics::active_mask: warp.write_same(operation, 0, mask, mask); break;
    case Semantics::sleep:
      ++warp.split().pc;
      warp.note_spin();
      return Step::yield;
    case Semantics::matrix: return matrix(warp, operation, mask);
    case Semantics::wgmma: return wgmma(warp, operation, mask);
    case Semantics::max_registers: return set_max_registers(warp, operation, mask);
    case Semantics::wgmma_fence:
    case Semantics::wgmma_wait:
      if (warp.has_warpgroup_state() && !has_nothing_to_wait_for(warp, operation)) return synchronise_warpgroup(warp, operation, mask);
      break;  // nothing to order
    case Semantics::wgmma_commit:
      if (warp.has_warpgroup_state()) return wgmma_commit(warp, mask);
      break;
    case Semantics::mbarrier: return mbarrier(warp, operation, mask);
    case Semantics::bulk_copy: bulk_copy(warp, operation, mask); break;
    case Semantics::bulk_commit: bulk_commit(warp, mask); break;
    case Semantics::bulk_wait:
      if (waits_for_sums(warp, mask)) {
        if (const Step step = reserve(warp); step != Step::next) return step;
      }
      bulk_wait(warp, operation, mask);
      break;
    case Semantics::cluster_barrier: return cluster_barrier(warp, operation, mask);
    case Semantics::cluster_rank: cluster_rank(warp, operation, mask); break;
    case Semantics::tensor_map: return tensor_map(warp, operation, mask);
    case Semantics::tensor_memory: return tensor_memory(warp, operation, mask);
    case Semantics::texture: texture(warp, operation, mask); break;
    case Semantics::proxy_fence: warp.tell_order(Synchronisation::Kind::proxy_fence, 0, nullptr); break;
    case Semantics::nothing:
    case Semantics::compute:
    case Semantics::select:
    case Semantics::branch:
    case Semantics::stack:
    case Semantics::move_vector:
    case Semantics::address_space: break;
  }
  ++warp.split().pc;
  return Step::next;
}

}  // namespace warpmat::machine
