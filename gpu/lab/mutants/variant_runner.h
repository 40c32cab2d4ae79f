#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>

#include "gpu/lab/rules/events.h"
#include "gpu/models/variant.h"
#include "gpu/runners/form_runner.h"

namespace warpmat {

/// Executes the form of `varied` by the reference with its changes. Counts regions if `counts` is not nullptr and there are no deviations,
/// whose regions cannot be counted.
void execute_variant(const VariedLowering& varied, const Batch& batch, Events* counts = nullptr);

/// Runs programs of one form with a model.
class VariantRunner : public FormRunner {
 public:
  /// Runs programs of the form of `varied`, which must outlive the runner.
  explicit VariantRunner(const VariedLowering& varied)
      : FormRunner([&varied](const Form&, const Batch& batch) { execute_variant(varied, batch); }) {}
  /// The same, counting regions.
  VariantRunner(const VariedLowering& varied, Events& counts)
      : FormRunner([&varied, &counts](const Form&, const Batch& batch) { execute_variant(varied, batch, &counts); }) {}
};

}  // namespace warpmat
