#pragma once

#include <cstdint>

#include <warpmat/ptx/program/code.h>

namespace warpmat::inline v0_1::code {

/// Finds consecutive loads from shared memory whose addresses are one register's, each with an offset of its own, among the operations from
/// `first` on, which have their slots and convergence points: Access::run. The machine finds the lanes' places once.
void mark_load_runs(Program& program, std::int32_t first);

}  // namespace warpmat::inline v0_1::code
