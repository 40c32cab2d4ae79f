// Modules that are no longer right: whatever they hold, the parser and the resolver end with a SyntaxError or a program, and a launch of
// that with a result or a report.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <warpmat/ptx/program/code.h>

#include "catch.h"
#include "machine/kernel.h"
#include "paths.h"
#include "ptx/mutator.h"

namespace warpmat {
namespace {

std::vector<std::string> module_texts() {
  std::vector<std::filesystem::path> paths;
  for (const char* const folder : {"tests/machine/modules", "examples/kernels"})
    if (const std::filesystem::path path = source_path(folder); std::filesystem::exists(path))
      for (const auto& entry : std::filesystem::directory_iterator(path))
        if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Launches an entry with addresses of one buffer for its 64-bit parameters, 3 for the others.
LaunchResult launch_entry(const Module& module, const std::string& entry, const char* target) {
  const Kernel kernel(module, entry, {.target = target});
  DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate(1 << 16, "buffer");
  std::vector<Argument> arguments;
  for (const code::Parameter& parameter : kernel.program().parameters) {
    std::vector<std::uint8_t> bytes(parameter.bytes);
    if (parameter.bytes == 8) {
      arguments.emplace_back(buffer);
    } else {
      if (!bytes.empty()) bytes[0] = 3;
      arguments.emplace_back(std::move(bytes));
    }
  }
  return launch(kernel, {.grid = {2}, .block = {64}, .shared_bytes = 1024}, memory, arguments,
                {.most_operations = 5000, .checks = {.races = true}});
}

enum class Outcome { not_a_module, not_a_program, not_launched, trapped, ran };

Outcome take(const std::string& text) {
  Outcome outcome = Outcome::not_a_module;
  try {
    const Module module(text);
    outcome = Outcome::not_a_program;
    for (const std::string& entry : module.entries()) {
      outcome = Outcome::not_a_program;
      try {
        launch_entry(module, entry, "sm_90a");
        outcome = Outcome::ran;
      } catch (const KernelTrap&) {
        outcome = Outcome::trapped;
      } catch (const std::invalid_argument&) {
        outcome = Outcome::not_launched;
      }
    }
  } catch (const SyntaxError& error) {
    CHECK_FALSE(error.errors.empty());
  }
  return outcome;
}

}  // namespace

TEST_CASE("the modules that are mutated run as they are", "[machine][mutated]") {
  const std::vector<std::string> texts = module_texts();
  const auto runs = [](const std::string& text) {
    const Outcome outcome = take(text);
    return outcome == Outcome::ran || outcome == Outcome::trapped;  // lanes of memory.ptx race for `dynamic`
  };
  CHECK(std::ranges::count_if(texts, runs) >= 2);
}

TEST_CASE("mutated modules end in an error, a report or a result", "[machine][mutated]") {
  const std::vector<std::string> texts = module_texts();
  Mutator mutator(texts, 29);
  std::vector<int> outcomes(5);
  const int count = fuzz_inputs(1500);
  for (int i = 0; i < count; ++i) {
    std::string text = texts[mutator.below(texts.size())];
    for (std::size_t n = 1 + mutator.below(3); n-- > 0;) {
      const std::size_t how = mutator.below(8);
      if (how < 4)
        mutator.change_line(text);
      else if (how < 7)
        mutator.replace_token(text);
      else
        mutator.mutate(text);
    }
    INFO("input " << i << ":\n" << text);
    ++outcomes[static_cast<std::size_t>(take(text))];
  }
  INFO("no module " << outcomes[0] << ", no program " << outcomes[1] << ", not launched " << outcomes[2] << ", trapped " << outcomes[3]
                    << ", ran " << outcomes[4]);
  for (const std::size_t outcome : {0u, 1u, 3u, 4u}) CHECK(outcomes[outcome] > 0);
}

}  // namespace warpmat
