#pragma once

#include <unistd.h>

#include <cstdint>

#include "tools/command_line/command.h"
#include "tools/report/limits.h"

namespace warpmat {

/// Adds --memory, which sets `bytes`. It must outlive the parsing.
inline void add_memory_flag(Command command, std::uint64_t& bytes) {
  bytes = usual_memory_limit();
  command
      .add_option("--memory", bytes,
                  "End with status 1 where more memory is needed: 4GB, 512MiB; default: three quarters of the machine's, or of its "
                  "container's; 0: no limit")
      .type_name("SIZE")
      .size_of_bytes();
}

/// Adds --seconds and --memory, which set `limits`. It must outlive the parsing. Whoever sits at a terminal can end a command without a
/// limit.
inline void add_limit_flags(Command command, Limits& limits) {
  if (isatty(STDIN_FILENO) == 1) limits.seconds = 0;
  command
      .add_option(
          "--seconds", limits.seconds,
          "End with status 1 after S seconds; default: 3600 where standard input is no terminal, as in a CI, else no limit; 0: no limit")
      .type_name("S")
      .range(0.0, 1e9, true);
  add_memory_flag(command, limits.memory);
}

}  // namespace warpmat
