#include <warpmat/assembler/options.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace warpmat::code {
namespace {

/// An option with its value: "--fmad=false", "--fmad false" and "-O0" in one form. A value that another option begins is none.
struct Option {
  std::string name, value;
};

std::vector<Option> split_options(std::string_view text) {
  std::vector<Option> options;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!word.starts_with('-')) {
      if (!options.empty() && options.back().value.empty()) options.back().value = word;
      continue;
    }
    const std::size_t equals = word.find('=');
    options.push_back({word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1)});
  }
  return options;
}

template <std::size_t count>
bool is_one_of(const std::string& name, const std::array<std::string_view, count>& names) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

AssemblerOptions parse_assembler_options(std::string_view text) {
  constexpr std::array<std::string_view, 2> fmad{"--fmad", "-fmad"}, debug{"-g", "--device-debug"}, level{"-O", "--opt-level"};
  AssemblerOptions found;
  for (const auto& [name, value] : split_options(text)) {
    if (is_one_of(name, fmad)) found.contract = value != "false";
    if (is_one_of(name, debug)) found.optimise = false;
    if (name == "-O0" || (is_one_of(name, level) && value == "0")) found.optimise = false;
  }
  return found;
}

AssemblerOptions options_of_module(const syntax::Module& module) {
  return {.optimise = !module.debug};
}

}  // namespace warpmat::code
