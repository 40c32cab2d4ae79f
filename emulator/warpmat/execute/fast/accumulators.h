#pragma once

#include <span>

#include <warpmat/instruction.h>

namespace warpmat {

/// Converts an f16 C of a wmma.mma with an f32 D: register i holds two elements a lane, which become registers 2i and 2i + 1 of `wide`.
void fast_widen(ConstRegisterList c, std::span<Register> wide);

/// The inverse for an f16 D with an f32 C: rounds to nearest even; a NaN becomes the canonical one.
void fast_narrow(std::span<const Register> wide, RegisterList d);

}  // namespace warpmat
