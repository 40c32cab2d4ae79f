#include "tools/debug/inspect.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/mbarrier.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/ptx/text/token_reader.h>

#include "tools/debug/debuggee.h"
#include "tools/debug/products.h"
#include "tools/report/bank_report.h"

namespace warpmat::debug {
namespace {

void add_line(std::string& lines, const std::string& line) {
  lines += (lines.empty() ? "" : "\n") + line;
}

std::string dim_text(Dim3 index) {
  return fmt::format("({},{},{})", index.x, index.y, index.z);
}

const machine::WarpState& warp_at(const Follower& follower, const Focus& focus) {
  const machine::WarpState* const warp = follower.find_warp(focus);
  if (warp == nullptr)
    throw std::invalid_argument(fmt::format("block {} has no warp {} that runs here", dim_text(focus.block), focus.warp));
  return *warp;
}

std::uint32_t statement_at(const machine::WarpState& warp, const machine::Split& split) {
  return warp.program().operations[static_cast<std::size_t>(split.pc)].statement;
}

/// What a split does: at which statement it is, or what it waits for.
std::string state_text(const machine::WarpState& warp, const machine::Split& split, const SourceMap& source) {
  const std::uint32_t statement = statement_at(warp, split);
  const std::string opcode = warp.program().statements[statement]->opcode;
  using State = machine::Split::State;
  const std::string waits = split.state == State::at_barrier  ? "waits at a barrier, "
                            : split.state == State::gathering ? "waits for other lanes, "
                                                              : "";
  return fmt::format("{}{} {}", waits, source.place(statement), opcode);
}

LaneMask lanes_in_splits(const machine::WarpState& warp) {
  LaneMask all = 0;
  for (const machine::Split& split : warp.splits()) all |= split.lanes;
  return all;
}

Json print(const Follower& follower, const Json& question) {
  const Focus focus = question.at("focus");
  const Expression expression(question.at("text"), follower.launch().names);
  const std::string format = question.value("format", "");
  const auto of = [&](const Value& value, int lane) {
    return text(value, {follower.find_warp(focus), lane, &follower.launch().memory}, format.empty() ? '\0' : format.front());
  };
  if (!question.value("lanes", false)) {
    const Value value = expression(follower.at(focus));
    Json answer{{"text", of(value, focus.lane)},
                {"type", value.source != nullptr ? value.source->name : std::string(value.type)},
                {"bits", value.bits},
                {"parts", parts(value)}};
    if (value.address) answer["address"] = value.generic_address();
    if (value.address && value.count > 1 && value.source == nullptr)
      answer["note"] = fmt::format("{} elements of .{} at {:#x}", value.count, value.type, *value.address);
    return answer;
  }
  const machine::WarpState& warp = warp_at(follower, focus);
  std::string lines;
  Json values = Json::array();
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((warp.existing() >> lane & 1) == 0) continue;
    const std::string value = of(expression({&warp, lane, &follower.launch().memory}), lane);
    add_line(lines, fmt::format("lane {:2}: {}", lane, value));
    values.push_back(value);
  }
  return {{"text", lines}, {"values", values}};
}

Json examine(const Follower& follower, const Json& question) {
  const Focus focus = question.at("focus");
  const At at = follower.at(focus);
  const Value start = Expression(question.at("text"), follower.launch().names)(at);
  const std::string type = question.value("type", "b32"), format = question.value("format", "");
  const int bits = bits_of(type);
  const auto count = question.value("count", std::uint64_t{1});
  const bool is_place = start.address && (start.count > 1 || (start.source != nullptr && start.source->is_aggregate()));
  const std::uint64_t address = is_place ? *start.address : static_cast<std::uint64_t>(integer(start));
  const Space space = is_place ? start.space : Space::generic;
  constexpr std::uint64_t most = 4096;
  if (count > most) throw std::invalid_argument(fmt::format("x shows at most {} elements", most));
  const std::uint64_t each = static_cast<std::uint64_t>(bits + 7) / 8, per_line = std::max<std::uint64_t>(1, 16 / each);
  std::string lines;
  Json values = Json::array();
  for (std::uint64_t i = 0; i < count; ++i) {
    const Value value = value_at(at, type, space, address + i * each);
    values.push_back(value.bits);
    if (i % per_line == 0) lines += fmt::format("{}{:#x}:", i == 0 ? "" : "\n", address + i * each);
    lines += "  " + text(value, format.empty() ? (type.front() == 'b' ? 'x' : '\0') : format.front());
  }
  return {{"text", lines}, {"values", values}};
}

Json where(const Follower& follower, const Json& question) {
  const Focus focus = question.at("focus");
  const machine::WarpState& warp = warp_at(follower, focus);
  const SourceMap& source = follower.launch().source;
  const machine::Split* const split = follower.at(focus).split();
  const bool lives = (warp.live() >> focus.lane & 1) != 0;
  if (split == nullptr || !lives)
    return {{"exited", true}, {"text", fmt::format("the lane has {}", (warp.existing() >> focus.lane & 1) != 0 ? "exited" : "no thread")}};
  const std::uint32_t statement = statement_at(warp, *split);
  Json frames = Json::array();
  std::string lines;
  const auto add = [&](std::uint32_t at, std::int32_t function) {
    const std::string outer = readable_name(warp.program().functions[static_cast<std::size_t>(function)].name);
    std::vector<Trap::SourceLine> all = source.frames(at);
    if (all.empty()) all.push_back({"", source.ptx_line(at), 0, outer});
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].function.empty() || i + 1 == all.size()) all[i].function = i + 1 == all.size() ? outer : "?";
      const std::string place = all[i].file.empty() ? fmt::format("PTX {}", all[i].line) : fmt::format("{}:{}", all[i].file, all[i].line);
      add_line(lines, fmt::format("#{} {} at {}", frames.size(), all[i].function, place));
      frames.push_back({{"function", all[i].function}, {"file", all[i].file}, {"line", all[i].line}, {"statement", at}});
    }
  };
  add(statement, split->function);
  const auto caller = [&](const machine::Return& call) { return warp.program().operations[static_cast<std::size_t>(call.pc)].statement; };
  for (auto call = split->calls.rbegin(); call != split->calls.rend(); ++call) add(caller(*call), call->function);
  return {{"text", lines},
          {"frames", frames},
          {"statement", statement},
          {"lanes", split->lanes},
          {"calls", split->calls.size()},
          {"state", state_text(warp, *split, source)},
          {"ptx", source.text(statement)}};
}

