#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/debug/timeline.h"

namespace warpmat::debug {

/// Launches one after the other, of a program or a single one.
struct DebuggedProgram {
  std::vector<std::string> names;  ///< of the launches: their kernels
  /// Throws std::runtime_error.
  std::function<LoadedLaunch(std::size_t number)> load;
  LaunchChoice choice{};
};

/// Where the launch stands still, and why.
struct Stop {
  std::string reason;  ///< "break", "watch", "step", "target", "end", "trap", "refused", "interrupted", "exited", "beginning"
  int id = 0;          ///< of the breakpoint
  std::string text{};  ///< of an error; what a watched value was and is; why a condition has no value
  Json answer{};       ///< of Follower
  bool in_launch() const { return answer.contains("statement"); }
};

struct Breakpoint {
  enum class Kind { line, ptx, kernel, opcode, watch };
  int id = 0;
  Kind kind = Kind::line;
  std::string file{};  ///< of a line; of a kernel its name; of an opcode its beginning; of a watch its expression
  int line = 0;
  std::string condition{};
  bool temporary = false, enabled = true;
  std::uint64_t hits = 0;
  Focus focus{};                            ///< of a watch
  std::vector<std::uint32_t> statements{};  ///< in the launch at hand; none: not in this kernel
};

/// The debugger without a user: what the terminal and the Debug Adapter Protocol share. Functions that make the launch go return where it
/// stops. All throw std::exception with a sentence.
class Debugger {
 public:
  explicit Debugger(DebuggedProgram program) : program_(std::move(program)) {}

  /// From the first launch on; with `stops` to the first statement alone.
  Stop run(bool stops);
  Stop resume();
  enum class Step { statement, line, over, out };
  Stop step(Step kind);
  Stop reverse_resume();
  Stop reverse_step(Step kind);
  /// A time of the launch at hand, or the start of another.
  Stop go_to(std::uint64_t time);
  Stop go_to_launch(std::size_t number);
  /// Goes back to the statement that wrote a register or memory last.
  Stop go_to_writer(const std::string& what);

  /// "FILE:LINE", "LINE", "*PTX-LINE", a kernel's name or how an opcode begins: "mma". Throws std::invalid_argument that says which files
  /// there are.
  Breakpoint& add_break(const std::string& where, const std::string& condition, bool temporary);
  Breakpoint& add_watch(const std::string& expression);
  Breakpoint& find_breakpoint(int id);
  void remove_breakpoint(int id);
  std::vector<Breakpoint>& breakpoints() { return breakpoints_; }

  const Focus& focus() const { return focus_; }
  void set_focus(const Focus& focus);
  bool runs() const { return timeline_ != nullptr; }
  Json ask(Json question);
  const SourceMap& source();
  const Names& names();
  Timeline& timeline();
  void set_input(Timeline::Input input) { input_ = std::move(input); }
  std::size_t launch() const { return number_; }
  const DebuggedProgram& program() const { return program_; }
  LoadedLaunch& loaded();
  /// What printf of the kernels said since the last call.
  std::string take_printed() { return std::exchange(printed_, {}); }

 private:
  struct Loaded {
    LoadedLaunch launch;
    SourceMap source;
    Names names;
    explicit Loaded(LoadedLaunch launch_);
  };
  void load(std::size_t number);
  void begin(std::size_t number);
  bool is_before_kernel(const Breakpoint& each) const;
  void resolve(Breakpoint& each);
  Json move_with_breaks();
  Json step_spec(Step kind);
  Stop stopped(const Json& answer);
  Stop after(Json answer, bool goes_on);
  Stop back_to(const std::optional<Json>& found, Json spec, bool over_launches);

  DebuggedProgram program_;
  std::unique_ptr<Loaded> loaded_;
  std::unique_ptr<Timeline> timeline_;
  Timeline::Input input_;
  std::size_t number_ = 0;
  std::vector<Breakpoint> breakpoints_;
  int last_id_ = 0;
  Focus focus_;
  std::string printed_;
  std::vector<std::size_t> told_;  ///< launches whose printf has been told
};

}  // namespace warpmat::debug
