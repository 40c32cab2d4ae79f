#include <warpmat/cuda/save.h>

#include <warpmat/cuda/report.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <warpmat/assembler/decisions_file.h>
#include <warpmat/cuda/file_limit.h>
#include <warpmat/files/npy_file.h>
#include <warpmat/files/output_file.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>

namespace warpmat::cuda {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// One buffer; its bytes go into a file unless they are all alike.
Json buffer_json(const std::filesystem::path& folder, std::size_t number, const std::string& name, std::uint64_t address,
                 std::span<const std::uint8_t> bytes, bool variable) {
  Json json{{"name", name}, {"address", address}};
  if (variable) json["variable"] = true;
  if (bytes.empty() || std::ranges::all_of(bytes, [&](std::uint8_t byte) { return byte == bytes.front(); })) {
    json["bytes"] = bytes.size();
    json["fill"] = bytes.empty() ? 0 : bytes.front();
    return json;
  }
  const std::string file = fmt::format("buffer_{}.npy", number);
  write_npy(folder / file, {DType::uint8, {bytes.size()}}, std::as_bytes(bytes));
  json["file"] = file;
  return json;
}

Json buffers_json(Context& context, const Kernel& kernel, const std::filesystem::path& folder) {
  Json all = Json::array();
  DeviceMemory& memory = context.space.memory();
  for (const auto& [address, allocation] : context.space.allocations())
    all.push_back(buffer_json(folder, all.size(), std::string(memory.find(address)->name), address,
                              std::as_const(memory).bytes(address, allocation.bytes), false));
  for (const code::Variable& variable : program_of(kernel).module_variables) {
    if (variable.bytes == 0) continue;
    const std::uint64_t address = variable_address(kernel, memory, variable.name);
    all.push_back(
        buffer_json(folder, all.size(), std::string(variable.name), address, std::as_const(memory).bytes(address, variable.bytes), true));
  }
  return all;
}

/// Why launch.json cannot describe the launch; empty if it can.
std::string_view why_not(const Kernel& kernel, const LaunchConfig& config) {
  if (config.workspace != 0) return "it is cooperative";
  if (program_of(kernel).executes(catalogue::Semantics::texture)) return "it reads textures or surfaces";
  return {};
}

/// Makes a folder in `all` that nobody had: its name is `number`, or the next that is free. Other processes save there, too.
std::filesystem::path new_folder(const std::filesystem::path& all, std::size_t& number) {
  std::filesystem::create_directories(all);
  while (!std::filesystem::create_directory(all / std::to_string(number))) ++number;
  return all / std::to_string(number);
}

/// What this process has saved in one folder: a host may name another one for later launches (warpmat_cuda_configure).
struct Saved {
  std::size_t launches = 0;
  std::map<std::string, std::string> modules;  ///< PTX, and the folder of the first launch that has it
};

Saved& saved_in(const std::filesystem::path& all) {
  static std::map<std::filesystem::path, Saved> folders;
  return folders[all];
}

/// The PTX as launch.json in `folder` names it.
std::string module_file(const std::string& ptx, const std::filesystem::path& folder) {
  std::string& first = saved_in(folder.parent_path()).modules[ptx];
  if (!first.empty()) return fmt::format("../{}/module.ptx", first);
  write_file(folder / "module.ptx", {ptx});
  first = folder.filename().string();
  return "module.ptx";
}

void write_launch(Context& context, const Function& function, const Kernel& kernel, const LaunchConfig& config,
                  const std::vector<Argument>& arguments, const std::filesystem::path& folder) {
  Json params = Json::array();
  for (const Argument& argument : arguments) params.push_back({{"bytes", hex(argument.bytes())}});
  Json json{{"ptx", module_file(function.module->text(context), folder)},
            {"kernel", function.name},
            {"grid", sizes(config.grid)},
            {"block", sizes(config.block)},
            {"dynamic_shared", config.shared_bytes},
            {"buffers", buffers_json(context, kernel, folder)},
            {"params", std::move(params)}};
  if (config.cluster.count() > 1) json["cluster"] = sizes(config.cluster);
  if (const std::string& options = function.module->assembler_options(); !options.empty()) json["assembler_options"] = options;
  if (const AssemblerDecisions* const decisions = function.module->decisions(function.name)) {
    constexpr const char* file = "decisions.assembler";
    write_file(folder / file, {decisions_text(*decisions)});
    json["decisions"] = file;
  }
  write_file(folder / "launch.json", {json.dump(1), "\n"});
}

}  // namespace

void save_launch(Context& context, const Function& function, const Kernel& kernel, const LaunchConfig& config,
                 const std::vector<Argument>& arguments) {
  if (context.settings.save.empty()) return;
  std::size_t& number = saved_in(context.settings.save).launches;
  ++number;
  if (const std::string_view reason = why_not(kernel, config); !reason.empty())
    return say(fmt::format("launch {} of '{}' is not saved: {}", number, function.name, reason));
  const FileLimit limit;
  try {
    write_launch(context, function, kernel, config, arguments, new_folder(context.settings.save, number));
  } catch (const std::runtime_error& error) {
    say_once(error.what());
    record_unsaved(context, error.what());
  }
}

}  // namespace warpmat::cuda
