// The command with an emulator in place of the GPU: what it reports where GPU and emulator differ can then be tested on any machine. Linked
// in place of gpu_runner.cpp into the program warpmat_pretend.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "gpu/runners/emulator_runner.h"

namespace warpmat {
namespace {

bool is_set(const char* variable, std::string_view value) {
  const char* text = std::getenv(variable);
  return text != nullptr && text == value;
}

/// Sends the process a signal in the run that WARPMAT_PRETEND_SIGNAL names, as "INT 3" or "TERM 10": the third or tenth of all GPUs.
void send_signal() {
  static std::atomic<int> runs{0};
  const int number = ++runs;
  for (const auto& [name, signal] : {std::pair{"INT", SIGINT}, {"TERM", SIGTERM}})
    if (is_set("WARPMAT_PRETEND_SIGNAL", fmt::format("{} {}", name, number))) kill(getpid(), signal);
}

/// An sm_90a whose every 100th warp, the 43rd first, has the lowest bit of its first register in lane 17 wrong; stmatrix stops it. With
/// WARPMAT_PRETEND_FAULTS=none it is as the emulator.
class PretendGpu : public GpuRunner {
 public:
  void run(const Program& program, WarpStates& states) override {
    send_signal();
    if (is_set("WARPMAT_PRETEND_FAULTS", "none")) return emulator_.run(program, states);
    for (const Statement* statement : program.matrix_statements())
      if (statement->matrix()->form().mnemonic == Mnemonic::stmatrix)
        throw GpuLost(fmt::format("stopped at '{}'", print(program, *statement)));
    emulator_.run(program, states);
    for (std::size_t warp = 42; warp < states.warps; warp += 100) states.registers_of(warp).front()[17] ^= 1;
  }

  std::uint32_t shared_base() const override { return emulator_.shared_base(); }
  std::string description() const override { return "pretended GPU"; }
  const std::vector<GpuInfo>& gpus() const override { return infos_; }
  const Target& target() const override { return warpmat::target("sm_90a"); }

 private:
  EmulatorRunner emulator_{1024};
  std::vector<GpuInfo> infos_{{"pretended GPU", "9.0", "1.2.3", "13.0", "release 13.0"}};
};

/// The same for kernels: bit 3 of the first buffer's byte 17 is wrong, and the text ends earlier.
class PretendKernelGpu : public KernelRunner {
 public:
  KernelAnswer run(const KernelLaunch& launch) override {
    KernelAnswer answer = emulator_.run(launch);
    if (is_set("WARPMAT_PRETEND_FAULTS", "none")) return answer;
    if (!answer.buffers.empty() && answer.buffers[0].size() > 17) answer.buffers[0][17] ^= 8;
    if (!answer.printed.empty()) answer.printed.pop_back();
    return answer;
  }

 private:
  EmulatorKernelRunner emulator_{warpmat::target("sm_90a")};
};

}  // namespace

std::unique_ptr<KernelRunner> open_kernel_gpu(std::chrono::seconds) {
  return std::make_unique<PretendKernelGpu>();
}

std::unique_ptr<GpuRunner> open_gpus(const GpuOptions& options) {
  if (options.target != nullptr && options.target->hardware != Hardware::sm_90)
    throw NoGpu(fmt::format("no GPU for the target {}: this machine pretends to have an sm_90", options.target->name));
  return std::make_unique<PretendGpu>();
}

}  // namespace warpmat
