// PTX modules: a text is refused with its errors, or its entries are resolved for GPUs of several generations and launched with small
// buffers, and each launch ends with a result or a report.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/launch.h>

#include "fuzz/text_mutation.h"

namespace {

using namespace warpmat;

constexpr const char* targets[] = {"sm_75", "sm_90a", "sm_100a", "sm_103a", "sm_120a"};
constexpr std::size_t most_entries = 3;
constexpr std::uint64_t most_variable_bytes = 1 << 24;  // larger variables are right but slow

bool has_large_variables(const Kernel& kernel) {
  const std::vector<Kernel::Variable> variables = kernel.variables();
  return std::ranges::any_of(variables, [](const Kernel::Variable& variable) { return variable.bytes > most_variable_bytes; });
}

/// Addresses in the first of two buffers without a gap between them for parameters of 64 bits, 3 for the others.
std::vector<Argument> arguments_for(const Kernel& kernel, DeviceMemory& memory) {
  constexpr std::uint64_t first = 0x7f00'0000'0000, bytes = 1 << 14;
  memory.place(first, std::vector<std::uint8_t>(bytes), "first");
  memory.place(first + bytes, std::vector<std::uint8_t>(bytes, 1), "second");
  std::vector<Argument> arguments;
  for (const Kernel::Parameter& parameter : kernel.parameters()) {
    if (parameter.bytes == 8) {
      arguments.emplace_back(first + bytes - 64 * arguments.size());
    } else {
      std::vector<std::uint8_t> value(parameter.bytes);
      if (!value.empty()) value[0] = 3;
      arguments.emplace_back(std::move(value));
    }
  }
  return arguments;
}

void launch_once(const Kernel& kernel) {
  if (has_large_variables(kernel)) return;
  DeviceMemory memory;
  const std::vector<Argument> arguments = arguments_for(kernel, memory);
  ChildLaunches children;
  LaunchOptions options;
  options.most_operations = 2000;
  options.checks = {.races = true, .lanes = true};
  options.children = &children;
  launch(kernel, {.grid = {2}, .block = {64}, .shared_bytes = 1024}, memory, arguments, options);
}

/// Resolves and launches an entry. What is written for a GPU alone is launched on it, the rest on the first one that takes it.
void take(const Module& module, const std::string& entry, std::string_view text) {
  bool launched = false;
  for (const char* target : targets) {
    try {
      const Kernel kernel(module, entry, {.target = target});
      const bool own = text.find(std::string(".target ") + target) != std::string_view::npos;
      if (launched && !own) continue;
      launched = true;
      launch_once(kernel);
    } catch (const SyntaxError& error) {
      if (error.errors.empty()) std::abort();
    } catch (const Trap&) {
    } catch (const std::invalid_argument&) {
    } catch (const std::bad_alloc&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Module module(text);
    std::vector<std::string> entries = module.entries();
    entries.resize(std::min(entries.size(), most_entries));
    for (const std::string& entry : entries) take(module, entry, text);
  } catch (const SyntaxError& error) {
    if (error.errors.empty()) std::abort();
  }
  return 0;
}
