#pragma once

#include "gpu/runners/runner.h"

namespace warpmat {

/// The emulator, on several threads. Thread-safe.
class EmulatorRunner : public Runner {
 public:
  /// Shared memory begins at `shared_base`, a multiple of 1024. 0 threads means the number of this machine's cores.
  explicit EmulatorRunner(std::uint32_t shared_base = 0, unsigned threads = 0, const ExecutionOptions& options = {});

  /// A Trap becomes std::runtime_error "warp 12: line 3: lane 5, …: STATEMENT". If several warps trap, it throws the first one's.
  void run(const Program& program, WarpStates& states) override;
  std::uint32_t shared_base() const override { return shared_base_; }
  std::string description() const override;

 private:
  std::uint32_t shared_base_;
  unsigned threads_;
  ExecutionOptions options_;
};

}  // namespace warpmat
