#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/execute/instruction.h>
#include <warpmat/machine/launch.h>

#include "gpu/runners/scalar_case.h"
#include "tools/report/launch_description.h"

namespace warpmat {

/// One spelling of each scalar row of the catalogue that sm_90a has: the middle one.
std::vector<ScalarCase> scalar_rows();

/// A warp that executes one scalar statement again and again, as a kernel whose loop holds many of them. Made for the instruction set that
/// is chosen then.
class StatementLoop {
 public:
  static constexpr std::size_t statements = 100, rounds = 20;

  explicit StatementLoop(const ScalarCase& shown);

  /// Executes statements * rounds of them, and three more a round.
  void run();

 private:
  Kernel kernel_;
  DeviceMemory memory_;
  std::vector<Argument> arguments_;
};

/// C = A B of 1024 x 1024 f16 numbers between -1 and 1 by examples/kernels/gemm_f16.ptx, as sm_90a executes it.
class MatrixProduct {
 public:
  static constexpr std::size_t size = 1024;
  static constexpr std::size_t products = size / 16 * (size / 8) * (size / 16);  ///< statements mma m16n8k16 that it executes

  MatrixProduct();

  void run(int jobs);

  /// What the process used at most in addition while run(jobs) ran, in bytes; 0 where the system does not tell.
  std::size_t memory_of_run(int jobs);

 private:
  LaunchDescription description_;
  PreparedLaunch prepared_;
  Kernel kernel_;
};

/// The mma statement of MatrixProduct on operands like those there, each C the D of the one before: nanoseconds are those of `run`, which
/// executes `instructions` of them.
class ProductAlone {
 public:
  static constexpr std::size_t warps = 128, steps = MatrixProduct::size / 16, instructions = warps * steps;

  ProductAlone();

  void run();

 private:
  Instruction instruction_;
  std::vector<std::uint32_t> a_, b_, sums_;
};

}  // namespace warpmat
