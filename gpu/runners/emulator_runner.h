#pragma once

#include "gpu/runners/runner.h"

namespace warpmat {

/// The emulator, on several threads. It may run from several threads at once.
class EmulatorRunner : public Runner {
 public:
  /// Shared memory begins at `shared_base`, a multiple of 1024; 0 threads are as many as this machine has cores.
  explicit EmulatorRunner(std::uint32_t shared_base = 0, unsigned threads = 0, const ExecutionOptions& options = {});

  /// A Trap becomes std::runtime_error "warp 12: line 3: lane 5, …: STATEMENT"; of several warps the first one's is thrown.
  void run(const Program& program, WarpStates& states) override;
  std::uint32_t shared_base() const override { return shared_base_; }
  std::string description() const override;

 private:
  std::uint32_t shared_base_;
  unsigned threads_;
  ExecutionOptions options_;
};

}  // namespace warpmat
