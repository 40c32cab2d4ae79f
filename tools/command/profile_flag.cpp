#include "profile_flag.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace warpmat {
namespace {

constexpr const char* without_file = "true";  ///< the value of --profile without a file

}  // namespace

void add_profile_flag(Command command, std::vector<std::string>& values) {
  command.add_flag("--profile", values,
                   "Say where the time goes: by opcode, line and kernel, to standard error. --profile=FILE.json writes all of it, "
                   "--profile=FILE.folded stacks for a flame graph; may be repeated");
}

void check_profile_flag(const std::vector<std::string>& values) {
  for (const std::string& value : values)
    if (value != without_file) check_profile_file(value);
}

void refuse_separate_file(const std::vector<std::string>& values, const std::string& word) {
  if (std::ranges::find(values, without_file) == values.end() || !(word.ends_with(".json") || word.ends_with(".folded"))) return;
  throw std::runtime_error(fmt::format("{0} is no program; the value of --profile is joined to it: --profile={0}", word));
}

void report_profile(const std::vector<std::string>& values, const std::string& command, const std::vector<ProfiledKernel>& kernels) {
  for (const std::string& value : values) {
    if (value == without_file)
      fmt::print(stderr, "{}", profile_table(kernels));
    else
      write_profile(value, command, kernels);
  }
}

}  // namespace warpmat
