#include <warpmat/ptx/diagnostic.h>

#include <utility>

#include <fmt/format.h>

namespace warpmat {
namespace {

std::string join(const std::vector<Diagnostic>& errors) {
  std::string text;
  for (const Diagnostic& error : errors) text += (text.empty() ? "" : "\n") + error.format("ptx");
  return text;
}

}  // namespace

std::string Diagnostic::format(std::string_view file) const {
  return fmt::format("{}:{}:{}: error: {}\n{}", file, location.line, location.column, message, excerpt);
}

SyntaxError::SyntaxError(std::vector<Diagnostic> all) : std::runtime_error(join(all)), errors(std::move(all)) {}

}  // namespace warpmat
