#include "tools/debug/dap.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>
#include <filesystem>
#include <stdexcept>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/words/words.h>

#include "tools/debug/session.h"

namespace warpmat::debug {
namespace {

constexpr int ptx_source = 1;  ///< DAP's sourceReference of the PTX

/// Messages with their lengths before them.
class Wire {
 public:
  Wire(int in, int out) : in_(in), out_(out) {}

  void send(Json message) {
    message["seq"] = ++sent_;
    const std::string body = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string all = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
    for (std::size_t at = 0; at < all.size();) {
      const ssize_t written = write(out_, all.data() + at, all.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // its input ends, too
      at += static_cast<std::size_t>(written);
    }
  }
  /// Waits for a message; nothing at the end.
  std::optional<Json> receive() {
    while (true) {
      if (auto message = take()) return message;
      if (!read_some()) return std::nullopt;
    }
  }
  /// Reads what is there, without waiting for more. Returns false at the end.
  bool read_some() {
    char some[4096];
    const ssize_t got = read(in_, some, sizeof some);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    buffer_.append(some, static_cast<std::size_t>(got));
    return true;
  }
  /// A whole message that has been read. Throws std::runtime_error for one that is none.
  std::optional<Json> take() {
    const std::size_t end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos) return std::nullopt;
    std::size_t length = 0;
    const std::size_t at = buffer_.find("Content-Length: ");
    if (at == std::string::npos || at > end || std::from_chars(buffer_.data() + at + 16, buffer_.data() + end, length).ec != std::errc{})
      throw std::runtime_error("a message of the Debug Adapter Protocol begins with its Content-Length");
    if (buffer_.size() < end + 4 + length) return std::nullopt;
    const std::string body = buffer_.substr(end + 4, length);
    buffer_.erase(0, end + 4 + length);
    return Json::parse(body);
  }

 private:
  int in_, out_, sent_ = 0;
  std::string buffer_;
};

class Adapter {
 public:
  Adapter(int in, int out, const MakeProgram& make) : wire_(in, out), in_(in), make_(make) {}

  void serve() {
    while (!done_) {
      std::optional<Json> request;
      if (!waiting_.empty()) {
        request = std::move(waiting_.front());
        waiting_.pop_front();
      } else {
        request = wire_.receive();
      }
      if (!request) return;
      if (request->value("type", "") == "request") handle(*request);
    }
  }

 private:
  using Step = Debugger::Step;
  using Handler = Json (Adapter::*)(const Json& arguments);
  /// What a variablesReference means.
  struct Handle {
    std::string kind;  ///< "locals", "registers", "special", "variables", "fragments", "parts", "matrix", "row"
    Focus focus{};
    std::string name{};
    Json content{};
  };

  void handle(const Json& request) {
    static const std::map<std::string, Handler, std::less<>> handlers{
        {"initialize", &Adapter::initialize},
        {"launch", &Adapter::launch},
        {"setBreakpoints", &Adapter::set_breakpoints},
        {"setFunctionBreakpoints", &Adapter::set_function_breakpoints},
        {"setExceptionBreakpoints", &Adapter::nothing},
        {"setDataBreakpoints", &Adapter::set_data_breakpoints},
        {"dataBreakpointInfo", &Adapter::data_breakpoint_info},
        {"configurationDone", &Adapter::run},
        {"threads", &Adapter::threads},
        {"stackTrace", &Adapter::stack_trace},
        {"scopes", &Adapter::scopes},
        {"variables", &Adapter::variables},
        {"evaluate", &Adapter::evaluate},
        {"source", &Adapter::source},
        {"disassemble", &Adapter::disassemble},
        {"readMemory", &Adapter::read_memory},
        {"continue", &Adapter::resume},
        {"next", &Adapter::next},
        {"stepIn", &Adapter::step_in},
        {"stepOut", &Adapter::step_out},
        {"stepBack", &Adapter::step_back},
        {"reverseContinue", &Adapter::reverse_continue},
        {"pause", &Adapter::nothing},
        {"restart", &Adapter::run},
        {"disconnect", &Adapter::disconnect},
        {"terminate", &Adapter::disconnect},
    };
    const std::string command = request.value("command", "");
    Json response{{"type", "response"}, {"request_seq", request.value("seq", 0)}, {"command", command}, {"success", true}};
    after_ = nullptr;
    try {
      const auto found = handlers.find(command);
      if (found == handlers.end()) throw std::invalid_argument(fmt::format("'{}' is not supported", command));
      response["body"] = (this->*found->second)(request.value("arguments", Json::object()));
    } catch (const std::exception& error) {
      response["success"] = false;
      response["message"] = error.what();
    }
    wire_.send(response);
    if (const auto work = std::exchange(after_, nullptr); work && response["success"]) work();
  }

