// The bodies of operations that no family has, and of what the loop of warp_control.cpp may execute in other ways.

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/ptx/catalogue/catalogue.h>

namespace warpmat::machine {

using code::Operation;

namespace {

/// By Semantics.
constexpr body::Body* bodies[]{
#define WARPMAT_OPERATION(name, payload, maker, facts) body::name,
#include <warpmat/ptx/catalogue/operations.inc>
};

/// perform() for an operation whose order among clusters may be visible.
template <typename Perform>
Step in_order(WarpState& warp, const Operation& operation, Perform perform) {
  if (warp.is_ordered(operation))
    if (const Step step = reserve(warp); step != Step::next) return step;
  perform();
  return warp.advance();
}

}  // namespace

Step reserve(WarpState& warp) {
  if (!warp.block().has_reservation()) return Step::needs_reservation;
  switch (warp.block().use_reservation(warp)) {
    case Block::Use::granted: break;
    case Block::Use::is_over: return Step::reservation_is_over;
    case Block::Use::gives_way: return Step::gives_way;
  }
  return Step::next;
}

Step execute(WarpState& warp, const Operation& operation, LaneMask mask) {
  return bodies[static_cast<std::size_t>(operation.semantics)](warp, operation, mask);
}

Step body::compute(WarpState& warp, const Operation& operation, LaneMask mask) {
  machine::compute(warp, operation, mask);
  return warp.advance();
}

Step body::select(WarpState& warp, const Operation& operation, LaneMask mask) {
  return body::compute(warp, operation, mask);
}

Step body::special(WarpState& warp, const Operation& operation, LaneMask mask) {
  machine::special(warp, operation, mask);
  return warp.advance();
}

Step body::load(WarpState& warp, const Operation& operation, LaneMask mask) {
  return in_order(warp, operation, [&] { machine::load<true>(warp, operation, mask); });
}

Step body::store(WarpState& warp, const Operation& operation, LaneMask mask) {
  return in_order(warp, operation, [&] { machine::store<true>(warp, operation, mask); });
}

Step body::atomic(WarpState& warp, const Operation& operation, LaneMask mask) {
  return in_order(warp, operation, [&] { machine::atomic<true>(warp, operation, mask); });
}

Step body::multimem(WarpState& warp, const Operation& operation, LaneMask mask) {
  return in_order(warp, operation, [&] { machine::multimem(warp, operation, mask); });
}

Step body::fence(WarpState& warp, const Operation& operation, LaneMask) {
  return in_order(warp, operation, [&] { warp.tell_order(Synchronisation::Kind::fence, 0, nullptr); });
}

Step body::proxy_fence(WarpState& warp, const Operation&, LaneMask) {
  warp.tell_order(Synchronisation::Kind::proxy_fence, 0, nullptr);
  return warp.advance();
}

Step body::active_mask(WarpState& warp, const Operation& operation, LaneMask mask) {
  warp.write_same(operation, 0, mask, mask);
  return warp.advance();
}

Step body::sleep(WarpState& warp, const Operation&, LaneMask) {
  ++warp.split().pc;
  warp.note_spin();
  return Step::yield;
}

Step body::nothing(WarpState& warp, const Operation&, LaneMask) {
  return warp.advance();
}

/// trap, and what becomes one.
Step body::trap(WarpState& warp, const Operation& operation, LaneMask mask) {
  const code::TrapCause cause = warp.program().of<code::TrapCause>(operation);
  warp.trap(first_lane(mask), std::nullopt,
            cause == code::TrapCause::call    ? "the register holds the address of no function that this call may mean"
            : cause == code::TrapCause::stack ? "alloca finds too few of the 16 KiB that a function's stack has"
                                              : "the kernel executes a trap",
            cause == code::TrapCause::statement ? Trap::Kind::stopped : Trap::Kind::misuse);
}

Step body::absent(WarpState& warp, const Operation& operation, LaneMask mask) {
  const std::string& opcode = warp.program().statements[operation.statement]->opcode;
  warp.trap(first_lane(mask), std::nullopt, fmt::format("'{}' is not executed: {}", opcode, catalogue::why_absent(opcode)),
            Trap::Kind::misuse);
}

}  // namespace warpmat::machine
