#include "gpu/recordings/all_operands.h"

#include <fmt/core.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <fstream>
#include <future>
#include <mutex>
#include <stdexcept>

namespace warpmat {
namespace {

constexpr std::string_view suffix = ".digests";

static_assert(std::endian::native == std::endian::little);

AllOperands read_digests(const std::filesystem::path& path, std::string opcode) {
  emulated_function(opcode);
  AllOperands recorded{std::move(opcode), std::vector<std::uint32_t>(block_count)};
  const auto bytes = static_cast<std::streamsize>(block_count * sizeof(std::uint32_t));
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(recorded.digests.data()), bytes) || file.peek() != std::ifstream::traits_type::eof())
    throw std::runtime_error(fmt::format("{} does not hold {} bytes", path.string(), bytes));
  return recorded;
}

std::span<const std::uint32_t> answers_of(UnaryFunction& function, std::size_t block) {
  return function.answers(static_cast<std::uint32_t>(block * block_operands), block_operands);
}

}  // namespace

std::string file_name(const AllOperands& recorded) {
  return recorded.opcode + std::string(suffix);
}

std::string encode(const AllOperands& recorded) {
  return {reinterpret_cast<const char*>(recorded.digests.data()), recorded.digests.size() * sizeof(std::uint32_t)};
}

AllOperandsRecording read_all_operands(const std::filesystem::path& directory) {
  AllOperandsRecording recorded;
  if (!std::filesystem::is_directory(directory)) throw std::runtime_error(fmt::format("{} is no directory", directory.string()));
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(suffix)) recorded.instructions.push_back(read_digests(entry.path(), name.substr(0, name.size() - suffix.size())));
  }
  std::ranges::sort(recorded.instructions, {}, &AllOperands::opcode);
  std::ifstream source(directory / source_file_name);
  if (!std::getline(source, recorded.source))
    throw std::runtime_error(fmt::format("{} says in no line whose answers these are", (directory / source_file_name).string()));
  return recorded;
}

std::uint32_t block_digest(UnaryFunction& function, std::size_t block) {
  const std::span<const std::uint32_t> words = answers_of(function, block);
  return static_cast<std::uint32_t>(XXH64(words.data(), words.size_bytes(), 0));
}

std::vector<std::uint32_t> block_digests(const OpenFunction& open, const std::vector<std::size_t>& blocks, unsigned jobs,
                                         const std::function<void()>& done) {
  std::vector<std::uint32_t> digests(blocks.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  const auto work = [&] {
    const std::unique_ptr<UnaryFunction> function = open();
    for (std::size_t i; (i = next++) < blocks.size();) {
      digests[i] = block_digest(*function, blocks[i]);
      const std::lock_guard lock(mutex);
      done();
    }
  };
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < jobs; ++i) threads.push_back(std::async(std::launch::async, work));
  for (std::future<void>& thread : threads) thread.wait();
  for (std::future<void>& thread : threads) thread.get();
  return digests;
}

std::vector<std::size_t> different_blocks(const AllOperands& recorded, const OpenFunction& open, const std::vector<std::size_t>& blocks,
                                          unsigned jobs, const std::function<void()>& done) {
  const std::vector<std::uint32_t> digests = block_digests(open, blocks, jobs, done);
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (digests[i] != recorded.digests.at(blocks[i])) different.push_back(blocks[i]);
  return different;
}

std::optional<DifferentAnswer> first_difference(UnaryFunction& first, UnaryFunction& second, std::size_t block) {
  const std::span<const std::uint32_t> a = answers_of(first, block), b = answers_of(second, block);
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  if (in_a == a.end()) return std::nullopt;
  return DifferentAnswer{static_cast<std::uint32_t>(block * block_operands + static_cast<std::size_t>(in_a - a.begin())), *in_a, *in_b};
}

}  // namespace warpmat
