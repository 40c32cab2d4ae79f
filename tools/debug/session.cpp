#include "tools/debug/session.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/words/words.h>

#include "tools/debug/origin_trace.h"
#include "tools/report/limits.h"
#include "tools/report/nearest.h"

namespace warpmat::debug {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::uint64_t checked_number(const std::string& text, const char* what) {
  const auto number = number_of<std::uint64_t>(text);
  if (!number) throw std::invalid_argument(fmt::format("'{}' is no {}", text, what));
  return *number;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string focus_text(const Focus& focus) {
  return fmt::format("block ({},{},{}) warp {} lane {}", focus.block.x, focus.block.y, focus.block.z, focus.warp, focus.lane);
}

/// One letter or none. Throws std::invalid_argument for another.
std::string checked_format(const std::string& format) {
  if (format.size() > 1 || (!format.empty() && std::string_view("xdutfhb").find(format) == std::string_view::npos))
    throw std::invalid_argument(fmt::format("'{}' is no format and no type: x, d, u, t, f, h, b; b32, f16, u8", format));
  return format;
}

/// A line of a file of the source; nothing where it cannot be read.
std::optional<std::string> source_line(const std::string& file, int number) {
  std::ifstream in(file);
  std::string line;
  for (int i = 0; i < number; ++i)
    if (!std::getline(in, line)) return std::nullopt;
  return line;
}

}  // namespace

struct Session::Row {
  std::string_view names;  ///< separated by blanks; the first is the whole one
  std::string_view arguments, help;
  void (Session::*work)(const std::string& words);
  bool repeats = false;