  void event(const std::string& name, Json body) { wire_.send({{"type", "event"}, {"event", name}, {"body", std::move(body)}}); }
  void output(const std::string& text, const char* category) {
    if (!text.empty()) event("output", {{"category", category}, {"output", text + "\n"}});
  }

  Debugger& debugger() {
    if (!debugger_) throw std::invalid_argument("nothing is debugged yet: 'launch' says what");
    return *debugger_;
  }

  Json nothing(const Json&) { return Json::object(); }

  Json initialize(const Json&) {
    after_ = [this] { event("initialized", Json::object()); };
    return {{"supportsConfigurationDoneRequest", true},
            {"supportsConditionalBreakpoints", true},
            {"supportsFunctionBreakpoints", true},
            {"supportsDataBreakpoints", true},
            {"supportsStepBack", true},
            {"supportsEvaluateForHovers", true},
            {"supportsSteppingGranularity", true},
            {"supportsDisassembleRequest", true},
            {"supportsReadMemoryRequest", true},
            {"supportsRestartRequest", true},
            {"supportsTerminateRequest", true}};
  }

  Json launch(const Json& arguments) {
    debugger_.emplace(make_(arguments));
    debugger_->set_input({in_, [this] { look_for_pause(); }});
    stops_at_entry_ = arguments.value("stopOnEntry", false);
    for (const auto& [file, given] : given_breakpoints_) static_cast<void>(place_breakpoints(file, given));
    return Json::object();
  }

  /// While a launch runs: a request to pause or to end stops it; others wait.
  void look_for_pause() {
    const bool goes_on = wire_.read_some();
    while (auto message = wire_.take()) {
      const std::string command = message->value("command", "");
      if (command == "pause" || command == "disconnect" || command == "terminate") debugger_->timeline().interrupt();
      waiting_.push_back(std::move(*message));
    }
    if (goes_on) return;
    debugger_->timeline().interrupt();
    debugger_->timeline().set_input({});
    done_ = true;
  }

  // ---- Breakpoints

  Json set_breakpoints(const Json& arguments) {
    const Json& source = arguments.at("source");
    const std::string file =
        source.value("sourceReference", 0) == ptx_source ? "kernel.ptx" : source.value("path", source.value("name", ""));
    const Json given = arguments.value("breakpoints", Json::array());
    given_breakpoints_[file] = given;
    Json all = Json::array();
    if (debugger_) return place_breakpoints(file, given);
    for (const Json& each : given) all.push_back({{"verified", false}, {"line", each.at("line")}});
    return {{"breakpoints", all}};
  }

  /// The name by which the kernel's lines know a file: its whole path, or as much of its end as they have.
  std::string known_name(const std::string& path) {
    const std::vector<std::string> files = debugger_->source().files();
    if (path.ends_with(".ptx")) return path;
    if (std::ranges::find(files, path) != files.end()) return path;
    return std::filesystem::path(path).filename().string();
  }

  using Add = std::function<const Breakpoint&(const Json& given)>;

  /// Replaces those of a file or a kind.
  Json replace_breakpoints(const std::string& key, const Json& given, const Add& add) {
    for (const int id : placed_[key]) std::erase_if(debugger().breakpoints(), [&](const Breakpoint& each) { return each.id == id; });
    placed_[key].clear();
    Json all = Json::array();
    for (const Json& each : given) {
      Json told{{"verified", false}};
      if (each.contains("line")) told["line"] = each.at("line");
      try {
        const Breakpoint& made = add(each);
        placed_[key].push_back(made.id);
        told["id"] = made.id;
        told["verified"] = made.kind == Breakpoint::Kind::watch || !made.statements.empty();
        if (made.line != 0) told["line"] = made.line;
      } catch (const std::invalid_argument& error) {
        told["message"] = error.what();
      }
      all.push_back(std::move(told));
    }
    return {{"breakpoints", all}};
  }

