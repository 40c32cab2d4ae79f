#include <warpmat/checks/wgmma_check.h>

#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::checks {

using catalogue::Semantics;
using machine::BarrierEvent;
using machine::Event;
using machine::EventKinds;

namespace {

std::size_t number_at(std::size_t offset) {
  return offset / code::register_alignment;
}

/// Calls visit(number) for each of `count` registers of a frame from `slots` on that are not constants.
template <typename Visit>
void for_each_register(std::size_t frame, const code::Slot* slots, int count, Visit visit) {
  for (int i = 0; i < count; ++i)
    if (slots[i] >= 0) visit(number_at(frame + static_cast<std::size_t>(slots[i])));
}

std::size_t frame_of(const Event& event) {
  return warp_of(event).split().frame;
}

}  // namespace

WgmmaCheck::WgmmaCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::runs | EventKinds::products | EventKinds::synchronisation), setup_(setup), cluster_(cluster) {}

void WgmmaCheck::block_begins(const machine::BlockEvent& event) {
  const std::size_t registers = number_at(setup_.frame_bytes);
  WarpRegisters empty;
  empty.writes.resize(registers);
  empty.used.resize(registers);
  empty.users.resize(registers);
  empty.readers.resize(registers);
  warps_.emplace_back(static_cast<std::size_t>(event.warps), empty);
}

WgmmaCheck::WarpRegisters& WgmmaCheck::registers(const Event& event) {
  const machine::WarpState& warp = warp_of(event);
  return warps_[static_cast<std::size_t>(warp.block().rank())][static_cast<std::size_t>(warp.index())];
}

template <typename Visit>
void WgmmaCheck::for_each_result(std::size_t frame, const code::Operation& operation, Visit visit) const {
  for_each_register(frame, setup_.program.slots.data() + operation.slots, operation.results, visit);
}

template <typename Visit>
void WgmmaCheck::for_each_source(std::size_t frame, const code::Operation& operation, int count, Visit visit) const {
  for_each_register(frame, setup_.program.slots.data() + operation.slots + operation.results, count, visit);
}

/// The registers of A of a wgmma.mma_async; none if A is in shared memory.
template <typename Visit>
void WgmmaCheck::for_each_of_a(std::size_t frame, const code::Operation& operation, Visit visit) const {
  const code::WarpgroupProduct& product = setup_.program.of<code::WarpgroupProduct>(operation);
  if (product.a_in_registers) for_each_source(frame, operation, product.instruction.form().a_registers(), visit);
}

std::size_t WgmmaCheck::number_of(const code::Operation& operation) const {
  return static_cast<std::size_t>(&operation - setup_.program.operations.data());
}

/// Traps if the operation accesses pending accumulators, and warns if it writes registers of A that may still be read: Triton's kernels do
/// so in loops. Records its writes for the next wgmma.
void WgmmaCheck::operation(const Event& event) {
  WarpRegisters& warp = registers(event);
  ++warp.time;
  const code::Operation& operation = operation_of(event);
  if (operation.semantics == Semantics::wgmma_fence || operation.semantics == Semantics::wgmma_wait)
    warp.fences = operation.semantics == Semantics::wgmma_fence;
  if (event.lanes() == 0 || operation.semantics == Semantics::wgmma) return;
  if (const std::size_t number = number_of(operation); setup_.product_registers.next_concerned[number] != number) return;
  follow(event, 0, frame_of(event), warp.time, warp);
}

/// The same for operations that only compute.
void WgmmaCheck::run(const machine::RunEvent& event) {
  WarpRegisters& warp = registers(event.event);
  const std::size_t frame = frame_of(event.event), first = number_of(operation_of(event.event));
  const std::vector<std::uint32_t>& next = setup_.product_registers.next_concerned;
  for (std::size_t i = next[first]; i < first + event.operations; i = next[i + 1])
    follow(event.event, static_cast<std::uint32_t>(i - first), frame, warp.time + 1 + (i - first), warp);
  warp.time += event.operations;
}

