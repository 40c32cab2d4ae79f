#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/debug/debugger.h"

namespace warpmat::debug {

/// The words of the terminal, which are gdb's, and their answers as text.
class Session {
 public:
  using Say = std::function<void(const std::string& text)>;
  Session(Debugger& debugger, Say say) : debugger_(debugger), say_(std::move(say)) {}

  /// Does one command; an empty line repeats the last step. Returns false after quit. Throws std::exception with a sentence.
  bool execute(const std::string& line);
  /// "block (0,0,0) warp 2 lane 4" and the statement there.
  void tell(const Stop& stop);

 private:
  struct Row;
  static std::span<const Row> rows();
  static const Row& find(std::string_view word);

  // The works of the rows, with the words behind the command.
  void run(const std::string&);
  void start(const std::string&);
  void resume(const std::string& words);
  void reverse_resume(const std::string& words);
  template <Debugger::Step kind>
  void step(const std::string& words) {
    repeat(words, [&] { return debugger_.step(kind); });
  }
  template <Debugger::Step kind>
  void reverse_step(const std::string& words) {
    repeat(words, [&] { return debugger_.reverse_step(kind); });
  }
  void go_to(const std::string& words);
  void go_to_launch(const std::string& words);
  void who_wrote(const std::string& words);
  template <bool temporary>
  void set_breakpoint(const std::string& words) {
    set_breakpoint(words, temporary);
  }
  void watch(const std::string& words);
  void remove_breakpoints(const std::string& words);
  template <bool enabled>
  void enable(const std::string& words) {
    breakpoint(words).enabled = enabled;
  }
  void condition(const std::string& words);
  void focus(const std::string& words);
  void print(const std::string& words);
  void examine(const std::string& words);
  void backtrace(const std::string&);
  void info(const std::string& words);
  void list_source(const std::string& words);
  void disassemble(const std::string& words);
  void where_from(const std::string& words);
  void matrix(const std::string& words);
  void explain(const std::string& words);
  void banks(const std::string&);
  void diverged(const std::string&);
  void echo(const std::string& words) { say_(words); }
  void help(const std::string& words);
  void quit(const std::string&) { ended_ = true; }

  void set_breakpoint(const std::string& words, bool temporary);
  Breakpoint& breakpoint(const std::string& number);
  std::vector<std::string> operand_registers(const std::string& operand);
  /// Says the answer's text.
  void ask(Json question) { say_(debugger_.ask(std::move(question)).at("text")); }
  void moved(const Stop& stop);
  void repeat(const std::string& words, const std::function<Stop()>& once);

  Debugger& debugger_;
  Say say_;
  std::string last_;
  std::string format_;  ///< of print/x and x/8xw
  int listed_ = 0;
  bool ended_ = false;
};

}  // namespace warpmat::debug