  bool is(std::string_view word) const { return fmt::format(" {} ", names).find(fmt::format(" {} ", word)) != std::string::npos; }
  std::string_view name() const { return names.substr(0, names.find(' ')); }
};

std::span<const Session::Row> Session::rows() {
  using S = Session;
  using Step = Debugger::Step;
  static constexpr std::array all{
      Row{"run r", "", "begin the first launch, up to a breakpoint", &S::run},
      Row{"start", "", "begin, and stop before the first statement", &S::start},
      Row{"continue c", "[N]", "go on to the next breakpoint, N times", &S::resume, true},
      Row{"step s", "[N]", "go on to another line, into calls that are inlined", &S::step<Step::line>, true},
      Row{"next n", "[N]", "the same over calls", &S::step<Step::over>, true},
      Row{"stepi si", "[N]", "go on by a statement of the PTX", &S::step<Step::statement>, true},
      Row{"finish", "", "go on until the call, inlined or not, is over", &S::step<Step::out>},
      Row{"reverse-continue rc", "[N]", "go back to the breakpoint before; to before a watched value changed", &S::reverse_resume, true},
      Row{"reverse-step rs", "[N]", "go back to where the line begins, or the line before", &S::reverse_step<Step::line>, true},
      Row{"reverse-next rn", "[N]", "the same over calls", &S::reverse_step<Step::over>, true},
      Row{"reverse-stepi rsi", "[N]", "go back by a statement of the PTX", &S::reverse_step<Step::statement>, true},
      Row{"reverse-finish", "", "go back to where the call began", &S::reverse_step<Step::out>},
      Row{"goto", "TIME", "go to a time: the number of an operation of the launch", &S::go_to},
      Row{"launch", "N", "go to the start of launch N of the program, from 1 on", &S::go_to_launch},
      Row{"break b", "FILE:LINE|LINE|*PTX-LINE|KERNEL|OPCODE [if CONDITION]",
          "stop there, before the statement; 'break mma' at all opcodes that begin so", &S::set_breakpoint<false>},
      Row{"tbreak tb", "PLACE [if CONDITION]", "the same, once", &S::set_breakpoint<true>},
      Row{"watch", "EXPRESSION", "stop when the value changes: a variable, memory, shared memory, a register of the focus", &S::watch},
      Row{"delete d", "[N]", "remove a breakpoint, or all", &S::remove_breakpoints},
      Row{"enable", "N", "make a breakpoint stop again", &S::enable<true>},
      Row{"disable", "N", "make a breakpoint not stop", &S::enable<false>},
      Row{"condition", "N [CONDITION]", "stop at a breakpoint where the condition is true alone", &S::condition},
      Row{"focus", "[block X[,Y[,Z]]] [warp N] [lane N] | thread X[,Y[,Z]]",
          "look at another thread; 'block', 'warp', 'lane' and 'thread' begin it, too", &S::focus},
      Row{"block", "X[,Y[,Z]] [warp N] [lane N]", "look at another block", &S::focus},
      Row{"warp", "N [lane N]", "look at another warp of the block", &S::focus},
      Row{"lane", "N", "look at another lane of the warp", &S::focus},
      Row{"thread t", "X[,Y[,Z]]", "look at another thread of the block", &S::focus},
      Row{"print p", "[/FORMAT] EXPRESSION [as OPCODE operand NAME]",
          "a value: a variable of nvcc -G, p->x[2], %r5, threadIdx.x, a parameter, A[3], tile[2], {f32}ADDRESS, {f16:shared}ADDRESS; /w: "
          "of "
          "all lanes; /x /d /u /f /t, /h and /b two f16 and bf16. {%r1,%r2} as OPCODE operand a: registers as the matrix that they are",
          &S::print},
      Row{"x", "/COUNT[FORMAT][TYPE] EXPRESSION", "memory from an address on: x/8 A, x/4xb32 tile, x/4f16 0x7f0000000000", &S::examine},
      Row{"backtrace bt where", "", "the calls of the focus, inlined ones too", &S::backtrace},
      Row{"info i", "breakpoints|registers|variables|locals|warps|blocks|barriers|mbarriers|copies|launches|checkpoints|line",
          "what there is, and what state it has", &S::info},
      Row{"list l", "[LINE]", "the source around the focus, or around a line", &S::list_source},
      Row{"disassemble disas", "[COUNT]", "statements of the PTX around the focus", &S::disassemble},
      Row{"where-from", "VARIABLE|REGISTER|ADDRESS", "where the bytes come from: which memory, and which statements moved them",
          &S::where_from},
      Row{"who-wrote", "VARIABLE|REGISTER|ADDRESS", "go back to the statement that wrote it last", &S::who_wrote},
      Row{"matrix", "a|b|c|d|e|r", "an operand of the matrix instruction at hand: wgmma's and tcgen05's as their descriptors have them",
          &S::matrix},
      Row{"explain", "ROW,COLUMN", "how the mma at hand computes an element of its result, step by step", &S::explain},
      Row{"banks", "", "what the access at hand asks of the banks of shared memory", &S::banks},
      Row{"diverged", "", "which lanes of the warp are where", &S::diverged},
      Row{"echo", "TEXT", "say a text: for scripts", &S::echo},
      Row{"help h", "[COMMAND]", "this list, or one command", &S::help},
      Row{"quit q exit", "", "end", &S::quit},
  };
  return all;
}

const Session::Row& Session::find(std::string_view word) {
  std::vector<const Row*> found;
  for (const Row& row : rows()) {
    if (row.is(word)) return row;
    if (row.name().starts_with(word)) found.push_back(&row);
  }
  if (found.size() == 1) return *found.front();
  std::vector<std::string_view> names;
  for (const Row& row : rows())
    if (found.empty() || row.name().starts_with(word)) names.push_back(row.name());
  if (!found.empty()) throw std::invalid_argument(fmt::format("'{}' may be {}", word, fmt::join(names, ", ")));
  const std::string_view near = nearest(word, names);
  throw std::invalid_argument(
      fmt::format("there is no command '{}'{}; 'help' lists them", word, near.empty() ? "" : fmt::format("; '{}' is one", near)));
}

void Session::help(const std::string& command) {
  const auto tell = [&](const Row& row) {
    std::string names(row.names);
    for (std::size_t at = 0; (at = names.find(' ', at)) != std::string::npos; at += 2) names.replace(at, 1, ", ");
    say_(fmt::format("{} {}\n    {}", names, row.arguments, row.help));
  };
  if (!command.empty()) return tell(find(command));
  for (const Row& row : rows()) tell(row);
  say_(
      "\nExamples:\n"
      "  break gemm.cu:41 if blockIdx.x == 1 && lane == 4\n"
      "  run\n"
      "  print/x %r5\n"
      "  watch tile[3]\n"
      "  reverse-continue\n"
      "  who-wrote A[17]\n"
      "  print {%r108,%r109,%r110,%r111} as mma.m16n8k16.f16 operand a");
}

bool Session::execute(const std::string& line) {
  std::string text = trimmed(line);
  if (text.starts_with('#')) return true;
  if (text.empty()) text = last_;
  if (text.empty()) return true;
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '-')) ++end;
  const Row& row = find(text.substr(0, end));
  last_ = row.repeats ? text : "";
  format_.clear();
  std::string words = trimmed(text.substr(end));
  if (words.starts_with('/')) {
    const std::size_t stop = std::min(words.find_first_of(" \t"), words.size());
    format_ = words.substr(1, stop - 1);
    words = trimmed(words.substr(stop));
  }
  ended_ = false;
  if (row.work == &Session::focus && row.name() != "focus") words = fmt::format("{} {}", row.name(), words);
  (this->*row.work)(words);
  return !ended_;
}

