#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <warpmat/files/output_file.h>
#include <warpmat/forms.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"
#include "tools/report/nvcc.h"
#include "tools/report/nvcc_words.h"
#include "tools/report/shell_word.h"

namespace warpmat {
namespace {

namespace fs = std::filesystem;

struct NvccOptions {
  std::string target = "sm_90a", install;
  bool quiet = false;
};

fs::path needed_nvcc() {
  if (const auto nvcc = find_nvcc()) return *nvcc;
  throw std::runtime_error("no nvcc in CUDACXX, PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda");
}

/// Writes DIR/nvcc, which runs this command with the nvcc that there is now.
void write_wrapper(const fs::path& folder, std::string_view target) {
  const fs::path file = folder / "nvcc", nvcc = fs::canonical(needed_nvcc());
  if (fs::exists(file)) throw std::runtime_error(fmt::format("{} is there already", file.string()));
  fs::create_directories(folder);
  write_file(file, {fmt::format("#!/bin/sh\nCUDACXX={} exec {} nvcc --target {} \"$@\"\n", shell_word(nvcc.string()),
                                shell_word(fs::read_symlink("/proc/self/exe").string()), target)});
  fs::permissions(file, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
  fmt::print("{0}: for make, PATH=\"{1}:$PATH\"; for CMake, CUDACXX={0}\n", shell_word(fs::absolute(file).string()),
             fs::absolute(folder).string());
}

[[noreturn]] void become(const fs::path& program, std::vector<std::string>& words) {
  std::string name = program.string();
  std::vector<char*> arguments{name.data()};
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execv(name.c_str(), arguments.data());
  throw std::runtime_error(fmt::format("cannot start {}: {}", program.string(), std::generic_category().message(errno)));
}

void run_nvcc(const NvccOptions& options, const std::vector<std::string>& given) {
  const Target& chosen = target(options.target);
  if (!options.install.empty()) {
    if (!given.empty()) throw std::runtime_error("--install takes no arguments of nvcc");
    return write_wrapper(options.install, chosen.name);
  }
  NvccWords nvcc = words_for_warpmat(given, chosen.name);
  if (!options.quiet && !nvcc.changes.empty()) fmt::print(stderr, "warpmat: nvcc gets {}\n", fmt::join(nvcc.changes, ", "));
  become(needed_nvcc(), nvcc.words);
}

}  // namespace

void add_nvcc(Command app) {
  const auto options = std::make_shared<NvccOptions>();
  const Command command = app.add_subcommand("nvcc", "Compile a CUDA program for 'warpmat cuda'");
  command.prefix_command("ARGUMENTS");
  command.add_option("--target", options->target, "The GPU to compile for where the arguments of nvcc name none").capture_default_str();
  command
      .add_option("--install", options->install,
                  "Write DIR/nvcc, which is this command, for builds that call nvcc themselves; compile nothing")
      .type_name("DIR");
  command.add_flag("--quiet", options->quiet, "Do not say what nvcc gets");
  command.footer(
      "Calls nvcc with the arguments, and says what it adds or replaces: the shared runtime, line information, and PTX in addition to\n"
      "machine code. Options of this command come before those of nvcc.\n"
      "\n"
      "Examples:\n"
      "  warpmat nvcc -O3 -o gemm gemm.cu && warpmat cuda ./gemm\n"
      "  warpmat nvcc --target a100 -o gemm gemm.cu\n"
      "  warpmat nvcc --install /tmp/w && PATH=/tmp/w:$PATH make\n"
      "  warpmat nvcc --install /tmp/w && CUDACXX=/tmp/w/nvcc cmake -B build");
  command.callback([options, command] { run_nvcc(*options, command.remaining()); });
}

}  // namespace warpmat