  Json place_breakpoints(const std::string& file, const Json& given) {
    return replace_breakpoints(file, given, [&](const Json& each) -> const Breakpoint& {
      return debugger_->add_break(fmt::format("{}:{}", known_name(file), each.at("line").get<int>()), each.value("condition", ""), false);
    });
  }

  Json set_function_breakpoints(const Json& arguments) {
    return replace_breakpoints("functions", arguments.at("breakpoints"), [&](const Json& each) -> const Breakpoint& {
      return debugger_->add_break(each.at("name"), each.value("condition", ""), false);
    });
  }

  Json set_data_breakpoints(const Json& arguments) {
    return replace_breakpoints("data", arguments.at("breakpoints"),
                               [&](const Json& each) -> const Breakpoint& { return debugger_->add_watch(each.at("dataId")); });
  }

  Json data_breakpoint_info(const Json& arguments) {
    const std::string name = arguments.at("name");
    const Json value = debugger().ask({{"do", "print"}, {"text", name}});
    return {
        {"dataId", name}, {"description", fmt::format("{} = {}", name, value.at("text").get<std::string>())}, {"accessTypes", {"write"}}};
  }

  // ---- Going and stopping

  void tell(const Stop& stop) {
    handles_.clear();
    output(debugger_->take_printed(), "stdout");
    if (stop.reason == "end") {
      for (const Json& warning : stop.answer.value("warnings", Json::array())) output(warning.get<std::string>(), "console");
      output(fmt::format("the last launch ended at time {}; it can be debugged backwards", debugger_->timeline().time()), "console");
    }
    if (stop.reason == "trap" || stop.reason == "refused") output(stop.text, "stderr");
    static const std::map<std::string, std::string, std::less<>> reasons{
        {"break", "breakpoint"},  {"watch", "data breakpoint"}, {"step", "step"},        {"trap", "exception"},
        {"interrupted", "pause"}, {"target", "entry"},          {"refused", "exception"}};
    const auto reason = reasons.find(stop.reason);
    Json body{{"reason", reason == reasons.end() ? "pause" : reason->second},
              {"threadId", thread_of(debugger_->focus())},
              {"allThreadsStopped", true},
              {"preserveFocusHint", false}};
    if (!stop.text.empty()) body["text"] = stop.text;
    if (stop.reason == "end") body["description"] = "the launch has ended";
    if (stop.id != 0) body["hitBreakpointIds"] = {stop.id};
    event("stopped", body);
  }

  /// Answers the request first, as the protocol has it.
  Json go(std::function<Stop()> work) {
    static_cast<void>(debugger());
    after_ = [this, work = std::move(work)] {
      try {
        tell(work());
      } catch (const std::exception& error) {
        output(error.what(), "stderr");
        event("stopped",
              {{"reason", "pause"}, {"threadId", thread_of(debugger_->focus())}, {"allThreadsStopped", true}, {"text", error.what()}});
      }
    };
    return Json::object();
  }

  Json run(const Json&) {
    return go([this] { return debugger_->run(stops_at_entry_); });
  }
  Json resume(const Json&) {
    go([this] { return debugger_->resume(); });
    return {{"allThreadsContinued", true}};
  }
  Json reverse_continue(const Json&) {
    return go([this] { return debugger_->reverse_resume(); });
  }

  Json step(const Json& arguments, Step kind, bool back) {
    if (arguments.contains("threadId")) debugger().set_focus(focus_of(arguments.at("threadId")));
    if (arguments.value("granularity", "") == "instruction") kind = Step::statement;
    return go([this, kind, back] { return back ? debugger_->reverse_step(kind) : debugger_->step(kind); });
  }
  Json next(const Json& arguments) { return step(arguments, Step::over, false); }
  Json step_in(const Json& arguments) { return step(arguments, Step::line, false); }
  Json step_out(const Json& arguments) { return step(arguments, Step::out, false); }
  Json step_back(const Json& arguments) { return step(arguments, Step::over, true); }

  Json disconnect(const Json&) {
    done_ = true;
    after_ = [this] { event("terminated", Json::object()); };
    return Json::object();
  }

  // ---- What there is

