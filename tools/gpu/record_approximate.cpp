#include "record_approximate.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <warpmat/files/output_file.h>
#include <warpmat/machine/threads.h>

#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/unary_gpu.h"
#include "gpu/recordings/all_operands.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/pattern.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

std::vector<std::string> selected_functions(const Target& target, const std::string& forms) {
  std::vector<std::string> opcodes = approximate_functions(target);
  const Pattern expression(forms);
  std::erase_if(opcodes, [&](const std::string& opcode) { return !expression.found_in(opcode); });
  if (opcodes.empty())
    throw std::invalid_argument(fmt::format("'{}' is found in no approximate function of one operand of {}", forms, target.name));
  return opcodes;
}

}  // namespace

void record_approximate(const std::string& directory, const std::string& forms, const std::string& target_name) {
  const std::filesystem::path place(directory);
  std::filesystem::create_directories(place);
  check_output_place(place / source_file_name);
  GpuOptions options;
  if (!target_name.empty()) options.target = &target(target_name);
  const std::unique_ptr<GpuRunner> gpu = open_gpus(options);
  const Target& target = options.target != nullptr ? *options.target : gpu->target();
  const std::vector<std::string> opcodes = selected_functions(target, forms);
  std::vector<std::size_t> blocks(block_count);
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  const auto start = std::chrono::steady_clock::now();
  {
    constexpr unsigned thread_limit = 8;  // for one card; digests and transfers alternate
    const unsigned threads = std::min(machine::usable_cores(), thread_limit);
    Progress progress(opcodes.size() * blocks.size());
    for (const std::string& opcode : opcodes) {
      const AllOperands recorded{
          opcode, block_digests([&] { return open_unary_gpu(opcode, target); }, blocks, threads, [&] { progress.advance(); })};
      write_file(place / file_name(recorded), {encode(recorded)});
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  // Last, so that a directory without it is recognised as incomplete.
  write_file(place / source_file_name, {fmt::format("{}; {}; {}\n", gpu->description(), target.name, today())});
  fmt::print("{}\n{} instructions, all 2^32 operands of each, in {:.1f} s; {}\n", gpu->description(), opcodes.size(), seconds.count(),
             place.string());
}

}  // namespace warpmat
