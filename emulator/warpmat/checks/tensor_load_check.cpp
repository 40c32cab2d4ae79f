#include <warpmat/checks/tensor_load_check.h>

#include <algorithm>
#include <span>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

using machine::Event;
using machine::EventKinds;
using machine::TensorOrder;
using machine::TensorRegion;

namespace {

using Action = code::TensorStatement::Action;

bool acts(const code::Program& program, const code::Operation& operation, Action action) {
  return operation.semantics == catalogue::Semantics::tensor_memory && program.of<code::TensorStatement>(operation).action == action;
}

}  // namespace

TensorLoadCheck::TensorLoadCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::runs | EventKinds::tensor_memory), setup_(setup), cluster_(cluster) {}

void TensorLoadCheck::operation(const Event& event) {
  const code::Operation& operation = operation_of(event);
  if (acts(setup_.program, operation, Action::deallocate)) {
    freeing_ = &warp_of(event).block();
    freed_at_ = operation.statement;
  }
  Pending& pending = pending_of_warp(event);
  if (event.lanes() != 0 && (acts(setup_.program, operation, Action::load) || !pending.registers.empty()))
    follow(event, operation, pending);
}

void TensorLoadCheck::run(const machine::RunEvent& event) {
  Pending& pending = pending_of_warp(event.event);
  const code::Operation* const first = &operation_of(event.event);
  for (std::uint32_t i = 0; i < event.operations && !pending.registers.empty(); ++i) follow(event.event, first[i], pending);
}

void TensorLoadCheck::follow(const Event& event, const code::Operation& operation, Pending& pending) {
  const std::size_t frame = warp_of(event).split().frame;
  const auto slots = std::span(setup_.program.slots).subspan(operation.slots);
  const auto number_of = [&](int i) {
    return (frame + static_cast<std::size_t>(slots[static_cast<std::size_t>(i)])) / code::register_alignment;
  };
  const auto is_register = [&](int i) { return slots[static_cast<std::size_t>(i)] >= 0; };
  if (acts(setup_.program, operation, Action::load)) {
    for (int i = 0; i < operation.results; ++i)
      if (is_register(i)) pending.registers[number_of(i)] = operation.statement;
    return;
  }
  const bool copies = setup_.program.statements[operation.statement]->opcode.starts_with("mov.");
  for (int i = operation.results; i < operation.results + operation.sources; ++i) {
    const auto found = is_register(i) ? pending.registers.find(number_of(i)) : pending.registers.end();
    if (found == pending.registers.end()) continue;
    const std::uint32_t load = found->second;
    if (!copies) return use(event, operation, load, pending);
    for (int to = 0; to < operation.results; ++to)
      if (is_register(to)) pending.registers[number_of(to)] = load;
    return;
  }
  for (int i = 0; i < operation.results; ++i)
    if (is_register(i)) pending.registers.erase(number_of(i));
}

void TensorLoadCheck::use(const Event& event, const code::Operation& operation, std::uint32_t load, Pending& pending) {
  std::erase_if(pending.registers, [load](const auto& each) { return each.second == load; });
  pending.loads.erase(load);
  warn_of(warp_of(event).block(), event.warp(), operation.statement,
          {"a register of tcgen05.ld is used before tcgen05.wait::ld",
           {{"the load", machine::place_of(setup_.program, load)}},
           "tcgen05.wait::ld comes between the two"});
}

void TensorLoadCheck::warn_of(const machine::Block& block, int warp, std::uint32_t statement, const Trap::Reason& reason) {
  Warnings& warnings = setup_.reports.warnings;
  if (!warnings.wants(statement, cluster_)) return;
  warnings.add(statement, cluster_, machine::kernel_trap(block.site_of(warp, statement), std::nullopt, reason, Trap::Kind::unordered));
}

void TensorLoadCheck::tensor_accessed(const machine::TensorAccess& event) {
  if (event.by_a_thread || event.reads.empty()) return;
  pending_of_warp(event.event).loads[event.event.statement()].assign(event.reads.begin(), event.reads.end());
}

void TensorLoadCheck::tensor_ordered(const TensorOrder& event) {
  if (event.kind == TensorOrder::Kind::load_done) warps_[{event.rank, event.warp}] = {};
}

void TensorLoadCheck::tensor_freed(int rank, int first, int count) {
  const TensorRegion freed = machine::all_lanes_of(first, count);
  if (freeing_ == nullptr) return;
  for (auto& [place, pending] : warps_) {
    if (place.first != rank) continue;
    for (const auto& [statement, regions] : pending.loads)
      if (std::ranges::any_of(regions, [&](const TensorRegion& region) { return region.overlaps(freed); }))
        warn_of(freeing_->cluster().block(rank), place.second, statement,
                {"a load may still read columns that tcgen05.dealloc has freed: tcgen05.wait::ld has not followed it",
                 {{"freed here", machine::place_of(setup_.program, freed_at_)}},
                 "tcgen05.wait::ld comes behind the load, and a barrier before tcgen05.dealloc"});
  }
}

}  // namespace warpmat::checks
