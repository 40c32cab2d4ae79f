// The command with an emulator in place of the GPU: what it reports where GPU and emulator differ can then be tested on any machine. Linked
// in place of gpu_runner.cpp into the programs warpmat_pretend and warpmat_pretend_lab.

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/kernel_gpu.h"
#include "gpu/cuda/unary_gpu.h"
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

/// Lane number with its lowest and its highest bit exchanged.
std::size_t exchanged(std::size_t lane) {
  return (lane & 0b01110) | (lane & 1) << 4 | lane >> 4;
}

/// With WARPMAT_PRETEND_LAYOUT=lanes the registers of wmma.load lie in other lanes: bits 0 and 4 of the lane change places.
void change_layout(const Program& program, WarpStates& states) {
  if (!is_set("WARPMAT_PRETEND_LAYOUT", "lanes")) return;
  const Statement& load = program.statements().front();
  if (load.matrix() == nullptr || load.matrix()->form().mnemonic != Mnemonic::wmma_load) return;
  for (std::size_t warp = 0; warp < states.warps; ++warp)
    for (const Item& item : load.operands().front().items)
      for (int word = 0; word < item.words; ++word) {
        Register& changed = states.registers_of(warp)[static_cast<std::size_t>(item.slot + word)];
        const Register loaded = changed;
        for (std::size_t lane = 0; lane < warp_size; ++lane) changed[exchanged(lane)] = loaded[lane];
      }
}

/// What it pretends to be: sm_90a, or what WARPMAT_PRETEND_TARGET names.
const Target& pretended_target() {
  const char* name = std::getenv("WARPMAT_PRETEND_TARGET");
  return target(name != nullptr ? name : "sm_90a");
}

/// Whether a kernel has hung: from then on everything that the driver is asked waits for it, at the process's end too.
std::atomic<bool> hung{false};

void wait_for_kernel() {
  if (!hung) return;
  fmt::print(stderr, "the driver waits for a kernel that never ends\n");
  std::abort();
}

/// A GPU whose every 100th warp, the 43rd first, has the lowest bit of its first register in lane 17 wrong; stmatrix stops it. With
/// WARPMAT_PRETEND_FAULTS=none it is as the emulator.
class PretendGpu : public GpuRunner {
 public:
  PretendGpu() = default;
  PretendGpu(const PretendGpu&) = delete;
  PretendGpu& operator=(const PretendGpu&) = delete;
  ~PretendGpu() override { wait_for_kernel(); }

  void run(const Program& program, WarpStates& states) override {
    send_signal();
    if (is_set("WARPMAT_PRETEND_FAULTS", "none")) {
      emulator_.run(program, states);
      return change_layout(program, states);
    }
    for (const Statement* statement : program.matrix_statements())
      if (statement->matrix()->form().mnemonic == Mnemonic::stmatrix)
        throw GpuLost(fmt::format("stopped at '{}'", print(program, *statement)));
    emulator_.run(program, states);
    for (std::size_t warp = 42; warp < states.warps; warp += 100) states.registers_of(warp).front()[17] ^= 1;
  }

  std::uint32_t shared_base() const override { return emulator_.shared_base(); }
  std::string description() const override { return "pretended GPU"; }
  const std::vector<GpuInfo>& gpus() const override { return infos_; }
  const Target& target() const override { return pretended_target(); }

 private:
  EmulatorRunner emulator_{1024};
  std::vector<GpuInfo> infos_{{"pretended GPU", "9.0", "1.2.3", "13.0", "release 13.0"}};
};

/// The same for kernels: bit 3 of the first buffer's byte 17 is wrong, and the text ends earlier. With WARPMAT_PRETEND_FAULTS=hang the
/// third hangs.
class PretendKernelGpu : public KernelRunner {
 public:
  KernelAnswer run(const KernelLaunch& launch) override {
    if (is_set("WARPMAT_PRETEND_FAULTS", "hang") && ++runs_ == 3) {
      hung = true;
      std::atexit(wait_for_kernel);
      throw GpuLost("it did not end within 60 seconds");
    }
    KernelAnswer answer = emulator_.run(launch);
    if (is_set("WARPMAT_PRETEND_FAULTS", "none") || is_set("WARPMAT_PRETEND_FAULTS", "hang")) return answer;
    if (!answer.buffers.empty() && answer.buffers[0].size() > 17) answer.buffers[0][17] ^= 8;
    if (!answer.printed.empty()) answer.printed.pop_back();
    return answer;
  }

 private:
  EmulatorKernelRunner emulator_{warpmat::target("sm_90a")};
  int runs_ = 0;
};

/// The same for functions of one operand: the lowest bit of the answer to 0x3f800001 is wrong. With WARPMAT_PRETEND_ANSWERS=zeros, which
/// takes no time, all answers are 0.
class PretendUnaryGpu : public UnaryFunction {
 public:
  explicit PretendUnaryGpu(const std::string& opcode) : emulated_(emulated_function(opcode)) {}

  std::span<const std::uint32_t> answers(std::uint32_t first, std::size_t count) override {
    constexpr std::uint32_t wrong = 0x3f800001;
    if (is_set("WARPMAT_PRETEND_ANSWERS", "zeros")) {
      words_.resize(count);
      return words_;
    }
    const std::span<const std::uint32_t> right = emulated_->answers(first, count);
    words_.assign(right.begin(), right.end());
    if (wrong - first < count && !is_set("WARPMAT_PRETEND_FAULTS", "none")) words_[wrong - first] ^= 1;
    return words_;
  }

 private:
  std::unique_ptr<UnaryFunction> emulated_;
  std::vector<std::uint32_t> words_;
};

}  // namespace

std::unique_ptr<UnaryFunction> open_unary_gpu(const std::string& opcode, const Target&) {
  return std::make_unique<PretendUnaryGpu>(opcode);
}

std::unique_ptr<KernelRunner> open_kernel_gpu(std::chrono::seconds) {
  return std::make_unique<PretendKernelGpu>();
}

std::unique_ptr<GpuRunner> open_gpus(const GpuOptions& options) {
  const Hardware hardware = pretended_target().hardware;
  if (options.target != nullptr && options.target->hardware != hardware)
    throw NoGpu(fmt::format("no GPU for the target {}: this machine pretends to have an {}", options.target->name, name(hardware)));
  return std::make_unique<PretendGpu>();
}

}  // namespace warpmat
