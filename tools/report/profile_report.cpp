#include "tools/report/profile_report.h"

#include <fmt/core.h>
#include <warpmat/explain/table.h>
#include <warpmat/files/output_file.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/version.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace warpmat {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 8;      ///< of each table
constexpr std::size_t longest_name = 60;  ///< of a kernel, in tables and stacks: template arguments may be thousands of characters

/// Statements that belong together: of an opcode, of a line, of a kernel.
struct Sum {
  std::uint64_t executed = 0, lanes = 0;
  double seconds = 0, check_seconds = 0;

  void add(const StatementProfile& statement) {
    executed += statement.executed;
    lanes += statement.lanes;
    seconds += statement.seconds;
    check_seconds += statement.check_seconds;
  }
  void add_other(const Profile& profile) {
    seconds += profile.other_seconds;
    check_seconds += profile.other_check_seconds;
  }
  double all_seconds() const { return seconds + check_seconds; }
  double mean_lanes() const { return executed == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(executed); }
};

using Sums = std::vector<std::pair<std::string, Sum>>;

const syntax::Statement& statement_of(const ProfiledKernel& kernel, const StatementProfile& statement) {
  return *program_of(kernel.kernel).statements[statement.statement];
}

std::string name_of(const ProfiledKernel& kernel) {
  return readable_name(program_of(kernel.kernel).entry);
}

std::string short_name(const ProfiledKernel& kernel) {
  const std::string name = name_of(kernel);
  return name.size() <= longest_name ? name : name.substr(0, longest_name - 3) + "...";
}

/// The places of a statement in the source, the kernel's own first, then those of the calls that the compiler inlined.
std::vector<const syntax::SourceLine*> places_of(const syntax::Module& module, const syntax::Statement& statement) {
  std::vector<const syntax::SourceLine*> places;
  for (int i = statement.source_line; i >= 0; i = places.back()->inlined_at)
    places.push_back(&module.source_lines[static_cast<std::size_t>(i)]);
  std::ranges::reverse(places);
  return places;
}

/// "/src/gemm.cu"; "?" where the module does not say it.
std::string_view file_of(const syntax::Module& module, const syntax::SourceLine& place) {
  const auto file = module.files.find(place.file);
  return file == module.files.end() ? "?" : file->second;
}

/// "gemm.cu:45"
std::string place_text(const syntax::Module& module, const syntax::SourceLine& place) {
  const std::string_view path = file_of(module, place);
  return fmt::format("{}:{}", path.substr(path.find_last_of("/\\") + 1), place.line);
}

/// The frames of a statement, from the outermost: lines of the source, or of the PTX where that does not say them.
std::vector<std::string> frames_of(const ProfiledKernel& kernel, const StatementProfile& profile) {
  const syntax::Module& module = *program_of(kernel.kernel).module;
  const syntax::Statement& statement = statement_of(kernel, profile);
  std::vector<std::string> frames;
  for (const syntax::SourceLine* const place : places_of(module, statement)) frames.push_back(place_text(module, *place));
  if (frames.empty()) frames.push_back(fmt::format("line {}", statement.location.line));
  return frames;
}

/// "gemm.cu:45 > hopper.cuh:145"; a line of the PTX has the kernel's name where there are several kernels.
std::string line_text(const ProfiledKernel& kernel, const StatementProfile& profile, bool several) {
  std::string text;
  for (const std::string& frame : frames_of(kernel, profile)) text += (text.empty() ? "" : " > ") + frame;
  const bool of_ptx = statement_of(kernel, profile).source_line < 0;
  return of_ptx && several ? fmt::format("{} of {}", text, short_name(kernel)) : text;
}

/// Sums by name, the one that took the most time first.
template <typename Name>
Sums sums_by(const std::vector<ProfiledKernel>& kernels, const Name& name) {
  std::map<std::string, Sum> sums;
  for (const ProfiledKernel& kernel : kernels)
    for (const StatementProfile& statement : kernel.profile.statements) sums[name(kernel, statement)].add(statement);
  Sums sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& each) { return each.second.all_seconds(); });
  return sorted;
}

