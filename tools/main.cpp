#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <warpmat/version.h>

#include "commands.h"
#include "gpu/cuda/gpu_runner.h"
#include "tools/library/interruption.h"

namespace {

constexpr void (*commands[])(CLI::App&) = {
    warpmat::add_run,         warpmat::add_exec,     warpmat::add_explain, warpmat::add_launch,  warpmat::add_banks,
    warpmat::add_swizzle,     warpmat::add_check,    warpmat::add_list,    warpmat::add_layout,  warpmat::add_diff,
    warpmat::add_fuzz,        warpmat::add_record,   warpmat::add_replay,  warpmat::add_exhaust, warpmat::add_mutants,
    warpmat::add_distinguish, warpmat::add_evidence, warpmat::add_site,    warpmat::add_support, warpmat::add_coverage,
    warpmat::add_new,
};

int fail(std::string message, int status) {
  std::ranges::replace(message, '\n', ' ');  // an error is one line
  fmt::print(stderr, "warpmat: error: {}\n", message);
  return status;
}

/// "warpmat exec", or "warpmat" where no subcommand was reached.
std::string chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app.get_name() : app.get_name() + " " + subcommands.front()->get_name();
}

int run(int argc, char** argv) {
  CLI::App app("NVIDIA's warp matrix instructions on a CPU, bit for bit", "warpmat");
  app.set_version_flag("--version", fmt::format("warpmat {}", warpmat::version()), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(0, 1);  // a word that is none is then an argument not expected, and the message names it
  app.callback([&app] {
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
  });
  app.footer("Help of a subcommand: warpmat SUBCOMMAND --help");
  for (const auto add : commands) add(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& e) {  // a command that has already said what is wrong
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return fail(fmt::format("{}; see '{} --help'", e.what(), chosen(app)), e.get_exit_code());
  }
  if (std::fflush(stdout) != 0) return fail("cannot write to standard output", 1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", 1);
  } catch (const warpmat::NoGpu& e) {
    fmt::print(stderr, "warpmat: skipped: {}\n", e.what());
    return warpmat::skipped_status;
  } catch (const warpmat::Interrupted& e) {
    fmt::print(stderr, "warpmat: interrupted: {}\n", e.what());
    return e.exit_status();
  } catch (const warpmat::GpuLost& e) {
    const int status = fail(e.what(), 1);
    std::fflush(stdout);
    std::_Exit(status);  // what the CUDA driver does at a process's end waits for the kernel, which may never end
  } catch (const std::exception& e) {
    return fail(e.what(), 1);
  }
}
