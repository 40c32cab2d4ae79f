#include "fuzz_kernels.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <string>

#include "gpu/compare/compare_kernels.h"
#include "gpu/lab/kernels/kernel_program.h"
#include "tools/assembler/assembler.h"
#include "tools/lab/report/kernel_answers.h"
#include "tools/report/input_file.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

/// How many of the recorded bytes `answer` has (check_places).
std::size_t bytes_agreed(const RecordedKernel& recorded, const KernelAnswer& answer) {
  std::size_t agreed = 0;
  for (const BytesFound& found : recorded.found)
    for (std::size_t i = 0; i < found.bytes.size(); ++i) agreed += answer.buffers[found.buffer][found.at + i] == found.bytes[i];
  return agreed;
}

/// Throws std::runtime_error if the file names a byte that no buffer has.
void check_places(const RecordedKernel& recorded, const KernelAnswer& answer) {
  for (const BytesFound& found : recorded.found) {
    const std::size_t size = found.buffer < answer.buffers.size() ? answer.buffers[found.buffer].size() : 0;
    if (found.at >= size || found.bytes.size() > size - found.at)
      throw std::runtime_error(
          fmt::format("kernel {}: the bytes at {} of buffer {} are outside of its buffers", recorded.index, found.at, found.buffer));
  }
}

struct Judgement {
  RecordedKernel::Same same = RecordedKernel::Same::by_rule;
  std::size_t named = 0;
};

/// Runs the kernel by the rule, and if that differs with --assembler ptxas, where that is installed.
Judgement judge(const RecordedKernel& recorded, std::uint64_t seed, EmulatorKernelRunner& emulator, const Target& target) {
  const KernelLaunch launch = random_kernel(target, seed, recorded.index).complete();
  KernelAnswer answer = emulator.run(launch);
  check_places(recorded, answer);
  if (digest_of(answer) == recorded.digest) return {};
  std::size_t named = 0;
  if (const auto made = kernel_by_ptxas(Module(launch.ptx), launch.entry, {.target = target.name})) {
    answer = emulator.run(launch, made->kernel);
    named = made->unsure;
    if (digest_of(answer) == recorded.digest) return {RecordedKernel::Same::by_assembler, named};
  }
  std::size_t bytes = 0;
  for (const BytesFound& found : recorded.found) bytes += found.bytes.size();
  fmt::print("kernel {}: differs, {} statements named, {} of {} recorded bytes as on the GPU\n", recorded.index, named,
             bytes_agreed(recorded, answer), bytes);
  return {RecordedKernel::Same::no, named};
}

/// What `work` returns. Its failure names the file.
template <typename Work>
auto of_file(const std::string& file, Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace

void fuzz_answers(const std::string& file, const ResultOptions& options) {
  options.check();
  const RecordedKernels recorded = of_file(file, [&] { return parse_kernel_answers(read_file(file)); });
  const Target& own = *of_file(file, [&] { return &target(recorded.target); });
  if (!recorded.first_kernel.empty() && digest_of(random_kernel(own, recorded.seed, 0).complete().ptx) != recorded.first_kernel)
    throw std::runtime_error(
        fmt::format("{}: this build makes other kernels of seed {}: read it with the version that wrote it", file, recorded.seed));
  EmulatorKernelRunner emulator(own);
  const Shard::Range part = share_of(options.shard, recorded.kernels.size(), "kernels");
  RunResult result = begun_result("fuzz --kernels --read-answers", &own, options.shard);
  result.settings = {{"seed", std::to_string(recorded.seed)}, {"answers", digest_of(read_file(file))}};
  result.unit = "kernels";
  result.range = {0, recorded.kernels.size()};
  result.items = {"kernels"};
  const auto start = std::chrono::steady_clock::now();
  Progress progress(part.count);
  std::array<std::uint64_t, 3> counts{};
  std::uint64_t named = 0;
  for (std::uint64_t i = 0; i < part.count; ++i, progress.advance()) {
    const Judgement judged = of_file(file, [&] { return judge(recorded.kernels[part.first + i], recorded.seed, emulator, own); });
    ++counts[static_cast<std::size_t>(judged.same)];
    named += judged.same == RecordedKernel::Same::no && judged.named != 0;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.columns = {"kernels", "by the rule", "with --assembler ptxas", "differ and are named", "differ"};
  result.rows = {{"kernels", {part.count, counts[0], counts[1], named, counts[2]}}};
  write_result(options.json, result);
  fmt::print(
      "{} kernels of seed {} for {}: {} as on the GPU by the rule, {} with --assembler ptxas alone, {} differ; {} of these have statements "
      "that --assembler ptxas names\n",
      part.count, recorded.seed, own.name, counts[0], counts[1], counts[2], named);
  if (counts[2] != 0) throw std::runtime_error(fmt::format("{} kernels differ between emulator and GPU", counts[2]));
}

}  // namespace warpmat
