#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "commands.h"
#include "gpu/recordings/all_operands.h"
#include "tools/library/progress.h"
#include "tools/library/table.h"

namespace warpmat {
namespace {

struct Options {
  std::string directory;
  std::vector<std::string> opcodes;
  std::size_t every = 1;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
};

/// The recorded instructions that were asked for.
std::vector<AllOperands> chosen(const Options& options) {
  std::vector<AllOperands> recorded = read_all_operands(options.directory);
  for (const std::string& opcode : options.opcodes)
    if (std::ranges::find(recorded, opcode, &AllOperands::opcode) == recorded.end())
      throw std::runtime_error(fmt::format("{} holds no digests of '{}'", options.directory, opcode));
  if (!options.opcodes.empty())
    std::erase_if(recorded, [&](const AllOperands& r) { return std::ranges::find(options.opcodes, r.opcode) == options.opcodes.end(); });
  if (recorded.empty()) throw std::runtime_error(fmt::format("{} holds no file that ends with .digests", options.directory));
  return recorded;
}

void exhaust(const Options& options) {
  const std::vector<AllOperands> recorded = chosen(options);
  std::vector<std::size_t> blocks;
  for (std::size_t block = 0; block < block_count; block += options.every) blocks.push_back(block);
  Table table({"instruction", "operands", "blocks that differ", "seconds"});
  std::size_t different = 0;
  {
    Progress progress(recorded.size() * blocks.size());
    for (const AllOperands& instruction : recorded) {
      const auto start = std::chrono::steady_clock::now();
      const auto found = different_blocks(instruction, blocks, options.jobs, [&] { progress.advance(); });
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      different += found.size();
      table.add({instruction.opcode, std::to_string(blocks.size() * block_operands),
                 found.empty() ? "0" : fmt::format("{}, the first from operand {:#010x} on", found.size(), found.front() * block_operands),
                 fmt::format("{:.1f}", seconds.count())});
    }
  }
  fmt::print("{}", table.text());
  if (different != 0)
    throw std::runtime_error(fmt::format("{} of {} blocks differ from the recorded answers", different, recorded.size() * blocks.size()));
}

constexpr const char* footer =
    R"(For each instruction of one operand that is recorded in the directory, all 2^32 operands are computed and compared with the digests of what
the GPU answered. That takes about a minute of eight cores for each instruction. The files are described in docs/recording.md.

Examples:
  warpmat exhaust tests/vectors/sm_90/all_operands
  warpmat exhaust tests/vectors/sm_90/all_operands --opcode ex2.approx.ftz.f32 --every 16)";

}  // namespace

void add_exhaust(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("exhaust", "Compare the answers to all operands with a GPU's recorded digests");
  command->add_option("DIRECTORY", options->directory, "Of the digests")->required();
  command->add_option("--opcode", options->opcodes, "Only this instruction; may be given several times")->type_name("OPCODE");
  command->add_option("--every", options->every, "Only every Nth block of 2^20 operands (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, block_count));
  command->add_option("--jobs", options->jobs, "Threads (default: one for each core)")->type_name("N")->check(CLI::Range(1U, 1024U));
  command->footer(footer);
  command->callback([options] { exhaust(*options); });
}

}  // namespace warpmat
