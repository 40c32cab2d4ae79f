#include "catch.h"

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <warpmat/ptx/program.h>

#include "gpu/cases/fuzz_program.h"
#include "ptx/diagnostics.h"
#include "ptx/random_program.h"

namespace warpmat {
namespace {

std::string registers(const Program& program) {
  std::string text;
  for (const NamedRegister& r : program.registers)
    text += fmt::format("{}{} .{} {}", text.empty() ? "" : ", ", r.name, r.type->name, r.slot);
  return text;
}

std::string variables(const Program& program) {
  std::string text;
  for (const SharedVariable& v : program.variables)
    text += fmt::format("{}{} .{} x{} at {}", text.empty() ? "" : ", ", v.name, v.type->name, v.count, v.address);
  return text;
}

/// Line `number`, counted from 1, of `text`, without its line break.
std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// "line:column message" of every error.
std::vector<std::string> errors(std::string_view text, std::string_view target_name = "sm_90a") {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics(text, target_name))
    out.push_back(fmt::format("{}:{} {}", d.location.line, d.location.column, d.message));
  return out;
}

std::vector<int> error_lines(std::string_view text) {
  std::vector<int> lines;
  for (const Diagnostic& d : diagnostics(text)) lines.push_back(d.location.line);
  return lines;
}

using Lines = std::vector<int>;

}  // namespace

TEST_CASE("parser: .version, .target and .address_size") {
  const Program program = parse(".version 7.8\n.target sm_86\n.address_size 64\n");
  CHECK(program.version == PtxVersion{7, 8});
  CHECK(program.target->name == "sm_86");
  CHECK(parse(".target sm_86", "sm_90a").target->name == "sm_90a");  // the caller's target goes first
  CHECK(parse("", "sm_75").version == newest_ptx);
  CHECK(parse(".address_size 32", "sm_75").statements.empty());
  CHECK(errors("", "") == std::vector<std::string>{"1:1 no target: begin the program with .target sm_90a, or name one"});
  CHECK_THROWS_AS(parse("", "sm_91"), std::invalid_argument);
}

TEST_CASE("parser: .reg declares registers of one or two words") {
  CHECK(registers(parse(".reg .b32 a, %b<2>; .reg .f64 $c; .reg .u16 _d, e;", "sm_80")) ==
        "a .b32 0, %b0 .b32 1, %b1 .b32 2, $c .f64 3, _d .u16 5, e .u16 6");
  std::set<std::string_view> types;
  for (const DataType& type : data_types())
    if (diagnostics(fmt::format(".reg .{} a;", type.name)).empty()) types.insert(type.name);
  CHECK(types ==
        std::set<std::string_view>{"b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2", "b64", "u64", "s64", "f64", "pred"});
  CHECK(registers(parse(".reg .pred p, q; .reg .b32 a;", "sm_80")) == "p .pred 0, q .pred 1, a .b32 2");
  CHECK(parse(".reg .b32 a<65536>;", "sm_80").registers.size() == 65536);
}

TEST_CASE("parser: .shared lays variables out one behind the other, aligned") {
  const Program program = parse(".shared .b8 a[3]; .shared .u32 b; .shared .align 16 .b16 c[5], d; .shared .f64 e[1];", "sm_80");
  CHECK(variables(program) == "a .b8 x3 at 0, b .u32 x1 at 4, c .b16 x5 at 16, d .b16 x1 at 32, e .f64 x1 at 40");
  CHECK(program.shared_bytes == 48);
  CHECK(program.variables[0].extents.size() == 1);
  CHECK(program.variables[1].extents.empty());
  CHECK(program.variables[4].extents.size() == 1);
}

TEST_CASE("parser: arrays may have several dimensions, which lie row by row") {
  const Program program = parse(".shared .align 16 .b16 tile[64][32], cube[2][3][4]; .shared .b8 x;", "sm_80");
  CHECK(variables(program) == "tile .b16 x2048 at 0, cube .b16 x24 at 4096, x .b8 x1 at 4144");
  CHECK(program.variables[0].extents == std::vector<std::int64_t>{64, 32});
  CHECK(program.variables[1].extents == std::vector<std::int64_t>{2, 3, 4});
}

TEST_CASE("parser: a label names its statement") {
  const Program program = parse("mov.u32 a, 1; $load:mov.u32 b, a; mov.u32 c, b;\nend : mov.u32 d, c;", "sm_80");
  REQUIRE(program.statements.size() == 4);
  CHECK(program.statements[0].label.empty());
  CHECK(program.statements[1].label == "$load");
  CHECK(program.statements[2].label.empty());
  CHECK(program.statements[3].label == "end");
}

TEST_CASE("parser: without declarations a register is as wide as its first use") {
  CHECK(registers(parse("mov.u64 a, b; mov.f32 c, 1.0; mov.s16 d, 1; ld.shared.u8 e, [f]; ld.shared.v2.f64 {g, h}, [f]; "
                        "movmatrix.sync.aligned.m8n8.trans.b16 i, c;",
                        "sm_90a")) == "a .b64 0, b .b64 2, c .b32 4, d .b16 5, e .b32 6, f .b32 7, g .b64 8, h .b64 10, i .b32 12");
  CHECK(errors("mov.u32 a, 1; mov.u64 b, a;") == std::vector<std::string>{"1:26 'a' is .b32, but a source of mov has 64 bits"});
}

