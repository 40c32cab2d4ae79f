#pragma once

#include <cstdio>

#include "gpu/lab/device/judge.h"

// Between the command, which a host's compiler makes, and a form's library, which nvcc makes (gpu/lab/device/write-sweep).

namespace warpmat::device {

/// What a sweep compared. Words are those of D.
struct SweepTotals {
  unsigned long long of_card = 0;    ///< outputs of the model that were compared with the card's own
  unsigned long long of_cpu = 0;     ///< with the CPU's
  unsigned long long different = 0;  ///< words
};

struct SweepOptions {
  double seconds = 1;  ///< of comparing with the card, for each form and selector
  unsigned long long seed = 1;
  double judged_outputs = 1e5;  ///< of each class that the CPU judges, at least
  FILE* log = stdout;           ///< gets lines of tab-separated columns
  decltype(&warpmat_judge) judge = nullptr;
};

/// The function of a form's library, by name: sweeps the form and adds to `totals`. Throws std::runtime_error with CUDA's message.
using Sweep = void(const SweepOptions& options, SweepTotals& totals);
inline constexpr const char* sweep_name = "warpmat_sweep";

}  // namespace warpmat::device
