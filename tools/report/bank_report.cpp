#include "tools/report/bank_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <warpmat/explain/table.h>
#include <warpmat/forms.h>
#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/warp.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tools/report/svg.h"

namespace warpmat {
namespace {

using checks::BankAccess;
using checks::BankPhase;
using Json = nlohmann::ordered_json;

BankAccess access_of(const machine::AccessEvent& event) {
  if (event.asynchronous) return BankAccess::copy;
  if (operation_of(event.event).semantics == catalogue::Semantics::matrix) return BankAccess::matrix;
  return event.writes ? BankAccess::store : BankAccess::load;
}

std::vector<BankPhase> phases_of(const BankExample& example) {
  return checks::bank_phases(example.access, example.bytes, example.addresses, example.lanes);
}

/// The number of words that a phase accesses in each bank; for copies the writes.
std::array<int, checks::banks> asked(const BankExample& example, const BankPhase& phase) {
  std::array<int, checks::banks> counts{};
  for (const checks::BankWord& word : phase.words)
    counts[static_cast<std::size_t>(word.bank)] += example.access == BankAccess::copy ? std::popcount(word.lanes) : 1;
  return counts;
}

LaneMask colliding(const std::vector<BankPhase>& phases) {
  LaneMask mask = 0;
  for (const BankPhase& phase : phases) mask |= phase.colliding;
  return mask;
}

std::string evidence_text(Evidence evidence) {
  return std::string(name(evidence));
}

}  // namespace

std::string lanes_text(LaneMask mask) {
  std::vector<std::string> runs;
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((mask & lane_bit(lane)) == 0) continue;
    int last = lane;
    while (last + 1 < warp_size && (mask & lane_bit(last + 1)) != 0) ++last;
    runs.push_back(last == lane ? std::to_string(lane) : fmt::format("{}-{}", lane, last));
    lane = last;
  }
  return fmt::format("{}", fmt::join(runs, ","));
}

void BankReport::access(const machine::AccessEvent& event) {
  const int line = event.event.line();
  const std::string opcode(event.event.opcode());
  if (event.space == Space::shared) {
    const Dim3 block = event.event.block();
    BankExample example{access_of(event), event.bytes, {event.addresses.begin(), event.addresses.end()}, event.event.lanes()};
    example.where = fmt::format("block ({},{},{}), warp {}", block.x, block.y, block.z, event.event.warp());
    const bool atomic = event.reads && event.writes;  // not measured
    const Evidence evidence =
        atomic ? Evidence::assumed
               : checks::bank_evidence(program_of(event.event).target->hardware, example.access, example.bytes, example.lanes);
    shared(line, opcode, evidence, std::move(example));
    if (std::string& source = lines_[{line, false}].source; source.empty()) source = event.event.source();
    return;
  }
  if (event.space != Space::global) return;
  BankLine& found = lines_[{line, true}];
  const checks::GlobalRequest request = checks::global_request(event.bytes, event.addresses, event.event.lanes());
  found.line = line, found.opcode = opcode, found.global = true;
  if (found.source.empty()) found.source = event.event.source();
  ++found.executions;
  found.sectors += static_cast<std::uint64_t>(request.sectors);
  found.min_sectors += static_cast<std::uint64_t>(request.min_sectors);
  found.lines += static_cast<std::uint64_t>(request.lines);
}

void BankReport::shared(int line, const std::string& opcode, Evidence evidence, BankExample example) {
  BankLine& found = lines_[{line, false}];
  const std::vector<BankPhase> phases = phases_of(example);
  example.wavefronts = checks::wavefronts(phases);
  found.line = line, found.opcode = opcode;
  ++found.executions;
  found.wavefronts += static_cast<std::uint64_t>(example.wavefronts);
  found.least += phases.size();
  found.evidence = std::min(found.evidence, evidence);
  if (example.wavefronts > found.worst.wavefronts) found.worst = std::move(example);
}

std::vector<BankLine> BankReport::lines() const {
  std::vector<BankLine> all;
  for (const bool global : {false, true})
    for (const auto& [place, line] : lines_)
      if (line.global == global) all.push_back(line);
  return all;
}

namespace {

/// Statements of one line of the source, such as those of an unrolled loop, as one.
std::vector<BankLine> added_by_source(const std::vector<BankLine>& statements) {
  std::vector<BankLine> all;
  for (const BankLine& one : statements) {
    const auto same = std::ranges::find_if(all, [&](const BankLine& other) {
      return !one.source.empty() && other.source == one.source && other.opcode == one.opcode && other.global == one.global;
    });
    if (same == all.end()) {
      all.push_back(one);
      continue;
    }
    ++same->more;
    same->executions += one.executions;
    same->wavefronts += one.wavefronts;
    same->least += one.least;
    same->sectors += one.sectors;
    same->min_sectors += one.min_sectors;
    same->lines += one.lines;
    same->evidence = std::min(same->evidence, one.evidence);
    if (one.worst.wavefronts > same->worst.wavefronts) {
      same->worst = one.worst;
      same->line = one.line;
    }
  }
  return all;
}

}  // namespace

