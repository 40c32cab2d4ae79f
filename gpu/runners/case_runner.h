#pragma once

#include "gpu/runners/kernel_runner.h"
#include "gpu/runners/runner.h"

namespace warpmat {

/// Runners of cases: those of one warp run as programs, those of a warpgroup as kernels. `kernels` may be nullptr if there are none of the
/// latter.
struct CaseRunner {
  CaseRunner(Runner& for_programs, KernelRunner* for_kernels = nullptr) : programs(&for_programs), kernels(for_kernels) {}

  Runner* programs;
  KernelRunner* kernels;
};

}  // namespace warpmat
