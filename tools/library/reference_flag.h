#pragma once

#include <warpmat/execute/arguments.h>

#include <CLI/CLI.hpp>

namespace warpmat {

/// Adds the flag --reference, which sets `path`. Both outlive the parsing.
inline void add_reference_flag(CLI::App& command, Path& path) {
  command.add_flag_callback(
      "--reference", [&path] { path = Path::reference; }, "Compute by the reference alone, without vector instructions; the bits are the same");
}

}  // namespace warpmat