std::string bank_table(const std::vector<BankLine>& statements) {
  const std::vector<BankLine> lines = added_by_source(statements);
  const bool sources = std::ranges::any_of(lines, [](const BankLine& line) { return !line.source.empty(); });
  const auto with_source = [&](std::vector<std::string> cells, const std::string& source) {
    if (sources) cells.push_back(source);
    return cells;
  };
  Table shared(
      with_source({"line", "statement", "executed", "wavefronts", "least", "worst", "lanes that collide there", "rule"}, "source"));
  Table global(with_source({"line", "statement", "executed", "sectors", "least", "lines of 128 bytes"}, "source"));
  std::uint64_t wavefronts = 0, least = 0;
  bool any_global = false;
  for (const BankLine& line : lines) {
    const std::string number = line.more == 0 ? std::to_string(line.line) : fmt::format("{} and {} more", line.line, line.more),
                      executions = std::to_string(line.executions);
    if (line.global) {
      any_global = true;
      global.add(with_source(
          {number, line.opcode, executions, std::to_string(line.sectors), std::to_string(line.min_sectors), std::to_string(line.lines)},
          line.source));
      continue;
    }
    wavefronts += line.wavefronts;
    least += line.least;
    const LaneMask mask = colliding(phases_of(line.worst));
    shared.add(with_source({number, line.opcode, executions, std::to_string(line.wavefronts), std::to_string(line.least),
                            std::to_string(line.worst.wavefronts), mask == 0 ? "none" : lanes_text(mask), evidence_text(line.evidence)},
                           line.source));
  }
  std::string out = fmt::format("Shared memory: {} wavefronts, {} without conflicts\n{}", wavefronts, least, shared.text());
  if (any_global) out += "\nGlobal memory: sectors of 32 bytes\n" + global.text();
  return out;
}

namespace {

Json example_json(const BankExample& example) {
  Json phases = Json::array();
  for (const BankPhase& phase : phases_of(example)) {
    Json words = Json::array();
    for (const checks::BankWord& word : phase.words)
      words.push_back({{"bank", word.bank}, {"address", word.word * 4}, {"lanes", lanes_text(word.lanes)}});
    phases.push_back({{"lanes", lanes_text(phase.lanes)},
                      {"wavefronts", phase.wavefronts},
                      {"colliding", lanes_text(phase.colliding)},
                      {"words", std::move(words)}});
  }
  return {{"where", example.where}, {"bytes", example.bytes}, {"wavefronts", example.wavefronts}, {"phases", std::move(phases)}};
}

}  // namespace

Json bank_json(const std::vector<BankLine>& lines) {
  Json shared = Json::array(), global = Json::array();
  for (const BankLine& line : lines) {
    Json json{{"line", line.line}, {"statement", line.opcode}, {"executed", line.executions}};
    if (!line.source.empty()) json["source"] = line.source;
    if (line.global) {
      json.update({{"sectors", line.sectors}, {"least_sectors", line.min_sectors}, {"lines_of_128_bytes", line.lines}});
      global.push_back(std::move(json));
    } else {
      json.update({{"wavefronts", line.wavefronts},
                   {"least", line.least},
                   {"rule", evidence_text(line.evidence)},
                   {"worst", example_json(line.worst)}});
      shared.push_back(std::move(json));
    }
  }
  return {{"shared", std::move(shared)}, {"global", std::move(global)}};
}

// ---- Pictures -----------------------------------------------------------------------------------------------------------------------

namespace {

/// "Line 12: ld.shared.v4.f32 in block (0,0,0), warp 2: 8 wavefronts"; without the line if the access has no text.
std::string picture_title(const BankLine& line) {
  return fmt::format("{}{} in {}: {} wavefront{}", line.line == 0 ? "" : fmt::format("Line {}: ", line.line), line.opcode, line.worst.where,
                     line.worst.wavefronts, line.worst.wavefronts == 1 ? "" : "s");
}

}  // namespace

std::string bank_picture_text(const BankLine& line) {
  std::string out = picture_title(line) + "\nbank";
  for (int bank = 0; bank < checks::banks; ++bank) out += fmt::format("{:3}", bank);
  std::size_t number = 0;
  for (const BankPhase& phase : phases_of(line.worst)) {
    out += fmt::format("\n{:<4}", number++);
    for (const int count : asked(line.worst, phase)) out += count == 0 ? "  ." : fmt::format("{:3}", count);
    out += fmt::format("  lanes {}: {} wavefront{}", lanes_text(phase.lanes), phase.wavefronts, phase.wavefronts == 1 ? "" : "s");
  }
  return out + "\n";
}

namespace {

/// White over light blue to strong orange; readable under black text, and distinguishable in grey print.
std::string heat(int count) {
  constexpr std::array<const char*, 5> colours = {"FFFFFF", "D6ECFA", "F8D48A", "F2A65A", "E0824A"};
  return colours[static_cast<std::size_t>(std::min(count, 4))];
}

}  // namespace

std::string bank_picture_svg(const BankLine& line) {
  constexpr int cell = 28, left = 150, top = 60, bottom = 20;
  const std::vector<BankPhase> phases = phases_of(line.worst);
  const int width = left + checks::banks * cell + 20, height = top + static_cast<int>(phases.size()) * cell + bottom;
  std::string out = svg_begin(width, height, picture_title(line), "font-size=\"11\" text-anchor=\"middle\" ");
  out += svg_text(10, 20, 14, "start", picture_title(line));
  out += fmt::format("<text x=\"10\" y=\"{}\" text-anchor=\"start\">words asked of bank</text>\n", top - 8);
  for (int bank = 0; bank < checks::banks; ++bank)
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + bank * cell + cell / 2, top - 8, bank);
  int y = top;
  for (const BankPhase& phase : phases) {
    out += fmt::format("<text x=\"10\" y=\"{}\" text-anchor=\"start\">lanes {}: {}</text>\n", y + 18, lanes_text(phase.lanes),
                       phase.wavefronts);
    int x = left;
    for (const int count : asked(line.worst, phase)) {
      out += svg_rectangle(x, y, cell, cell, heat(count), "666666");
      if (count > 0) out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x + cell / 2, y + 18, count);
      x += cell;
    }
    y += cell;
  }
  return out + "</svg>\n";
}

}  // namespace warpmat
