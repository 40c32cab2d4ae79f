#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/files/output_file.h>
#include "commands.h"

#include "gpu/lab/rules/reach.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/form_selection.h"
#include "tools/lab/report/coverage.h"
#include "tools/lab/report/coverage_page.h"
#include "tools/lab/report/tensor_question.h"
#include "tools/report/pattern.h"

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

struct CoverageOptions {
  std::string target, forms, output;
  std::size_t warps = 32;
  std::uint64_t seed = 1;
  bool json = false, page = false, tensor = false;
};

/// The regions that a class reached in a form, with their counts.
Json events_json(const Events& counts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < event_count; ++i) {
    const auto event = static_cast<Event>(i);
    for (std::size_t number = 0; number < numbers_of(event); ++number)
      if (const std::uint64_t count = counts.count(event, number); count != 0) json[region_name(event, number)] = count;
  }
  return json;
}

/// The regions of the form that no operands reach, with the reason.
Json unreachable_json(const TestedForm& form, const Target& target) {
  Json json = Json::object();
  for (std::size_t i = 0; i < event_count; ++i) {
    const auto event = static_cast<Event>(i);
    for (std::size_t number = 0; number < numbers_of(event); ++number)
      if (const Reach r = reach(arithmetic_of(form), lowering_of(form, target), event, number); r.concerns && !r.reachable())
        json[region_name(event, number)] = r.reason;
  }
  return json;
}

/// `target`: whose forms they are.
std::string json_text(const std::vector<CoverageRow>& rows, const CoveragePlan& plan, std::string_view target) {
  Json all = {{"target", target}, {"seed", plan.seed}, {"forms", Json::array()}};
  for (const CoverageRow& row : rows) {
    Json& list = all["forms"];
    if (list.empty() || list.back().at("form") != row.form.opcode())
      list.push_back({{"form", row.form.opcode()}, {"unreachable", unreachable_json(row.form, *plan.target)}, {"classes", Json::array()}});
    list.back()["classes"].push_back({{"class", row.operand_class->name},
                                      {"warps", row.warps},
                                      {"bits", row.written.seen()},
                                      {"of_bits", row.written.all()},
                                      {"regions", events_json(row.events)}});
  }
  return all.dump(1) + "\n";
}

/// The tiles of the products of tcgen05.mma whose names have `pattern`.
std::vector<TensorTile> selected_tiles(const std::string& pattern) {
  const Pattern wanted(pattern);
  std::vector<TensorTile> tiles;
  for (const TensorProductRow& row : tensor_product_rows())
    if (wanted.found_in(row.name())) tiles.push_back({row.name(), row.product.tile, row.product.lowering});
  if (tiles.empty()) throw std::runtime_error(fmt::format("no product of tcgen05.mma matches '{}'", pattern));
  return tiles;
}

void coverage(const CoverageOptions& options) {
  if (options.page) {
    const std::string page = coverage_page(coverage_parts());
    if (options.output.empty()) {
      fmt::print("{}", page);
    } else {
      write_file(options.output, {page});
    }
    return;
  }
  const Target& target = warpmat::target(options.tensor ? std::string(target_of_tensor_tiles) : options.target);
  const std::vector<TensorTile> tiles = options.tensor ? selected_tiles(options.forms) : std::vector<TensorTile>();
  const std::string forms = options.forms.empty() ? "^(?!wgmma)" : options.forms;  // whose widths repeat the same tiles
  const CoveragePlan plan{options.tensor ? std::vector<TestedForm>(tiles.begin(), tiles.end()) : select_tested_forms(target, forms),
                          &target, options.warps, options.seed};
  const std::vector<CoverageRow> rows = cover(plan);
  fmt::print("{}", options.json ? json_text(rows, plan, options.tensor ? "sm_100a" : target.name) : coverage_text(rows, target));
  const std::vector<CoverageFault> faults = coverage_faults(by_form(rows), target);
  for (const CoverageFault& fault : faults) fmt::print(stderr, "{}: {}\n", fault.form.opcode(), fault.text);
  if (!faults.empty()) throw std::runtime_error(fmt::format("{} cells are not as the rules of reach say", faults.size()));
}

constexpr const char* coverage_footer =
    R"(Without a GPU: the reference executes the cases that 'warpmat diff' compares, and counts which regions of the arithmetic's rules they reach.
A region is a place where one rule decides the bits: a term one bit beyond what a unit keeps, a sum on the middle of two results.
Each line of the table is a region, the classes of operands that reach it in every form of the group, and how often all of them did.

Examples:
  warpmat coverage --target sm_90a --forms 'mma.*m16n8k16.*f16.f16.f16.f16'
  warpmat coverage --target sm_90a --json > coverage.json
  warpmat coverage --tcgen05 --forms 'kind::tf32'
  warpmat coverage --page --output coverage.md)";

}  // namespace

void add_coverage(Command app) {
  constexpr std::size_t max_warps = std::size_t{1} << 24;
  const auto options = std::make_shared<CoverageOptions>();
  const Command command = add_handed_subcommand(app, "coverage");
  const CommandOption target = command.add_option("--target", options->target, "For example sm_90a").type_name("T");
  command.add_option("--forms", options->forms, "Only the forms in whose opcode this regular expression is found (default: all but wgmma)");
  command.add_option("--warps", options->warps, "Warps of each form and class, four times as many of directed ones (default: 32)")
      .range(std::size_t{1}, max_warps);
  command.add_option("--seed", options->seed, "Of the operands (default: 1)");
  command.add_flag("--json", options->json, "Print every count as JSON");
  const CommandOption page =
      command.add_flag("--page", options->page, "Write every region of every form instead, as Markdown").excludes(target);
  const CommandOption output = command.add_option("--output", options->output, "With --page: into this file").type_name("FILE.md");
  command.add_flag("--tcgen05", options->tensor, "Of the products of tcgen05.mma instead, tile by tile; --forms selects among their names")
      .excludes(target)
      .excludes(page);
  command.footer(coverage_footer);
  command.callback([options, output] {
    if (!options->page && output.count() != 0) throw std::runtime_error("coverage writes a file with --page only");
    if (!options->page && options->target.empty() && !options->tensor)
      throw std::runtime_error("coverage needs --target, --tcgen05 or --page");
    coverage(*options);
  });
}

}  // namespace warpmat
