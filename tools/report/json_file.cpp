#include "tools/report/json_file.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tools/report/input_file.h"
#include "tools/report/nearest.h"

namespace warpmat {
namespace {

/// "launch.json:3:5: syntax error while parsing value - ..." of "[json.exception.parse_error.101] parse error at line 3, column 5: syntax
/// ...".
std::string syntax_error(const std::string& name, std::string_view what) {
  constexpr std::string_view line_word = " at line ", column_word = ", column ";
  const std::size_t line = what.find(line_word), column = what.find(column_word), text = what.find(": ");
  if (line == std::string_view::npos || column == std::string_view::npos || text == std::string_view::npos || text < column)
    return fmt::format("{} is no JSON: {}", name, what);
  const std::size_t line_at = line + line_word.size(), column_at = column + column_word.size();
  return fmt::format("{}:{}:{}: no JSON: {}", name, what.substr(line_at, column - line_at), what.substr(column_at, text - column_at),
                     what.substr(text + 2));
}

}  // namespace

JsonFile::JsonFile(const std::filesystem::path& path) : JsonFile(path.string(), read_file(path)) {}

JsonFile::JsonFile(std::string name, const std::string& text) : name_(std::move(name)) {
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos)  // where the parser takes the text to end
    throw std::runtime_error(fmt::format("{}:{}: no JSON: a NUL byte", name_,
                                         1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n')));
  try {
    json_ = nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    throw std::runtime_error(syntax_error(name_, e.what()));
  }
  if (!json_.is_object()) throw std::runtime_error(fmt::format("{} is no JSON object: it would begin with {{", name_));
  find_lines(text);
}

/// Walks through the text, which is JSON, and notes the line of each value.
void JsonFile::find_lines(std::string_view text) {
  struct Level {
    std::string path;
    bool object;
    std::size_t index = 0;
    std::string key{};
  };
  std::vector<Level> levels;
  int line = 1;
  const auto place_of_next = [&]() -> std::string {
    if (levels.empty()) return "";
    const Level& level = levels.back();
    if (!level.object) return fmt::format("{}[{}]", level.path, level.index);
    return level.path.empty() ? level.key : level.path + "." + level.key;
  };
  bool expects_key = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (c == '"') {
      const std::size_t begin = i + 1;
      for (++i; text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
      if (!expects_key) continue;
      levels.back().key = text.substr(begin, i - begin);
      expects_key = false;
      const std::string path = place_of_next();
      if (!lines_.emplace(path, line).second)
        throw std::runtime_error(fmt::format("{}:{}: {} is there twice: the first is in line {}", name_, line, path, lines_.at(path)));
    } else if (c == '{' || c == '[') {
      const std::string path = place_of_next();
      lines_.emplace(path, line);
      levels.push_back({path, c == '{'});
      expects_key = c == '{';
    } else if (c == '}' || c == ']') {
      levels.pop_back();
      expects_key = false;
    } else if (c == ',') {
      ++levels.back().index;
      expects_key = levels.back().object;
    }
  }
}

std::string JsonFile::place(std::string path) const {
  for (;;) {
    if (const auto found = lines_.find(path); found != lines_.end()) return fmt::format("{}:{}", name_, found->second);
    if (path.empty()) return name_;
    const std::size_t end = path.find_last_of(".[");
    path.resize(end == std::string::npos ? 0 : end);
  }
}

void JsonPlace::fail(std::string_view message) const {
  throw std::runtime_error(fmt::format("{}: {}{}{}", file->place(path), path, path.empty() ? "" : ": ", message));
}

void JsonPlace::check_keys(const nlohmann::ordered_json& object, std::initializer_list<std::string_view> known) const {
  const std::span<const std::string_view> keys(known.begin(), known.size());
  if (!object.is_object()) fail(fmt::format("an object with {} belongs here", fmt::join(keys, ", ")));
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::count(keys, key) != 0) continue;
    const std::string_view near = nearest(key, keys);
    const JsonPlace place = *this / key;
    throw std::runtime_error(
        near.empty() ? fmt::format("{}: {}: no such key: there are {}", file->place(place.path), place.path, fmt::join(keys, ", "))
                     : fmt::format("{}: {}: no such key: the nearest is \"{}\"", file->place(place.path), place.path, near));
  }
}

}  // namespace warpmat