Json registers(const Follower& follower, const Json& question) {
  const At at = follower.at(question.at("focus"));
  if (at.warp == nullptr || at.split() == nullptr) throw std::invalid_argument("there are no registers here: no block runs");
  Json all = Json::array();
  std::string lines;
  for (const code::PlacedRegister* each : follower.launch().names.registers(at.split()->function)) {
    if (!each->written) continue;
    const std::string value = text(follower.launch().names.read(*each, at));
    all.push_back({{"name", each->name}, {"type", each->type}, {"value", value}});
    add_line(lines, fmt::format("{:10} {}", each->name, value));
  }
  return {{"text", lines}, {"registers", all}};
}

Json variables(const Follower& follower, const Json& question) {
  const Names& names = follower.launch().names;
  Json all = Json::array();
  std::string lines;
  const auto add = [&](const std::string& kind, const std::string& name) {
    Json value;
    try {
      value = print(follower, {{"text", name}, {"focus", question.at("focus")}});
    } catch (const std::invalid_argument& error) {
      value = {{"text", fmt::format("({})", error.what())}, {"type", ""}, {"parts", Json::array()}};
    }
    add_line(lines, fmt::format("{:9} {} = {}", kind, name, value.at("text").get<std::string>()));
    value.update({{"kind", kind}, {"name", name}, {"value", value.at("text")}});
    all.push_back(std::move(value));
  };
  if (question.value("locals", false)) {
    const At at = follower.at(question.at("focus"));
    for (const SourceVariable* each : names.source().visible(line_at(at)))
      if (!each->function.empty()) add(each->function, each->name);
    if (!names.source().has_tables()) lines = "the PTX has no DWARF, which nvcc -G writes: no variable of the source is known";
    if (lines.empty()) lines = names.source().error().empty() ? "no variable of the source has its scope here" : names.source().error();
    return {{"text", lines}, {"variables", all}};
  }
  for (const code::Parameter& each : names.program().parameters) add("parameter", readable_name(each.name));
  for (const code::Variable& each : names.program().shared_variables) add("shared", readable_name(each.name));
  for (const auto& each : names.buffers())
    add("buffer", each.first.find(' ') == std::string::npos ? each.first : fmt::format("'{}'", each.first));
  for (const auto& each : names.variables()) add("variable", readable_name(each.first));
  return {{"text", lines}, {"variables", all}};
}

// ---- info

std::string blocks_text(const Follower& follower, const Focus&, Json& rows) {
  std::string lines;
  for (const machine::Block* block : follower.blocks()) {
    std::size_t live = 0;
    for (const machine::WarpState* warp : block->warps()) live += warp->live() != 0 ? 1U : 0U;
    add_line(lines, fmt::format("block {}: {} of {} warps run", dim_text(block->index()), live, block->warps().size()));
    rows.push_back({{"block", {block->index().x, block->index().y, block->index().z}}, {"warps", block->warps().size()}, {"live", live}});
  }
  return lines.empty() ? "no block runs" : lines;
}

