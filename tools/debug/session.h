#pragma once

#include <functional>
#include <string>
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
  /// What all commands do, or one.
  static std::string help(const std::string& command);
  /// "block (0,0,0) warp 2 lane 4" and the statement there.
  void tell(const Stop& stop);

 private:
  struct Row;
  static const std::vector<Row>& rows();
  static const Row& find(const std::string& word);

  void list_source(const std::string& words);
  void disassemble(const std::string& words);
  void print(const std::string& words);
  void examine(const std::string& words);
  void info(const std::string& words);
  void focus(const std::string& words);
  void watch(const std::string& words);
  void set_breakpoint(const std::string& words, bool temporary);
  std::vector<std::string> operand_registers(const std::string& operand);
  void where_from(const std::string& words);
  void matrix(const std::string& words);
  void show(const Json& answer) { say_(answer.at("text").get<std::string>()); }
  void moved(const Stop& stop, const std::string& times = "");
  void repeat(const std::string& words, const std::function<Stop()>& once);

  Debugger& debugger_;
  Say say_;
  std::string last_;
  std::string format_;  ///< of print/x and x/8xw
  int listed_ = 0;
};

}  // namespace warpmat::debug
