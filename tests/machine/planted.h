#pragma once

// Kernels of word_kernel's kind with one planted bug, at the line that says BUG, and what a launch of them reports.

#include <algorithm>
#include <string>
#include <string_view>

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>

#include "machine/kernel.h"

namespace warpmat {

inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
}

/// The number of the line that says BUG; 0: none does.
inline int bug_line(const Module& module) {
  const std::string_view text = *syntax_of(module).text;
  const std::size_t at = text.find("// BUG");
  return at == std::string_view::npos ? 0 : 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

/// How a report names that line.
inline std::string bug_place(const Module& module) {
  return "line " + std::to_string(bug_line(module)) + " (";
}

struct Report {
  int line = 0;
  std::string text = "nothing";
  Trap::Reason parts = std::string();
};

inline Report report_of(const Module& module, const LaunchConfig& config, const LaunchOptions& options) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * config.grid.count() * config.block.count(), "out");
  try {
    launch(Kernel(module, "k"), config, memory, {out}, options);
  } catch (const Trap& trap) {
    return {trap.site.line, trap.what(), trap.parts};
  }
  return {};
}

/// What a kernel without an error is warned of.
inline LaunchResult warned_of(const Module& module, std::uint32_t threads, const LaunchOptions& options = {}) {
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(std::uint64_t{4} * threads, "out");
  return launch(Kernel(module, "k"), {{1}, {threads}}, memory, {out}, options);
}

/// `body` with `to` in the place of its first `from`.
inline std::string twin_of(std::string body, std::string_view from, std::string_view to) {
  return body.replace(body.find(from), from.size(), to);
}

}  // namespace warpmat