// ---- Going and stopping

void Session::run(const std::string&) {
  moved(debugger_.run(false));
}
void Session::start(const std::string&) {
  moved(debugger_.run(true));
}
void Session::resume(const std::string& words) {
  repeat(words, [&] { return debugger_.resume(); });
}
void Session::reverse_resume(const std::string& words) {
  repeat(words, [&] { return debugger_.reverse_resume(); });
}
void Session::go_to(const std::string& words) {
  moved(debugger_.go_to(checked_number(words, "time")));
}
void Session::go_to_launch(const std::string& words) {
  moved(debugger_.go_to_launch(checked_number(words, "number of a launch") - 1));
}
void Session::who_wrote(const std::string& words) {
  moved(debugger_.go_to_writer(words));
}

void Session::moved(const Stop& stop) {
  if (const std::string printed = debugger_.take_printed(); !printed.empty()) say_(trimmed(printed));
  tell(stop);
}

void Session::repeat(const std::string& words, const std::function<Stop()>& once) {
  const std::uint64_t times = words.empty() ? 1 : checked_number(words, "count");
  Stop stop;
  for (std::uint64_t i = 0; i < times; ++i) {
    stop = once();
    if (!stop.in_launch() || stop.reason == "trap" || stop.reason == "exited" || stop.reason == "beginning" || stop.reason == "interrupted")
      break;
  }
  if (times != 0) moved(stop);
}

void Session::tell(const Stop& stop) {
  const std::string launch = debugger_.program().names.size() == 1 ? "" : fmt::format("launch {}, ", debugger_.launch() + 1);
  if (stop.reason == "end") {
    say_(fmt::format("[{}{} ended at time {}]", launch, debugger_.program().names[debugger_.launch()], debugger_.timeline().time()));
    for (const Json& warning : stop.answer.value("warnings", Json::array())) say_(trimmed(warning.get<std::string>()));
    return;
  }
  std::string why;
  if (stop.reason == "break") why = fmt::format("breakpoint {}", stop.id);
  if (stop.reason == "watch") why = fmt::format("watch {}: {}", stop.id, stop.text);
  if (stop.reason == "trap" || stop.reason == "refused") say_(trimmed(stop.text));
  if (stop.reason == "interrupted") why = "interrupted";
  if (stop.reason == "exited") why = "the lane has exited";
  if (stop.reason == "beginning") why = "the beginning: nothing stops before";
  if (stop.reason == "writer") why = "written here";
  if (!stop.in_launch()) return;
  if (stop.reason == "break" && !stop.text.empty()) say_(fmt::format("the condition has no value: {}", stop.text));
  if (stop.answer.contains("writer")) {
    const Json& writer = stop.answer.at("writer");
    say_(fmt::format("{}, changed by {} at time {}: {}", why, focus_text(writer.at("focus").get<Focus>()),
                     writer.at("time").get<std::uint64_t>(), debugger_.source().place(writer.at("statement"))));
    why.clear();
  }
  say_(fmt::format("{}{}{}{}, time {}", why, why.empty() ? "" : ", ", launch, focus_text(debugger_.focus()), debugger_.timeline().time()));
  const Json at = debugger_.ask({{"do", "where"}});
  if (at.value("exited", false)) return say_(at.at("text"));
  const Json& frame = at.at("frames").front();
  const std::string file = frame.at("file");
  if (!file.empty()) {
    const int line = frame.at("line");
    const auto text = source_line(file, line);
    say_(fmt::format("{}:{} in {}{}", file.substr(file.find_last_of('/') + 1), line, frame.at("function").get<std::string>(),
                     text ? fmt::format("\n{}\t{}", line, *text) : ""));
  }
  say_(fmt::format("=> PTX {}: {}", debugger_.source().ptx_line(at.at("statement")), at.at("ptx").get<std::string>()));
  listed_ = 0;
}

