#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "gpu/cuda/driver.h"
#include "gpu/lab/device/sweep_options.h"
#include "tools/command_line/handed_commands.h"
#include "tools/report/supervision.h"

namespace warpmat {
namespace {

struct DeviceOptions {
  std::string forms;             ///< only opcodes in which this regular expression is found
  bool all = false;              ///< forms too whose code is that of another one
  unsigned seconds = 1;          ///< of comparing with the card, for each form and selector
  std::size_t judged = 100'000;  ///< outputs of each class that the CPU judges, at least
  std::uint64_t seed = 1;
};

/// The target of this machine's first GPU, with the features of its architecture alone where it has such.
std::string card_target() {
  const Driver& driver = Driver::get();
  CUdevice device = 0;
  check(driver.device_get(&device, 0), "cuDeviceGet");
  int major = 0, minor = 0;
  check(driver.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "cuDeviceGetAttribute");
  check(driver.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "cuDeviceGetAttribute");
  return fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
}

/// Runs a tool whose own output goes to standard error.
void call(const std::vector<std::string>& words, const char* what) {
  if (const int status = run_supervised(words, {ProcessOutput::Kind::to_error}); status != 0)
    throw std::runtime_error(fmt::format("{} ended with status {}", what, status));
}

/// A form's library, in this process until it ends: a CUDA runtime is never unloaded.
device::Sweep* loaded(const std::filesystem::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  const auto function = reinterpret_cast<device::Sweep*>(dlsym(handle, device::sweep_name));
  if (function == nullptr) throw std::runtime_error(dlerror());
  return function;
}

void compare_device(const DeviceOptions& options) {
  const std::string card = card_target();
  const std::filesystem::path source = WARPMAT_SOURCE_FOLDER, script = source / "gpu/lab/device/write-sweep";
  if (!std::filesystem::exists(script))
    throw std::runtime_error(fmt::format(
        "'warpmat device' compiles sources of warpmat, which are not in {}: use warpmat-lab of a checkout's build", source.string()));
  find_program("nvcc");
  const TemporaryFolder folder;
  std::vector<std::string> words{find_program("python3").string(),
                                 script.string(),
                                 folder.path().string(),
                                 "--card",
                                 card,
                                 "--match",
                                 options.forms,
                                 "--warpmat",
                                 (command_folder() / "warpmat").string()};
  if (options.all) words.push_back("--all");
  call(words, "gpu/lab/device/write-sweep");
  call({find_program("ninja").string(), "-C", folder.path().string()}, "ninja, which calls nvcc,");

  device::SweepTotals totals;
  const device::SweepOptions sweep{static_cast<double>(options.seconds), options.seed, static_cast<double>(options.judged), stdout,
                                   warpmat_judge};
  std::size_t forms = 0;
  for (; std::filesystem::exists(folder / fmt::format("form_{}.so", forms)); ++forms)
    loaded(folder / fmt::format("form_{}.so", forms))(sweep, totals);
  if (forms == 0) throw std::runtime_error("no opcode matches --forms");
  fmt::print(stderr, "{} forms on {}: {} outputs of the model compared with the card's, {} with the CPU's, {} words differ\n", forms, card,
             totals.of_card, totals.of_cpu, totals.different);
  if (totals.different != 0) throw std::runtime_error(fmt::format("{} words differ", totals.different));
}

}  // namespace

void add_device(Command app) {
  const auto options = std::make_shared<DeviceOptions>();
  const Command command = add_handed_subcommand(app, "device");
  command.add_option("--forms", options->forms, "Only the forms in whose opcode this regular expression is found");
  command.add_option("--seed", options->seed, "Of the operands (default: 1)");
  command.add_option("--card-seconds", options->seconds, "Of comparing with the card, for each form and selector (default: 1)")
      .range(0u, 3600u);
  command.add_option("--judged", options->judged, "Outputs of each class that the CPU judges, at least (default: 100000)")
      .range(std::size_t{1}, std::size_t{1} << 40);
  command.add_flag("--all", options->all, "Forms too whose code is that of another one");
  command.footer(
      "Compiles the header warpmat::device with nvcc; see docs/use/device.md.\n"
      "The exit status is 0 if nothing differs, 1 if something does, and 77 without a GPU.\n\n"
      "Examples:\n  warpmat device --forms 'm16n8k16.*f16' --judged 10000000");
  command.callback([options] { compare_device(*options); });
}

}  // namespace warpmat
