#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <warpmat/files/output_file.h>
#include "commands.h"
#include "embedded_files.h"

#include "tools/report/input_file.h"
#include "tools/report/shell_word.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

/// The path of a file in the project: continuous integration needs its own folder.
fs::path place_of(const fs::path& directory, std::string_view name) {
  return name.ends_with(".yml") ? directory / ".github" / "workflows" / name : directory / name;
}

/// The shell commands before the project's own, and the option by which CMake finds the library that belongs to this executable.
struct Library {
  std::string commands, option;
};

/// In a build folder: the commands install the library there first.
Library library_of_build(const fs::path& build) {
  const bool shared = read_file(build / "CMakeCache.txt").find("WARPMAT_BUILD_SHARED:BOOL=ON") != std::string::npos;
  const std::string folder = shell_word(build.string()), installed = shell_word((build / "installed").string());
  return {fmt::format("  cmake --build {0} --target warpmat{1} && cmake --install {0} --component development --prefix {2}\n", folder,
                      shared ? " warpmat_core_shared warpmat_shared" : "", installed),
          fmt::format(" -DCMAKE_PREFIX_PATH={}", installed)};
}

Library library_of_this_command() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error && fs::exists(folder / "CMakeCache.txt", error)) return library_of_build(folder);
  const fs::path prefix = folder.parent_path();
  if (prefix == "/usr" || prefix == "/usr/local" || prefix.empty()) return {};  // where CMake looks anyway
  return {"", fmt::format(" -DCMAKE_PREFIX_PATH={}", shell_word(prefix.string()))};
}

void write_project(const fs::path& directory, std::span<const EmbeddedFile> files) {
  if (fs::exists(directory) && !(fs::is_directory(directory) && fs::is_empty(directory)))
    throw std::runtime_error(fmt::format("{} is there and not empty: a new project needs a new directory", directory.string()));
  for (const EmbeddedFile& file : files) {
    const fs::path path = place_of(directory, file.name);
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) throw std::runtime_error(fmt::format("cannot make {}: {}", path.parent_path().string(), error.message()));
    write_file(path, {file.text});
  }
  const Library library = library_of_this_command();
  const std::string project = shell_word(directory.string());
  fmt::print("{}: a project with {} files\nNext:\n{}  cmake -S {} -B {}{}\n", directory.string(), files.size(), library.commands, project,
             shell_word((directory / "build").string()), library.option);
  fmt::print("  cmake --build {0} && ctest --test-dir {0} --output-on-failure\n", shell_word((directory / "build").string()));
}

}  // namespace

void add_new(Command app) {
  struct Options {
    std::string directory;
    bool cuda = false;
  };
  const auto options = std::make_shared<Options>();
  const Command command = app.add_subcommand("new", "Write a project with unit tests of kernels, to begin with");
  command.add_option("DIRECTORY", options->directory, "Where it goes: a directory that does not exist, or is empty").required();
  command.add_flag("--cuda", options->cuda, "With a kernel in CUDA C++, which nvcc compiles to PTX, and its test");
  command.footer(
      "The project has tests with Catch2 (2.13 or 3), a CMakeLists.txt that finds an installed warpmat, and a file for continuous\n"
      "integration. The commands that build and run it are printed; of a warpmat that was built and not installed they install it first,\n"
      "into its build folder.\n"
      "\n"
      "Examples:\n"
      "  warpmat new kernel_tests\n"
      "  warpmat new --cuda kernel_tests");
  command.callback([options] { write_project(options->directory, options->cuda ? new_cuda_files() : new_files()); });
}

}  // namespace warpmat