/// For an operation of ProductRegisters::next_concerned. `ahead`: its number, counted from that of the event on. `time`:
/// WarpRegisters::time with it.
void WgmmaCheck::follow(const Event& event, std::uint32_t ahead, std::size_t frame, std::uint64_t time, WarpRegisters& warp) {
  const code::Operation& operation = (&operation_of(event))[ahead];
  if (!warp.pending.empty()) check_use(event, ahead, frame, warp);
  for_each_result(frame, operation, [&](std::size_t number) { warp.writes[number] = {time, operation.statement}; });
}

void WgmmaCheck::check_use(const Event& event, std::uint32_t ahead, std::size_t frame, const WarpRegisters& warp) const {
  const code::Operation& operation = (&operation_of(event))[ahead];
  const auto trap = [&](std::size_t number, bool of_a, const char* what, const char* may) {
    const auto user = std::ranges::find_if(warp.pending, [&](const Pending& p) {
      bool uses = false;
      const auto compare = [&](std::size_t other) { uses |= other == number; };
      of_a ? for_each_of_a(p.frame, *p.operation, compare) : for_each_result(p.frame, *p.operation, compare);
      return uses;
    });
    const bool waits = operation.semantics == Semantics::wgmma_wait;  // for what the statement reads
    const char* const outcome = waits  ? ". It is waited for here, as ptxas makes the code wait"
                                : of_a ? ". The product has the value from before, as in the code that ptxas makes"
                                       : "";
    const Trap::Reason reason{fmt::format("{} before wgmma.wait_group: a product may still {} it{}", what, may, outcome),
                              {warp_of(event).note("the product", user->operation->statement)}};
    if (!waits && !of_a) warp_of(event).trap_ahead(ahead, reason);
    warn(setup_.reports.warnings, operation.statement, event, cluster_, -1, std::nullopt, reason);
  };
  for_each_source(frame, operation, operation.sources, [&](std::size_t number) {
    if (warp.users[number] != 0) trap(number, false, "an accumulator is read", "write");
  });
  for_each_result(frame, operation, [&](std::size_t number) {
    if (warp.users[number] != 0) trap(number, false, "an accumulator is written", "write");
    if (warp.readers[number] != 0) trap(number, true, "a register of operand a is written", "read");
  });
}

/// That of the products with the accumulators of `product`, or the end.
std::vector<WgmmaCheck::Accumulators>::iterator WgmmaCheck::group_of(WarpRegisters& warp, const Pending& product) const {
  const std::uint32_t number = setup_.product_registers.accumulators[number_of(*product.operation)];
  return std::ranges::find_if(warp.groups,
                              [&](const Accumulators& group) { return group.number == number && group.frame == product.frame; });
}

/// Reports registers of a wgmma.mma_async that were written since the last wgmma.fence. Accumulators of a pending product were not: a
/// write since its statement would have been reported.
void WgmmaCheck::performs(const Event& event) {
  if (operation_of(event).semantics != Semantics::wgmma) return;
  WarpRegisters& warp = registers(event);
  if (warp.fenced_at == 0) event.trap(-1, std::nullopt, "no wgmma.fence comes before the warp's first wgmma.mma_async");
  const auto check = [&](std::size_t number, const char* what) {
    if (warp.writes[number].time > warp.fenced_at) report_unfenced(event, warp, number, what);
  };
  const std::size_t frame = frame_of(event);
  if (group_of(warp, {&operation_of(event), frame}) == warp.groups.end())
    for_each_result(frame, operation_of(event), [&](std::size_t number) { check(number, "an accumulator"); });
  for_each_of_a(frame, operation_of(event), [&](std::size_t number) { check(number, "a register of operand a"); });
}