Sums by_opcode(const std::vector<ProfiledKernel>& kernels) {
  return sums_by(kernels, [](const auto& kernel, const auto& statement) { return statement_of(kernel, statement).opcode; });
}

Sums by_line(const std::vector<ProfiledKernel>& kernels) {
  const bool several = kernels.size() > 1;
  return sums_by(kernels, [several](const auto& kernel, const auto& statement) { return line_text(kernel, statement, several); });
}

Sums by_kernel(const std::vector<ProfiledKernel>& kernels) {
  return sums_by(kernels, [](const auto& kernel, const auto&) { return short_name(kernel); });
}

Sum sum_of(const std::vector<ProfiledKernel>& kernels) {
  Sum all;
  for (const ProfiledKernel& kernel : kernels)
    for (const StatementProfile& statement : kernel.profile.statements) all.add(statement);
  return all;
}

Sum others_of(const std::vector<ProfiledKernel>& kernels) {
  Sum all;
  for (const ProfiledKernel& kernel : kernels) all.add_other(kernel.profile);
  return all;
}

/// "1.23 s", "45.6 ms", "789 us", of three digits.
std::string time_text(double seconds) {
  if (seconds >= 0.9995) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.0f} us", seconds * 1e6);
}

std::string percent_text(double part, double whole) {
  return fmt::format("{:.0f}%", whole == 0 ? 0 : 100 * part / whole);
}

/// Aligns all columns but the last, which is text, to the right.
std::string sums_text(const std::string& what, const Sums& sums, double whole) {
  Table numbers({"time", "share", "executed", "each", "lanes", "checks"}, Table::Align::right);
  const std::size_t shown = std::min(sums.size(), most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const Sum& sum = sums[i].second;
    numbers.add({time_text(sum.all_seconds()), percent_text(sum.all_seconds(), whole), std::to_string(sum.executed),
                 fmt::format("{:.0f} ns", sum.all_seconds() * 1e9 / static_cast<double>(sum.executed)),
                 fmt::format("{:.1f}", sum.mean_lanes()), time_text(sum.check_seconds)});
  }
  std::string text, lines = numbers.text();
  for (std::size_t i = 0, begin = 0; i <= shown; ++i) {
    const std::size_t end = lines.find('\n', begin);
    text += fmt::format("{}  {}\n", lines.substr(begin, end - begin), i == 0 ? what : sums[i - 1].first);
    begin = end + 1;
  }
  Sum rest;
  for (std::size_t i = shown; i < sums.size(); ++i) {
    rest.seconds += sums[i].second.all_seconds();
    rest.executed += sums[i].second.executed;
  }
  const std::size_t left = sums.size() - shown;
  if (left == 0) return text;
  return text +
         fmt::format("and {} {}{} more: {}, {} executed\n", left, what, left == 1 ? "" : "s", time_text(rest.seconds), rest.executed);
}

Json sum_json(const Sum& sum) {
  return {{"executed", sum.executed}, {"lanes", sum.lanes}, {"seconds", sum.seconds}, {"check_seconds", sum.check_seconds}};
}

Json sums_json(const char* name, const Sums& sums) {
  Json all = Json::array();
  for (const auto& [text, sum] : sums) {
    Json json{{name, text}};
    json.update(sum_json(sum));
    all.push_back(std::move(json));
  }
  return all;
}

Json statement_json(const ProfiledKernel& kernel, const StatementProfile& profile) {
  const syntax::Module& module = *program_of(kernel.kernel).module;
  const syntax::Statement& statement = statement_of(kernel, profile);
  Json source = Json::array();
  for (const syntax::SourceLine* const place : places_of(module, statement))
    source.push_back({{"file", file_of(module, *place)}, {"line", place->line}});
  Json json{{"line", statement.location.line}, {"opcode", statement.opcode}, {"source", std::move(source)}};
  Sum sum;
  sum.add(profile);
  json.update(sum_json(sum));
  return json;
}

Json kernel_json(const ProfiledKernel& kernel) {
  Sum all = sum_of({kernel});
  const Profile& profile = kernel.profile;
  Json statements = Json::array();
  for (const StatementProfile& statement : profile.statements) statements.push_back(statement_json(kernel, statement));
  Json json{{"kernel", name_of(kernel)}, {"entry", program_of(kernel.kernel).entry}, {"launches", kernel.launches}};
  json.update(sum_json(all));
  json["other_seconds"] = profile.other_seconds;
  json["other_check_seconds"] = profile.other_check_seconds;
  json["statements"] = std::move(statements);
  return json;
}