std::string warps_text(const Follower& follower, const Focus& focus, Json& rows) {
  std::string lines;
  for (const machine::Block* block : follower.blocks())
    for (const machine::WarpState* warp : block->warps()) {
      const bool own = block->index() == focus.block && warp->index() == focus.warp;
      std::string states;
      for (const machine::Split& split : warp->splits()) {
        if (split.lanes == 0) continue;
        states += fmt::format("{}lanes {}: {}", states.empty() ? "" : "; ", lanes_text(split.lanes),
                              state_text(*warp, split, follower.launch().source));
      }
      if (warp->live() == 0) states = "exited";
      if (const LaneMask waiting = warp->live() & ~lanes_in_splits(*warp); waiting != 0)
        states += fmt::format("; lanes {}: wait to converge", lanes_text(waiting));
      add_line(lines, fmt::format("{} block {} warp {:2}  {}", own ? "*" : " ", dim_text(block->index()), warp->index(), states));
      rows.push_back({{"block", {block->index().x, block->index().y, block->index().z}},
                      {"warp", warp->index()},
                      {"live", warp->live()},
                      {"state", states}});
    }
  return lines.empty() ? "no block runs" : lines;
}

std::string splits_text(const Follower& follower, const Focus& focus, Json& rows) {
  const machine::WarpState& warp = warp_at(follower, focus);
  std::string lines;
  const auto add = [&](LaneMask lanes, const std::string& state) {
    add_line(lines, fmt::format("lanes {}: {}", lanes_text(lanes), state));
    rows.push_back({{"lanes", lanes}, {"state", state}});
  };
  for (const machine::Split& split : warp.splits())
    if (split.lanes != 0) add(split.lanes, state_text(warp, split, follower.launch().source));
  if (const LaneMask waiting = warp.live() & ~lanes_in_splits(warp); waiting != 0) add(waiting, "wait for the others to converge");
  if (const LaneMask exited = warp.existing() & ~warp.live(); exited != 0) add(exited, "exited");
  return rows.size() == 1 ? lines + "; the warp has not diverged" : lines;
}

std::string barriers_text(const Follower& follower, const Focus& focus, Json& rows) {
  const machine::Block& block = warp_at(follower, focus).block();
  std::string lines;
  for (int i = 0; i < static_cast<int>(machine::block_barriers); ++i) {
    const machine::BarrierState& state = block.barrier(i);
    if (!state.in_use) continue;
    std::vector<int> waiting, missing;
    for (const machine::WarpState* warp : block.warps())
      ((state.arrived_warps >> warp->index() & 1) != 0 ? waiting : missing).push_back(warp->index());
    const std::string expected = state.expected != 0 ? std::to_string(state.expected) : "all";
    add_line(lines, fmt::format("barrier {}: {} of {} threads have arrived; warps that wait: {}; others: {}", i, state.arrived, expected,
                                fmt::join(waiting, ","), fmt::join(missing, ",")));
    rows.push_back({{"barrier", i}, {"arrived", state.arrived}, {"waiting", waiting}, {"others", missing}});
  }
  return lines.empty() ? "no warp is at a barrier" : lines;
}

std::string mbarriers_text(const Follower& follower, const Focus& focus, Json& rows) {
  const machine::Block& block = warp_at(follower, focus).block();
  std::string lines;
  for (const auto& [offset, history] : block.mbarriers()) {
    const std::uint64_t address = block.launch().program.shared_base + offset;
    std::uint64_t bits = 0;
    std::memcpy(&bits, block.shared().data() + offset, sizeof bits);
    const machine::MbarrierWord word(bits);
    const auto variable = machine::shared_variable_before(block.launch(), address);
    add_line(
        lines,
        fmt::format(
            "mbarrier at {:#x}{}: parity {}, {} of {} arrivals and {} bytes to come; phases that have ended: {}", address,
            variable ? fmt::format(", {} bytes into {}", address - variable->variable.address, readable_name(variable->variable.name)) : "",
            word.phase(), word.missing(), word.expected(), word.bytes(), history.phases()));
    for (const machine::MbarrierHistory::Change& change : history.last_changes())
      lines += fmt::format("\n  warp {} came at {}", change.warp, follower.launch().source.place(change.statement));
    rows.push_back({{"offset", offset}, {"phases", history.phases()}, {"missing", word.missing()}, {"bytes", word.bytes()}});
  }
  return lines.empty() ? "the block has initialised no mbarrier" : lines;
}

