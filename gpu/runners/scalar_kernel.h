#pragma once

#include <span>
#include <string>

#include "gpu/runners/scalar_case.h"

namespace warpmat {

/// PTX with one entry for each case, "scalar_0" on. Thread n of the grid reads element n of each source, executes the instruction once and
/// writes element n of each result. The parameters are pointers, results first. Elements have 8 bytes if the register has 64 bits, else 4.
/// Predicates and the carry are 0 or 1 (only bit 0 of a source counts); a result is extended to 32 bits.
std::string scalar_module(std::span<const ScalarCase> cases, const Target& target, PtxVersion version);

}  // namespace warpmat