  /// Warps are the protocol's threads; the lane at which it looks is the focus's.
  int thread_of(const Focus& focus) {
    for (std::size_t i = 0; i < threads_.size(); ++i)
      if (Json(threads_[i]).at("block") == Json(focus).at("block") && threads_[i].warp == focus.warp) {
        threads_[i].lane = focus.lane;
        return static_cast<int>(i + 1);
      }
    threads_.push_back(focus);
    return static_cast<int>(threads_.size());
  }
  const Focus& focus_of(int thread) {
    if (thread < 1 || static_cast<std::size_t>(thread) > threads_.size())
      throw std::invalid_argument(fmt::format("there is no thread {}", thread));
    return threads_[static_cast<std::size_t>(thread - 1)];
  }

  Json threads(const Json&) {
    constexpr std::size_t most = 1024;
    Json all = Json::array();
    if (debugger().runs()) {
      const Json warps = debugger_->ask({{"do", "info"}, {"what", "warps"}});
      for (const Json& row : warps.at("rows")) {
        const Json& block = row.at("block");
        Focus focus{{block[0], block[1], block[2]}, row.at("warp"), 0};
        if (all.size() == most || row.at("live") == 0) continue;
        if (focus.warp == debugger_->focus().warp && Json(focus).at("block") == Json(debugger_->focus()).at("block"))
          focus.lane = debugger_->focus().lane;
        const int id = thread_of(focus);
        all.push_back(
            {{"id", id}, {"name", fmt::format("block ({},{},{}) warp {}", focus.block.x, focus.block.y, focus.block.z, focus.warp)}});
      }
    }
    if (all.empty()) all.push_back({{"id", thread_of(debugger_->focus())}, {"name", "no block runs"}});
    return {{"threads", all}};
  }

  Json source_json(const std::string& file) {
    if (file.empty()) return {{"name", "kernel.ptx"}, {"sourceReference", ptx_source}};
    return {{"name", std::filesystem::path(file).filename().string()}, {"path", std::filesystem::absolute(file).string()}};
  }

  Json stack_trace(const Json& arguments) {
    const int thread = arguments.at("threadId");
    const Json at = debugger().timeline().ended() ? Json::object() : debugger_->ask({{"do", "where"}, {"focus", focus_of(thread)}});
    Json frames = Json::array();
    int number = 0;
    for (const Json& frame : at.value("frames", Json::array()))
      frames.push_back({{"id", thread * 256 + number++},
                        {"name", frame.at("function")},
                        {"line", frame.at("line")},
                        {"column", 1},
                        {"source", source_json(frame.at("file"))},
                        {"instructionPointerReference", fmt::format("{:#x}", frame.at("statement").get<int>())}});
    return {{"stackFrames", frames}, {"totalFrames", frames.size()}};
  }

  int handle_of(Handle handle) {
    handles_.push_back(std::move(handle));
    return static_cast<int>(handles_.size());
  }

  Json scopes(const Json& arguments) {
    const Focus focus = focus_of(arguments.at("frameId").get<int>() / 256);
    Json all = Json::array();
    const auto add = [&](const char* name, const char* kind, bool slow) {
      all.push_back({{"name", name}, {"variablesReference", handle_of({.kind = kind, .focus = focus})}, {"expensive", slow}});
    };
    if (debugger().names().source().has_tables()) add("Locals", "locals", false);
    add("Registers", "registers", false);
    add("Special registers", "special", false);
    add("Parameters and memory", "variables", false);
    add("Fragments", "fragments", true);
    return {{"scopes", all}};
  }

  Json variable(const std::string& name, const std::string& value, const std::string& type = "", int reference = 0) {
    Json each{{"name", name}, {"value", value}, {"variablesReference", reference}, {"evaluateName", name}};
    if (!type.empty()) each["type"] = type;
    return each;
  }

  Json variables(const Json& arguments) {
    const auto number = arguments.at("variablesReference").get<std::size_t>();
    if (number < 1 || number > handles_.size()) throw std::invalid_argument("the variable is of an earlier stop");
    const Handle handle = handles_[number - 1];
    static const std::map<std::string, Json (Adapter::*)(const Handle&), std::less<>> kinds{
        {"locals", &Adapter::memory},       {"registers", &Adapter::registers},
        {"special", &Adapter::special},     {"variables", &Adapter::memory},
        {"fragments", &Adapter::fragments}, {"parts", &Adapter::parts},
        {"matrix", &Adapter::matrix},       {"row", &Adapter::row}};
    return {{"variables", (this->*kinds.at(handle.kind))(handle)}};
  }