/// A frame of a stack, without the characters that separate.
std::string frame_text(std::string text) {
  std::ranges::replace(text, ';', ',');
  return text;
}

}  // namespace

std::string profile_table(const std::vector<ProfiledKernel>& kernels) {
  const Sum statements = sum_of(kernels), other = others_of(kernels);
  const double checks = statements.check_seconds + other.check_seconds;
  const double whole = statements.all_seconds() + other.all_seconds();
  std::uint64_t launches = 0;
  for (const ProfiledKernel& kernel : kernels) launches += kernel.launches;
  std::string text = fmt::format(
      "Profile of {} in {}, by the time of the emulation on this CPU, not of a GPU: {} of all threads, {} statements of warps, {:.1f} of "
      "32 lanes active\n"
      "of this {} ({}) in checks; {} ({}) before and after blocks, with the checks there\n\n",
      kernels.size() == 1 ? short_name(kernels.front()) : fmt::format("{} kernels", kernels.size()),
      launches == 1 ? "1 launch" : fmt::format("{} launches", launches), time_text(whole), statements.executed, statements.mean_lanes(),
      time_text(checks), percent_text(checks, whole), time_text(other.all_seconds()), percent_text(other.all_seconds(), whole));
  if (kernels.size() > 1) text += sums_text("kernel", by_kernel(kernels), whole) + "\n";
  text += sums_text("opcode", by_opcode(kernels), whole) + "\n" + sums_text("line", by_line(kernels), whole);
  return text + "\nTimes are of the profiled run, which is slower: docs/use/performance.md says how they are measured.\n";
}

Json profile_json(const std::vector<ProfiledKernel>& kernels) {
  Json each = Json::array();
  for (const ProfiledKernel& kernel : kernels) each.push_back(kernel_json(kernel));
  const Sum other = others_of(kernels);
  Json json = sum_json(sum_of(kernels));
  json["other_seconds"] = other.seconds;
  json["other_check_seconds"] = other.check_seconds;
  json["opcodes"] = sums_json("opcode", by_opcode(kernels));
  json["lines"] = sums_json("line", by_line(kernels));
  json["kernels"] = std::move(each);
  return json;
}

std::string profile_stacks(const std::vector<ProfiledKernel>& kernels) {
  std::map<std::string, double> stacks;
  for (const ProfiledKernel& kernel : kernels) {
    const std::string name = frame_text(short_name(kernel));
    stacks[name + ";blocks begin and end"] += kernel.profile.other_seconds;
    stacks[name + ";blocks begin and end;checks"] += kernel.profile.other_check_seconds;
    for (const StatementProfile& profile : kernel.profile.statements) {
      std::string stack = name;
      for (const std::string& frame : frames_of(kernel, profile)) stack += ";" + frame_text(frame);
      stack += ";" + statement_of(kernel, profile).opcode;
      stacks[stack] += profile.seconds;
      stacks[stack + ";checks"] += profile.check_seconds;
    }
  }
  std::string text;
  for (const auto& [stack, seconds] : stacks)
    if (const auto nanoseconds = std::llround(seconds * 1e9); nanoseconds > 0) text += fmt::format("{} {}\n", stack, nanoseconds);
  return text;
}

void check_profile_file(const std::string& path) {
  if (!path.ends_with(".json") && !path.ends_with(".folded"))
    throw std::runtime_error(fmt::format("--profile={}: the file's name ends with .json, or with .folded for a flame graph", path));
  check_output_place(path);
}

void write_profile(const std::string& path, const std::string& command, const std::vector<ProfiledKernel>& kernels) {
  if (path.ends_with(".folded")) return write_file(path, {profile_stacks(kernels)});
  Json json{{"warpmat", version()}, {"command", command}};
  if (!kernels.empty()) json["target"] = program_of(kernels.front().kernel).target->name;
  json.update(profile_json(kernels));
  write_file(path, {json.dump(1), "\n"});
}

}  // namespace warpmat
