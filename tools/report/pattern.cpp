#include "tools/report/pattern.h"

#include <fmt/core.h>

#include <regex>
#include <stdexcept>

namespace warpmat {

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(const std::string& expression, Case letters) {
  const auto options = letters == Case::ignored ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript;
  try {
    compiled_ = std::make_shared<Compiled>(Compiled{std::regex(expression, options)});
  } catch (const std::regex_error& e) {
    throw std::runtime_error(fmt::format("'{}' is not a regular expression: {}", expression, e.what()));
  }
}

bool Pattern::found_in(const std::string& text) const {
  return std::regex_search(text, compiled_->regex);
}

}  // namespace warpmat
