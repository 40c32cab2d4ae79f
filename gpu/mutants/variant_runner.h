#pragma once

#include <warpmat/execute/arguments.h>

#include <functional>

#include "gpu/mutants/variant.h"
#include "gpu/runners/runner.h"

namespace warpmat {

/// A model in the reference's place: runs programs of one matrix instruction.
class VariantRunner : public Runner {
 public:
  using Execute = std::function<void(const Form& form, const Arguments& arguments)>;

  explicit VariantRunner(Execute execute) : execute_(std::move(execute)) {}
  /// Programs of the form that `varied` was made for; it must outlive the runner.
  explicit VariantRunner(const VariedLowering& varied)
      : VariantRunner([&varied](const Form&, const Arguments& arguments) { varied.execute(arguments); }) {}
  /// The same, counting regions where the model has no deviations, of which the reference knows none.
  VariantRunner(const VariedLowering& varied, Events& events) : VariantRunner(varied) { events_ = &events; }

  /// Throws std::runtime_error "warp 12: lane 5, …" for what traps.
  void run(const Program& program, WarpStates& states) override;
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return "a model in the reference's place"; }

 private:
  Execute execute_;
  Events* events_ = nullptr;
};

}  // namespace warpmat
