#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>

#include <fmt/core.h>

#include "commands.h"
#include "gpu/cuda/gpu_runner.h"
#include "tools/command_line/command_line.h"
#include "tools/command_line/completion.h"
#include "tools/command_line/man_page.h"
#include "tools/gpu/report/interruption.h"
#include "tools/report/limits.h"

namespace {

void add_completion(warpmat::Command app) {
  warpmat::add_completion(app, "warpmat-gpu");
}
void add_man(warpmat::Command app) {
  warpmat::add_man(app, "warpmat-gpu");
}

constexpr warpmat::AddSubcommand commands[] = {
    warpmat::add_diff,  warpmat::add_record,  warpmat::add_replay, warpmat::add_evidence,
    warpmat::add_merge, warpmat::add_support, add_completion,      add_man,
};

}  // namespace

int main(int argc, char** argv) {
  using warpmat::fail;
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit of its size is an error in a sentence
  try {
    return warpmat::run_command_line(argc, argv, commands);
  } catch (const std::bad_alloc& e) {
    return fail(warpmat::out_of_memory(e), 1);
  } catch (const warpmat::NoGpu& e) {
    fmt::print(stderr, "warpmat: skipped: {}\n", e.what());
    return warpmat::skipped_status;
  } catch (const warpmat::Interrupted& e) {
    fmt::print(stderr, "warpmat: interrupted: {}\n", e.what());
    return e.exit_status();
  } catch (const warpmat::GpuLost& e) {
    const int status = fail(e.what(), 1);
    std::fflush(stdout);
    std::_Exit(status);  // at a process's end the CUDA driver waits for the kernel, which may never end
  } catch (const std::exception& e) {
    return fail(e.what(), 1);
  }
}
