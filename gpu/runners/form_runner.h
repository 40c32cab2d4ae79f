#pragma once

#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>

#include <functional>
#include <utility>

#include "gpu/runners/runner.h"

namespace warpmat {

/// Runs programs of one matrix instruction with a function in the reference's place.
class FormRunner : public Runner {
 public:
  using Execute = std::function<void(const Form& form, const Batch& batch)>;

  explicit FormRunner(Execute execute) : execute_(std::move(execute)) {}

  /// Throws std::runtime_error "warp 12: lane 5, …" for a trap.
  void run(const Program& program, WarpStates& states) override;
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return "a model in the reference's place"; }

 private:
  Execute execute_;
};

}  // namespace warpmat
