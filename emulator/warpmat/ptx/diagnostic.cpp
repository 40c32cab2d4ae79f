#include <warpmat/ptx/diagnostic.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace warpmat {
namespace {

std::string join(const std::vector<Diagnostic>& errors) {
  std::string text;
  for (const Diagnostic& error : errors) text += (text.empty() ? "" : "\n") + error.format("ptx");
  return text;
}

constexpr std::size_t max_excerpt_bytes = 200;

/// The line that `rest` begins with and a caret under the column; of a very long line only the part around it.
std::string excerpt(std::string_view rest, int column) {
  auto caret_at = static_cast<std::size_t>(column - 1);
  std::string_view line = rest.substr(0, rest.find('\n'));
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() > max_excerpt_bytes) {
    const std::size_t begin = std::min(caret_at - std::min(caret_at, max_excerpt_bytes / 2), line.size() - max_excerpt_bytes);
    line = line.substr(begin, max_excerpt_bytes);
    caret_at -= begin;
  }
  std::string caret;
  for (std::size_t i = 0; i < caret_at; ++i) caret += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  return std::string(line) + '\n' + caret + '^';
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
