#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

namespace {

/// Warns of registers of tcgen05.ld that are used before tcgen05.wait::ld, and of loads that are neither waited for nor used when their
/// columns are freed. A copy of a register waits like the register: compilers move copies over the wait.
class TensorLoadCheck : public machine::Observer {
 public:
  TensorLoadCheck(const Setup& setup, std::uint64_t cluster);

  void operation(const machine::Event& event) override;
  void run(const machine::RunEvent& event) override;
  void tensor_accessed(const machine::TensorAccess& event) override;
  void tensor_ordered(const machine::TensorOrder& event) override;
  void tensor_freed(int rank, int first, int count) override;

 private:
  /// What a warp has loaded and not waited for. A use of one register waits for its whole load.
  struct Pending {
    std::map<std::size_t, std::uint32_t> registers;  ///< by their place, divided by register_alignment: the load's statement
    std::map<std::uint32_t, std::vector<machine::TensorRegion>> loads;  ///< by statement: what it reads
  };

  Pending& pending_of_warp(const machine::Event& event) { return warps_[{event.rank(), event.warp()}]; }
  void follow(const machine::Event& event, const code::Operation& operation, Pending& pending);
  void use(const machine::Event& event, const code::Operation& operation, std::uint32_t load, Pending& pending);
  void warn_of(const machine::Block& block, int warp, std::uint32_t statement, const Trap::Reason& reason);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::map<std::pair<int, int>, Pending> warps_;  ///< by rank and warp
  const machine::Block* freeing_ = nullptr;       ///< whose warp frees columns
  std::uint32_t freed_at_ = 0;                    ///< by this statement
};

}  // namespace

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

namespace {

bool loads_tensor_memory(const code::Program& program) {
  return program.any<code::TensorStatement>(
      [](const code::TensorStatement& each) { return each.action == code::TensorStatement::Action::load; });
}

}  // namespace

void add_tensor_load_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.checks.copies && loads_tensor_memory(setup.program)) all.push_back(std::make_unique<TensorLoadCheck>(setup, cluster));
}

}  // namespace warpmat::checks
