#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "tools/command_line/command.h"

#include <warpmat/instruction.h>
#include <warpmat/launch.h>

namespace warpmat {

/// Adds --undefined, which sets `undefined`. It must outlive the parsing.
inline void add_undefined_flag(Command command, Undefined& undefined) {
  const std::map<std::string, Undefined> choices{{"trap", Undefined::trap}, {"hardware", Undefined::hardware}};
  command
      .add_choice("--undefined", undefined, choices,
                  "Where the ISA leaves behaviour undefined: trap, or do what the target's hardware was measured to do (default: trap)")
      .type_name("{trap,hardware}");
}

/// Adds --schedule, which sets `seed`. It must outlive the parsing.
inline void add_schedule_flag(Command command, std::uint64_t& seed) {
  command.add_option("--schedule", seed, "The seed of another order of blocks and warps; 0: in order")
      .range(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), true);
}

/// Adds --timing, which sets `timing`. It must outlive the parsing.
inline void add_timing_flag(Command command, Timing& timing) {
  const std::map<std::string, Timing> choices{{"latest", Timing::latest}, {"card", Timing::card}};
  command
      .add_choice("--timing", timing, choices,
                  "When asynchronous copies take effect: as late as the ISA allows, or soon and in order, as on cards (default: latest)")
      .type_name("{latest,card}");
}

/// Adds the options common to all commands that execute statements: --reference and --undefined, which set `options`. Both must outlive the
/// parsing.
inline void add_execution_flags(Command command, ExecutionOptions& options) {
  command.add_flag_callback(
      "--reference", [&options] { options.path = Path::reference; },
      "Compute by the reference alone, without vector instructions; the bits are the same");
  add_undefined_flag(command, options.undefined);
}

}  // namespace warpmat
