#include "tools/debug/source_map.h"

#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <span>

#include <fmt/core.h>

#include <warpmat/machine/kernel_trap.h>

namespace warpmat::debug {
namespace {

bool ends_with_path(std::string_view path, std::string_view end) {
  return path.ends_with(end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

}  // namespace

std::string SourceMap::text(std::uint32_t statement) const {
  const std::string& all = *program_.module->text;
  const syntax::Statement& of = *program_.statements[statement];
  std::size_t at = 0;
  for (int line = 1; line < of.location.line && at != std::string::npos; ++line) at = all.find('\n', at) + 1;
  const std::size_t end = all.find(';', at);
  std::string text;
  for (const char c : all.substr(at, end == std::string::npos ? end : end - at)) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank) text += c;
    if (blank && !text.empty() && text.back() != ' ') text += ' ';
  }
  return text;
}

std::string SourceMap::file_of(int number) const {
  const auto found = program_.module->files.find(number);
  return found == program_.module->files.end() ? "?" : std::string(found->second);
}

std::vector<int> SourceMap::chain(std::uint32_t statement) const {
  std::vector<int> all;
  for (int at = program_.statements[statement]->source_line; at >= 0;
       at = program_.module->source_lines[static_cast<std::size_t>(at)].inlined_at)
    all.push_back(at);
  return all;
}

std::vector<Trap::SourceLine> SourceMap::frames(std::uint32_t statement) const {
  return machine::place_of(program_, statement).source_lines;
}

std::string SourceMap::place(std::uint32_t statement) const {
  const std::vector<Trap::SourceLine> all = frames(statement);
  if (all.empty()) return fmt::format("PTX {}", ptx_line(statement));
  return fmt::format("{}:{}", all.front().file.substr(all.front().file.find_last_of('/') + 1), all.front().line);
}

int SourceMap::depth(std::uint32_t statement) const {
  return static_cast<int>(chain(statement).size());
}

std::vector<int> SourceMap::places(int levels) const {
  if (!has_source()) {  // each statement is a line
    std::vector<int> lines;
    for (std::uint32_t i = 0; i < size(); ++i) lines.push_back(ptx_line(i));
    return lines;
  }
  return numbered(levels, [](const syntax::SourceLine& line) { return Key{"", line.file, line.line}; });
}

std::vector<int> SourceMap::instances(int levels) const {
  return numbered(levels, [this](const syntax::SourceLine& line) {
    if (line.inlined_at < 0) return Key{line.function, -1, -1};
    const syntax::SourceLine& call = program_.module->source_lines[static_cast<std::size_t>(line.inlined_at)];
    return Key{line.function, call.file, call.line};
  });
}

/// Equal numbers for statements whose outermost `levels` lines have equal keys.
std::vector<int> SourceMap::numbered(int levels, const std::function<Key(const syntax::SourceLine&)>& key_of) const {
  std::map<std::vector<Key>, int> known;
  std::vector<int> all;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::vector<int> lines = chain(i);
    const std::size_t count = std::min(lines.size(), static_cast<std::size_t>(levels));
    std::vector<Key> key;
    for (const int line : std::span(lines).last(count))
      key.push_back(key_of(program_.module->source_lines[static_cast<std::size_t>(line)]));
    all.push_back(key.empty() ? -1 : known.emplace(key, static_cast<int>(known.size())).first->second);
  }
  return all;
}

std::vector<std::uint32_t> SourceMap::beginning(int line, std::string_view file) const {
  std::vector<std::uint32_t> all;
  bool before = false;
  for (std::uint32_t i = 0; i < size(); ++i) {
    bool here = file == "ptx" && ptx_line(i) == line;
    if (file != "ptx" && program_.statements[i]->source_line < 0) continue;
    if (file != "ptx")
      for (const int at : chain(i)) {
        const syntax::SourceLine& each = program_.module->source_lines[static_cast<std::size_t>(at)];
        here |= each.line == line && (file.empty() || ends_with_path(file_of(each.file), file));
      }
    if (here && !before) all.push_back(i);
    before = here;
  }
  return all;
}

std::vector<std::uint32_t> SourceMap::find(std::string_view file, int& line) const {
  const std::string_view in = has_source() ? file : "ptx";
  int next = INT_MAX;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (in == "ptx" && ptx_line(i) >= line) next = std::min(next, ptx_line(i));
    if (in == "ptx") continue;
    for (const int at : chain(i)) {
      const syntax::SourceLine& each = program_.module->source_lines[static_cast<std::size_t>(at)];
      if (each.line >= line && (in.empty() || ends_with_path(file_of(each.file), in))) next = std::min(next, each.line);
    }
  }
  if (next == INT_MAX) return {};
  line = next;
  return beginning(line, in);
}

std::vector<std::uint32_t> SourceMap::with_opcode(std::string_view beginning) const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < size(); ++i)
    if (program_.statements[i]->opcode.starts_with(beginning)) all.push_back(i);
  return all;
}

std::vector<std::string> SourceMap::files() const {
  std::set<std::string> all;
  for (std::uint32_t i = 0; i < size(); ++i)
    for (const Trap::SourceLine& frame : frames(i)) all.insert(frame.file);
  return {all.begin(), all.end()};
}

}  // namespace warpmat::debug