TEST_CASE("parser: every error, with its place and what would be right") {
  struct Case {
    const char *target, *source;
    Location location;
    const char* message;
  };
  static constexpr Case cases[] = {
      {"", "mov.u32 a, 1;", {1, 1}, "no target yet: begin the program with .target sm_90a, or name one"},
      {"", ".target sm_91", {1, 9}, "unknown target 'sm_91': for example sm_80, sm_90a, sm_120a"},
      {"", ".target 90", {1, 9}, "unknown target '90': for example sm_80, sm_90a, sm_120a"},
      {"", ".target sm_80 mov.u32 a", {1, 24}, "expected ';' after the statement, found the end of the text"},
      {"sm_90a", ".version 6.4 .target sm_80", {1, 22}, "sm_80 needs PTX 7.0 or later; the version is 6.4"},
      {"sm_90a", ".version 9", {1, 10}, "expected a PTX version such as 9.0, found '9'"},
      {"sm_90a", ".version 9.x", {1, 10}, "expected a PTX version such as 9.0, found '9'"},
      {"sm_90a", ".version", {1, 9}, "expected a PTX version such as 9.0, found the end of the text"},
      {"sm_90a", ".version 9.2", {1, 10}, "PTX 9.2 is newer than this library knows; the newest is 9.1"},
      {"sm_90a", ".version 100.0", {1, 10}, "expected a PTX version such as 9.0, found '100.0'"},
      {"sm_90a", ".address_size 48", {1, 15}, "expected an address size of 64 or 32, found '48'"},
      {"sm_90a", ".entry k", {1, 1}, ".entry is for whole kernels, which 'warpmat launch' and Module take: this is a list of statements"},
      {"sm_90a", ".global .b32 x;", {1, 1}, "unknown directive '.global': there are .version, .target, .address_size, .reg and .shared"},
      {"sm_90a", ".reg .b8 a;", {1, 10}, "'a' needs a type such as .b32 or .f32, not '.b8'"},
      {"sm_90a", ".shared .pred p;", {1, 15}, "'p' needs a type such as .b32 or .f32, not '.pred'"},
      {"sm_90a", ".reg a;", {1, 6}, "'a' needs a type such as .b32 or .f32"},
      {"sm_90a", ".reg .b32;", {1, 10}, "expected a name, found ';'"},
      {"sm_90a", ".reg .b32 _;", {1, 11}, "'_' is no name for a variable"},
      {"sm_90a", ".reg .b32 %laneid;", {1, 11}, "'%laneid' is no name for a variable"},
      {"sm_90a", ".reg .b32 a, a;", {1, 14}, "'a' is already declared"},
      {"sm_90a", ".reg .b32 a<0>;", {1, 13}, "a range has 1 to 1048576 registers"},
      {"sm_90a", ".reg .b32 a<65537>;", {1, 11}, "more than 65536 registers"},
      {"sm_90a", ".reg .b32 a<2;", {1, 14}, "expected '>' after the number of registers, found ';'"},
      {"sm_90a", ".reg .b32 a<2>; .reg .f32 a1;", {1, 27}, "'a1' is already declared"},
      {"sm_90a", ".reg .b32 a", {1, 12}, "expected ';' after the declaration, found the end of the text"},
      {"sm_90a", ".reg .b32 a<65536>; .reg .b32 b;", {1, 31}, "more than 65536 registers"},
      {"sm_90a", ".shared .b32 v[4]; .reg .b32 v;", {1, 30}, "'v' is already declared"},
      {"sm_90a", ".shared .b32 v[0];", {1, 14}, "'v' needs a number of elements from 1 to 268435456"},
      {"sm_90a", ".shared .b32 v[];", {1, 14}, "'v' needs a number of elements from 1 to 268435456"},
      {"sm_90a", ".shared .b32 v[x];", {1, 16}, "expected an integer, found 'x'"},
      {"sm_90a", ".shared .b32 v[268435457];", {1, 14}, "'v' needs a number of elements from 1 to 268435456"},
      {"sm_90a", ".shared .b32 v[268435456], w;", {1, 28}, "more than 1073741824 bytes of shared memory"},
      {"sm_90a", ".shared .align 3 .b32 v;", {1, 23}, "an alignment is a power of two up to 65536"},
      {"sm_90a", ".shared .align .b32 v;", {1, 16}, "expected an integer, found '.b32'"},
      {"sm_90a", ".shared .f8 v;", {1, 13}, "'v' needs a type such as .b32 or .f32, not '.f8'"},
      {"sm_90a", ".shared .b32 v[2][134217729];", {1, 14}, "'v' needs a number of elements from 1 to 134217728"},
      {"sm_90a", ".shared .b32 v[2][2;", {1, 20}, "expected ']' after the number of elements, found ';'"},
      {"sm_90a", ".shared .b32 v[2*2];", {1, 17}, "expected ']' after the number of elements, found '*'"},
      {"sm_90a", ".shared .b32 v = 1;", {1, 14}, "'v' has no .v2 or .v4, no .ptr and no initial values in a list of statements"},
      {"sm_90a",
       "a = b;",
       {1, 1},
       "'a' is not an instruction that warpmat executes: 'warpmat list' and 'warpmat list --scalar' name those"},
      {"sm_90a", "}", {1, 1}, "a block or a kernel is no list of statements: 'warpmat launch' and Module take whole kernels"},
      {"sm_90a", "@5 mov.u32 a, 1;", {1, 2}, "expected a predicate, found '5'"},
      {"sm_90a", "@p = b;", {1, 4}, "expected an instruction or a directive, found '='"},
      {"sm_90a", ".reg .b32 a, p; @p mov.u32 a, 1;", {1, 18}, "'p' is .b32, but the guard has 1 bits"},
      {"sm_90a",
       "@p movmatrix.sync.aligned.m8n8.trans.b16 a, b;",
       {1, 4},
       "a matrix instruction has no guard in a list of statements: all lanes of the warp take part"},
      {"sm_90a", "add.u32 a|b, c, d;", {1, 9}, "add has no second result here"},
      {"sm_90a", "setp.eq.f16x2 p, a, b;", {1, 15}, "setp writes two results, with | between them"},
      {"sm_90a", "setp.eq.u32 p, !a, b;", {1, 16}, "expected a source of setp, found '!a'"},
      {"sm_90a", "setp.eq.and.u32 !p, a, b, q;", {1, 17}, "expected the result of setp, found '!p'"},
      {"sm_90a", "@p mov.u32 p, 1;", {1, 12}, "'p' is .pred, but the result of mov has 32 bits"},
      {"sm_90a", "L: mov.u32 a, 1; L: mov.u32 b, 1;", {1, 18}, "two statements are called 'L'"},
      {"sm_90a", "L: .reg .b32 a;", {1, 4}, "expected the statement that 'L' names, found '.reg'"},
      {"sm_90a", "L: M: mov.u32 a, 1;", {1, 4}, "expected the statement that 'L' names, found 'M'"},
      {"sm_90a", "L:", {1, 3}, "expected the statement that 'L' names, found the end of the text"},
      {"sm_90a", "a: mov.u32 a, 1;", {1, 4}, "'a' is a register or a variable already: a label needs a name of its own"},
      {"sm_90a", "5;", {1, 1}, "expected an instruction or a directive, found '5'"},
      {"sm_90a", "-", {1, 1}, "expected an instruction or a directive, found '-'"},
      {"sm_90a",
       "ret;",
       {1, 1},
       "a list of statements runs from first to last, without ret: 'warpmat launch' and Module take whole kernels"},
      {"sm_90a",
       "bra L;",
       {1, 1},
       "a list of statements runs from first to last, without bra: 'warpmat launch' and Module take whole kernels"},
      {"sm_90a",
       "ld.global.b32 a, [b];",
       {1, 1},
       "'ld.global.b32' is not in a list of statements, whose memory is .shared: there are ld.shared and ld.shared.v2 and .v4, of at most "
       "128 bits; 'warpmat launch' and Module take whole kernels"},
      {"sm_90a",
       "ld.shared.b128 a, [b];",
       {1, 1},
       "'ld.shared.b128' is not in a list of statements, whose memory is .shared: there are ld.shared and ld.shared.v2 and .v4, of at most "
       "128 bits; 'warpmat launch' and Module take whole kernels"},
      {"sm_90a",
       "st.shared.v4.b64 [b], {c, d, e, f};",
       {1, 1},
       "'st.shared.v4.b64' is not in a list of statements, whose memory is .shared: there are st.shared and st.shared.v2 and .v4, of at "
       "most 128 bits; 'warpmat launch' and Module take whole kernels"},
      {"sm_90a", "mul.full.u32 a, b, c;", {1, 1}, "'mul.full.u32' is not a form that warpmat executes; the nearest is mul.lo.u32"},
      {"sm_90a", "mul.u32.lo a, b, c;", {1, 1}, "the qualifiers of 'mul.u32.lo' are in another order than in mul.lo.u32"},
      {"sm_90a", "cvt.rn.f32.f16 a, b;", {1, 1}, "'cvt.rn.f32.f16' is not a form that warpmat executes; the nearest is cvt.rn.f16.f32"},
      {"sm_90a", "mov.u8 a, 1;", {1, 1}, "'mov.u8' is not a form that warpmat executes; the nearest is mov(.b16|.u16|.s16)"},
      {"sm_90a", "mov a, 1;", {1, 1}, "'mov' is not a form that warpmat executes; the nearest is mov(.b16|.u16|.s16)"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {a}, [b];",
       {1, 1},
       "no such form of ldmatrix; the nearest is ldmatrix.sync.aligned.m8n8.x4.shared.b16: the same without .x3 and with .x4"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x1.global.b16 {a}, [b];",
       {1, 1},
       "no such form of ldmatrix; the nearest is ldmatrix.sync.aligned.m8n8.x1.b16: the same without .global"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {a}, {b}, {c}, {d};",
       {1, 1},
       "no such form of mma; the nearest is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: the same without .row and with .col"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k16.row.col.f16.f16.f32.f32 {a}, {b}, {c}, {d};",
       {1, 1},
       "the qualifiers of 'mma.sync.aligned.m16n8k16.row.col.f16.f16.f32.f32' are in another order than in "
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {a}, {b}, {c}, {d};",
       {1, 1},
       "no such form of mma; the nearest is mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32: the same without .f16 and with .f32"},
      {"sm_90a",
       "mma {a}, {b}, {c}, {d};",
       {1, 1},
       "no such form of mma; the nearest is mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32: the same with .aligned .col .f16 .f16 .f32 "
       ".f32 .m8n8k4 .row .sync"},
      {"sm_75",
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a}, {b}, {c}, {d};",
       {1, 1},
       "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 needs sm_80 or later; the target is sm_75"},
      {"sm_80",
       "stmatrix.sync.aligned.m8n8.x1.shared.b16 [a], {b};",
       {1, 1},
       "stmatrix.sync.aligned.m8n8.x1.shared.b16 needs sm_90 or later; the target is sm_80"},
      {"sm_75", "cvt.rn.f16x2.f32 a, b, c;", {1, 1}, "cvt.rn.f16x2.f32 needs sm_80 or later; the target is sm_75"},
      {"",
       ".version 6.5 .target sm_75 movmatrix.sync.aligned.m8n8.trans.b16 a, b;",
       {1, 28},
       "movmatrix.sync.aligned.m8n8.trans.b16 needs PTX 7.8 or later; the version is 6.5"},
      {"", ".version 6.3 .target sm_75 cvt.rn.bf16x2.f32 a, b, c;", {1, 28}, "cvt.rn.bf16x2.f32 needs sm_80 or later; the target is sm_75"},
      {"", ".version 5.0 .target sm_70", {1, 22}, "sm_70 needs PTX 6.0 or later; the version is 5.0"},
      {"sm_90a", "mov.u32 a 1;", {1, 10}, "expected ';' after the statement, found '1'"},
      {"sm_90a", "mov.u32 a, 1", {1, 13}, "expected ';' after the statement, found the end of the text"},
      {"sm_90a", "mov.u32 a, 1 mov.u32 b, 2;", {1, 13}, "expected ';' after the statement, found 'mov'"},
      {"sm_90a", "mov.u32 a, 1\nmov.u32 b, 2;", {1, 13}, "expected ';' after the statement, found 'mov'"},
      {"sm_90a", "mov.u32 a, 1, 2;", {1, 15}, "mov takes 2 operands here, 3 are given"},
      {"sm_90a", "mov.u32 a;", {1, 10}, "mov takes 2 operands here, 1 is given"},
      {"sm_90a", "mov.u32 , a;", {1, 9}, "expected an operand, found ','"},
      {"sm_90a", "mov.u32 {a}, 1;", {1, 9}, "expected the result of mov, found '{'"},
      {"sm_90a", "mov.u32 a, [b];", {1, 12}, "expected a source of mov, found '['"},
      {"sm_90a", "mov.u32 5, a;", {1, 9}, "the result of mov needs a register to be written to"},
      {"sm_90a", "mov.u32 %laneid, a;", {1, 9}, "%laneid cannot be written"},
      {"sm_90a", "mov.u32 _, a;", {1, 9}, "the result of mov needs a register: _ only stands in braces"},
      {"sm_90a", "mov.u32 a, _;", {1, 12}, "a source of mov is read; _ only takes results"},
      {"sm_90a", "mov.u32 a, %tid.x;", {1, 12}, "'%tid.x' is not supported: the only special register is %laneid"},
      {"sm_90a", "mov.f32 a, %laneid;", {1, 12}, "%laneid is a .u32; a source of mov is .f32"},
      {"sm_90a", "mov.u32 a, 4294967296;", {1, 12}, "'4294967296' is not a number that fits .u32"},
      {"sm_90a", "mov.u32 a, 1.0;", {1, 12}, "'1.0' is not a number that fits .u32"},
      {"sm_90a", "mov.u32 a, 0f3F800000;", {1, 12}, "'0f3F800000' is not a number that fits .u32"},
      {"sm_90a", "mov.f32 a, 1;", {1, 12}, "'1' is not a number that fits .f32"},
      {"sm_90a", "mov.b32 a, -0f3F800000;", {1, 12}, "'-0f3F800000' is not a number that fits .b32"},
      {"sm_90a", "mov.u32 a, --b;", {1, 13}, "expected a number, found '-'"},
      {"sm_90a", "mov.u32 a, -b;", {1, 12}, "expected a source of mov, found '-b'"},
      {"sm_90a", "mov.u32 a, 09;", {1, 12}, "'09' is not a number that fits .u32"},
      {"sm_90a", "mov.b16 a, 65536;", {1, 12}, "'65536' is not a number that fits .b16"},
      {"sm_90a", ".reg .b32 a; mov.u32 a, b;", {1, 25}, "register 'b' is not declared"},
      {"sm_90a", ".reg .b64 a; mov.u32 a, 1;", {1, 22}, "'a' is .b64, but the result of mov has 32 bits"},
      {"sm_90a", ".reg .f32 a; mov.u32 a, 1;", {1, 22}, "'a' is .f32; ptxas does not take that for the result of mov: declare it .b32"},
      {"sm_90a", ".reg .f32 a; add.s32 a, a, a;", {1, 22}, "'a' is .f32; ptxas does not take that for the result of add: declare it .b32"},
      {"sm_90a",
       ".reg .u32 a; cvt.rn.f16x2.f32 a, 1.0, 1.0;",
       {1, 31},
       "'a' is .u32; ptxas does not take that for the result of cvt: declare it .b32"},
      {"sm_90a", ".shared .b32 v; mov.u32 v, 1;", {1, 25}, "'v' is a shared variable and cannot be a result; st.shared writes to it"},
      {"sm_90a", ".shared .b32 v; mov.f32 a, v;", {1, 28}, "the address of 'v' is an integer; a source of mov is .f32"},
      {"sm_90a", ".shared .b32 v; mov.u16 a, v;", {1, 28}, "the address of 'v' needs 32 bits; a source of mov has 16"},
      {"sm_90a",
       ".shared .b32 v; add.u32 a, v, 1;",
       {1, 28},
       "a source of add cannot be the address of 'v': mov.u32 takes that to a register"},
      {"sm_90a", ".shared .b32 v; mov.u32 a, v-4;", {1, 29}, "ptxas takes no minus here: write +-"},
      {"sm_90a", ".shared .b32 v; mov.u32 a, v+x;", {1, 30}, "expected a constant, found 'x'"},
      {"sm_90a", "add.u32 a, %laneid, 1;", {1, 12}, "a source of add cannot be %laneid: mov.u32 takes that to a register"},
      {"sm_90a", "and.b32 a, b, 1.0;", {1, 15}, "'1.0' is not a number that fits .b32"},
      {"sm_90a", "shl.b32 a, b, 0f3F800000;", {1, 15}, "'0f3F800000' is not a number that fits .u32"},
      {"sm_90a", "bar.warp.sync 1.0;", {1, 15}, "'1.0' is not a number that fits .u32"},
      {"sm_90a", "ld.shared.b32 a, b;", {1, 18}, "the address is written in brackets: [register], [variable] or [register+16]"},
      {"sm_90a", "ld.shared.b32 a, [16];", {1, 19}, "ptxas takes no number as a shared address: mov.u32 takes it to a register"},
      {"sm_90a", "ld.shared.b32 a, [-16];", {1, 19}, "ptxas takes no number as a shared address: mov.u32 takes it to a register"},
      {"sm_90a", "ld.shared.b32 a, [%laneid];", {1, 19}, "the address cannot be %laneid: mov.u32 takes that to a register"},
      {"sm_90a", "ld.shared.b32 a, [_];", {1, 19}, "expected a register or a shared variable, found '_'"},
      {"sm_90a", "ld.shared.b32 a, [b-4];", {1, 20}, "ptxas takes no minus here: write +-"},
      {"sm_90a", "ld.shared.b32 a, [b+c];", {1, 21}, "expected a constant, found 'c'"},
      {"sm_90a", "ld.shared.b32 a, [b;", {1, 20}, "expected ']' after the operands, found ';'"},
      {"sm_90a", "ld.shared.b32 a, [b c];", {1, 20}, "expected ']' after the operands, found 'c'"},
      {"sm_90a", "ld.shared.b32 _, [b];", {1, 15}, "the result of ld needs a register: _ only stands in braces"},
      {"sm_90a", "ld.shared.v2.b32 a, [b];", {1, 18}, "the result of ld is written in braces: { and 2 registers"},
      {"sm_90a", "ld.shared.v2.b32 {a}, [b];", {1, 18}, "the result of ld takes 2 registers of 32 bits; 1 is given"},
      {"sm_90a", "ld.shared.v2.b32 {a, b, c}, [d];", {1, 18}, "the result of ld takes 2 registers of 32 bits; 3 are given"},
      {"sm_90a", "ld.shared.v2.b32 {_, _}, [b];", {1, 18}, "the result of ld needs a register: ptxas takes no _ alone"},
      {"sm_90a", "ld.shared.v2.b32 {a, 1}, [b];", {1, 22}, "the result of ld needs a register to be written to"},
      {"sm_90a", "ld.shared.v2.b32 {a, b, [c];", {1, 28}, "expected '}' after the operands, found ';'"},
      {"sm_90a",
       ".reg .b32 a; .reg .b64 b; ld.shared.v2.b32 {a, b}, [a];",
       {1, 44},
       "what stands in the result of ld must be of one width"},
      {"sm_90a",
       ".reg .u32 a; .reg .f32 b; ld.shared.v2.b32 {a, b}, [a];",
       {1, 44},
       "ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in the result of ld"},
      {"sm_90a", ".reg .f32 a; ld.shared.b32 a, [a];", {1, 32}, "'a' is .f32; ptxas does not take that for the address: declare it .b32"},
      {"sm_90a", ".reg .b16 a; ld.shared.b32 a, [b];", {1, 28}, "'a' is .b16, but the result of ld has 32 bits"},
      {"sm_90a", ".reg .b16 a; .reg .b32 b; ld.shared.b32 a, [b];", {1, 41}, "'a' is .b16, but the result of ld has 32 bits"},
      {"sm_90a", ".reg .f64 a; .reg .b32 b; ld.shared.f32 a, [b];", {1, 41}, "'a' is .f64, but the result of ld has 32 bits"},
      {"sm_90a", "st.shared.b32 [a], _;", {1, 20}, "a source of st is read; _ only takes results"},
      {"sm_90a", "st.shared.v2.b32 [a], {1.0, b};", {1, 24}, "'1.0' is not a number that fits .b32"},
      {"sm_90a",
       ".reg .f32 a; .reg .b32 b; st.shared.v2.b32 [b], {a, 1};",
       {1, 49},
       "ptxas takes integers, floating-point numbers and .f16x2 only apart from each other in a source of st"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 a, [b];",
       {1, 42},
       "operand r of ldmatrix is written in braces: { and 1 register"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a}, [b];",
       {1, 42},
       "operand r of ldmatrix takes 2 registers of 32 bits; 1 is given"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, b;",
       {1, 47},
       "operand p of ldmatrix is written in brackets: [register], [variable] or [register+16]"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {_}, [b];",
       {1, 42},
       "operand r of ldmatrix needs a register: ptxas takes no _ alone"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {a, _, b, c}, {d, e, f, g}, {h, i}, {j, k, l, m};",
       {1, 57},
       "operand d of mma takes no _ on sm_90a: ptxas cannot discard a result of this form there"},
      {"sm_90a", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [a], {1, 2};", {1, 47}, "operand r of stmatrix needs a register"},
      {"sm_90a", "movmatrix.sync.aligned.m8n8.trans.b16 {a}, b;", {1, 39}, "expected operand d of movmatrix, found '{'"},
      {"sm_90a", "movmatrix.sync.aligned.m8n8.trans.b16 a, 1;", {1, 42}, "operand a of movmatrix needs a register"},
      {"sm_90a", "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {a, b}, {1}, {c}, {d, e};", {1, 56}, "operand a of mma needs a register"},
      {"sm_90a",
       "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {a, b}, {c}, {d}, {0f00000000, 0f00000000};",
       {1, 66},
       "operand c of mma needs a register"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a, b, c, d}, {e, f}, {g}, {0.0, 0.0, 0.0, 0.0};",
       {1, 77},
       "operand c of mma needs a register"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {a, b}, {c, d}, {e}, {0, 0};",
       {1, 71},
       "operand c of mma needs a register"},
      {"sm_90a",
       ".reg .u32 a<9>; mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {a0, a1, a2, a3}, {a4, a5}, {a6}, {a0, a1, a2, a3};",
       {1, 67},
       "'a0' is .u32; ptxas does not take that for operand d of mma: declare it .b32"},
      {"sm_90a", "mov.u32 a, /* b;", {1, 12}, "expected an operand, found a comment without its */"},
      {"sm_90a", "mov.u32 a, #;", {1, 12}, "expected an operand, found '#'"},
      {"sm_90a", "mov.u32 a, `;", {1, 12}, "expected an operand, found '`'"},
      {"sm_90a",
       "mov.u32 \xc3"
       "\xa9"
       ", 1;",
       {1, 9},
       "expected an operand, found the byte 0xc3"},
      {"sm_90a", "add.u32 a, b;", {1, 13}, "add takes 3 operands here, 2 are given"},
      {"sm_90a", "%;", {1, 1}, "expected an instruction or a directive, found '%'"},
      {"sm_90a", "$.b32 a;", {1, 1}, "expected an instruction or a directive, found '$'"},
      {"sm_90a", "mov.s16 a, -32769;", {1, 12}, "'-32769' is not a number that fits .s16"},
      {"sm_90a", "mov.u32 a, 1;\n\\tmov.u32 b, c d;", {2, 1}, "expected an instruction or a directive, found '\\'"},
  };
  for (const Case& c : cases) {
    const std::vector<Diagnostic> found = diagnostics(c.source, c.target);
    INFO(c.source);
    REQUIRE(found.size() == 1);
    CHECK(found[0].message == c.message);
    CHECK(found[0].location == c.location);
    std::string caret = line_of(c.source, c.location.line).substr(0, static_cast<std::size_t>(c.location.column - 1));
    std::ranges::replace_if(
        caret, [](char byte) { return byte != '\t'; }, ' ');
    caret.resize(static_cast<std::size_t>(c.location.column - 1), ' ');
    CHECK(found[0].excerpt == line_of(c.source, c.location.line) + '\n' + caret + '^');
  }
}

