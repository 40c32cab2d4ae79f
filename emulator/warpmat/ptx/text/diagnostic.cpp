#include <warpmat/diagnostic.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/text/excerpt.h>

namespace warpmat {
namespace {

std::string join(const std::vector<Diagnostic>& errors) {
  std::string text;
  for (const Diagnostic& error : errors) {
    if (!text.empty()) text += '\n';
    text += error.format("ptx");
  }
  return text;
}

}  // namespace

Diagnostic diagnose(std::string_view source, Location location, std::string message) {
  std::size_t start = 0;
  for (int line = 1; line < location.line; ++line) start = std::min(source.find('\n', start), source.size() - 1) + 1;
  return {location, std::move(message), excerpt(source.substr(start), location.column)};
}

std::string Diagnostic::format(std::string_view file) const {
  return fmt::format("{}:{}:{}: error: {}\n{}", file, location.line, location.column, message, excerpt);
}

SyntaxError::SyntaxError(std::vector<Diagnostic> all) : std::runtime_error(join(all)), errors(std::move(all)) {}

}  // namespace warpmat