  Json registers(const Handle& handle) {
    Json all = Json::array();
    const Json answer = debugger().ask({{"do", "registers"}, {"focus", handle.focus}});
    for (const Json& each : answer.at("registers")) all.push_back(variable(each.at("name"), each.at("value"), each.at("type")));
    return all;
  }

  Json special(const Handle& handle) {
    Json all = Json::array();
    for (const char* const name : {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y", "blockIdx.z", "blockDim.x",
                                   "gridDim.x", "%laneid", "%warpid", "%lanemask_lt", "%cluster_ctarank"}) {
      const Json answer = debugger().ask({{"do", "print"}, {"text", name}, {"focus", handle.focus}});
      all.push_back(variable(name, answer.at("text"), answer.at("type")));
    }
    return all;
  }

  /// What an answer of the question "print" says, with the parts of a structure, an array or what a pointer names.
  Json printed(const Focus& focus, const std::string& name, const std::string& whole, const Json& answer) {
    const Json& parts = answer.at("parts");
    const int inside = parts.empty() ? 0 : handle_of({.kind = "parts", .focus = focus, .name = whole, .content = parts});
    Json each = variable(name, answer.at("text"), answer.at("type"), inside);
    each["evaluateName"] = whole;
    return each;
  }

  Json memory(const Handle& handle) {
    Json all = Json::array();
    const Json answer = debugger().ask({{"do", "variables"}, {"focus", handle.focus}, {"locals", handle.kind == "locals"}});
    for (const Json& each : answer.at("variables")) {
      const std::string name = each.at("name");
      all.push_back(printed(handle.focus, name, name, each));
      if (each.contains("address")) all.back()["memoryReference"] = fmt::format("{:#x}", each.at("address").get<std::uint64_t>());
    }
    return all;
  }

  Json parts(const Handle& handle) {
    Json all = Json::array();
    for (const std::string part : handle.content) {
      const std::string whole = handle.name + part;
      all.push_back(printed(handle.focus, part.starts_with('[') ? whole : part.substr(part.find_first_not_of(".->")), whole,
                            debugger().ask({{"do", "print"}, {"text", whole}, {"focus", handle.focus}})));
    }
    return all;
  }

  Json fragments(const Handle& handle) {
    Json all = Json::array();
    for (const char* const name : {"a", "b", "c", "d", "r"}) {
      try {
        const Json answer = debugger().ask({{"do", "matrix"}, {"operand", name}, {"focus", handle.focus}});
        const Json& rows = answer.at("matrix");
        all.push_back(variable(name, fmt::format("{} x {}", rows.size(), rows.empty() ? 0 : rows.front().size()), "",
                               handle_of({.kind = "matrix", .focus = handle.focus, .content = rows})));
      } catch (const std::invalid_argument&) {  // the statement has no such operand
      }
    }
    if (all.empty()) all.push_back(variable("none", "the statement at hand is no matrix instruction"));
    return all;
  }

  Json matrix(const Handle& handle) {
    Json all = Json::array();
    for (std::size_t i = 0; i < handle.content.size(); ++i) {
      std::vector<std::string> cells;
      for (const Json& cell : handle.content[i]) cells.push_back(fmt::format("{:g}", cell.is_null() ? 0.0 : cell.get<double>()));
      all.push_back(variable(fmt::format("row {}", i), fmt::format("{}", fmt::join(cells, " ")), "",
                             handle_of({.kind = "row", .content = handle.content[i]})));
    }
    return all;
  }

  Json row(const Handle& handle) {
    Json all = Json::array();
    for (std::size_t i = 0; i < handle.content.size(); ++i) all.push_back(variable(fmt::format("[{}]", i), handle.content[i].dump()));
    return all;
  }

