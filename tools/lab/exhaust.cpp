#include <fmt/core.h>
#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/explain/table.h>
#include <warpmat/machine/threads.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands.h"
#include "gpu/cuda/gpu_runner.h"
#include "gpu/cuda/unary_gpu.h"
#include "gpu/recordings/all_operands.h"
#include "tools/command_line/handed_commands.h"
#include "tools/gpu/report/result_options.h"
#include "tools/gpu/report/run_result.h"
#include "tools/report/progress.h"

namespace warpmat {
namespace {

struct ExhaustOptions {
  std::string directory;
  std::vector<std::string> opcodes;
  std::string set;  ///< of instructions; empty for the best
  std::size_t every = 1;
  unsigned jobs = machine::usable_cores();
  bool gpu = false;
  ResultOptions result;  ///< its shard: of the blocks
};

/// The recorded instructions that the options select.
AllOperandsRecording chosen(const ExhaustOptions& options) {
  AllOperandsRecording recorded = read_all_operands(options.directory);
  std::vector<AllOperands>& all = recorded.instructions;
  for (const std::string& opcode : options.opcodes)
    if (std::ranges::find(all, opcode, &AllOperands::opcode) == all.end())
      throw std::runtime_error(fmt::format("{} holds no digests of '{}'", options.directory, opcode));
  if (!options.opcodes.empty())
    std::erase_if(all, [&](const AllOperands& r) { return std::ranges::find(options.opcodes, r.opcode) == options.opcodes.end(); });
  if (all.empty()) throw std::runtime_error(fmt::format("{} holds no file that ends with .digests", options.directory));
  return recorded;
}

/// The source of answers: the emulator, or this machine's card.
class Answerer {
 public:
  explicit Answerer(bool gpu) {
    if (gpu) gpu_ = open_gpus();
  }

  OpenFunction open(const std::string& opcode) const {
    if (gpu_) return [opcode, this] { return open_unary_gpu(opcode, gpu_->target()); };
    return [opcode] { return emulated_function(opcode); };
  }
  const GpuRunner* gpu() const { return gpu_.get(); }
  std::string text() const { return gpu_ ? gpu_->description() : "the emulator"; }

  /// The difference in a block. The emulator's answers replace the recorded ones if they have the recorded digest.
  std::string difference(const AllOperands& recorded, std::size_t block) const {
    const std::string from = fmt::format("the first from operand {:#010x} on", block * block_operands);
    if (!gpu_) return from;
    const auto emulator = emulated_function(recorded.opcode), card = open(recorded.opcode)();
    if (block_digest(*emulator, block) != recorded.digests[block]) return from;
    const auto found = first_difference(*emulator, *card, block);
    if (!found) return from + ", but not when asked again";
    return fmt::format("the first at {:#010x}: recorded {:#010x}, here {:#010x}", found->operand, found->first, found->second);
  }

 private:
  std::unique_ptr<GpuRunner> gpu_;
};

/// This part's blocks.
std::vector<std::size_t> chosen_blocks(const ExhaustOptions& options, RunResult& result) {
  std::vector<std::size_t> blocks;
  for (std::size_t block = 0; block < block_count; block += options.every) blocks.push_back(block);
  result.unit = "blocks";
  result.range = {0, blocks.size()};
  const auto [first, count] = share_of(options.result.shard, blocks.size(), "blocks");
  const auto begin = blocks.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void exhaust(const ExhaustOptions& options) {
  options.result.check();
  if (!options.set.empty()) use_instruction_set(options.set);
  const AllOperandsRecording recorded = chosen(options);
  const Answerer answerer(options.gpu);
  RunResult result = begun_result("exhaust", nullptr, options.result.shard, answerer.gpu());
  result.settings = {{"recorded", recorded.source}};
  if (!options.set.empty()) result.settings.emplace_back("set", options.set);
  result.amounts = {{"every", std::to_string(options.every)}};
  result.columns = {"operands", "blocks", "blocks that differ"};
  const std::vector<std::size_t> blocks = chosen_blocks(options, result);
  Table table({"instruction", "operands", "blocks that differ", "seconds"});
  {
    Progress progress(recorded.instructions.size() * blocks.size());
    for (const AllOperands& instruction : recorded.instructions) {
      const auto start = std::chrono::steady_clock::now();
      const auto found =
          different_blocks(instruction, answerer.open(instruction.opcode), blocks, options.jobs, [&] { progress.advance(); });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      result.items.push_back(instruction.opcode);
      result.rows.push_back({instruction.opcode, {blocks.size() * block_operands, blocks.size(), found.size()}});
      result.seconds += seconds.count();
      table.add({instruction.opcode, std::to_string(blocks.size() * block_operands),
                 found.empty() ? "0" : fmt::format("{}, {}", found.size(), answerer.difference(instruction, found.front())),
                 fmt::format("{:.1f}", seconds.count())});
    }
  }
  fmt::print("{}recorded: {}\ncompared with it: {}\n", table.text(), recorded.source, answerer.text());
  write_result(options.result.json, result);
  if (result.wrong() != 0)
    throw std::runtime_error(fmt::format("{} of {} blocks differ from the recorded answers", result.wrong(), result.total("blocks")));
}

constexpr const char* exhaust_footer =
    R"(For each instruction of one operand that is recorded in the directory, all 2^32 operands are computed and compared with the digests of what
a GPU answered: by the emulator, or with --gpu by this machine's card, which takes seconds and shows whether it is like the recorded one.
'warpmat record --approximate' makes such a directory; tests/vectors/README.md describes the files. The exit status is 0 if nothing differs, 1 if
something does, and 77 with --gpu on a machine without one.

Examples:
  warpmat exhaust tests/vectors/sm_90/all_operands
  warpmat exhaust tests/vectors/sm_90/all_operands --gpu
  warpmat exhaust tests/vectors/sm_90/all_operands --opcode ex2.approx.ftz.f32 --every 16)";

}  // namespace

void add_exhaust(Command app) {
  const auto options = std::make_shared<ExhaustOptions>();
  const Command command = add_handed_subcommand(app, "exhaust");
  command.add_option("DIRECTORY", options->directory, "Of the digests").required();
  command.add_option("--opcode", options->opcodes, "Only this instruction; may be given several times").type_name("OPCODE");
  command.add_option("--every", options->every, "Only every Nth block of 2^20 operands (default: 1)")
      .type_name("N")
      .range(std::size_t{1}, block_count);
  const auto set =
      command.add_option("--set", options->set, "The emulator's kernels: AVX-512, AVX2, SSE4; NEON (default: the best of this CPU)");
  set.type_name("SET");
  command.add_flag("--gpu", options->gpu, "Compare this machine's GPU instead of the emulator").excludes(set);
  command.add_option("--jobs", options->jobs, "Threads (default: one for each core)").type_name("N").range(1U, 1024U);
  add_result_options(command, options->result);
  command.footer(exhaust_footer);
  command.callback([options] { exhaust(*options); });
}

}  // namespace warpmat
