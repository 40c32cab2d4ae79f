#include <warpmat/report/suppressions.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/warp/trap_kind.h>

namespace warpmat {
namespace {

/// Whether `pattern`, in which * is any text and ? any letter, is all of `text`.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {  // the last * takes one letter more
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

/// The first word, and removes it and the spaces around it.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view spaces = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(spaces));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return word;
}

constexpr std::array all_kinds{Trap::Kind::misuse,    Trap::Kind::undefined, Trap::Kind::misaligned, Trap::Kind::out_of_range,
                               Trap::Kind::unwritten, Trap::Kind::unordered, Trap::Kind::deadlock,   Trap::Kind::limit,
                               Trap::Kind::stopped,   Trap::Kind::mispaired, Trap::Kind::refused};

void check_kind(std::string_view kind) {
  std::string known;
  for (const Trap::Kind each : all_kinds) {
    if (kind == name(each) || kind == "*") return;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", name(each));
  }
  throw std::runtime_error(fmt::format("'{}' is no kind of report: there are {}, and * for all", kind, known));
}

std::string file_name(const std::string& file) {
  return std::filesystem::path(file).filename().string();
}

bool is_at(const std::string& pattern, const Trap::Place& at) {
  const auto is = [&](const std::string& place) { return matches(pattern, place); };
  return is(fmt::format("ptx:{}", at.line)) || std::ranges::any_of(at.source_lines, [&](const Trap::SourceLine& line) {
           return is(fmt::format("{}:{}", line.file, line.line)) || is(fmt::format("{}:{}", file_name(line.file), line.line));
         });
}

}  // namespace

Suppressions& Suppressions::operator=(Suppressions&& other) noexcept {
  name_ = std::move(other.name_);
  all_ = std::move(other.all_);
  return *this;
}

Suppressions::Entry Suppressions::parse_entry(std::string_view line) {
  Entry entry{.line = 0, .text = std::string(line), .kind = {}, .kernel = {}, .at = {}, .headline = {}};
  entry.kind = take_word(line);
  check_kind(entry.kind);
  while (!line.empty()) {
    const std::string_view whole = line, word = take_word(line), key = word.substr(0, word.find('='));
    const bool has_value = key.size() < word.size();
    std::string* const field = key == "kernel" ? &entry.kernel : key == "at" ? &entry.at : key == "text" ? &entry.headline : nullptr;
    if (field == nullptr || !has_value)
      throw std::runtime_error(fmt::format("'{}' is none of kernel=NAME, at=FILE:LINE and text=HEADLINE", word));
    if (!field->empty()) throw std::runtime_error(fmt::format("there are two of {}=", key));
    const std::string_view value = (field == &entry.headline ? whole : word).substr(key.size() + 1);
    if (value.empty()) throw std::runtime_error(fmt::format("{}= has no value: * stands for any", key));
    *field = value;
    if (field == &entry.headline) break;
  }
  return entry;
}

Suppressions Suppressions::parse(std::string_view text, std::string name) {
  Suppressions suppressions;
  suppressions.name_ = std::move(name);
  for (int number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
    std::string_view rest = line;
    if (const std::string_view word = take_word(rest); word.empty() || word.starts_with('#')) continue;
    try {
      suppressions.all_.push_back(parse_entry(line));
    } catch (const std::runtime_error& e) {
      throw std::runtime_error(fmt::format("{}:{}: {}", suppressions.name_, number, e.what()));
    }
    suppressions.all_.back().line = number;
  }
  return suppressions;
}

bool Suppressions::is_of(const Entry& entry, const Report& report) {
  const auto any = [](const std::string& pattern) { return pattern.empty() || pattern == "*"; };
  if (!any(entry.kind) && entry.kind != report.rule) return false;
  if (!any(entry.kernel) && !matches(entry.kernel, report.kernel) && !matches(entry.kernel, readable_name(report.kernel)) &&
      !matches(entry.kernel, kernel_name(report)))
    return false;
  return (any(entry.at) || is_at(entry.at, report.at)) && (any(entry.headline) || matches(entry.headline, report.text));
}

bool Suppressions::suppresses(const Report& report) {
  const std::lock_guard lock(mutex_);
  bool found = false;
  for (Entry& entry : all_)
    if (is_of(entry, report)) found = entry.used = true;
  return found;
}

std::vector<std::string> Suppressions::unused() const {
  std::vector<std::string> all;
  for (const Entry& entry : all_)
    if (!entry.used) all.push_back(fmt::format("{}:{}: the suppression '{}' has hidden no report", name_, entry.line, entry.text));
  return all;
}

Suppressions read_suppressions(const std::string& file) {
  std::error_code error;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, error)) throw std::runtime_error(fmt::format("cannot read the suppressions '{}'", file));
  return Suppressions::parse(std::string(std::istreambuf_iterator<char>(in), {}), file);
}

std::string suppression_of(const Report& report) {
  std::string text = report.rule;
  std::string kernel = kernel_name(report);
  std::ranges::replace(kernel, ' ', '?');  // "(anonymous namespace)::scale"
  if (!kernel.empty()) text += " kernel=" + kernel;
  if (!report.at.source_lines.empty())
    text += fmt::format(" at={}:{}", file_name(report.at.source_lines.front().file), report.at.source_lines.front().line);
  else if (report.at.line > 0)
    text += fmt::format(" at=ptx:{}", report.at.line);
  return text;
}

}  // namespace warpmat
