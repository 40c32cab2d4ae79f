#include "test.h"

#include <warpmat/program.h>

#include "lists/diagnostics.h"

namespace warpmat::parser_errors_test {
namespace {

/// Line `number`, counted from 1, of `text`, without its line break.
std::string line_of(const std::string& text, int number) {
  std::size_t begin = 0;
  for (int i = 1; i < number; ++i) begin = text.find('\n', begin) + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<int> error_lines(std::string_view text) {
  std::vector<int> lines;
  for (const Diagnostic& d : diagnostics(text)) lines.push_back(d.location.line);
  return lines;
}

using Lines = std::vector<int>;

}  // namespace

TEST_CASE("parser: every error, with its place and what would be right") {
  struct Case {
    const char *target, *source;
    Location location;
    const char* message;
  };
  static constexpr Case cases[] = {
      {"", "mov.u32 a, 1;", {1, 1}, "no target yet: begin the program with .target sm_90a, or name one: --target sm_90a"},
      {"", ".target sm_91", {1, 9}, "unknown target 'sm_91': for example sm_80, sm_90a, sm_120a"},
      {"", ".target 90", {1, 9}, "unknown target '90': for example sm_80, sm_90a, sm_120a"},
      {"", ".target sm_80 mov.u32 a", {1, 24}, "expected ';' after the statement, found the end of the text"},
      {"sm_90a", ".version 6.4 .target sm_80", {1, 22}, "sm_80 needs PTX 7.0 or later; the version is 6.4"},
      {"sm_90", ".reg .b32 a; shfl.idx.b32 a, a, 0, 31;", {1, 14}, "shfl.idx.b32 needs .sync on sm_70 and later from PTX 6.4 on"},
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
      {"sm_90a", "a = b;", {1, 3}, "expected an operand, found '='"},
      {"sm_90a", "}", {1, 1}, "a block or a kernel is no list of statements: 'warpmat launch' and Module take whole kernels"},
      {"sm_90a", "@5 mov.u32 a, 1;", {1, 2}, "expected a predicate, found '5'"},
      {"sm_90a", "@p = b;", {1, 4}, "expected an instruction or a directive, found '='"},
      {"sm_90a", ".reg .b32 a, p; @p mov.u32 a, 1;", {1, 20}, "the guard 'p' is not a predicate register"},
      {"sm_90a",
       "@p movmatrix.sync.aligned.m8n8.trans.b16 a, b;",
       {1, 4},
       "a matrix instruction has no guard in a list of statements: all lanes of the warp take part"},
      {"sm_90a", "add.u32 a|b, c, d;", {1, 9}, "add.u32 writes one result here, without |"},
      {"sm_90a", "setp.eq.f16x2 p, a, b;", {1, 1}, "setp.eq.f16x2 writes two results with | between them"},
      {"sm_90a", "setp.eq.u32 p, !a, b;", {1, 16}, "expected a register or a number for .u32, found '!a'"},
      {"sm_90a", "setp.eq.and.u32 !p, a, b, q;", {1, 17}, "'!p' is not a register that is declared here"},
      {"sm_90a", "@p mov.u32 p, 1;", {1, 12}, "'p' is a register of .pred, which mov.u32 does not take for .u32"},
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
      {"sm_90a", "mov.u32 a, 1, 2;", {1, 15}, "mov.u32 takes 2 operands"},
      {"sm_90a", "mov.u32 a;", {1, 1}, "mov.u32 needs more than 1 operands"},
      {"sm_90a", "mov.u32 , a;", {1, 9}, "expected an operand, found ','"},
      {"sm_90a", "mov.u32 {a}, 1;", {1, 9}, "'{' is not a register that is declared here"},
      {"sm_90a", "mov.u32 a, [b];", {1, 12}, "expected a register or a number for .u32, found '['"},
      {"sm_90a", "mov.u32 5, a;", {1, 9}, "'5' is not a register that is declared here"},
      {"sm_90a", "mov.u32 %laneid, a;", {1, 9}, "'%laneid' is not a register that is declared here"},
      {"sm_90a", "mov.u32 _, a;", {1, 9}, "mov.u32 takes no _ here: ptxas cannot discard this result"},
      {"sm_90a", "mov.u32 a, _;", {1, 12}, "'_' is not a register that is declared here"},
      {"sm_90a", "mov.u32 a, %tid.x;", {1, 12}, "'%tid.x' is not supported: the only special register is %laneid"},
      {"sm_90a", "mov.f32 a, %laneid;", {1, 12}, "mov.f32 cannot be %laneid: mov.u32 takes that to a register"},
      {"sm_90a", "mov.u32 a, 1.0;", {1, 12}, "'1.0' is not a number that fits .u32"},
      {"sm_90a", "mov.u32 a, 0f3F800000;", {1, 12}, "'0f3F800000' is not a number that fits .u32"},
      {"sm_90a", "mov.f32 a, 1;", {1, 12}, "'1' is not a number that fits .f32"},
      {"sm_90a", "mov.b32 a, -0f3F800000;", {1, 12}, "'-0f3F800000' is not a number that fits .b32"},
      {"sm_90a", "mov.u32 a, --b;", {1, 13}, "expected a number, found '-'"},
      {"sm_90a", "mov.u32 a, -b;", {1, 12}, "mov.u32 takes no minus before the register 'b'"},
      {"sm_90a", "mov.u32 a, 09;", {1, 12}, "'09' is not a number that fits .u32"},
      {"sm_90a", ".reg .b32 a; mov.u32 a, b;", {1, 25}, "'b' is not a register that is declared here"},
      {"sm_90a", ".reg .b64 a; mov.u32 a, 1;", {1, 22}, "'a' has 64 bits; mov.u32 writes 32 here"},
      {"sm_90a", ".reg .f32 a; mov.u32 a, 1;", {1, 22}, "'a' is a register of .f32, which mov.u32 does not take for .u32"},
      {"sm_90a", ".reg .f32 a; add.s32 a, a, a;", {1, 22}, "'a' is a register of .f32, which add.s32 does not take for .s32"},
      {"sm_90a",
       ".reg .u32 a; cvt.rn.f16x2.f32 a, 1.0, 1.0;",
       {1, 31},
       "'a' is a register of .u32, which cvt.rn.f16x2.f32 does not take for .f16x2"},
      {"sm_90a", ".shared .b32 v; mov.u32 v, 1;", {1, 25}, "'v' is not a register that is declared here"},
      {"sm_90a", ".shared .b32 v; add.u32 a, v, 1;", {1, 28}, "'v' is no register: mov takes its address to one"},
      {"sm_90a", ".shared .b32 v; mov.u32 a, v-4;", {1, 29}, "ptxas takes no minus here: write +-"},
      {"sm_90a", ".shared .b32 v; mov.u32 a, v+x;", {1, 30}, "expected a constant, found 'x'"},
      {"sm_90a", "add.u32 a, b+4, 1;", {1, 12}, "in a list of statements only variables and addresses have an offset, not 'b'"},
      {"sm_90a", "ld.shared.b32 a, [b, c];", {1, 18}, "in a list of statements an address is one register or variable, and an offset"},
      {"sm_90a", "add.u32 a, %laneid, 1;", {1, 12}, "add.u32 cannot be %laneid: mov.u32 takes that to a register"},
      {"sm_90a", "and.b32 a, b, 1.0;", {1, 15}, "'1.0' is not a number that fits .b32"},
      {"sm_90a", "shl.b32 a, b, 0f3F800000;", {1, 15}, "'0f3F800000' is not a number that fits .u32"},
      {"sm_90a", "bar.warp.sync 1.0;", {1, 15}, "'1.0' is not a number that fits .u32"},
      {"sm_90a", "ld.shared.b32 a, b;", {1, 18}, "expected an address in brackets"},
      {"sm_90a", "ld.shared.b32 a, [16];", {1, 19}, "only .local addresses may be numbers: move it to a register"},
      {"sm_90a", "ld.shared.b32 a, [-16];", {1, 19}, "only .local addresses may be numbers: move it to a register"},
      {"sm_90a", "ld.shared.b32 a, [%laneid];", {1, 19}, "'%laneid' is neither a register nor a variable that is declared here"},
      {"sm_90a", "ld.shared.b32 a, [_];", {1, 19}, "'_' is neither a register nor a variable that is declared here"},
      {"sm_90a", "ld.shared.b32 a, [b-4];", {1, 20}, "ptxas takes no minus here: write +-"},
      {"sm_90a", "ld.shared.b32 a, [b+c];", {1, 21}, "expected a constant, found 'c'"},
      {"sm_90a", "ld.shared.b32 a, [b;", {1, 20}, "expected ']' after the operands, found ';'"},
      {"sm_90a", "ld.shared.b32 a, [b c];", {1, 20}, "expected ']' after the operands, found 'c'"},
      {"sm_90a", "ld.shared.b32 _, [b];", {1, 15}, "'_' is not a register that is declared here"},
      {"sm_90a", "ld.shared.v2.b32 a, [b];", {1, 18}, "ld.shared.v2.b32 loads 2 registers, 1 are given"},
      {"sm_90a", "ld.shared.v2.b32 {a}, [b];", {1, 18}, "ld.shared.v2.b32 loads 2 registers, 1 are given"},
      {"sm_90a", "ld.shared.v2.b32 {a, b, c}, [d];", {1, 18}, "ld.shared.v2.b32 loads 2 registers, 3 are given"},
      {"sm_90a", "ld.shared.v2.b32 {_, _}, [b];", {1, 18}, "ld.shared.v2.b32 loads nothing: one register of a vector is not _"},
      {"sm_90a", "ld.shared.v2.b32 {a, 1}, [b];", {1, 22}, "'1' is not a register that is declared here"},
      {"sm_90a", "ld.shared.v2.b32 {a, b, [c];", {1, 28}, "expected '}' after the operands, found ';'"},
      {"sm_90a", ".reg .b32 a; .reg .b64 b; ld.shared.v2.b32 {a, b}, [a];", {1, 48}, "the registers of a vector have one width"},
      {"sm_90a", ".reg .f32 a; ld.shared.b32 a, [a];", {1, 32}, "'a' is a register of .f32, which ld.shared.b32 does not take for .u64"},
      {"sm_90a", ".reg .b16 a; ld.shared.b32 a, [b];", {1, 28}, "ld.shared.b32 does not fit registers of 16 bits"},
      {"sm_90a", ".reg .b16 a; .reg .b32 b; ld.shared.b32 a, [b];", {1, 41}, "ld.shared.b32 does not fit registers of 16 bits"},
      {"sm_90a",
       ".reg .f64 a; .reg .b32 b; ld.shared.f32 a, [b];",
       {1, 41},
       "'a' is a register of .f64, which ld.shared.f32 does not take for .f32"},
      {"sm_90a", "st.shared.b32 [a], _;", {1, 20}, "'_' is not a register that is declared here"},
      {"sm_90a", "st.shared.v2.b32 [a], {1.0, b};", {1, 24}, "'1.0' is not a number that fits .b32"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 a, [b];",
       {1, 42},
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 takes 1 register in braces here"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {a}, [b];",
       {1, 42},
       "ldmatrix.sync.aligned.m8n8.x2.shared.b16 takes 2 registers here, 1 are given"},
      {"sm_90a", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, b;", {1, 47}, "expected an address in brackets"},
      {"sm_90a",
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {_}, [b];",
       {1, 42},
       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 writes nothing: one register of a vector is not _"},
      {"sm_90a",
       "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {a, _, b, c}, {d, e, f, g}, {h, i}, {j, k, l, m};",
       {1, 57},
       "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 takes no _ here: ptxas cannot discard this result"},
      {"sm_90a", "stmatrix.sync.aligned.m8n8.x2.shared.b16 [a], {1, 2};", {1, 47}, "operand r of stmatrix needs a register"},
      {"sm_90a", "movmatrix.sync.aligned.m8n8.trans.b16 {a}, b;", {1, 39}, "'{' is not a register that is declared here"},
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
       "'a0' is a register of .u32, which mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 does not take for .f32"},
      {"sm_90a", "mov.u32 a, /* b;", {1, 12}, "expected an operand, found a comment without its */"},
      {"sm_90a", "mov.u32 a, #;", {1, 12}, "expected an operand, found '#'"},
      {"sm_90a", "mov.u32 a, `;", {1, 12}, "expected an operand, found '`'"},
      {"sm_90a",
       "mov.u32 \xc3"
       "\xa9"
       ", 1;",
       {1, 9},
       "expected an operand, found the byte 0xc3"},
      {"sm_90a", "add.u32 a, b;", {1, 1}, "add.u32 needs more than 2 operands"},
      {"sm_90a", "%;", {1, 1}, "expected an instruction or a directive, found '%'"},
      {"sm_90a", "$.b32 a;", {1, 1}, "expected an instruction or a directive, found '$'"},
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
      {"/*\xe2\x80\xae*/", "/*\\xe2\\x80\\xae*/"},                                                   // would reverse the line
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
  static_assert(std::is_const_v<decltype(SyntaxError::errors)>);  // never empty
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

TEST_CASE("parser: of a statement that is no PTX, the place is told from which on it is none") {
  const std::string mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3},\n {a0, a1, a2, a3},\n {b0 b1},\n c;";
  CHECK(error_lines(mma) == Lines{3});
  CHECK(error_lines("@p " + mma) == Lines{3});
  CHECK(error_lines(".reg .b32 a;\n@q\nadd.u32 a,\n a a;") == Lines{4});
  CHECK(error_lines("wgmma.fence.sync.aligned\n a b;\nmov.u32 a, 09;") == Lines{2, 3});
  try {
    (void)parse("add.u32 a, b,\n c d;\nmov.u32 a, 1;");
    FAIL("no error");
  } catch (const SyntaxError& error) {
    REQUIRE(error.errors.size() == 2);
    CHECK(error.errors[0].location == Location{2, 3});
    CHECK(error.errors[0].message == "expected ';' after the statement, found 'd'");
    CHECK(error.errors[1].location == Location{3, 1});  // the target is missing
  }
}

}  // namespace warpmat::parser_errors_test
