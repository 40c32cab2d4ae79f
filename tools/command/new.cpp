#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "commands.h"
#include "embedded_files.h"
#include "tools/report/output_file.h"

namespace warpmat {
namespace {

/// Where a file of the project belongs: continuous integration looks in a folder of its own.
std::filesystem::path place_of(const std::filesystem::path& directory, std::string_view name) {
  return name.ends_with(".yml") ? directory / ".github" / "workflows" / name : directory / name;
}

void write_project(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory) && !std::filesystem::is_empty(directory))
    throw std::runtime_error(fmt::format("{} is there and not empty: a new project needs a new directory", directory.string()));
  for (const EmbeddedFile& file : new_files()) {
    const std::filesystem::path path = place_of(directory, file.name);
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) throw std::runtime_error(fmt::format("cannot make {}: {}", path.parent_path().string(), error.message()));
    write_file(path, {file.text});
  }
  fmt::print("{0}: a project with {1} files\nNext: cmake -S {0} -B {0}/build && cmake --build {0}/build && ctest --test-dir {0}/build\n",
             directory.string(), new_files().size());
}

}  // namespace

void add_new(CLI::App& app) {
  const auto directory = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("new", "Write a project with unit tests of kernels, to begin with");
  command->add_option("DIRECTORY", *directory, "Where it goes: a directory that does not exist, or is empty")->required();
  command->footer(
      "The project has tests with Catch2 (2.13 or 3), a CMakeLists.txt that finds an installed warpmat, and a file for continuous "
      "integration.\n"
      "\n"
      "Examples:\n"
      "  warpmat new kernel_tests");
  command->callback([directory] { write_project(*directory); });
}

}  // namespace warpmat