/// A write behind the fence is an error where a product has used the register since that fence: then the fence is missing. Otherwise it
/// is a warning, because compilers move writes behind the statement of the fence, and GPUs have them: nvcc 13.0 clears accumulators there,
/// and of 1,536 elements on an H200 none was wrong.
void WgmmaCheck::report_unfenced(const Event& event, const WarpRegisters& warp, std::size_t number, const char* what) {
  const bool misses = warp.used[number] > warp.fenced_at;
  const Trap::Reason reason{
      misses ? fmt::format("{} was written, without a wgmma.fence since", what)
             : fmt::format("{} was written behind the wgmma.fence, which the ISA wants between the two", what),
      {warp_of(event).note("written here", warp.writes[number].statement)},
      misses ? "wgmma.fence comes between the two" : "the compiler may have moved the write; scale-d 0 clears accumulators without one"};
  if (misses) event.trap(-1, std::nullopt, reason);
  warn(setup_.reports.warnings, event.statement(), event, cluster_, -1, std::nullopt, reason);
}

void WgmmaCheck::product_issues(const machine::ProductEvent& event) {
  WarpRegisters& warp = registers(event.event);
  const Pending pending{&operation_of(event.event), frame_of(event.event)};
  warp.pending.push_back(pending);
  if (const auto group = group_of(warp, pending); group != warp.groups.end()) {
    ++group->products;
    group->issued = warp.time;
  } else {
    warp.groups.push_back({setup_.product_registers.accumulators[number_of(*pending.operation)], pending.frame, 1, warp.time});
    for_each_result(pending.frame, *pending.operation, [&](std::size_t number) { ++warp.users[number]; });
  }
  for_each_of_a(pending.frame, *pending.operation, [&](std::size_t number) {
    ++warp.readers[number];
    warp.used[number] = warp.time;
  });
}

/// Shared memory still holds what the products read at their statements. The four warps perform a product one after the other: B is
/// compared only once, because nothing runs in between that could change it.
void WgmmaCheck::product_completes(const machine::ProductEvent& event) {
  const machine::PendingProduct& product = pending_of(event.product);
  const machine::WarpState& state = warp_of(event.event);
  const auto changed = [&](OperandName operand) {
    return !still_holds(product, operand, state.block().shared(), setup_.program.shared_base);
  };
  const bool a_changed = !product.product->a_in_registers && changed(OperandName::a);
  const bool b_changed = !a_changed && event.event.warp() % WgmmaForm::warps == 0 && changed(OperandName::b);
  WarpRegisters& warp = registers(event.event);
  const Pending pending = warp.pending.front();
  if (const auto group = group_of(warp, pending); --group->products == 0) {
    const std::uint64_t issued = group->issued;
    warp.groups.erase(group);
    for_each_result(pending.frame, *pending.operation, [&](std::size_t number) {
      --warp.users[number];
      warp.used[number] = issued;
    });
  }
  for_each_of_a(pending.frame, *pending.operation, [&](std::size_t number) { --warp.readers[number]; });
  warp.pending.erase(warp.pending.begin());
  if (a_changed || b_changed)
    event.event.trap(
        -1, std::nullopt,
        {fmt::format("shared memory that operand {} of a product reads has changed since that statement: it may be read until here",
                     a_changed ? 'a' : 'b'),
         {state.note("the product", product.statement)},
         "wgmma.wait_group comes before the change"});
}

void WgmmaCheck::barrier_completes(const BarrierEvent& event) {
  if (event.scope != BarrierEvent::Scope::warpgroup) return;
  for (std::uint64_t rest = event.waiting; rest != 0; rest &= rest - 1) {
    WarpRegisters& warp = warps_[static_cast<std::size_t>(event.rank)][static_cast<std::size_t>(std::countr_zero(rest))];
    if (warp.fences) warp.fenced_at = warp.time;
  }
}

void add_wgmma_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.program.executes(catalogue::Semantics::wgmma)) all.push_back(std::make_unique<WgmmaCheck>(setup, cluster));
}

}  // namespace warpmat::checks
