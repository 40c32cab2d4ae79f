#include <warpmat/checks/checks.h>

#include <warpmat/checks/bulk_check.h>
#include <warpmat/checks/bulk_store_check.h>
#include <warpmat/checks/global_race_check.h>
#include <warpmat/checks/lane_race_check.h>
#include <warpmat/checks/lanes_check.h>
#include <warpmat/checks/race_check.h>
#include <warpmat/checks/register_check.h>
#include <warpmat/checks/rows_check.h>
#include <warpmat/checks/shared_memory_check.h>
#include <warpmat/checks/tensor_fence_check.h>
#include <warpmat/checks/tensor_load_check.h>
#include <warpmat/checks/tile_check.h>
#include <warpmat/checks/wgmma_check.h>
#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::checks {

void warn(Warnings& warnings, std::uint32_t statement, const machine::Event& event, std::uint64_t cluster, int lane,
          std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind) {
  if (!warnings.wants(statement, cluster)) return;
  try {
    event.trap(lane, address, reason, kind);
  } catch (const Trap& report) {
    warnings.add(statement, cluster, report);
  }
}

Trap::Note note_of(const Trap& warning) {
  const Trap::Site& site = warning.site;
  return {"warned of before: " + warning.parts.text(),
          {.line = site.line, .statement = site.statement, .source_lines = site.source_lines, .source = site.source}};
}

void add_warning(LaunchResult& result, const Trap& warning) {
  result.warnings.emplace_back(warning.what());
  result.warned.push_back(warning);
}

void finish_races(const Setup& setup) {
  setup.reports.global_races.finish(
      [&](std::uint64_t cluster, const GlobalRaces::Conflict& conflict) { GlobalRaceCheck::report(setup, cluster, conflict); });
}

void finish(const Setup& setup, LaunchResult& result) {
  if (setup.reports.global_races.left_out())
    add_warning(result, {Trap::Kind::unordered, std::nullopt, -1, std::nullopt,
                         "races between blocks: the launch has accessed more pages of global memory than the check can follow; the others "
                         "were not looked at"});
}

namespace {

bool stores_in_bulk(const code::Program& program) {
  return program.any<code::BulkCopy>([](const code::BulkCopy& copy) { return copy.kind == code::BulkCopy::Kind::store; });
}

bool loads_tensor_memory(const code::Program& program) {
  return program.any<code::TensorStatement>(
      [](const code::TensorStatement& each) { return each.action == code::TensorStatement::Action::load; });
}

}  // namespace

std::vector<std::unique_ptr<machine::Observer>> make(const Setup& setup, std::uint64_t cluster) {
  std::vector<std::unique_ptr<machine::Observer>> all;
  const code::Program& program = setup.program;
  const Checks& checks = setup.checks;
  const bool shared = setup.shared_bytes != 0;
  if (shared && checks.copies && (program.executes(catalogue::Semantics::bulk_copy) || program.executes(catalogue::Semantics::wgmma)))
    all.push_back(std::make_unique<BulkCheck>(setup, cluster));
  if (shared && checks.copies && !setup.as_cards && stores_in_bulk(program))
    all.push_back(std::make_unique<BulkStoreCheck>(setup, cluster));
  if ((shared && (checks.uninitialised || checks.copies || checks.races)) || setup.follows_global)
    all.push_back(std::make_unique<SharedMemoryCheck>(setup, cluster));
  if (shared && checks.races) {
    all.push_back(std::make_unique<RaceCheck>(setup));
    all.push_back(std::make_unique<LaneRaceCheck>(setup, cluster));
  }
  if (checks.races && setup.grid.count() > setup.cluster.count()) all.push_back(std::make_unique<GlobalRaceCheck>(setup, cluster));
  if (shared && setup.reads_rows && checks.uninitialised) all.push_back(std::make_unique<RowsCheck>(setup, cluster));
  if (program.executes(catalogue::Semantics::wgmma)) all.push_back(std::make_unique<WgmmaCheck>(setup, cluster));
  if (checks.copies && program.executes(catalogue::Semantics::tensor_memory))
    all.push_back(std::make_unique<TensorFenceCheck>(setup, cluster));
  if (checks.copies && loads_tensor_memory(program)) all.push_back(std::make_unique<TensorLoadCheck>(setup, cluster));
  const bool tensors = program.any<code::BulkCopy>([](const code::BulkCopy& copy) { return copy.rank != 0; });
  if (program.executes(catalogue::Semantics::wgmma) && tensors) all.push_back(std::make_unique<TileCheck>(setup, cluster));
  if (program.limits.registers != 0) all.push_back(std::make_unique<RegisterCheck>(setup, cluster));
  if (program.executes(catalogue::Semantics::exchange)) all.push_back(std::make_unique<LanesCheck>(setup, cluster));
  return all;
}

}  // namespace warpmat::checks
