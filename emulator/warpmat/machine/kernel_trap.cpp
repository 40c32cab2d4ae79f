#include <warpmat/machine/kernel_trap.h>

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/source_text.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::machine {
namespace {

std::string describe(const Trap::Site& site, std::optional<std::uint64_t> address, const std::string& reason) {
  std::string text = fmt::format("kernel '{}'", readable_name(site.kernel));
  if (site.warp >= 0) text += fmt::format(", block ({}, {}, {}), warp {}", site.block.x, site.block.y, site.block.z, site.warp);
  if (site.lane >= 0) text += fmt::format(", lane {}", site.lane);
  text += fmt::format(", line {}", site.line);
  if (!site.statement.empty()) text += fmt::format(" ({})", site.statement);
  if (!site.source.empty()) text += fmt::format(", {}", site.source);
  if (address) text += fmt::format(", address {:#x}", *address);
  return text + ": " + reason;
}

std::vector<Trap::SourceLine> source_lines(const syntax::Module& module, int place) {
  std::vector<Trap::SourceLine> lines;
  while (place >= 0) {  // inlined_at is a line before: no circles
    const syntax::SourceLine& line = module.source_lines[static_cast<std::size_t>(place)];
    const auto file = module.files.find(line.file);
    const auto function = module.debug_names.find(line.function);
    lines.push_back({.file = file == module.files.end() ? "?" : std::string(file->second),
                     .line = line.line,
                     .column = line.column,
                     .function = function == module.debug_names.end() ? "" : readable_name(function->second)});
    place = line.inlined_at;
  }
  return lines;
}

}  // namespace

Trap::Place place_of(const code::Program& program, std::uint32_t statement) {
  const syntax::Statement& s = *program.statements[statement];
  return {.line = s.location.line,
          .statement = s.opcode,
          .source_lines = source_lines(*program.module, s.source_line),
          .source = syntax::source_text(*program.module, s)};
}

Trap::Site site_at(Trap::Site site, const code::Program& program, std::uint32_t statement) {
  Trap::Place place = place_of(program, statement);
  site.line = place.line;
  site.statement = std::move(place.statement);
  site.source = std::move(place.source);
  site.source_lines = std::move(place.source_lines);
  return site;
}

Trap kernel_trap(Trap::Site site, std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind) {
  const std::string text = describe(site, address, reason.text());
  return {kind, std::move(site), address, reason, text};
}

std::uint32_t first_of_line(const code::Program& program, std::uint32_t statement) {
  const auto place = [&](const syntax::Statement* each) {
    if (each->source_line < 0) return std::pair(-1, -1);
    const syntax::SourceLine& line = program.module->source_lines[static_cast<std::size_t>(each->source_line)];
    return std::pair(line.file, line.line);
  };
  const auto wanted = place(program.statements[statement]);
  if (wanted.first < 0) return statement;
  return static_cast<std::uint32_t>(std::ranges::find(program.statements, wanted, place) - program.statements.begin());
}

}  // namespace warpmat::machine
