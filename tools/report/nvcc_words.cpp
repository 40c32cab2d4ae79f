#include "tools/report/nvcc_words.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace warpmat {
namespace {

using Words = std::vector<std::string>;
using Names = std::vector<std::string_view>;

bool has(const Words& words, const Names& names) {
  return std::ranges::find_first_of(words, names) != words.end();
}

/// An option with a value, "-arch sm_90" or "-arch=sm_90": where it stands, how many words it has, and the value.
struct Option {
  std::size_t at = 0, words = 0;
  std::string value;
};

/// The option at a place, by one of its names.
std::optional<Option> option_at(const Words& words, std::size_t at, const Names& names) {
  const std::string_view word = words[at];
  for (const std::string_view name : names) {
    if (word == name && at + 1 < words.size()) return Option{at, 2, words[at + 1]};
    if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
      return Option{at, 1, std::string(word.substr(name.size() + 1))};
  }
  return std::nullopt;
}

std::vector<Option> options_of(const Words& words, const Names& names) {
  std::vector<Option> all;
  for (std::size_t at = 0; at < words.size(); ++at)
    if (const auto found = option_at(words, at, names)) all.push_back(*found);
  return all;
}

/// "90a" of "sm_90a" or "compute_90a"; empty of another word.
std::string number_of(std::string_view architecture) {
  for (const std::string_view prefix : {"sm_", "compute_"})
    if (architecture.starts_with(prefix)) return std::string(architecture.substr(prefix.size()));
  return "";
}

/// Machine code and PTX of an architecture.
std::string both_of(std::string_view number) {
  return fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", number);
}

/// "arch=compute_90,code=sm_90" with PTX; empty if it has some, or is written in another way.
std::string with_ptx(const std::string& value) {
  const std::size_t code = value.find(",code=");
  if (!value.starts_with("arch=compute_") || code == std::string::npos) return "";
  std::string codes = value.substr(code + 6);
  if (codes.find("compute_") != std::string::npos) return "";
  std::erase_if(codes, [](char c) { return c == '[' || c == ']'; });
  const std::string architecture = value.substr(5, code - 5);
  return fmt::format("arch={0},code=[{1},{0}]", architecture, codes);
}

class Rewriter {
 public:
  explicit Rewriter(Words words) : result_{std::move(words), {}} {}

  void runtime() {
    const auto given = options_of(result_.words, {"-cudart", "--cudart"});
    if (given.empty()) return add({"-cudart", "shared"});
    for (const Option& option : given)
      if (option.value == "static") replace(option, {"-cudart", "shared"});
  }

  void lines() {
    if (!has(result_.words, {"-lineinfo", "--generate-line-info", "-G", "--device-debug"})) add({"-lineinfo"});
  }

  void architecture(std::string_view target) {
    const auto pairs = options_of(result_.words, generates);
    const auto one = options_of(result_.words, architectures);
    for (const Option& option : pairs)
      if (const std::string value = with_ptx(option.value); !value.empty()) replace(option, {"-gencode", value});
    // nvcc 13.0 compiles -arch=sm_90a for compute_90, too, which has no wgmma.
    for (const Option& option : one)
      if (const std::string number = number_of(option.value); number.ends_with('a') || number.ends_with('f'))
        if (!has_code()) replace(option, {"-gencode", both_of(number)});
    if (pairs.empty() && one.empty()) add({"-gencode", both_of(number_of(target))});
  }

  /// Of one device file, such as PTX, alone.
  void one_architecture(std::string_view target) {
    if (options_of(result_.words, generates).empty() && options_of(result_.words, architectures).empty())
      add({fmt::format("-arch={}", target)});
  }

  NvccWords take() { return std::move(result_); }

 private:
  inline static const Names generates{"-gencode", "--generate-code"};
  inline static const Names architectures{"-arch", "--gpu-architecture"};

  bool has_code() const { return !options_of(result_.words, {"-code", "--gpu-code"}).empty(); }

  void add(const Words& words) {
    result_.words.insert(result_.words.end(), words.begin(), words.end());
    result_.changes.push_back(fmt::format("{}", fmt::join(words, " ")));
  }

  /// Two words for an option of one or two.
  void replace(const Option& option, const Words& words) {
    const auto at = result_.words.begin() + static_cast<std::ptrdiff_t>(option.at);
    const std::string before = fmt::format("{}", fmt::join(at, at + static_cast<std::ptrdiff_t>(option.words), " "));
    result_.changes.push_back(fmt::format("{} for {}", fmt::join(words, " "), before));
    // As many words as before, so that the places of other options stay.
    *at = option.words == 2 ? words.front() : fmt::format("{}={}", words.front(), words.back());
    if (option.words == 2) *(at + 1) = words.back();
  }

  NvccWords result_;
};

}  // namespace

NvccWords words_for_warpmat(const Words& words, std::string_view target) {
  Rewriter rewriter(words);
  if (words.empty() || has(words, {"--version", "-V", "--help", "-h"})) return rewriter.take();
  rewriter.lines();
  if (has(words, {"-ptx", "--ptx", "-cubin", "--cubin"})) {
    rewriter.one_architecture(target);
  } else {
    rewriter.runtime();
    rewriter.architecture(target);
  }
  return rewriter.take();
}

}  // namespace warpmat
