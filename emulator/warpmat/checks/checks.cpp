#include <warpmat/checks/checks.h>

#include <warpmat/checks/global_race_check.h>
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

/// Adds a check of a cluster where the launch asks for it, and the program has what it looks at.
using AddCheck = void(Observers& all, const Setup& setup, std::uint64_t cluster);

}  // namespace

AddCheck add_bulk_check, add_bulk_store_check, add_shared_memory_check, add_race_check, add_lane_race_check, add_global_race_check,
    add_rows_check, add_wgmma_check, add_tensor_fence_check, add_tensor_load_check, add_tile_check, add_register_check, add_lanes_check;

Observers make(const Setup& setup, std::uint64_t cluster) {
  Observers all;
  for (AddCheck* const add : {add_bulk_check, add_bulk_store_check, add_shared_memory_check, add_race_check, add_lane_race_check,
                              add_global_race_check, add_rows_check, add_wgmma_check, add_tensor_fence_check, add_tensor_load_check,
                              add_tile_check, add_register_check, add_lanes_check})
    add(all, setup, cluster);
  return all;
}

}  // namespace warpmat::checks