TEST_CASE("parser: a diagnostic prints as compilers do, its caret under the place") {
  const std::vector<Diagnostic> found = diagnostics("// one\r\n\tmov.u32\ta, 09;\r\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].format("file.ptx") == "file.ptx:2:13: error: '09' is not a number that fits .u32\n\tmov.u32\ta, 09;\n\t       \t   ^");
  try {
    static_cast<void>(parse("bad;\nworse;", "sm_80"));
    FAIL("no error");
  } catch (const SyntaxError& error) {
    const std::string what = error.what();
    CHECK(what.starts_with("ptx:1:1: error: 'bad' is not an instruction"));
    CHECK(what.find("\nptx:2:1: error: 'worse' is not an instruction") != std::string::npos);
  }
}

TEST_CASE("parser: an excerpt shows control bytes and what is no UTF-8 escaped, the caret still under the place") {
  struct Case {
    std::string before, shown;
  };
  const Case cases[] = {
      {"/*\x1b[31m*/ ", "/*\\x1b[31m*/ "},                                                           // would colour a terminal
      {std::string("/*\0*/", 5), "/*\\x00*/"},                                                       // ends a C string
      {"/*\r\b\x7f*/", "/*\\x0d\\x08\\x7f*/"},                                                       // would overwrite what stands before
      {"/*\xff\xfe*/", "/*\\xff\\xfe*/"},                                                            // no UTF-8
      {"/*\xc3*/", "/*\\xc3*/"},                                                                     // a character cut short
      {"/*\xc0\x80*/", "/*\\xc0\\x80*/"},                                                            // a code that is longer than need be
      {"/*\xed\xa0\x80*/", "/*\\xed\\xa0\\x80*/"},                                                   // a surrogate
      {"/*\xf4\x90\x80\x80*/", "/*\\xf4\\x90\\x80\\x80*/"},                                          // beyond the last code
      {"/*\xe2\x80\xae*/", "/*\\xe2\\x80\\xae*/"},                                                   // would turn the line around
      {"/*\xc2\x9b*/", "/*\\xc2\\x9b*/"},                                                            // a control sequence of one character
      {"/*\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80*/\t", "/*\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80*/\t"},  // letters stay
  };
  for (const Case& c : cases) {
    CAPTURE(c.shown);
    const std::vector<Diagnostic> found = diagnostics(c.before + "bad a;");
    REQUIRE(found.size() == 1);
    std::string caret;  // a column a character
    for (const char byte : c.shown)
      if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) caret += byte == '\t' ? '\t' : ' ';
    CHECK(found[0].excerpt == c.shown + "bad a;\n" + caret + "^");
    CHECK(found[0].location.column == static_cast<int>(c.before.size()) + 1);
  }
}