std::string copies_text(const Follower& follower, const Focus& focus, Json& rows) {
  const machine::Block& block = warp_at(follower, focus).block();
  std::string lines;
  const auto add = [&](const std::string& line, Json row) {
    add_line(lines, line);
    rows.push_back(std::move(row));
  };
  for (const machine::BulkTransfer& copy : block.cluster().copies().pending())
    add(fmt::format("bulk copy {} of warp {} of block rank {}: {} bytes {}, issued at {}", copy.number, copy.warp, copy.issuer.rank,
                    copy.bytes,
                    copy.loads()    ? "to shared memory"
                    : copy.stores() ? "to global memory"
                                    : "between blocks",
                    follower.launch().source.place(copy.statement)),
        {{"number", copy.number}, {"warp", copy.warp}, {"bytes", copy.bytes}, {"statement", copy.statement}});
  for (const machine::WarpState* warp : block.warps()) {
    if (warp->async_copies() == nullptr) continue;
    std::map<std::uint32_t, std::pair<int, std::uint64_t>> groups;
    for (const machine::AsyncCopy& copy : warp->async_copies()->copies)
      if (copy.mask != 0)
        ++groups[copy.group].first,
            groups[copy.group].second += std::uint64_t{copy.bytes} * static_cast<std::uint64_t>(std::popcount(copy.mask));
    for (const auto& [group, content] : groups) {
      const bool committed = group < *std::ranges::max_element(warp->async_copies()->committed);
      add(fmt::format("warp {}: {} cp.async of {} bytes in group {}, {}", warp->index(), content.first, content.second, group,
                      committed ? "committed" : "not committed"),
          {{"warp", warp->index()}, {"copies", content.first}, {"bytes", content.second}, {"group", group}, {"committed", committed}});
    }
  }
  return lines.empty() ? "no copy is under way" : lines;
}

Json info(const Follower& follower, const Json& question) {
  static const std::map<std::string, std::string (*)(const Follower&, const Focus&, Json&), std::less<>> kinds{
      {"blocks", blocks_text},     {"warps", warps_text},         {"splits", splits_text},
      {"barriers", barriers_text}, {"mbarriers", mbarriers_text}, {"copies", copies_text}};
  Json rows = Json::array();
  const std::string lines = kinds.at(question.at("what").get<std::string>())(follower, question.at("focus"), rows);
  return {{"text", lines}, {"rows", rows}};
}

Json bytes(const Follower& follower, const Json& question) {
  const At at = follower.at(question.at("focus"));
  std::uint64_t address = question.at("address");
  std::string digits;
  for (std::uint64_t i = 0; i < question.at("bytes").get<std::uint64_t>(); ++i) {  // up to where the memory ends
    const auto found = bytes_at(at, Space::generic, address + i, 1);
    if (!found) break;
    digits += fmt::format("{:02x}", found->front());
  }
  return {{"text", digits}};
}

/// Where what an expression names lies: a register of the focus, or memory.
Json place(const Follower& follower, const Json& question) {
  const Focus focus = question.at("focus");
  const std::string name = question.at("text");
  const At at = follower.at(focus);
  const auto in_register = [](const code::PlacedRegister& reg) {
    return Json{{"text", reg.name}, {"register", reg.name}, {"function", reg.function}, {"address", 0},
                {"bytes", 0},       {"space", 0},           {"slot", reg.slot}};
  };
  if (at.warp != nullptr && at.split() != nullptr)
    for (const code::PlacedRegister* each : follower.launch().names.registers(at.split()->function))
      if (each->name == name || each->name == "%" + name) return in_register(*each);
  const Value value = Expression(name, follower.launch().names)(at);
  if (value.reg != nullptr) return in_register(*value.reg);
  std::uint64_t address = value.address ? *value.address : static_cast<std::uint64_t>(integer(value));
  Space space = value.address ? value.space : Space::generic;
  const std::uint64_t bytes = value.address ? value.bytes() : 1;
  if (at.warp != nullptr) std::tie(space, address) = resolve_space(space, address);
  if (!bytes_at(at, space, address, bytes))
    throw std::invalid_argument(fmt::format("{} is the address of nothing: {}", name, follower.launch().memory.describe(address)));
  if (space == Space::shared) address -= at.block().shared_base();
  return {{"text", name}, {"register", ""}, {"function", 0}, {"address", address}, {"bytes", bytes}, {"space", static_cast<int>(space)}};
}

}  // namespace

Json answer(const Follower& follower, const Json& question) {
  static const std::map<std::string, Json (*)(const Follower&, const Json&), std::less<>> kinds{
      {"print", print},   {"examine", examine}, {"where", where}, {"registers", registers}, {"variables", variables}, {"info", info},
      {"matrix", matrix}, {"explain", explain}, {"banks", banks}, {"bytes", bytes},         {"place", place}};
  try {
    return kinds.at(question.at("do").get<std::string>())(follower, question);
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace warpmat::debug
