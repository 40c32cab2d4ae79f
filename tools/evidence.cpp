#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "commands.h"
#include "tools/library/offers.h"

namespace warpmat {
namespace {

using Json = nlohmann::json;

struct Options {
  std::vector<std::string> sweeps;
};

/// What the sweeps compared of one form on one hardware.
struct Compared {
  std::uint64_t outputs = 0, mismatches = 0;
  int classes = 0;
};

using ByForm = std::map<std::string, Compared>;  ///< by opcode

Json read_sweep(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot read {}", path));
  try {
    return Json::parse(file);
  } catch (const Json::exception&) {
    throw std::runtime_error(fmt::format("{} is not the JSON of a sweep; warpmat diff --json writes it", path));
  }
}

void add(const Json& sweep, std::map<std::string, ByForm>& by_hardware) {
  ByForm& forms = by_hardware[sweep.at("hardware")];
  for (const Json& form : sweep.at("forms")) {
    Compared& compared = forms[form.at("form")];
    compared.outputs += form.at("outputs").get<std::uint64_t>();
    compared.mismatches += form.at("mismatches").get<std::uint64_t>();
    compared.classes = std::max(compared.classes, form.at("classes").get<int>());
  }
}

/// "4 x NVIDIA H200 | sm_90a | …": a line for the sweep, whose GPUs are all of one hardware.
void print_sweep(const Json& sweep) {
  const Json& gpus = sweep.at("gpus");
  const Json& first = gpus.at(0);
  std::string cards = first.at("card").get<std::string>();
  if (gpus.size() > 1) cards = fmt::format("{} x {}", gpus.size(), cards);
  fmt::print("| {} | {} | {}, assembler {} | {} | {} | {} | {} | {} s |\n", cards, sweep.at("target").get<std::string>(),
             first.at("driver").get<std::string>(), first.at("assembler").get<std::string>(), sweep.at("date").get<std::string>(),
             sweep.at("seed").get<std::uint64_t>(), sweep.at("outputs").get<std::uint64_t>(), sweep.at("mismatches").get<std::uint64_t>(),
             static_cast<int>(sweep.at("seconds").get<double>()));
}

/// "sm_75 published, sm_80 replayed": how a form's bits are known where this project has not compared them.
std::string other_evidence(const Form& form, const std::map<std::string, ByForm>& compared) {
  std::string text;
  for (const Offer& o : offers(form)) {
    const auto hardware = compared.find(std::string(name(o.hardware)));
    if (hardware != compared.end() && hardware->second.contains(form.opcode)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(o.hardware), evidence_label(o));
  }
  return text;
}

void print_forms(const std::map<std::string, ByForm>& by_hardware) {
  for (const Form& form : forms()) {
    std::string compared;
    for (const auto& [hardware, found] : by_hardware)
      if (const auto it = found.find(form.opcode); it != found.end())
        compared += fmt::format("{}{}: {} in {} classes, {} mismatches", compared.empty() ? "" : "; ", hardware, it->second.outputs, it->second.classes,
                                it->second.mismatches);
    fmt::print("| `{}` | {} | {} |\n", form.opcode, compared.empty() ? "never" : compared, other_evidence(form, by_hardware));
  }
}

void print_evidence(const Options& options) {
  std::map<std::string, ByForm> by_hardware;
  std::vector<Json> sweeps;
  for (const std::string& path : options.sweeps) sweeps.push_back(read_sweep(path));
  try {
    for (const Json& sweep : sweeps) add(sweep, by_hardware);
    fmt::print("# Evidence\n\nWritten by `warpmat evidence` from the JSON of `warpmat diff`; do not edit. A sweep runs every form of a target on a GPU and on the\n"
               "emulator, over classes of operands, and compares every register.\n\n"
               "| card | target | driver | date | seed | outputs compared | mismatches | time |\n|---|---|---|---|---|---|---|---|\n");
    for (const Json& sweep : sweeps) print_sweep(sweep);
  } catch (const Json::exception& e) {
    throw std::runtime_error(fmt::format("not the JSON of a sweep: {}", e.what()));
  }
  fmt::print("\nFor each form, what was compared by this project, and how the bits are known on the hardware that it never ran on.\n\n"
             "| form | compared | elsewhere |\n|---|---|---|\n");
  print_forms(by_hardware);
}

}  // namespace

void add_evidence(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("evidence", "Write docs/evidence.md from sweeps");
  command->add_option("SWEEP.json", options->sweeps, "What warpmat diff --json wrote")->required();
  command->footer("Examples:\n  warpmat evidence sweep.json > docs/evidence.md");
  command->callback([options] { print_evidence(*options); });
}

}  // namespace warpmat