TEST_CASE("parser: of a very long line the excerpt is the part around the place") {
  for (const std::size_t before : {0u, 50u, 500u, 100000u}) {
    const std::string source = std::string(before, ' ') + "bad a;" + std::string(1000, ' ');
    const std::vector<Diagnostic> found = diagnostics(source);
    INFO(before);
    REQUIRE(found.size() == 1);
    CHECK(found[0].location.column == static_cast<int>(before) + 1);
    const std::string& excerpt = found[0].excerpt;
    const std::size_t line_end = excerpt.find('\n');
    CHECK(line_end == 200);
    CHECK(excerpt.substr(excerpt.find('^') - line_end - 1, 3) == "bad");
  }
}

TEST_CASE("parser: every wrong statement is reported") {
  CHECK(error_lines("mov.u32 a, 1;\nbad a;\nmov.u32 b, 09;\nmov.u32 c, d;\nadd.u32 a;\n}\nmov.u32 a, 1") == Lines{2, 3, 5, 6, 7});
  CHECK(error_lines("bad a; bad b; mov.u32 a, 1; bad c;") == Lines{1, 1, 1});
  CHECK(error_lines(".reg .b8 x;\n.shared .b32 v[0];\n.version 1\nbad.x;") == Lines{1, 2, 3, 4});
}

