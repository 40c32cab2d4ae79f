#pragma once

#include <warpmat/instruction.h>

#include <functional>

#include "gpu/mutants/variant.h"
#include "gpu/rules/events.h"
#include "gpu/runners/runner.h"

namespace warpmat {

/// Executes the form of `varied` by the reference with its changes. Counts regions if `counts` is not nullptr and there are no deviations,
/// whose regions cannot be counted.
void execute_variant(const VariedLowering& varied, const Batch& batch, Events* counts = nullptr);

/// Runs programs of one matrix instruction with a model instead of the reference.
class VariantRunner : public Runner {
 public:
  using Execute = std::function<void(const Form& form, const Batch& batch)>;

  explicit VariantRunner(Execute execute) : execute_(std::move(execute)) {}
  /// Runs programs of the form of `varied`, which must outlive the runner.
  explicit VariantRunner(const VariedLowering& varied)
      : VariantRunner([&varied](const Form&, const Batch& batch) { execute_variant(varied, batch); }) {}
  /// The same, counting regions.
  VariantRunner(const VariedLowering& varied, Events& counts)
      : VariantRunner([&varied, &counts](const Form&, const Batch& batch) { execute_variant(varied, batch, &counts); }) {}

  /// Throws std::runtime_error "warp 12: lane 5, …" for a trap.
  void run(const Program& program, WarpStates& states) override;
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return "a model in the reference's place"; }

 private:
  Execute execute_;
};

}  // namespace warpmat
