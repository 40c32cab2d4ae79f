#include "gpu/recordings/all_operands.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/catalogue/executable.h>

namespace warpmat {
namespace {

constexpr std::size_t lanes = 32;
constexpr const char* suffix = ".digests";

static_assert(std::endian::native == std::endian::little);

/// What executes an opcode of one operand, and how wide its registers are.
struct Instruction {
  catalogue::Executable executable;
  bool wide;
};

Instruction find_instruction(const std::string& opcode) {
  const std::optional<catalogue::Match> match = catalogue::find_row(opcode);
  if (!match) throw std::runtime_error(catalogue::explain_unknown_row(opcode));
  const auto& operands = match->pattern->operands;
  if (operands.size() != 2 || match->pattern->row.kernel.empty())
    throw std::runtime_error(fmt::format("'{}' has more than one source: not all its operands can be recorded", opcode));
  return {catalogue::executable(*match), match->type_of(operands[1]).bits == 64};
}

/// Results of the operands `first` to first + 31, as their words are digested.
void run_warp(const Instruction& instruction, std::uint32_t first, std::uint32_t* words) {
  alignas(64) std::array<std::uint32_t, lanes> narrow, narrow_result;
  alignas(64) std::array<std::uint64_t, lanes> wide, wide_result;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    narrow[i] = first + i;
    wide[i] = static_cast<std::uint64_t>(first + i) << 32;
  }
  void* const results[] = {instruction.wide ? static_cast<void*>(wide_result.data()) : narrow_result.data()};
  const void* const sources[] = {instruction.wide ? static_cast<const void*>(wide.data()) : narrow.data()};
  instruction.executable.function(results, sources, instruction.executable.modifiers);
  for (std::size_t i = 0; i < lanes; ++i)
    words[i] = instruction.wide ? static_cast<std::uint32_t>(wide_result[i] >> 32 ^ wide_result[i]) : narrow_result[i];
}

std::uint32_t block_digest(const Instruction& instruction, std::size_t block) {
  const RoundingMode nearest(RoundingMode::nearest);
  std::vector<std::uint32_t> words(block_operands);
  for (std::size_t i = 0; i < block_operands; i += lanes)
    run_warp(instruction, static_cast<std::uint32_t>(block * block_operands + i), words.data() + i);
  return static_cast<std::uint32_t>(XXH64(words.data(), words.size() * sizeof(std::uint32_t), 0));
}

}  // namespace

std::vector<AllOperands> read_all_operands(const std::filesystem::path& directory) {
  std::vector<AllOperands> recorded;
  if (!std::filesystem::is_directory(directory)) throw std::runtime_error(fmt::format("{} is no directory", directory.string()));
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::string opcode = entry.path().filename().string();
    if (!opcode.ends_with(suffix)) continue;
    opcode.resize(opcode.size() - std::string_view(suffix).size());
    find_instruction(opcode);
    std::vector<std::uint32_t> digests(block_count);
    const auto bytes = static_cast<std::streamsize>(block_count * sizeof(std::uint32_t));
    std::ifstream file(entry.path(), std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(digests.data()), bytes) || file.peek() != std::ifstream::traits_type::eof())
      throw std::runtime_error(fmt::format("{} does not hold {} bytes", entry.path().string(), bytes));
    recorded.push_back({opcode, std::move(digests)});
  }
  std::ranges::sort(recorded, {}, &AllOperands::opcode);
  return recorded;
}

std::uint32_t block_digest(const std::string& opcode, std::size_t block) {
  return block_digest(find_instruction(opcode), block);
}

std::vector<std::size_t> different_blocks(const AllOperands& recorded, const std::vector<std::size_t>& blocks, unsigned jobs,
                                          const std::function<void()>& done) {
  const Instruction instruction = find_instruction(recorded.opcode);
  std::vector<std::size_t> different;
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < blocks.size();) {
      const bool same = block_digest(instruction, blocks[i]) == recorded.digests.at(blocks[i]);
      const std::lock_guard lock(mutex);
      if (!same) different.push_back(blocks[i]);
      done();
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  std::ranges::sort(different);
  return different;
}

}  // namespace warpmat
