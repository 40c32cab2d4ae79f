#pragma once

#include <cstdint>

#include <warpmat/execute/fast/fast.h>

namespace warpmat {

/// ldmatrix of a plan without a table, from rows at memory + offsets[i] to registers of 32 words. False if it does nothing.
bool fast_load_rows(const MovePlan& plan, const std::uint8_t* memory, const std::uint32_t* offsets, std::uint32_t* const* registers);

}  // namespace warpmat
