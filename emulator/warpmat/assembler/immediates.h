#pragma once

#include <string_view>
#include <vector>

#include <warpmat/assembler.h>
#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/numbered_module.h>

namespace warpmat {

/// What machine code shows of the approximate functions of f32 in `entry` and in the functions that it may call: computed at run time, or
/// an immediate. `module` has probes of them. Those of which copies differ are left out, as in unrolled loops.
std::vector<AssemblerDecisions::Result> read_results(const NumberedModule& module, const std::vector<MachineFunction>& code,
                                                     std::string_view entry);

/// Whether the multi-function unit computes what the statement names: ex2, lg2, rcp, rsqrt, sqrt, sin, cos and tanh .approx of f32, without
/// a guard.
bool is_approximate(const syntax::Statement& statement);

}  // namespace warpmat
