#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/instruction.h>
#include <warpmat/launch.h>

#include "gpu/runners/scalar_case.h"
#include "tools/report/launch_description.h"

namespace warpmat {

/// One spelling, the middle one, of each scalar row of the catalogue that sm_90a has.
std::vector<ScalarCase> scalar_rows();

/// A warp that executes one scalar statement repeatedly, as a kernel whose loop holds many of them. Made for the instruction set that is
/// selected then.
class StatementLoop {
 public:
  static constexpr std::size_t statements = 100, rounds = 20;

  explicit StatementLoop(const ScalarCase& shown);

  /// Executes statements * rounds of them, and three more in each round.
  void run();

 private:
  Kernel kernel_;
  DeviceMemory memory_;
  std::vector<Argument> arguments_;
};

/// C = A B of 1024 x 1024 f16 numbers between -1 and 1 by examples/kernels/gemm_f16.ptx, executed for sm_90a.
class TiledProduct {
 public:
  static constexpr std::size_t size = 1024;
  static constexpr std::size_t products = size / 16 * (size / 8) * (size / 16);  ///< mma m16n8k16 statements that it executes

  TiledProduct();

  void run(int jobs);

  /// Bytes by which the process's peak memory rose while run(jobs) ran; 0 if the system does not report it.
  std::size_t memory_of_run(int jobs);

 private:
  LaunchDescription description_;
  Kernel kernel_;
  PreparedLaunch prepared_;
};

/// The mma statement of TiledProduct on similar operands; each C is the previous D. Times are nanoseconds of `run`, which executes
/// `instructions` of them.
class ProductAlone {
 public:
  static constexpr std::size_t warps = 128, steps = TiledProduct::size / 16, instructions = warps * steps;

  ProductAlone();

  void run();

 private:
  Instruction instruction_;
  std::vector<std::uint32_t> a_, b_, sums_;
};

}  // namespace warpmat
