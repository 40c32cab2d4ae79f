#pragma once

#include <cstdint>

#include <warpmat/ir/code.h>
#include <warpmat/warp.h>

namespace warpmat::machine {

/// The old and the new value of an atomic operation.
struct AtomicUpdate {
  std::uint64_t old, left;
};

/// Executes an integer operation; atomically where blocks of other threads may access the memory, which those in `shared` memory do not.
/// `c` is the third operand of compare-and-swap.
AtomicUpdate update_integer(code::AtomicOperation operation, const DataType& type, std::uint8_t* place, std::uint64_t b, std::uint64_t c,
                            bool shared);

/// The same of words in shared memory, lane after lane of `mask`: at memory + offset, with b and c of the lane. `old` is what each found;
/// other lanes keep theirs. Returns whether a word has changed.
bool update_shared_words(code::AtomicOperation operation, bool is_signed, std::uint8_t* memory, const std::uint32_t* offset,
                         const std::uint32_t* b, const std::uint32_t* c, LaneMask mask, std::uint32_t* old);

/// The same of words that blocks of other threads may access, each at host[lane].
bool update_global_words(code::AtomicOperation operation, bool is_signed, std::uint8_t* const* host, const std::uint32_t* b,
                         const std::uint32_t* c, LaneMask mask, std::uint32_t* old);

/// Applies the catalogue's instruction to two numbers; `wide` means 64 bits.
std::uint64_t combine_numbers(scalar::Function arithmetic, const scalar::Modifiers& modifiers, bool wide, std::uint64_t a, std::uint64_t b);

/// combine_numbers() of add without modifiers, of f32 or f64.
std::uint64_t add_floats(bool wide, std::uint64_t a, std::uint64_t b);

/// atom.add.f32 on global memory flushes subnormal operands and results to zero (PTX ISA 9.1 section 9.7.13.5); on shared memory it does
/// not.
std::uint64_t flush_f32(std::uint64_t bits);

}  // namespace warpmat::machine
