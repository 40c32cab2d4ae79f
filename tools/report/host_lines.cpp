#include "tools/report/host_lines.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/files/process.h>
#include <warpmat/report/report.h>

namespace warpmat {
namespace {

/// The source of which nvcc made the file: "/tmp/tmpxft_00002489_00000000-6_gemm.cudafe1.cpp" is of gemm.cu, and has its lines.
std::string source_of(const std::string& file) {
  constexpr std::string_view made = ".cudafe1.cpp";
  const std::size_t name = file.find("/tmpxft_"), number = file.find('-', name), stem = file.find('_', number);
  if (name == std::string::npos || stem == std::string::npos || !file.ends_with(made)) return file;
  return file.substr(stem + 1, file.size() - made.size() - stem - 1) + ".cu";
}

/// "main", and "gemm.cu:41 (discriminator 2)", or "??:0" where the program has no lines.
Trap::SourceLine line_of(std::string function, std::string_view place) {
  place = place.substr(0, place.find(" ("));
  const std::size_t colon = place.rfind(':');
  Trap::SourceLine line{.file = source_of(std::string(place.substr(0, colon))), .function = std::move(function)};
  if (colon != std::string_view::npos) std::from_chars(place.data() + colon + 1, place.data() + place.size(), line.line);
  return line;
}

/// The lines of calls in a file, each followed by those that it is inlined in. Empty where there is no addr2line.
std::vector<Trap::SourceLine> lines_in(const std::string& file, const std::vector<std::uint64_t>& addresses) {
  const std::optional<std::filesystem::path> tool = find_in_path("addr2line");
  if (!tool) return {};
  const TemporaryFolder folder;
  std::vector<std::string> words{tool->string(), "-C", "-f", "-i", "-e", file};
  for (const std::uint64_t address : addresses) words.push_back(fmt::format("{:#x}", address));
  if (run_program(words, {ProcessOutput::Kind::to_file, folder / "lines", "/dev/null"}) != 0) return {};
  std::ifstream text(folder / "lines");
  std::vector<Trap::SourceLine> lines;
  for (std::string function, place; std::getline(text, function) && std::getline(text, place);)
    lines.push_back(line_of(std::move(function), place));
  return lines;
}

/// Whether a line is the program's own, and not of the toolkit's or the system's headers or files.
bool is_own(const Trap::SourceLine& line) {
  return !is_of_system(line.file) && !line.function.starts_with("cudaError cuda") && line.function != "??";
}

/// The innermost line of the program's. nvcc puts two functions between a launch and the runtime: a stub, and the kernel's namesake.
Trap::SourceLine innermost(std::vector<Trap::SourceLine> lines) {
  const auto is_stub = [](const Trap::SourceLine& line) { return line.function.starts_with("__device_stub__"); };
  const auto stub = std::find_if(lines.rbegin(), lines.rend(), is_stub).base();
  const auto first = stub == lines.begin() || stub == lines.end() ? stub : stub + 1;
  const auto own = std::find_if(first, lines.end(), is_own);
  return own == lines.end() ? Trap::SourceLine{} : *own;
}

}  // namespace

Trap::SourceLine host_line(const HostFrames& frames) {
  for (auto first = frames.begin(); first != frames.end();) {
    const auto last = std::find_if(first, frames.end(), [&](const auto& frame) { return frame.first != first->first; });
    std::vector<std::uint64_t> addresses;
    for (auto frame = first; frame != last; ++frame) addresses.push_back(frame->second);
    if (Trap::SourceLine line = innermost(lines_in(first->first, addresses)); !line.function.empty()) return line;
    first = last;
  }
  return {};
}

}  // namespace warpmat
