#include <warpmat/checks/checks.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/checks/bulk_check.h>
#include <warpmat/checks/bulk_store_check.h>
#include <warpmat/checks/global_race_check.h>
#include <warpmat/checks/lane_race_check.h>
#include <warpmat/checks/lanes_check.h>
#include <warpmat/provenance/pairing.h>
#include <warpmat/checks/race_check.h>
#include <warpmat/checks/register_check.h>
#include <warpmat/checks/rows_check.h>
#include <warpmat/checks/shared_memory_check.h>
#include <warpmat/checks/tensor_fence_check.h>
#include <warpmat/checks/tensor_load_check.h>
#include <warpmat/checks/tile_check.h>
#include <warpmat/checks/wgmma_check.h>
#include <warpmat/ptx/program/code.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat::checks {

namespace {

/// The number of the cluster to which a block belongs. Throws std::invalid_argument for one outside of the grid.
std::uint64_t cluster_of(Dim3 block, const LaunchConfig& config) {
  const Dim3 grid = config.grid, size = config.cluster;
  if (block.x >= grid.x || block.y >= grid.y || block.z >= grid.z)
    throw std::invalid_argument(
        fmt::format("there is no block ({}, {}, {}) in a grid of {}x{}x{}", block.x, block.y, block.z, grid.x, grid.y, grid.z));
  const std::uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
  return (block.z / size.z * rows + block.y / size.y) * columns + block.x / size.x;
}

}  // namespace

void set_gemm(Setup& setup, const LaunchOptions& options, const DeviceMemory& memory, const std::vector<std::uint8_t>& parameters,
              const LaunchConfig& config) {
  setup.memory = &memory;
  setup.grid = config.grid;
  setup.cluster = config.cluster;
  setup.gemms = find_gemms(options.gemm, memory, setup.program, parameters);
  setup.reports.stores = decltype(setup.reports.stores)(setup.gemms.size());
  setup.reports.companions = decltype(setup.reports.companions)(setup.gemms.size());
  for (const Dim3 block : options.gemm_blocks) setup.clusters.push_back(cluster_of(block, config));
  if (!setup.clusters.empty() && setup.gemms.empty())
    throw std::invalid_argument("blocks to look at need the product that the kernel computes, as in C=A*B^T:128x128x64");
  if (options.why.empty()) return;
  if (setup.gemms.empty())
    throw std::invalid_argument("the way of an element needs the product that the kernel computes, as in C=A*B^T:128x128x64");
  setup.why = parse_element(options.why, setup.gemms);
}

void warn(Warnings& warnings, std::uint32_t statement, const machine::Event& event, std::uint64_t cluster, int lane,
          std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind) {
  if (!warnings.wants(statement, cluster)) return;
  try {
    event.trap(lane, address, reason, kind);
  } catch (const Trap& report) {
    warnings.add(statement, cluster, report);
  }
}

std::uint32_t first_of_line(const code::Program& program, std::uint32_t statement) {
  const auto place = [&](const syntax::Statement* each) {
    if (each->source_line < 0) return std::pair(-1, -1);
    const syntax::SourceLine& line = program.module->source_lines[static_cast<std::size_t>(each->source_line)];
    return std::pair(line.file, line.line);
  };
  const auto wanted = place(program.statements[statement]);
  if (wanted.first < 0) return statement;
  return static_cast<std::uint32_t>(std::ranges::find(program.statements, wanted, place) - program.statements.begin());
}

namespace {

/// Throws for scale factors and metadata that are not those of the elements with which they are multiplied.
void check_companions(const Gemm& gemm, const std::array<Companion, Gemm::companion_count>& companions, const DeviceMemory& memory) {
  const auto subject = [&](std::size_t i) {
    const CompanionMatrix& told = gemm.companions[i];
    return Companion::Subject{told.of_b ? gemm.b : gemm.a, told.of_b, told, memory};
  };
  for (std::size_t i = 0; i < companions.size(); ++i)
    if (const auto fault = companions[i].fault(subject(i))) throw *fault;
  if (const auto both = companions[0].common(subject(0), companions[1], subject(1))) throw *both;
}

}  // namespace

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
  for (std::size_t i = 0; i < setup.gemms.size(); ++i)
    if (!setup.reports.stores[i].formed())
      add_warning(result, {Trap::Kind::mispaired, std::nullopt, -1, std::nullopt,
                           fmt::format("no matrix instruction multiplies elements of {} by elements of {}: that product was not looked at",
                                       setup.gemms[i].a.name, setup.gemms[i].b.name)});
  for (auto& [block, why] : setup.reports.why) result.why.push_back(std::move(why));
  for (std::size_t i = 0; !setup.why && setup.clusters.empty() && i < setup.gemms.size(); ++i)
    if (const auto missing = setup.reports.stores[i].missing(setup.gemms[i], std::string(setup.program.entry))) throw *missing;
  for (std::size_t i = 0; !setup.why && i < setup.gemms.size(); ++i)
    if (const auto report = setup.reports.stores[i].without_products(setup.gemms[i])) add_warning(result, *report);
  for (std::size_t i = 0; !setup.why && i < setup.gemms.size(); ++i)
    check_companions(setup.gemms[i], setup.reports.companions[i], *setup.memory);
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
  const bool followed = setup.clusters.empty() || std::ranges::find(setup.clusters, cluster) != setup.clusters.end();
  if (!setup.gemms.empty() && followed) all.push_back(std::make_unique<Pairing>(setup));
  return all;
}

}  // namespace warpmat::checks