TEST_CASE("parser: a statement without its semicolon does not swallow the next line") {
  const std::string endings[] = {"mov.u32 a, 1",   "mov.u32 a",   "ld.shared.b32 a, [b", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a, b}",
                                 "bad a, b",       ".reg .b32 a", ".shared .b32 v[4]",   "mov.u32 a, #",
                                 "@p mov.u32 a, 1"};
  for (const std::string& ending : endings)
    for (const char* next : {"add.u32 a, 09, 1;", ".reg .b8 c;", ".shared .b32 w[0];", ".version 1"}) {
      INFO(ending << " / " << next);
      CHECK(error_lines(ending + "\n" + next) == Lines{1, 2});
    }
}

TEST_CASE("parser: the 5040 orders of ldmatrix's qualifiers are one statement") {
  std::vector<std::string> qualifiers{"aligned", "b16", "m8n8", "shared", "sync", "trans", "x4"};  // sorted
  const Program wanted = parse("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {a, b, c, d}, [e];", "sm_90a");
  int orders = 0, same = 0;
  do {
    std::string opcode = "ldmatrix";
    for (const std::string& qualifier : qualifiers) opcode += "." + qualifier;
    same += same_program(parse(opcode + " {a, b, c, d}, [e];", "sm_90a"), wanted);
    ++orders;
  } while (std::next_permutation(qualifiers.begin(), qualifiers.end()));
  CHECK(orders == 5040);
  CHECK(same == 5040);
}