// ---- Breakpoints and focus

Breakpoint& Session::breakpoint(const std::string& number) {
  return debugger_.find_breakpoint(static_cast<int>(checked_number(number, "breakpoint")));
}

void Session::remove_breakpoints(const std::string& words) {
  if (words.empty()) return debugger_.breakpoints().clear();
  debugger_.remove_breakpoint(breakpoint(words).id);
}

void Session::condition(const std::string& words) {
  const std::size_t space = std::min(words.find(' '), words.size());
  Breakpoint& each = breakpoint(words.substr(0, space));
  const std::string condition = trimmed(words.substr(space));
  if (!condition.empty()) static_cast<void>(Expression(condition, debugger_.names()));
  each.condition = condition;
}

void Session::set_breakpoint(const std::string& words, bool temporary) {
  const std::size_t at = words.find(" if ");
  const std::string where = trimmed(words.substr(0, at));
  if (where.empty()) throw std::invalid_argument("break needs a place: FILE:LINE, LINE, *PTX-LINE or a kernel's name");
  const Breakpoint& made = debugger_.add_break(where, at == std::string::npos ? "" : trimmed(words.substr(at + 4)), temporary);
  const std::string place = made.statements.empty() ? "in another launch"
                                                    : fmt::format("at {}, {} place{}", debugger_.source().place(made.statements.front()),
                                                                  made.statements.size(), made.statements.size() == 1 ? "" : "s");
  say_(fmt::format("breakpoint {} {}", made.id,
                   made.kind == Breakpoint::Kind::line && !made.statements.empty()
                       ? fmt::format("at line {}{}, {} place{}", made.line, made.file.empty() ? "" : " of " + made.file,
                                     made.statements.size(), made.statements.size() == 1 ? "" : "s")
                       : place));
}

void Session::watch(const std::string& words) {
  if (words.empty()) throw std::invalid_argument("watch needs an expression: watch tile[3]");
  const Breakpoint& made = debugger_.add_watch(words);
  say_(fmt::format("watch {}: {} of {}", made.id, words, focus_text(made.focus)));
}

void Session::focus(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  Focus wanted = debugger_.focus();
  if (words.size() % 2 != 0) throw std::invalid_argument("focus takes pairs: block X,Y,Z, warp N, lane N, thread X,Y,Z");
  const Dim3 size = debugger_.loaded().description.config.block, grid = debugger_.loaded().description.config.grid;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto index = dim3_of(parse_sizes(words[i + 1]).value_or(std::vector<std::uint64_t>{}), 0);
    if (!index) throw std::invalid_argument(fmt::format("'{}' is no index", words[i + 1]));
    if (words[i] == "block") {
      if (index->x >= grid.x || index->y >= grid.y || index->z >= grid.z)
        throw std::invalid_argument(fmt::format("the grid has {}x{}x{} blocks", grid.x, grid.y, grid.z));
      wanted = {*index, 0, 0};
    } else if (words[i] == "warp") {
      wanted.warp = static_cast<int>(index->x), wanted.lane = 0;
    } else if (words[i] == "lane") {
      wanted.lane = static_cast<int>(index->x);
    } else if (words[i] == "thread") {
      if (index->x >= size.x || index->y >= size.y || index->z >= size.z)
        throw std::invalid_argument(fmt::format("the block has {}x{}x{} threads", size.x, size.y, size.z));
      const std::uint32_t number = (index->z * size.y + index->y) * size.x + index->x;
      wanted.warp = static_cast<int>(number / warp_size), wanted.lane = static_cast<int>(number % warp_size);
    } else {
      throw std::invalid_argument(fmt::format("'{}' is none of block, warp, lane and thread", words[i]));
    }
  }
  const auto number = static_cast<std::uint64_t>(wanted.warp) * warp_size + static_cast<std::uint64_t>(wanted.lane);
  if (wanted.lane >= warp_size || number >= size.count())
    throw std::invalid_argument(
        fmt::format("the block has {} threads: warps 0 to {}, each of 32 lanes", size.count(), (size.count() - 1) / warp_size));
  debugger_.set_focus(wanted);
  if (!debugger_.runs() || debugger_.timeline().ended()) return say_(focus_text(wanted));
  try {
    tell({.reason = "target", .answer = {{"statement", 0}}});
  } catch (const std::invalid_argument& error) {
    say_(fmt::format("{}: {}", focus_text(wanted), error.what()));
  }
}