  Json evaluate(const Json& arguments) {
    const std::string text = arguments.at("expression"), context = arguments.value("context", "");
    if (arguments.contains("frameId")) debugger().set_focus(focus_of(arguments.at("frameId").get<int>() / 256));
    const auto value = [&] {
      const Json answer = debugger().ask({{"do", "print"}, {"text", text}});
      const Json shown = printed(debugger_->focus(), text, text, answer);
      return Json{{"result", shown.at("value")}, {"type", shown.at("type")}, {"variablesReference", shown.at("variablesReference")}};
    };
    if (context != "repl") return value();
    try {
      return value();
    } catch (const std::invalid_argument&) {  // a command of the terminal, else the command's error
    }
    std::string said;
    Session session(debugger(), [&](const std::string& line) { said += line + "\n"; });
    const std::uint64_t before = debugger_->runs() ? debugger_->timeline().time() : 0;
    session.execute(text);
    if (debugger_->runs() && debugger_->timeline().time() != before) after_ = [this] { tell({.reason = "step"}); };
    return {{"result", said}, {"variablesReference", 0}};
  }

  Json source(const Json&) { return {{"content", *program_of(debugger().loaded().kernel).module->text}, {"mimeType", "text/x-ptx"}}; }

  /// Statements of the PTX have their numbers as addresses.
  Json disassemble(const Json& arguments) {
    const std::string reference = arguments.at("memoryReference");
    const std::int64_t first = number_of<std::int64_t>(reference).value_or(0) + arguments.value("instructionOffset", std::int64_t{0}) +
                               arguments.value("offset", std::int64_t{0});
    Json all = Json::array();
    for (std::int64_t i = first; i < first + arguments.at("instructionCount").get<std::int64_t>(); ++i) {
      if (i < 0 || i >= debugger().source().size()) {
        all.push_back({{"address", i < 0 ? fmt::format("-{:#x}", -i) : fmt::format("{:#x}", i)},
                       {"instruction", ""},
                       {"presentationHint", "invalid"}});
        continue;
      }
      const auto statement = static_cast<std::uint32_t>(i);
      Json each{{"address", fmt::format("{:#x}", i)}, {"instruction", debugger_->source().text(statement)}};
      const std::vector<Trap::SourceLine> frames = debugger_->source().frames(statement);
      each["location"] = source_json(frames.empty() ? "" : frames.front().file);
      each["line"] = frames.empty() ? debugger_->source().ptx_line(statement) : frames.front().line;
      all.push_back(std::move(each));
    }
    return {{"instructions", all}};
  }

  Json read_memory(const Json& arguments) {
    const std::string reference = arguments.at("memoryReference");
    const std::uint64_t address =
        number_of<std::uint64_t>(reference).value_or(0) + static_cast<std::uint64_t>(arguments.value("offset", std::int64_t{0}));
    const std::string digits = debugger().ask({{"do", "bytes"}, {"address", address}, {"bytes", arguments.at("count")}}).at("text");
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string data;
    for (std::size_t i = 0; i < digits.size(); i += 6) {
      const std::string part = digits.substr(i, 6);
      std::uint32_t bits = 0;
      std::from_chars(part.data(), part.data() + part.size(), bits, 16);
      bits <<= 4 * (6 - part.size());
      for (std::size_t k = 0; k < 4; ++k) data += k <= part.size() / 2 ? letters[bits >> (18 - 6 * k) & 63] : '=';
    }
    return {{"address", fmt::format("{:#x}", address)},
            {"data", data},
            {"unreadableBytes", arguments.at("count").get<std::uint64_t>() - digits.size() / 2}};
  }

  Wire wire_;
  int in_;
  const MakeProgram& make_;
  std::optional<Debugger> debugger_;
  std::deque<Json> waiting_;
  std::function<void()> after_;
  bool done_ = false, stops_at_entry_ = false;
  std::map<std::string, Json> given_breakpoints_;
  std::map<std::string, std::vector<int>> placed_;
  std::vector<Focus> threads_;
  std::vector<Handle> handles_;
};

}  // namespace

void serve_dap(int in, int out, const MakeProgram& make) {
  Adapter(in, out, make).serve();
}

int accept_client(int port) {
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (server < 0 || bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(server, 1) != 0)
    throw std::runtime_error(fmt::format("--port {}: {}", port, std::strerror(errno)));
  fmt::print(stderr, "warpmat: waits for a client on 127.0.0.1:{}\n", port);
  const int client = accept4(server, nullptr, nullptr, SOCK_CLOEXEC);
  close(server);
  if (client < 0) throw std::runtime_error(fmt::format("--port {}: {}", port, std::strerror(errno)));
  return client;
}

}  // namespace warpmat::debug
