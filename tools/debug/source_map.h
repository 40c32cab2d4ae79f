#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/ptx/syntax/module.h>
#include <warpmat/warp.h>

namespace warpmat::debug {

/// Which statements of a kernel belong to which lines, by the PTX's .loc; without one, the lines of the PTX count. The program must outlive
/// the map.
class SourceMap {
 public:
  explicit SourceMap(const code::Program& program) : program_(program) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(program_.statements.size()); }
  bool has_source() const { return !program_.module->source_lines.empty(); }
  int ptx_line(std::uint32_t statement) const { return program_.statements[statement]->location.line; }
  /// The statement as the PTX has it, on one line.
  std::string text(std::uint32_t statement) const;
  /// The innermost first; none where the statement has no .loc.
  std::vector<Trap::SourceLine> frames(std::uint32_t statement) const;
  /// "gemm.cu:41", or "PTX 12".
  std::string place(std::uint32_t statement) const;

  /// By statement a number of its place, equal for equal ones: of all its frames, or of the outermost `levels`. -1: no .loc.
  std::vector<int> places(int levels) const;
  /// The same of the calls around the place alone: equal for statements of one inlined call.
  std::vector<int> instances(int levels) const;
  int depth(std::uint32_t statement) const;

  /// The statements with which the line begins, in the file or one whose path ends so; an empty file is any, "ptx" the PTX itself. Of a
  /// line without statements the next one of that file with some, which `line` then is.
  std::vector<std::uint32_t> find(std::string_view file, int& line) const;
  /// The statements whose opcodes begin so.
  std::vector<std::uint32_t> with_opcode(std::string_view beginning) const;
  /// The files that have lines.
  std::vector<std::string> files() const;

 private:
  std::string file_of(int number) const;
  using Key = std::tuple<std::string_view, int, int>;
  std::vector<int> numbered(int levels, const std::function<Key(const syntax::SourceLine&)>& key_of) const;
  std::vector<int> chain(std::uint32_t statement) const;  ///< of Module::source_lines, the innermost first
  std::vector<std::uint32_t> beginning(int line, std::string_view file) const;

  const code::Program& program_;
};

}  // namespace warpmat::debug