// ---- Values

void Session::print(const std::string& words) {
  if (words.empty()) throw std::invalid_argument("print needs an expression: print %r5");
  if (const std::size_t as = words.find(" as "); as != std::string::npos) {
    const std::vector<std::string> how = words_of(words.substr(as + 4));
    if (how.size() != 3 || how[1] != "operand") throw std::invalid_argument("print {%r1,%r2} as OPCODE operand a");
    std::string list = trimmed(words.substr(0, as));
    if (list.find('{') == std::string::npos && list.size() == 1) return matrix(list);
    std::erase_if(list, [](char c) { return c == '{' || c == '}' || c == ' '; });
    Json registers = Json::array();
    std::istringstream in(list);
    for (std::string each; std::getline(in, each, ',');) registers.push_back(each);
    return ask({{"do", "matrix"}, {"registers", registers}, {"opcode", how[0]}, {"operand", how[2]}});
  }
  std::string format = format_;
  const bool lanes = format.find('w') != std::string::npos;
  std::erase(format, 'w');
  format = checked_format(format);
  const Json answer = debugger_.ask({{"do", "print"}, {"text", words}, {"format", format}, {"lanes", lanes}});
  if (lanes) return say_(answer.at("text"));
  say_(fmt::format("{} = {}{}", words, answer.at("text").get<std::string>(),
                   answer.contains("note") ? "  (" + answer.at("note").get<std::string>() + ")" : ""));
}

void Session::examine(const std::string& words) {
  if (words.empty()) throw std::invalid_argument("x needs an address: x/8 A, x/4f16 tile");
  std::size_t digits = 0;
  while (digits < format_.size() && std::isdigit(static_cast<unsigned char>(format_[digits]))) ++digits;
  std::string type = format_.substr(digits), format;
  if (!type.empty() && type_named(type).empty()) {
    format = checked_format(type.substr(0, 1));
    type = type.substr(1);
  }
  if (type.empty()) type = format == "f" ? "f32" : "b32";
  if (type_named(type).empty()) throw std::invalid_argument(fmt::format("'{}' is no type of PTX: b32, f16, u8", type));
  if (is_float(type)) format.clear();
  const std::uint64_t count = digits == 0 ? 1 : checked_number(format_.substr(0, digits), "count");
  ask({{"do", "examine"}, {"text", words}, {"count", count}, {"type", type}, {"format", format}});
}

void Session::matrix(const std::string& words) {
  if (words.empty()) throw std::invalid_argument("matrix needs an operand: a, b, c, d, e or r");
  ask({{"do", "matrix"}, {"operand", words}});
}

/// The registers of an operand of the matrix instruction at hand, "b" of mma D, A, B, C: as the PTX writes them. None elsewhere.
std::vector<std::string> Session::operand_registers(const std::string& operand) {
  constexpr std::string_view order = "dabc";
  const std::size_t wanted = operand.size() == 1 ? order.find(operand) : std::string::npos;
  if (wanted == std::string::npos) return {};
  const std::string text = debugger_.ask({{"do", "where"}}).value("ptx", "");
  if (!text.starts_with("mma") && text.find(" mma") == std::string::npos) return {};
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= wanted && begin != std::string::npos; ++i) begin = text.find('{', begin + (i == 0 ? 0 : 1));
  if (begin == std::string::npos) return {};
  std::string list = text.substr(begin + 1, text.find('}', begin) - begin - 1);
  std::ranges::replace(list, ',', ' ');
  return words_of(list);
}

void Session::where_from(const std::string& words) {
  if (words.empty())
    throw std::invalid_argument("where-from needs a register, an operand of the mma at hand or an address: where-from %r5");
  std::vector<std::string> all = operand_registers(words);
  if (all.empty()) all.push_back(words);
  for (const std::string& each : all) {
    const std::string text = trace_origin(debugger_, debugger_.ask({{"do", "place"}, {"text", each}}));
    say_(all.size() == 1 ? text : each + ": " + text);
  }
}

void Session::explain(const std::string& words) {
  const std::size_t comma = words.find(',');
  if (comma == std::string::npos) throw std::invalid_argument("explain needs an element of the result: explain 5,3");
  ask({{"do", "explain"},
       {"element", {checked_number(trimmed(words.substr(0, comma)), "row"), checked_number(trimmed(words.substr(comma + 1)), "column")}}});
}

