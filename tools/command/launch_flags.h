#pragma once

#include <warpmat/launch.h>
#include <warpmat/provenance.h>
#include <warpmat/report/report.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include "tools/command_line/command.h"

#include "tools/report/launch_description.h"
#include "tools/report/limits.h"

namespace warpmat {

/// The launch that `warpmat launch` and `warpmat banks` execute.
struct LaunchFlags {
  std::string file, kernel, grid, block, cluster, target;
  std::vector<std::string> buffers, params;
  std::uint32_t shared_bytes = 0;
  bool contract = true;
  bool keep_registers = false;  ///< KernelOptions::keep_registers: of `warpmat debug`
  std::string assembler;        ///< "ptxas", "rule", or empty: what launch.json says, else the rule
};

/// Adds FILE and its options to `command`. `flags` must outlive the parsing.
void add_launch_flags(Command command, LaunchFlags& flags);

/// The description from launch.json, or from the options, a .ptx file and Triton's .json next to it.
LaunchDescription description_of(const LaunchFlags& flags);

/// A kernel and its launch, ready to run.
struct ReadyLaunch {
  Kernel kernel;
  LaunchDescription description;
  PreparedLaunch prepared;
  std::string assembler;  ///< "ptxas 13.0" where machine code says which sums are fused; else empty
  ProductRequest asked{};
};

/// Parses the kernel of `description` and fills its memory. Throws std::runtime_error, and MemoryLimit beyond the limit of memory.
ReadyLaunch ready_launch(const LaunchFlags& flags, LaunchDescription description, const Limits& limits);

/// The same of a kernel that is there already.
ReadyLaunch ready_launch(Kernel kernel, LaunchDescription description, std::string assembler = {});

/// Whether a list of checks includes bank conflicts, which are a report and not a check that traps; and the list without them.
bool counts_banks(const std::string& checks);
std::string without_banks(const std::string& checks);

/// Runs it, held against what it is asked. The message of a trap also says that the block was not given, where that is so.
ProductLaunch launch(ReadyLaunch& ready, const LaunchOptions& options);

/// Runs it to find out what it computes, and prepares it anew. A trap ends the run, and not the guess. `errs`: as of Guesser::result().
Guess guess_product(ReadyLaunch& ready, const LaunchOptions& options, bool errs);

/// What the launch reports, with the name of its PTX where that is a file of the user; and the PTX.
Report report_of(const ReadyLaunch& ready, const Trap& trap, Report::Level level = Report::Level::error);
std::string_view ptx_of(const ReadyLaunch& ready);

}  // namespace warpmat
