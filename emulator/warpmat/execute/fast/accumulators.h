#pragma once

#include <span>

#include <warpmat/execute/arguments.h>

namespace warpmat {

/// C of wmma.mma where it is f16 and D is f32: register i holds two elements a lane, which become registers 2i and 2i + 1 of `wide`.
void fast_widen(ConstRegisterList c, std::span<Register> wide);

/// The inverse, for D where it is f16 and C is f32: to nearest even, and a NaN becomes the canonical one.
void fast_narrow(std::span<const Register> wide, RegisterList d);

}  // namespace warpmat
