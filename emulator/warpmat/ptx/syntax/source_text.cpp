#include <warpmat/ptx/syntax/source_text.h>

#include <fmt/core.h>

#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::syntax {
namespace {

constexpr int most_calls = 8;  ///< shown: the innermost and, after "...", the outermost

std::string_view file_of(const Module& module, const SourceLine& place) {
  const auto found = module.files.find(place.file);
  return found == module.files.end() ? "?" : found->second;
}

/// The path, without its folders where `first` is of the same file.
std::string_view short_path(const Module& module, const SourceLine& place, const SourceLine& first) {
  const std::string_view path = file_of(module, place);
  return place.file == first.file ? path.substr(path.find_last_of("/\\") + 1) : path;
}

/// " in wgmma"; empty where the function's name is not known.
std::string function_text(const Module& module, const SourceLine& place) {
  const auto name = module.debug_names.find(place.function);
  return name == module.debug_names.end() || name->second.empty() ? "" : fmt::format(" in {}", readable_name(name->second));
}

}  // namespace

std::string source_text(const Module& module, const Statement& statement) {
  if (statement.source_line < 0) return {};
  const SourceLine& first = module.source_lines[static_cast<std::size_t>(statement.source_line)];
  std::string text = fmt::format("{}:{}", file_of(module, first), first.line);
  int depth = 0;
  const SourceLine* place = &first;
  while (place->inlined_at >= 0) {  // of a line before: no circles
    const SourceLine& call = module.source_lines[static_cast<std::size_t>(place->inlined_at)];
    const bool outermost = call.inlined_at < 0;
    if (depth == most_calls && !outermost) text += ", ...";
    if (depth++ < most_calls || outermost)
      text += fmt::format("{}, inlined at {}:{}", function_text(module, *place), short_path(module, call, first), call.line);
    place = &call;
  }
  return text;
}

}  // namespace warpmat::syntax
