#pragma once

#include <warpmat/ptx/program.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gpu/runners/runner.h"

namespace warpmat {

// Random programs whose result the ISA defines, so that two runners must agree on every bit of it: addresses are valid, lanes do not write
// to the same bytes, and a barrier stands before and after each statement that writes memory.

/// The scalar instructions that the programs are drawn from: moves, 32-bit arithmetic and logic, loads and stores of shared memory, a
/// conversion, a barrier. Random kernels (kernel_program.h) have all others.
const std::vector<ScalarInstruction>& fuzzed_scalar_instructions();

/// Statements that stay together when a program is shortened: one that uses memory with those that compute its addresses.
struct FuzzUnit {
  std::vector<std::string> statements;
  friend bool operator==(const FuzzUnit&, const FuzzUnit&) = default;
};

struct FuzzProgram {
  std::string declarations;  ///< .version, .target, .reg, .shared: the same for all programs of a target
  std::vector<FuzzUnit> units;

  std::size_t statements() const;
  /// PTX text that parse() takes.
  std::string text() const;
};

struct FuzzOptions {
  int max_statements = 50;
  bool repeated_destinations = false;  ///< also {d0, d0}, where the ISA does not say which result stays
  /// Also what ptxas 13.0 (V13.0.98) is known to assemble wrongly, found by fuzzing an H200: numbers with sign bits, which get a wrong
  /// minus where they are B of an f16 or bf16 m16n8k8; movmatrix of a register that is the same in all lanes, whose result it takes for the
  /// same in all lanes too; the bare number of the lane, from which comes a zero that it mistakes in an fp8 mma; and mma that is a
  /// subroutine, across whose call it loses values. See docs/numerics.md, "An assembler that errs".
  bool assembler_faults = false;
};

/// Program `index` of `seed`: 1 to max_statements statements of the forms and scalar instructions that `target` has. Operands are drawn
/// from few registers, so results feed later statements and operands overlap: d = a, d = c, one register twice in a source.
FuzzProgram random_fuzz_program(const Target& target, std::uint64_t seed, std::uint64_t index, const FuzzOptions& options = {});

/// Registers and shared memory for a fuzz program or a shortened one: numbers of a format, drawn for each register, or random bits. They
/// depend on `seed`, `index` and the declarations alone.
WarpStates random_fuzz_states(const Program& program, std::uint64_t seed, std::uint64_t index, std::size_t warps);

/// The shortest program that `fails` still holds for after units are left out, none of which can be left out alone. `fails` must hold for
/// `program` itself, and is never called with a program without statements.
FuzzProgram shrink(const FuzzProgram& program, const std::function<bool(const FuzzProgram&)>& fails);

}  // namespace warpmat
