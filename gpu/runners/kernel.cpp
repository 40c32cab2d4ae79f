#include "gpu/runners/kernel.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/core.h>

#include "gpu/runners/module_head.h"

namespace warpmat {
namespace {

/// A prefix for the wrapper's own names; no register of `program` begins with it.
std::string free_prefix(const Program& program) {
  std::string prefix = "warpmat_";
  const auto begins = [&](const NamedRegister& r) { return r.name.starts_with(prefix); };
  while (std::ranges::any_of(program.registers(), begins)) prefix += "_";
  return prefix;
}

/// The byte offset of a register word from the lane's first.
int word_offset(int word) {
  return word * warp_size * 4;
}

/// The wrapper of one program. `$` in its PTX stands for the prefix.
class Writer {
 public:
  Writer(const Program& program, PtxVersion version)
      : program_(program), version_(version), prefix_(free_prefix(program)), memory_(prefix_ + "memory") {}

  WrappedProgram kernel() {
    open();
    find_places();
    copy_shared("ld.global.b32 $word, [$global];\nst.shared.b32 [$local], $word;", "in");
    for (const NamedRegister& r : program_.registers()) load(r);
    for (const Statement& statement : program_.statements()) write(statement);
    for (const NamedRegister& r : program_.registers()) store(r);
    copy_shared("ld.shared.b32 $word, [$local];\nst.global.b32 [$global], $word;", "out");
    line("ret;\n}");
    return {prefix_ + "program", std::move(text_)};
  }

 private:
  void write(const Statement& statement) {
    const bool moves = statement.matrix() != nullptr && moves_matrix(statement.matrix()->form());
    const Space space = moves ? statement.matrix()->form().space : Space::shared;
    if (space == Space::shared) return line(print(program_, statement, memory_));
    if (space == Space::generic) return write_elsewhere(statement, "cvta.shared.u64 $global, $global;");
    // Global memory is a copy of shared memory, before the statement and after it.
    const std::string number = std::to_string(copies_++);
    copy_shared("ld.shared.b32 $word, [$local];\nst.global.b32 [$global], $word;", "before" + number);
    write_elsewhere(statement,
                    "mov.u32 $local, $memory;\ncvt.u64.u32 $at_shared, $local;\nsub.u64 $global, $global, $at_shared;\n"
                    "add.u64 $global, $global, $memories;\nmul.wide.u32 $at_shared, $lane, 4;\nsub.u64 $global, $global, $at_shared;");
    copy_shared("ld.global.b32 $word, [$global];\nst.shared.b32 [$local], $word;", "after" + number);
  }

  /// The statement with $global as its address, which `conversion` derives from the one in shared memory.
  void write_elsewhere(const Statement& statement, std::string_view conversion) {
    const auto address = std::ranges::find(statement.operands(), OperandText::Kind::address, &OperandText::kind);
    const std::string text = print(program_, statement, memory_);
    const std::size_t open = text.find('['), close = text.find(']');
    const Item& base = address->items.front();
    if (base.kind == Item::Kind::variable) {
      line(fmt::format("mov.u32 {}word, {};", prefix_, text.substr(open + 1, close - open - 1)));
      add("cvt.u64.u32 $global, $word;");
    } else if (base.words == 1) {
      line(fmt::format("add.u32 {}word, {}, {};\ncvt.u64.u32 {}global, {}word;", prefix_, print_base(base), address->offset, prefix_,
                       prefix_));
    } else {
      line(fmt::format("add.u64 {}global, {}, {};", prefix_, print_base(base), address->offset));
    }
    add(conversion);
    line(text.substr(0, open) + "[" + prefix_ + "global]" + text.substr(close + 1));
  }

  const std::string& print_base(const Item& base) const { return program_.registers()[static_cast<std::size_t>(base.index)].name; }

  void line(std::string_view ptx) { text_.append(ptx).append("\n"); }

  /// Lines of the wrapper itself.
  void add(std::string_view ptx) {
    for (const char c : ptx) text_ += c == '$' ? prefix_ : std::string(1, c);
    text_ += '\n';
  }

  void open() {
    text_ += module_head(version_, program_.target()->name);
    add(".extern .shared .align 1024 .b8 $memory[];");
    add(".visible .entry $program(.param .u64 $registers, .param .u64 $shared, .param .u32 $shared_bytes, .param .u64 $base)\n"
        ".maxntid 32, 1, 1\n{");
    for (const NamedRegister& r : program_.registers()) line(fmt::format(".reg .{} {};", r.type->name, r.name));
    add(".reg .pred $here;\n.reg .b16 $zero;\n.reg .b32 $warp, $lane, $word, $low, $high, $bytes, $local, $end;\n"
        ".reg .b64 $at, $memories, $global, $result, $at_shared;");
  }

