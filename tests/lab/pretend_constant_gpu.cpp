// As tests/tools/pretend_gpu.cpp, for kernels with constants.

#include <cstdlib>
#include <string_view>

#include "gpu/lab/constants/constant_gpu.h"

namespace warpmat {
namespace {

/// The lowest bit of the first word is wrong. With WARPMAT_PRETEND_FAULTS=none it is as the emulator.
class PretendConstantGpu : public EmulatorConstantRunner {
 public:
  PretendConstantGpu() : EmulatorConstantRunner(warpmat::target("sm_90a")) {}
  std::vector<std::uint64_t> run(const std::string& entry, std::span<const std::uint64_t> operands, std::size_t results) override {
    std::vector<std::uint64_t> words = EmulatorConstantRunner::run(entry, operands, results);
    const char* const faults = std::getenv("WARPMAT_PRETEND_FAULTS");
    if (faults == nullptr || std::string_view(faults) != "none") words.front() ^= 1;
    return words;
  }
};

}  // namespace

std::unique_ptr<ConstantRunner> open_constant_gpu() {
  return std::make_unique<PretendConstantGpu>();
}

}  // namespace warpmat
