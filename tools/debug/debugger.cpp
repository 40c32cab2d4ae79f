#include "tools/debug/debugger.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/machine/internals.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/words/words.h>

namespace warpmat::debug {
namespace {

/// "f16" of NumPy's float16, "s32" of int32.
std::string type_of(DType dtype) {
  const std::string_view all = name(dtype);
  return (all.front() == 'i' ? 's' : all.front()) + std::string(all.substr(all.find_first_of("0123456789")));
}

/// The type and shape of a buffer's elements: as it was said, as what is expected in it, or as its file has them.
NamedBuffer named_buffer(const LaunchBuffer& buffer, const PreparedLaunch& prepared) {
  NamedBuffer named{prepared.addresses.at(buffer.name), prepared.sizes.at(buffer.name)};
  std::vector<std::size_t> shape = buffer.shape;
  if (buffer.type) named.type = name(*buffer.type);
  if (shape.empty() && buffer.expected) shape = buffer.expected->shape;
  if (named.type.empty() && buffer.expected && buffer.expected->type) named.type = name(*buffer.expected->type);
  if (buffer.source.ends_with(".npy")) {
    const NpyHeader header = NpyReader(buffer.source).header();
    if (named.type.empty()) named.type = type_of(header.dtype);
    if (shape.empty()) shape = header.shape;
  }
  if (shape.size() == 2) named.columns = shape[1];
  return named;
}

std::map<std::string, NamedBuffer> buffers_of(const LoadedLaunch& launch) {
  std::map<std::string, NamedBuffer> all;
  for (const LaunchBuffer& each : launch.description.buffers)
    if (!each.variable) all[each.name] = named_buffer(each, launch.prepared);
  return all;
}

std::map<std::string, NamedBuffer> variables_of(LoadedLaunch& launch) {
  std::map<std::string, NamedBuffer> all;
  for (const Kernel::Variable& each : launch.kernel.variables())
    all[each.name] = {variable_address(launch.kernel, launch.prepared.memory, each.name), each.bytes};
  return all;
}

std::optional<int> number_in(const std::string& text) {
  const auto number = number_of<int>(text);
  return number && *number > 0 ? number : std::nullopt;
}

}  // namespace

Debugger::Loaded::Loaded(LoadedLaunch launch_)
    : launch(std::move(launch_)),
      source(program_of(launch.kernel)),
      names(program_of(launch.kernel), buffers_of(launch), variables_of(launch)) {}

void Debugger::load(std::size_t number) {
  if (loaded_ != nullptr && number == number_) return;
  timeline_.reset();
  loaded_ = std::make_unique<Loaded>(program_.load(number));
  number_ = number;
  for (Breakpoint& each : breakpoints_) resolve(each);
}

void Debugger::begin(std::size_t number) {
  load(number);
  timeline_.reset();
  timeline_ = std::make_unique<Timeline>(loaded_->launch, loaded_->names, loaded_->source, program_.choice);
  timeline_->set_input(input_);
}

LoadedLaunch& Debugger::loaded() {
  load(number_);
  return loaded_->launch;
}
const SourceMap& Debugger::source() {
  load(number_);
  return loaded_->source;
}
const Names& Debugger::names() {
  load(number_);
  return loaded_->names;
}

Timeline& Debugger::timeline() {
  if (timeline_ == nullptr) throw std::invalid_argument("no launch runs: 'run' begins it");
  return *timeline_;
}

Json Debugger::ask(Json question) {
  if (!question.contains("focus")) question["focus"] = focus_;
  return timeline().ask(question);
}

void Debugger::set_focus(const Focus& focus) {
  focus_ = focus;
}

// ---- Breakpoints

/// Whether the line lies before all lines of this kernel, of a program that has others.
bool Debugger::is_before_kernel(const Breakpoint& each) const {
  int first = 1;
  static_cast<void>(loaded_->source.find(each.file, first));
  return program_.names.size() > 1 && each.kind == Breakpoint::Kind::line && each.line < first;
}

void Debugger::resolve(Breakpoint& each) {
  each.statements.clear();
  int line = each.line;
  const code::Program& program = program_of(loaded_->launch.kernel);
  switch (each.kind) {
    case Breakpoint::Kind::line: each.statements = loaded_->source.find(each.file, line); break;
    case Breakpoint::Kind::ptx: each.statements = loaded_->source.find("ptx", line); break;
    case Breakpoint::Kind::kernel:
      if (each.file == program.entry || each.file == readable_name(program.entry) ||
          readable_name(program.entry).starts_with(each.file + "<"))
        each.statements = {program.operations.front().statement};
      break;
    case Breakpoint::Kind::opcode: each.statements = loaded_->source.with_opcode(each.file); break;
    case Breakpoint::Kind::watch: break;
  }
  if (line != each.line && (each.id != 0 || is_before_kernel(each))) each.statements.clear();  // the line belongs to another kernel
  if (!each.statements.empty() && each.line != 0) each.line = line;
}

Breakpoint& Debugger::add_break(const std::string& where, const std::string& condition, bool temporary) {
  load(number_);
  Breakpoint made{.kind = Breakpoint::Kind::kernel, .file = where, .condition = condition, .temporary = temporary};
  const std::size_t colon = where.rfind(':');
  if (where.starts_with('*')) {
    const auto line = number_in(where.substr(1));
    if (!line) throw std::invalid_argument(fmt::format("'{}': *N is line N of the PTX", where));
    made.kind = Breakpoint::Kind::ptx, made.line = *line, made.file.clear();
  } else if (const auto alone = number_in(where)) {
    made.kind = Breakpoint::Kind::line, made.line = *alone, made.file.clear();
  } else if (colon != std::string::npos && number_in(where.substr(colon + 1))) {
    made.kind = Breakpoint::Kind::line, made.line = *number_in(where.substr(colon + 1)), made.file = where.substr(0, colon);
    if (made.file.ends_with(".ptx")) made.kind = Breakpoint::Kind::ptx, made.file.clear();
  }
  resolve(made);
  const bool named = made.kind == Breakpoint::Kind::kernel && std::ranges::any_of(program_.names, [&](const std::string& name) {
                       return name == where || name.starts_with(where + "<");
                     });
  if (made.kind == Breakpoint::Kind::kernel && !named && !loaded_->source.with_opcode(where).empty()) {
    made.kind = Breakpoint::Kind::opcode;
    resolve(made);
  }
  if (made.statements.empty()) {
    if (!named && (made.kind == Breakpoint::Kind::kernel || program_.names.size() == 1)) {
      const std::vector<std::string> files = loaded_->source.files();
      throw std::invalid_argument(fmt::format("no statement belongs to '{}': FILE:LINE, *PTX-LINE, a kernel's name or an opcode; {}", where,
                                              files.empty()
                                                  ? "the PTX has no lines of the source (nvcc -lineinfo), so a line is one of the PTX"
                                                  : fmt::format("files: {}", fmt::join(files, ", "))));
    }
  }
  if (!condition.empty()) static_cast<void>(Expression(condition, loaded_->names));
  made.id = ++last_id_;
  return breakpoints_.emplace_back(std::move(made));
}

Breakpoint& Debugger::add_watch(const std::string& expression) {
  load(number_);
  static_cast<void>(Expression(expression, loaded_->names));
  return breakpoints_.emplace_back(Breakpoint{.id = ++last_id_, .kind = Breakpoint::Kind::watch, .file = expression, .focus = focus_});
}

Breakpoint& Debugger::find_breakpoint(int id) {
  const auto found = std::ranges::find(breakpoints_, id, &Breakpoint::id);
  if (found == breakpoints_.end()) throw std::invalid_argument(fmt::format("there is no breakpoint {}", id));
  return *found;
}

void Debugger::remove_breakpoint(int id) {
  breakpoints_.erase(breakpoints_.begin() + (&find_breakpoint(id) - breakpoints_.data()));
}

// ---- Forwards

Json Debugger::move_with_breaks() {
  Json move{{"breaks", Json::array()}, {"watches", Json::array()}};
  for (const Breakpoint& each : breakpoints_) {
    if (!each.enabled) continue;
    if (each.kind == Breakpoint::Kind::watch)
      move["watches"].push_back({{"id", each.id}, {"text", each.file}, {"focus", each.focus}});
    else if (!each.statements.empty())
      move["breaks"].push_back({{"id", each.id}, {"statements", each.statements}, {"if", each.condition}});
  }
  return move;
}

Stop Debugger::stopped(const Json& answer) {
  Stop stop{.reason = answer.at("reason"), .id = answer.value("id", 0), .text = answer.value("text", ""), .answer = answer};
  if (answer.contains("error")) stop.text = answer.at("error");
  if (answer.contains("old")) stop.text = fmt::format("{} -> {}", answer.at("old").get<std::string>(), answer.at("new").get<std::string>());
  if (answer.contains("focus")) {
    const Focus at = answer.at("focus");
    const bool same_warp = Json(at).at("block") == Json(focus_).at("block") && at.warp == focus_.warp;
    const LaneMask lanes = answer.value("lanes", all_lanes);
    const bool keeps_lane =
        (stop.reason == "target" || stop.reason == "watch" || stop.reason == "interrupted") && same_warp && (lanes >> focus_.lane & 1) != 0;
    if (!keeps_lane && stop.reason != "exited") focus_ = at;
  }
  if (stop.id == 0) return stop;
  Breakpoint& hit = find_breakpoint(stop.id);
  ++hit.hits;
  if (hit.temporary) remove_breakpoint(stop.id);
  return stop;
}

/// What follows a move forwards: at the end of a launch the next one begins.
Stop Debugger::after(Json answer, bool goes_on) {
  while (answer.at("reason") == "end") {
    if (answer.contains("printed") && std::ranges::find(told_, number_) == told_.end()) {
      told_.push_back(number_);
      printed_ += answer.at("printed").get<std::string>();
    }
    if (answer.contains("changed")) {
      Json changed = answer.at("changed");
      changed["time"] = answer.at("time");
      return stopped(changed);
    }
    if (!goes_on || number_ + 1 == program_.names.size()) break;
    begin(number_ + 1);
    answer = timeline_->move(move_with_breaks());
  }
  if (answer.at("reason") == "trap" && answer.contains("focus")) {  // back to where its warps still are
    const Json trap = answer;
    const std::uint64_t end = answer.at("time");
    for (std::uint64_t back = 1; back < std::min<std::uint64_t>(end, 8); ++back) {  // what prepares a statement is no place to stop
      answer = timeline_->go_to(end - back);
      if (answer.contains("statement")) break;
    }
    Json both = answer;
    both.update({{"reason", "trap"}, {"text", trap.at("text")}, {"focus", trap.at("focus")}});
    both.erase("lanes");
    return stopped(both);
  }
  return stopped(answer);
}

Stop Debugger::run(bool stops) {
  told_.clear();
  focus_ = {};
  begin(0);
  return after(stops ? timeline_->move({{"target", 1}}) : timeline_->move(move_with_breaks()), !stops);
}

Stop Debugger::resume() {
  if (timeline().ended()) {
    if (number_ + 1 == program_.names.size())
      throw std::invalid_argument("the last launch has ended: 'run' begins anew, reverse-continue goes back");
    begin(number_ + 1);
  }
  return after(timeline_->move(move_with_breaks()), true);
}

/// What makes a step of the focus's lane: its places, and how deep in calls it may be.
Json Debugger::step_spec(Step kind) {
  Json step{{"focus", focus_}, {"each", kind == Step::statement}, {"calls", 1 << 20}, {"places", Json::array()}};
  if (kind == Step::statement) return step;
  Json at;
  if (!timeline().ended()) at = ask({{"do", "where"}});
  const bool here = at.is_object() && !at.value("exited", false);
  const int depth = here ? source().depth(at.at("statement")) : 1 << 20;
  const int calls = here ? at.at("calls").get<int>() : 0;
  step["places"] = source().places(kind == Step::line ? 1 << 20 : depth);
  if (kind == Step::over) step["calls"] = calls;
  if (kind == Step::out) {
    if (depth <= 1 && calls == 0) throw std::invalid_argument("this is the kernel itself, which nothing calls");
    step["places"] = depth > 1 ? source().instances(depth) : std::vector<int>(source().size(), 0);
    step["calls"] = depth > 1 ? calls : calls - 1;
    if (depth <= 1) step["each"] = true;
  }
  return step;
}

Stop Debugger::step(Step kind) {
  if (timeline().ended()) throw std::invalid_argument("the launch has ended: 'continue' goes to the next one, reverse-step goes back");
  Json move = move_with_breaks();
  move["step"] = step_spec(kind);
  return after(timeline_->move(move), false);
}

// ---- Backwards

/// Goes to what a search has found; else to the end of the launch before, and searches there.
Stop Debugger::back_to(const std::optional<Json>& found, Json spec, bool over_launches) {
  std::optional<Json> place = found;
  while (!place && over_launches && number_ > 0) {
    begin(number_ - 1);
    const Json end = timeline_->move({});
    spec["breaks"] = move_with_breaks().at("breaks");
    spec["watches"] = move_with_breaks().at("watches");
    place = timeline_->find_before(spec, end.at("time"));
  }
  if (!place) {
    Json first = timeline_->go_to(1);
    first["reason"] = "beginning";
    return stopped(first);
  }
  Json answer = timeline_->go_to(place->at("time"));
  for (const char* const key : {"reason", "id", "old", "new", "focus", "error"})
    if (place->contains(key)) answer[key] = place->at(key);
  if (!place->contains("reason")) answer["reason"] = "step";
  return stopped(answer);
}

Stop Debugger::reverse_resume() {
  const Json spec = move_with_breaks();
  if (spec.at("breaks").empty() && spec.at("watches").empty() && number_ == 0) return back_to(std::nullopt, spec, false);
  return back_to(timeline().find_before(spec, timeline().time()), spec, true);
}

Stop Debugger::reverse_step(Step kind) {
  Json spec;
  if (kind == Step::out) {  // to where it was called: the last line of the caller
    Json out = step_spec(kind);
    if (out.at("each") == false) {
      const Json at = ask({{"do", "where"}});
      std::vector<int> places = source().places(source().depth(at.at("statement")) - 1);
      const std::vector<int> instances = source().instances(source().depth(at.at("statement")));
      const int own = instances[at.at("statement").get<std::size_t>()];
      for (std::size_t i = 0; i < places.size(); ++i)
        if (instances[i] == own) places[i] = -1;
      out["places"] = places;
      out["each"] = true;
    }
    spec["step"] = out;
  } else {
    spec["step"] = step_spec(kind);
  }
  return back_to(timeline().find_before(spec, timeline().time()), spec, false);
}

Stop Debugger::go_to(std::uint64_t time) {
  if (time == 0) throw std::invalid_argument("times begin with 1");
  return after(timeline().go_to(time), false);
}

Stop Debugger::go_to_launch(std::size_t number) {
  if (number >= program_.names.size()) throw std::invalid_argument(fmt::format("there are {} launches", program_.names.size()));
  focus_ = {};
  begin(number);
  return after(timeline_->move({{"target", 1}}), false);
}

Stop Debugger::go_to_writer(const std::string& what) {
  const Json place = ask({{"do", "place"}, {"text", what}});
  const std::uint64_t now = timeline().time();
  const Focus kept = focus_;
  Json spec{{"writers", place}};
  spec["writers"]["focus"] = focus_;
  std::optional<Json> found = timeline().find_before(spec, now);
  if (found && found->contains("copy")) {  // a bulk copy, issued before the checkpoint from which it was seen to end
    spec["writers"]["copy"] = found->at("copy");
    spec["writers"]["focus"] = found->at("focus");
    found = timeline().find_before(spec, found->at("time"));
  }
  if (!found) {
    static_cast<void>(after(timeline().go_to(now), false));
    focus_ = kept;
    throw std::invalid_argument(fmt::format("nothing has written {} before: it has its contents from before the launch", what));
  }
  return back_to(found, spec, false);
}

}  // namespace warpmat::debug
