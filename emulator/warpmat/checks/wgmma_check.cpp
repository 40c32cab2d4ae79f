#include <warpmat/checks/wgmma_check.h>

#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::inline v0_1::checks {

using catalogue::Semantics;
using machine::BarrierEvent;
using machine::Event;
using machine::EventKinds;

namespace {

std::size_t number_of(std::size_t offset) {
  return offset / code::register_alignment;
}

/// Calls visit(number) for each of `count` registers from `slots` on that are not constants.
template <typename Visit>
void for_each_register(const Event& event, const code::Slot* slots, int count, Visit visit) {
  for (int i = 0; i < count; ++i)
    if (slots[i] >= 0) visit(number_of(warp_of(event).split().frame + static_cast<std::size_t>(slots[i])));
}

template <typename Visit>
void for_each_result(const Event& event, Visit visit) {
  for_each_register(event, warp_of(event).slots(operation_of(event)), operation_of(event).results, visit);
}

template <typename Visit>
void for_each_source(const Event& event, int count, Visit visit) {
  for_each_register(event, warp_of(event).slots(operation_of(event)) + operation_of(event).results, count, visit);
}

}  // namespace

WgmmaCheck::WgmmaCheck(const Setup& setup)
    : Observer(EventKinds::operations | EventKinds::products | EventKinds::synchronisation), setup_(setup) {}

void WgmmaCheck::block_begins(const machine::BlockEvent& event) {
  const std::size_t registers = number_of(setup_.frame_bytes);
  WarpRegisters empty;
  empty.writes.resize(registers);
  empty.users.resize(registers);
  empty.readers.resize(registers);
  warps_.emplace_back(static_cast<std::size_t>(event.warps), empty);
}

WgmmaCheck::WarpRegisters& WgmmaCheck::registers(const Event& event) {
  const machine::WarpState& warp = warp_of(event);
  return warps_[static_cast<std::size_t>(warp.block().rank())][static_cast<std::size_t>(warp.index())];
}

/// Traps if the operation accesses pending accumulators, or writes registers of A that may still be read. Records its writes for the next
/// wgmma.
void WgmmaCheck::operation(const Event& event) {
  WarpRegisters& warp = registers(event);
  ++warp.time;
  const code::Operation& operation = operation_of(event);
  if (operation.semantics == Semantics::wgmma_fence || operation.semantics == Semantics::wgmma_wait)
    warp.fences = operation.semantics == Semantics::wgmma_fence;
  if (event.lanes() == 0 || operation.semantics == Semantics::wgmma) return;
  if (!warp.pending.empty()) check_use(event, warp);
  for_each_result(event, [&](std::size_t number) { warp.writes[number] = {warp.time, operation.statement}; });
}

void WgmmaCheck::check_use(const Event& event, const WarpRegisters& warp) const {
  const auto check = [&](const std::vector<std::uint32_t>& uses, std::vector<std::size_t> Pending::*registers, std::size_t number,
                         const char* what, const char* may) {
    if (uses[number] == 0) return;
    const auto user = std::ranges::find_if(
        warp.pending, [&](const Pending& p) { return std::ranges::find(p.*registers, number) != (p.*registers).end(); });
    event.trap(-1, std::nullopt,
               fmt::format("{} before wgmma.wait_group: the product at {} may still {} it", what,
                           warp_of(event).statement_name(user->statement), may));
  };
  for_each_source(event, operation_of(event).sources,
                  [&](std::size_t number) { check(warp.users, &Pending::accumulators, number, "an accumulator is read", "write"); });
  for_each_result(event, [&](std::size_t number) {
    check(warp.users, &Pending::accumulators, number, "an accumulator is written", "write");
    check(warp.readers, &Pending::of_a, number, "a register of operand a is written", "read");
  });
}

/// Traps if registers of a wgmma.mma_async were written since the last wgmma.fence.
void WgmmaCheck::performs(const Event& event) {
  if (operation_of(event).semantics != Semantics::wgmma) return;
  const WarpRegisters& warp = registers(event);
  if (warp.fenced_at == 0) event.trap(-1, std::nullopt, "no wgmma.fence comes before the warp's first wgmma.mma_async");
  const auto check = [&](std::size_t number, const char* what) {
    const Write& write = warp.writes[number];
    if (write.time > warp.fenced_at)
      event.trap(-1, std::nullopt,
                 fmt::format("{} was written at {}, without a wgmma.fence since", what, warp_of(event).statement_name(write.statement)));
  };
  const code::WarpgroupProduct& product = setup_.program.products[operation_of(event).detail];
  for_each_result(event, [&](std::size_t number) { check(number, "an accumulator"); });
  if (product.a_in_registers)
    for_each_source(event, product.instruction.form().a_registers(), [&](std::size_t number) { check(number, "a register of operand a"); });
}

void WgmmaCheck::product_issues(const machine::ProductEvent& event) {
  WarpRegisters& warp = registers(event.event);
  Pending& pending = warp.pending.emplace_back(Pending{event.product.statement(), {}, {}});
  for_each_result(event.event, [&](std::size_t number) { pending.accumulators.push_back(number); });
  if (const code::WarpgroupProduct& product = *pending_of(event.product).product; product.a_in_registers)
    for_each_source(event.event, product.instruction.form().a_registers(), [&](std::size_t number) { pending.of_a.push_back(number); });
  for (const std::size_t number : pending.accumulators) ++warp.users[number];
  for (const std::size_t number : pending.of_a) ++warp.readers[number];
}

/// Shared memory still holds what the products read at their statements. The four warps perform a product one after the other: B is read
/// again only once, because nothing runs in between that could change it.
void WgmmaCheck::product_completes(const machine::ProductEvent& event) {
  const machine::PendingProduct& product = pending_of(event.product);
  const machine::WarpState& state = warp_of(event.event);
  const bool a_changed = !product.product->a_in_registers && state.read_a(product) != product.a;
  if (a_changed || (event.event.warp() % WgmmaForm::warps == 0 && state.read_b(product) != *product.b))
    event.event.trap(
        -1, std::nullopt,
        fmt::format("shared memory that operand {} of the product at {} reads has changed since that statement: it may be read until here",
                    a_changed ? 'a' : 'b', state.statement_name(product.statement)));
  WarpRegisters& warp = registers(event.event);
  for (const std::size_t number : warp.pending.front().accumulators) --warp.users[number];
  for (const std::size_t number : warp.pending.front().of_a) --warp.readers[number];
  warp.pending.erase(warp.pending.begin());
}

void WgmmaCheck::barrier_completes(const BarrierEvent& event) {
  if (event.scope != BarrierEvent::Scope::warpgroup) return;
  for (std::uint64_t rest = event.waiting; rest != 0; rest &= rest - 1) {
    WarpRegisters& warp = warps_[static_cast<std::size_t>(event.rank)][static_cast<std::size_t>(std::countr_zero(rest))];
    if (warp.fences) warp.fenced_at = warp.time;
  }
}

}  // namespace warpmat::inline v0_1::checks