  /// $at: this lane's first register word. $memories: this lane's first word of the warp's shared memory.
  void find_places() {
    add("mov.u32 $warp, %ctaid.x;\nmov.u32 $lane, %tid.x;\nmov.b16 $zero, 0;");
    add("ld.param.u64 $at, [$registers];\ncvta.to.global.u64 $at, $at;");
    line(fmt::format("mad.wide.u32 {0}at, {0}warp, {1}, {0}at;", prefix_, word_offset(program_.named_words())));
    add("mad.wide.u32 $at, $lane, 4, $at;");
    add("ld.param.u64 $memories, [$shared];\ncvta.to.global.u64 $memories, $memories;\nld.param.u32 $bytes, [$shared_bytes];\n"
        "mad.wide.u32 $memories, $warp, $bytes, $memories;\nmad.wide.u32 $memories, $lane, 4, $memories;");
    add("ld.param.u64 $result, [$base];\ncvta.to.global.u64 $result, $result;\nor.b32 $word, $warp, $lane;\n"
        "setp.eq.u32 $here, $word, 0;\nmov.u32 $word, $memory;\n@$here st.global.b32 [$result], $word;");
  }

  /// Copies all of the warp's shared memory, a word a lane at a time. The size is a multiple of 32 words, so the lanes do not diverge.
  void copy_shared(std::string_view one_word, std::string_view direction) {
    add("bar.warp.sync 0xffffffff;\nmov.b64 $global, $memories;\nmov.u32 $local, $memory;\nadd.u32 $end, $local, $bytes;\n"
        "mad.lo.u32 $local, $lane, 4, $local;");
    add(fmt::format("$copy_{0}:\nsetp.ge.u32 $here, $local, $end;\n@$here bra $copied_{0};", direction));
    add(one_word);
    add(fmt::format("add.u32 $local, $local, 128;\nadd.u64 $global, $global, 128;\nbra $copy_{0};\n$copied_{0}:\nbar.warp.sync 0xffffffff;",
                    direction));
  }

  std::string place(const NamedRegister& r, int bytes = 0) const { return fmt::format("[{}at+{}]", prefix_, word_offset(r.slot) + bytes); }

  void load(const NamedRegister& r) {
    if (r.type->bits == 1) return line(fmt::format("ld.global.b32 {0}word, {1};\nsetp.ne.b32 {2}, {0}word, 0;", prefix_, place(r), r.name));
    if (r.type->bits <= 32) return line(fmt::format("ld.global.b{} {}, {};", r.type->bits, r.name, place(r)));
    line(fmt::format("ld.global.b32 {}low, {};", prefix_, place(r)));
    line(fmt::format("ld.global.b32 {}high, {};", prefix_, place(r, word_offset(1))));
    line(fmt::format("mov.b64 {0}, {{{1}low, {1}high}};", r.name, prefix_));
  }

  void store(const NamedRegister& r) {
    if (r.type->bits == 1) return line(fmt::format("selp.b32 {0}word, 1, 0, {2};\nst.global.b32 {1}, {0}word;", prefix_, place(r), r.name));
    if (r.type->bits <= 32) {
      line(fmt::format("st.global.b{} {}, {};", r.type->bits, place(r), r.name));
      if (r.type->bits == 16) line(fmt::format("st.global.b16 {}, {}zero;", place(r, 2), prefix_));
      return;
    }
    line(fmt::format("mov.b64 {{{1}low, {1}high}}, {0};", r.name, prefix_));
    line(fmt::format("st.global.b32 {}, {}low;", place(r), prefix_));
    line(fmt::format("st.global.b32 {}, {}high;", place(r, word_offset(1)), prefix_));
  }

  const Program& program_;
  PtxVersion version_;
  std::string prefix_;
  std::string memory_;  ///< the array that holds all of shared memory
  std::string text_;
  int copies_ = 0;  ///< statements for which shared memory was copied to global memory
};

std::optional<std::size_t> line_number(const std::string& log) {
  const std::size_t found = log.find("line ");
  if (found == std::string::npos) return std::nullopt;
  std::size_t number = 0;
  std::istringstream(log.substr(found + 5)) >> number;
  return number == 0 ? std::nullopt : std::optional(number);
}

}  // namespace

WrappedProgram make_kernel(const Program& program, PtxVersion version) {
  return Writer(program, version).kernel();
}

PtxVersion required_version(const Program& program) {
  PtxVersion version = std::max(program.target()->since, PtxVersion{6, 5});  // 6.5: bar.warp.sync, cvta and other needs of the wrapper
  for (const Statement& statement : program.statements()) version = std::max(version, statement.instruction().requirement().ptx);
  return version;
}

std::string explain_log(const std::string& text, const std::string& log) {
  const auto number = line_number(log);
  if (!number) return log;
  std::istringstream lines(text);
  std::string statement;
  for (std::size_t i = 0; i < *number && std::getline(lines, statement); ++i) {
  }
  const std::string rest = log.substr(log.find("line "));
  const std::size_t begin = std::min(rest.find_first_of(";\n"), rest.size());
  const std::size_t end = std::min(rest.find('\n', begin + 1), rest.size());
  const std::size_t message = std::min(rest.find_first_not_of("; \n", begin), end);
  return fmt::format("'{}': {}", statement, rest.substr(message, end - message));
}

}  // namespace warpmat