void Session::backtrace(const std::string&) {
  ask({{"do", "where"}});
}
void Session::banks(const std::string&) {
  ask({{"do", "banks"}});
}
void Session::diverged(const std::string&) {
  ask({{"do", "info"}, {"what", "splits"}});
}

// ---- What there is

void Session::info(const std::string& words) {
  static const std::vector<std::string_view> asked{"warps", "blocks", "barriers", "mbarriers", "copies"};
  static const std::vector<std::string_view> own{"breakpoints", "registers", "variables", "locals", "launches", "checkpoints", "line"};
  std::vector<std::string_view> all = asked, found;
  all.insert(all.end(), own.begin(), own.end());
  for (const std::string_view each : all)
    if (!words.empty() && each.starts_with(words)) found.push_back(each);
  if (words == "b") found = {"breakpoints"};
  if (found.size() != 1) throw std::invalid_argument(fmt::format("info is about {}", fmt::join(all, ", ")));
  const std::string what(found.front());
  if (std::ranges::find(asked, what) != asked.end()) return ask({{"do", "info"}, {"what", what}});
  if (what == "locals") return ask({{"do", "variables"}, {"locals", true}});
  if (what == "registers" || what == "variables") return ask({{"do", what}});
  if (what == "line") {
    const Json at = debugger_.ask({{"do", "where"}});
    return say_(at.value("state", at.at("text").get<std::string>()));
  }
  if (what == "launches") {
    for (std::size_t i = 0; i < debugger_.program().names.size(); ++i)
      say_(fmt::format("{} {:3} {}", i == debugger_.launch() && debugger_.runs() ? "*" : " ", i + 1, debugger_.program().names[i]));
    return;
  }
  if (what == "checkpoints") {
    const Timeline::Memory memory = debugger_.timeline().memory();
    return say_(fmt::format("{} checkpoints, every {} operations and close before here; {} of memory are theirs alone; times {}",
                            memory.times.size(), memory.spacing, bytes_text(memory.bytes), fmt::join(memory.times, ", ")));
  }
  if (debugger_.breakpoints().empty()) say_("there is no breakpoint");
  for (const Breakpoint& each : debugger_.breakpoints()) {
    const std::string place = each.kind == Breakpoint::Kind::watch ? fmt::format("watch {} of {}", each.file, focus_text(each.focus))
                              : each.kind == Breakpoint::Kind::ptx ? fmt::format("PTX {}", each.line)
                              : each.line != 0 ? fmt::format("{}{}{}", each.file, each.file.empty() ? "line " : ":", each.line)
                                               : each.file;
    say_(fmt::format("{} {}{}{}, hit {} time{}", each.id, place, each.condition.empty() ? "" : " if " + each.condition,
                     each.enabled ? "" : ", disabled", each.hits, each.hits == 1 ? "" : "s"));
  }
}

void Session::list_source(const std::string& words) {
  const Json at = debugger_.ask({{"do", "where"}});
  const Json frame = at.value("frames", Json::array({{{"file", ""}, {"line", 0}}})).front();
  const std::string file = frame.at("file");
  if (file.empty()) return disassemble("");
  const int centre = !words.empty() ? static_cast<int>(checked_number(words, "line"))
                     : listed_ != 0 ? listed_ + 10
                                    : frame.at("line").get<int>();
  listed_ = centre;
  if (!source_line(file, 1)) throw std::invalid_argument(fmt::format("{} cannot be read", file));
  for (int i = std::max(1, centre - 5); i < centre + 5; ++i)
    if (const auto line = source_line(file, i)) say_(fmt::format("{}{}\t{}", i == frame.at("line") ? ">" : " ", i, *line));
}

void Session::disassemble(const std::string& words) {
  const Json at = debugger_.ask({{"do", "where"}});
  if (!at.contains("statement")) return say_(at.at("text"));
  const int statement = at.at("statement"), half = words.empty() ? 5 : static_cast<int>(checked_number(words, "count")) / 2;
  for (int i = std::max(0, statement - half); i <= std::min(static_cast<int>(debugger_.source().size()) - 1, statement + half); ++i) {
    const auto each = static_cast<std::uint32_t>(i);
    say_(fmt::format("{} {:5}  {:60}  {}", i == statement ? "=>" : "  ", debugger_.source().ptx_line(each), debugger_.source().text(each),
                     debugger_.source().has_source() ? debugger_.source().place(each) : ""));
  }
}

}  // namespace warpmat::debug
