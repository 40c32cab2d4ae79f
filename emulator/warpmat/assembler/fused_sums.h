#pragma once

#include <string_view>
#include <vector>

#include <warpmat/assembler.h>
#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/numbered_module.h>

namespace warpmat {

/// Reads the sums and products of `entry` and of the functions that it may call: AssemblerDecisions::sums, open and products. `code` is
/// that of the numbered module.
void read_sums(const NumberedModule& module, const std::vector<MachineFunction>& code, std::string_view entry,
               AssemblerDecisions& decisions);

/// The same of machine code that another text made: which kinds of sums `entry` has there, by type, and by the lines of its source where
/// `code` and module have any.
void read_kinds_of_sums(const syntax::Module& module, const MachineFunction& code, std::string_view entry, AssemblerDecisions& decisions);

/// Whether the statement is an add or sub that ptxas may fuse: of floating point, without rounding modifier.
bool may_be_fused(const syntax::Statement& statement);

}  // namespace warpmat
