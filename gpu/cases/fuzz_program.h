#pragma once

#include <warpmat/program.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/runners/runner.h"

namespace warpmat {

// Random programs whose result the ISA defines, so that two runners must agree on every bit. Addresses are valid, lanes do not write to the
// same bytes, and a barrier precedes and follows each statement that writes memory.

/// The scalar instructions of the programs: moves, 32-bit arithmetic and logic, loads and stores of shared memory, a conversion, a barrier.
/// Random kernels (kernel_program.h) have all others. Made once for a target.
const std::vector<Instruction>& fuzzed_scalar_instructions(const Target& target);

/// Statements that shrinking keeps or removes together: one that uses memory, and those that compute its addresses.
struct FuzzUnit {
  std::vector<std::string> statements;
  friend bool operator==(const FuzzUnit&, const FuzzUnit&) = default;
};

struct FuzzProgram {
  std::string declarations;  ///< .version, .target, .reg, .shared: the same for all programs of a target
  std::vector<FuzzUnit> units;

  std::size_t statements() const;
  /// PTX text that parse() accepts.
  std::string text() const;
};

struct FuzzOptions {
  int max_statements = 50;
  bool repeated_destinations = false;  ///< also {d0, d0}; the ISA does not define which result remains
  /// Also statements that ptxas 13.0 (V13.0.98) is known to assemble wrongly, found by fuzzing an H200. Immediates with sign bits as B of
  /// an f16 or bf16 m16n8k8 get a wrong minus. movmatrix of a register that is the same in all lanes: ptxas assumes the same of its result.
  /// The bare lane number: a zero derived from it is wrong in an fp8 mma. An mma that is a subroutine: values are lost across its call. See
  /// docs/reference/numerics.md, "An assembler that errs".
  bool assembler_faults = false;
};

/// Program `index` of `seed`: 1 to max_statements statements of `target`'s forms and scalar instructions. Operands are drawn from few
/// registers, so results feed later statements and operands overlap: d = a, d = c, one register twice in a source.
FuzzProgram random_fuzz_program(const Target& target, std::uint64_t seed, std::uint64_t index, const FuzzOptions& options = {});

/// Registers and shared memory for a fuzz program or a shortened one: numbers of a format, chosen for each register, or random bits. They
/// depend only on `seed`, `index` and the declarations.
WarpStates random_fuzz_states(const Program& program, std::uint64_t seed, std::uint64_t index, std::size_t warps);

/// The shortest program found for which `fails` holds: no single unit can be removed from it. Precondition: `fails` holds for `program`.
/// `fails` is never called with a program without statements.
FuzzProgram shrink(const FuzzProgram& program, const std::function<bool(const FuzzProgram&)>& fails);

}  // namespace warpmat
