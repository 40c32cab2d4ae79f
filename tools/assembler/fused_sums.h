#pragma once

#include <warpmat/diagnostic.h>
#include <warpmat/program.h>

#include <string_view>
#include <vector>

#include "tools/assembler/cubin.h"
#include "tools/assembler/numbered_module.h"

namespace warpmat {

/// What machine code shows of the sums of a module, and what it leaves open.
struct SumsInCode {
  std::vector<SumInCode> sums;
  /// Statements that are fused in one copy and rounded in another: of an unrolled loop, of an inlined function.
  std::vector<Location> mixed;
  /// Statements without an instruction of their own: not needed, merged with others, packed into pairs.
  std::vector<Location> absent;
};

/// Reads the sums of `entry` and of the functions that it may call.
SumsInCode read_sums(const NumberedModule& module, const std::vector<MachineFunction>& code, std::string_view entry);

/// Whether the statement is an add or sub that ptxas may fuse: of floating point, without rounding modifier.
bool may_be_fused(const syntax::Statement& statement);

}  // namespace warpmat
