#include "tools/lab/report/kernel_answers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <warpmat/words/words.h>

#include "gpu/recordings/vectors.h"

namespace warpmat {
namespace {

constexpr std::size_t digest_digits = 12;
constexpr std::array answer_names{std::pair{RecordedKernel::Same::by_assembler, "assembler"},
                                  std::pair{RecordedKernel::Same::no, "differs"}};

/// "1:4096:0a1b".
std::optional<BytesFound> parse_found(std::string_view text) {
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto buffer = number_of<std::size_t>(text.substr(0, first)),
             at = number_of<std::size_t>(text.substr(first + 1, second - first - 1));
  const std::string_view digits = text.substr(second + 1);
  if (!buffer || !at || digits.empty() || digits.size() % 2 != 0) return std::nullopt;
  BytesFound found{*buffer, *at, {}};
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto byte = number_of<std::uint8_t>("0x" + std::string(digits.substr(i, 2)));
    if (!byte) return std::nullopt;
    found.bytes.push_back(*byte);
  }
  return found;
}

std::optional<RecordedKernel> parse_kernel(const std::string& line) {
  std::istringstream words(line);
  RecordedKernel kernel;
  std::string same, found;
  // Not `words >> number`, which takes "-1".
  const auto read = [&](auto& number) {
    std::string word;
    const auto value = words >> word ? number_of<std::remove_reference_t<decltype(number)>>(word) : std::nullopt;
    number = value.value_or(0);
    return value.has_value();
  };
  if (!read(kernel.index) || !(words >> kernel.digest) || kernel.digest.size() != digest_digits) return std::nullopt;
  if (!(words >> same)) return kernel;
  const auto* const name = std::ranges::find(answer_names, same, [](const auto& pair) { return std::string_view(pair.second); });
  if (name == answer_names.end()) return std::nullopt;
  kernel.same = name->first;
  if (kernel.same != RecordedKernel::Same::no) return words >> found ? std::nullopt : std::optional(kernel);
  if (!read(kernel.named) || !read(kernel.mismatches)) return std::nullopt;
  while (words >> found) {
    auto bytes = parse_found(found);
    if (!bytes) return std::nullopt;
    kernel.found.push_back(std::move(*bytes));
  }
  return kernel;
}

}  // namespace

std::string digest_of(const KernelAnswer& answer) {
  std::string all;
  for (const auto& buffer : answer.buffers) all.append(buffer.begin(), buffer.end());
  return digest_of(all);
}

std::string digest_of(std::string_view text) {
  return digest(text).substr(0, digest_digits);
}

std::vector<BytesFound> bytes_found(const KernelAnswer& expected, const KernelAnswer& found, std::size_t most) {
  std::vector<BytesFound> all;
  for (std::size_t b = 0; b < found.buffers.size(); ++b)
    for (std::size_t i = 0; i < found.buffers[b].size(); ++i) {
      if (found.buffers[b][i] == expected.buffers[b][i]) continue;
      if (most-- == 0) return all;
      const bool next = !all.empty() && all.back().buffer == b && all.back().at + all.back().bytes.size() == i;
      if (!next) all.push_back({b, i, {}});
      all.back().bytes.push_back(found.buffers[b][i]);
    }
  return all;
}

std::string header_line(std::uint64_t seed, std::string_view target, std::string_view first_kernel) {
  return fmt::format("# seed {}, {}{}{}\n", seed, target, first_kernel.empty() ? "" : ", kernel 0 ", first_kernel);
}

std::string line_of(const RecordedKernel& kernel) {
  std::string line = fmt::format("{} {}", kernel.index, kernel.digest);
  for (const auto& [same, name] : answer_names)
    if (same == kernel.same) line += fmt::format(" {}", name);
  if (kernel.same == RecordedKernel::Same::no) line += fmt::format(" {} {}", kernel.named, kernel.mismatches);
  for (const BytesFound& found : kernel.found) line += fmt::format(" {}:{}:{:02x}", found.buffer, found.at, fmt::join(found.bytes, ""));
  return line + '\n';
}

RecordedKernels parse_kernel_answers(std::string_view text) {
  RecordedKernels recorded;
  std::istringstream lines{std::string(text)};
  int number = 1;
  std::string line, hash, seed_word, seed;
  const auto fail = [&](const char* what) { throw std::runtime_error(fmt::format("line {}: '{}' {}", number, line, what)); };
  std::getline(lines, line);
  std::istringstream header(line);
  header >> hash >> seed_word >> seed >> recorded.target;
  const auto of_header = seed.ends_with(',') ? number_of<std::uint64_t>(std::string_view(seed).substr(0, seed.size() - 1)) : std::nullopt;
  bool is_header = hash == "#" && seed_word == "seed" && of_header;
  if (recorded.target.ends_with(',')) {
    recorded.target.pop_back();
    std::string kernel, zero;
    header >> kernel >> zero >> recorded.first_kernel;
    is_header &= kernel == "kernel" && zero == "0" && recorded.first_kernel.size() == digest_digits;
  }
  if (!is_header || recorded.target.empty()) fail("is not '# seed NUMBER, TARGET', with ', kernel 0 DIGEST' behind it or not");
  recorded.seed = *of_header;
  for (++number; std::getline(lines, line); ++number) {
    auto kernel = parse_kernel(line);
    if (!kernel) fail("is not 'NUMBER DIGEST', with 'assembler' or 'differs NAMED BYTES FOUND...' behind it or not");
    recorded.kernels.push_back(std::move(*kernel));
  }
  if (recorded.kernels.empty()) throw std::runtime_error("line 2: no kernel");
  return recorded;
}

}  // namespace warpmat
