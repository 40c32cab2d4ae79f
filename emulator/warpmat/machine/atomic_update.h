#pragma once

#include <cstdint>

#include <warpmat/ptx/program/code.h>

namespace warpmat::machine {

/// What an atomic operation found at a place in memory, and what it left there.
struct AtomicUpdate {
  std::uint64_t old, left;
};

/// Does in one step what an atomic operation on integers does with a place in memory, for blocks that run at the same time. `c` is the
/// third operand of compare-and-swap.
AtomicUpdate update_integer(code::AtomicOperation operation, const catalogue::ValueType& type, std::uint8_t* place, std::uint64_t b,
                            std::uint64_t c);

/// What the catalogue's instruction makes of two numbers; `wide`: they have 64 bits.
std::uint64_t combine_numbers(scalar::Function arithmetic, const scalar::Modifiers& modifiers, bool wide, std::uint64_t a, std::uint64_t b);

/// atom.add.f32 on global memory takes subnormal numbers for zeros and makes none (PTX ISA 9.1 section 9.7.13.5); on shared memory it does
/// not.
std::uint64_t flush_f32(std::uint64_t bits);

}  // namespace warpmat::machine
