#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/forms.h>

#include "gpu/cases/random.h"
#include "gpu/cases/scalar_operands.h"
#include "gpu/lab/kernels/kernel_choices.h"

namespace warpmat {

using Lines = std::vector<std::string>;  ///< of PTX

inline constexpr std::size_t slot_bytes = 8;  ///< of a register in the buffers
inline constexpr std::uint32_t own_bytes = 64, table_bytes = 1024, counters = 16;

/// A random kernel (kernel_program.h) while it is drawn: what may be drawn next, and the registers and memory that all statements share.
/// A call has at most one argument that draws: which of two draws first is a compiler's choice, and kernels are the same by each of them.
struct KernelDrawing {
  /// What statements a kernel has: all, all but branches and loops, products and their sums with few others between, or products and sums
  /// in any order, most of them, with branches and loops. ptxas 13.0 errs in some statements beside branches and decides otherwise about
  /// others (docs/reference/numerics.md): these are drawn where there are none.
  enum class Shape { any, straight, contractions, sums };

  KernelDrawing(const Target& of, std::uint64_t key, int max_units);

  std::size_t threads() const { return std::size_t{blocks} * threads_of_block; }
  bool has_branches() const { return shape == Shape::any || shape == Shape::sums; }

  std::string any(const Pool& pool);

  /// A pool for numbers of `kind` in `bits` bits: mostly one that starts with such, now and then another.
  const Pool& pool_for(ValueKind kind, int bits);

  std::string source(const ScalarOperand& operand);

  /// A register for a result, not one of `taken`.
  std::string destination(const Pool& pool, const Lines& taken = {});

  /// The text with a register for each "?x": one of the pool whose registers begin with %x.
  std::string drawn(std::string text);

  /// "@%p1 " or, mostly, nothing.
  std::string guard();
  /// The statement behind a guard.
  std::string guarded(const std::string& statement) { return guard() + statement; }

  /// Where in a thread's own memory `bytes` bytes may go: the last 8 are for f64, which so holds no NaN of any payload.
  std::uint64_t own_offset(bool is_f64, std::uint32_t bytes);

  const Target& target;
  const Choices& choices;
  Random random;
  int left;  ///< units that may still be made
  Shape shape;
  std::uint32_t blocks, threads_of_block;
  int loops_around = 0;  ///< the unit that is being made
  bool parted = false;   ///< some lanes of a warp may have left
};

}  // namespace warpmat