TEST_CASE("parser: the qualifiers of every form mix freely, but types keep their order and so do .row and .col") {
  std::mt19937 random(4);
  for (const Form& form : forms())
    for (int i = 0; i < 50; ++i) {
      const std::string opcode = shuffled_opcode(random, form.opcode);
      INFO(opcode);
      REQUIRE(find_form(opcode) == &form);
    }
  CHECK(find_form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f32.f32") == nullptr);
  CHECK(find_form("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32") == nullptr);
  CHECK(find_form("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32") != find_form("mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32"));
}

TEST_CASE("parser: qualifiers stand in any order, but .lo, .wide, .l, .full and .warp at the beginning, as ptxas 13.0 takes them") {
  std::mt19937 random(5);
  const auto same = [](const std::string& opcode, const std::string& canonical) {
    const auto found = find_scalar_instruction(opcode);
    return found.has_value() && found->opcode == canonical;
  };
  for (const ScalarInstruction& instruction : fuzzed_scalar_instructions()) {
    INFO(instruction.opcode);
    CHECK(same(instruction.opcode, instruction.opcode));
    const std::string mnemonic = instruction.opcode.substr(0, instruction.opcode.find('.'));
    if (mnemonic != "ld" && mnemonic != "st" && mnemonic != "cvt") continue;
    for (int i = 0; i < 24; ++i) REQUIRE(same(shuffled_opcode(random, instruction.opcode), instruction.opcode));
  }
  CHECK(same("ld.shared::cta.b32", "ld.shared.b32"));
  CHECK(same("fma.ftz.rn.f32", "fma.rn.ftz.f32"));
  CHECK(same("add.f32.rn", "add.rn.f32"));
  CHECK(same("mul.lo.u32", "mul.lo.u32"));
  CHECK(same("shf.l.b32.wrap", "shf.l.wrap.b32"));
  CHECK(same("mul.f32.rn", "mul.rn.f32"));
  CHECK_FALSE(find_scalar_instruction("shf.wrap.l.b32"));
  CHECK_FALSE(find_scalar_instruction("div.ftz.full.f32"));
  CHECK_FALSE(find_scalar_instruction("dp2a.u32.lo.u32"));
  CHECK_FALSE(find_scalar_instruction("mul.u32.lo"));
  CHECK_FALSE(find_scalar_instruction("mad.s32.lo"));
  CHECK_FALSE(find_scalar_instruction("bar.sync.warp"));
}

TEST_CASE("parser: a list has every instruction that needs registers alone, and says why it has not the others") {
  for (const char* opcode : {"lop3.b32",
                             "prmt.b32",
                             "shf.l.wrap.b32",
                             "popc.b64",
                             "mul.wide.u32",
                             "fma.rn.f32",
                             "mul.f32",
                             "max.f16x2",
                             "div.s32",
                             "ex2.approx.f32",
                             "cvt.rn.satfinite.e4m3x2.f32",
                             "cvt.rna.tf32.f32",
                             "add.rn.bf16x2",
                             "setp.eq.u32",
                             "selp.b32",
                             "mov.pred",
                             "addc.cc.u32",
                             "shfl.sync.idx.b32",
                             "vote.sync.ballot.b32",
                             "match.any.sync.b64",
                             "redux.sync.add.s32",
                             "elect.sync",
                             "activemask.b32",
                             "cvt.sat.s16.u16",
                             "cvt.u16.sat.s16"}) {
    INFO(opcode);
    CHECK(find_scalar_instruction(opcode).has_value());
  }
  for (const char* opcode :
       {"atom.shared.add.u32", "ld.volatile.shared.b32", "st.global.b32", "bar.sync", "vadd.u32.u32.u32", "vadd2.u32.u32.u32", "add.f32",
        "sub.f16x2", "cvt.rn.satfinite.e2m1x2.f32", "cvt.rn.f32.f16", "cvt.rn.f16.f64x2", "mov.f16"}) {
    INFO(opcode);
    CHECK_FALSE(find_scalar_instruction(opcode).has_value());
    CHECK_FALSE(explain_unknown_scalar(opcode).empty());
  }
}

TEST_CASE("parser: a number may be a constant expression, and an offset of any size, as ptxas 13.0 takes them") {
  const Program program = parse(
      ".shared .b32 v[4]; .reg .b32 a; .reg .b16 h;\n"
      "mov.u32 a, --1; mov.u32 a, (1 << 4) | 3; mov.s16 h, ~7; mov.u32 a, v+2147483648; ld.shared.b32 a, [v+4*2+1-1];",
      "sm_90");
  const auto source = [&](std::size_t i) { return program.statements[i].operands[1].items[0]; };
  CHECK(source(0).bits == 1);
  CHECK(source(1).bits == 19);
  CHECK(source(2).bits == 0xfff8);
  CHECK(source(3).bits == 0x80000000);
  CHECK(source(4).bits == 8);
  CHECK_THROWS_AS(parse(".reg .b16 h; mov.s16 h, 1 << 16;", "sm_90"), SyntaxError);
}

TEST_CASE("parser: metadata and scale factors may stand in braces, as ptxas 13.0 takes them") {
  const std::string sparse =
      "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {r0, r1}, {r2, r3}, "
      "{f4, f5, f6, f7}, ";
  const std::string scaled =
      "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {f0, f1, f2, f3}, "
      "{r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7}, ";
  const std::string move = "movmatrix.sync.aligned.m8n8.trans.b16 ";
  struct Case {
    const std::string& start;
    const char* rest;
    bool taken;
  };
  const Case cases[] = {
      {sparse, "r8, 0;", true},
      {sparse, "{r8}, 0;", true},
      {sparse, "{f8}, 0;", true},
      {sparse, "{%laneid}, 0;", true},
      {sparse, "%laneid, 0;", false},
      {sparse, "0f44444444, 0;", true},
      {sparse, "{0f44444444}, 0;", true},
      {sparse, "1.0, 0;", false},
      {sparse, "{1.0}, 0;", false},
      {sparse, "0, 0;", false},
      {sparse, "{0}, 0;", false},
      {sparse, "{_}, 0;", false},
      {sparse, "{h0}, 0;", false},
      {sparse, "{l0}, 0;", false},
      {sparse, "{{r8}}, 0;", false},
      {sparse, "r8, {0};", false},
      {scaled, "r8, {0, 0}, r9, {0, 0};", true},
      {scaled, "{r8}, {0, 0}, {r9}, {0, 0};", true},
      {scaled, "{r8}, {0, 0}, r9, {0, 0};", true},
      {scaled, "r8, {0, 0}, {%laneid}, {0, 0};", true},
      {scaled, "r8, {0, 0}, {0f7f7f7f7f}, {0, 0};", true},
      {scaled, "r8, {0, 0}, {0}, {0, 0};", false},
      {scaled, "{h0}, {0, 0}, r9, {0, 0};", false},
      {move, "r0, r1;", true},
      {move, "{r0}, r1;", false},
      {move, "r0, {r1};", false},
      {move, "r0, 0f44444444;", true},
  };
  for (const Case& c : cases) {
    INFO(c.start << c.rest);
    const std::string text = ".reg .b32 r<10>; .reg .f32 f<9>; .reg .b16 h<1>; .reg .b64 l<1>;\n" + c.start + c.rest;
    CHECK(diagnostics(text, "sm_120a").empty() == c.taken);
    if (!c.taken) continue;
    const Program program = parse(text, "sm_120a");
    CHECK(same_program(parse(print(program)), program));  // with its braces
    CHECK(print(program, program.statements[0]).ends_with(c.rest));
  }
}

TEST_CASE("parser: what stands in a statement") {
  const Program program =
      parse(".shared .b64 v[2]; mov.u64 wide, v+0x10+-8; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {_, a}, [a+4+-20];", "sm_90a");
  REQUIRE(program.statements.size() == 2);
  const OperandText& source = program.statements[0].operands[1];
  CHECK(source.kind == OperandText::Kind::single);
  CHECK(source.items[0].kind == Item::Kind::variable);
  CHECK(source.items[0].bits == 8);
  CHECK(source.items[0].words == 2);
  CHECK(program.statements[0].matrix() == nullptr);
  CHECK(program.statements[0].scalar()->opcode == "mov.u64");
  const Statement& load = program.statements[1];
  CHECK(load.scalar() == nullptr);
  CHECK(load.matrix()->form().opcode == "ldmatrix.sync.aligned.m8n8.x2.shared.b16");
  CHECK(load.operands[0].kind == OperandText::Kind::vector);
  CHECK(load.operands[0].items[0].kind == Item::Kind::sink);
  CHECK(load.operands[0].items[1].kind == Item::Kind::named);
  CHECK(load.operands[1].kind == OperandText::Kind::address);
  CHECK(load.operands[1].offset == -16);
  CHECK(program.matrix_statements() == std::vector<const Statement*>{&load});
}

}  // namespace warpmat
