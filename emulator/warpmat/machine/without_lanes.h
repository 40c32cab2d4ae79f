#pragma once

#include <string>

#include <fmt/core.h>

#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

/// Why an operation traps that the lanes `here` execute and whose lanes `absent` never arrive.
inline std::string without_lanes(const code::Program& program, const code::Operation& operation, LaneMask here, LaneMask absent) {
  return fmt::format("{} is executed by lanes {:#010x} only; lanes {:#010x}, which must take part, are elsewhere and do not come",
                     program.statements[operation.statement]->opcode, here, absent);
}

}  // namespace warpmat::machine
