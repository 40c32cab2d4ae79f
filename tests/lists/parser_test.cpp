#include "test.h"

#include <warpmat/lower/list_refusal.h>
#include <warpmat/program.h>

#include "gpu/cases/fuzz_program.h"
#include "lists/diagnostics.h"
#include "lists/random_program.h"

namespace warpmat::parser_test {
namespace {

std::string registers(const Program& program) {
  std::string text;
  for (const NamedRegister& r : program.registers())
    text += fmt::format("{}{} .{} {}", text.empty() ? "" : ", ", r.name, r.type->name, r.slot);
  return text;
}

std::string variables(const Program& program) {
  std::string text;
  for (const SharedVariable& v : program.variables())
    text += fmt::format("{}{} .{} x{} at {}", text.empty() ? "" : ", ", v.name, v.type->name, v.count, v.address);
  return text;
}

/// "line:column message" of every error.
std::vector<std::string> errors(std::string_view text, std::string_view target_name = "sm_90a") {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics(text, target_name))
    out.push_back(fmt::format("{}:{} {}", d.location.line, d.location.column, d.message));
  return out;
}

TEST_CASE("parser: .version, .target and .address_size") {
  const Program program = parse(".version 7.8\n.target sm_86\n.address_size 64\n");
  CHECK(program.version() == PtxVersion{7, 8});
  CHECK(program.target()->name == "sm_86");
  CHECK(parse(".target sm_86", "sm_90a").target()->name == "sm_90a");  // the caller's target goes first
  CHECK(parse("", "sm_75").version() == newest_ptx);
  CHECK(parse(".address_size 32", "sm_75").statements().empty());
  CHECK(errors("", "") == std::vector<std::string>{"1:1 no target: begin the program with .target sm_90a, or name one: --target sm_90a"});
  CHECK_THROWS_AS(parse("", "sm_91"), std::invalid_argument);
}

TEST_CASE("parser: .version and .target are in force from where they stand") {
  const Program program = parse(
      ".target sm_80\nmovmatrix.sync.aligned.m8n8.trans.b16 a, b;\n.version 6.5\n.target sm_75\nmov.u32 a, 1;\n"
      "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {c, d}, {a}, {b}, {c, d};");
  REQUIRE(program.statements().size() == 3);
  CHECK(program.statements()[0].matrix()->target().name == "sm_80");
  CHECK(program.statements()[2].matrix()->target().name == "sm_75");
  CHECK(program.target()->name == "sm_75");
  CHECK(program.version() == PtxVersion{6, 5});
  Warp warp(program);
  CHECK_NOTHROW(run(warp));
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
  CHECK(parse(".reg .b32 a<65536>;", "sm_80").registers().size() == 65536);
}

TEST_CASE("parser: .shared places variables consecutively, aligned") {
  const Program program = parse(".shared .b8 a[3]; .shared .u32 b; .shared .align 16 .b16 c[5], d; .shared .f64 e[1];", "sm_80");
  CHECK(variables(program) == "a .b8 x3 at 0, b .u32 x1 at 4, c .b16 x5 at 16, d .b16 x1 at 32, e .f64 x1 at 40");
  CHECK(program.shared_bytes() == 48);
  CHECK(program.variables()[0].extents.size() == 1);
  CHECK(program.variables()[1].extents.empty());
  CHECK(program.variables()[4].extents.size() == 1);
}

TEST_CASE("parser: arrays may have several dimensions, stored row by row") {
  const Program program = parse(".shared .align 16 .b16 tile[64][32], cube[2][3][4]; .shared .b8 x;", "sm_80");
  CHECK(variables(program) == "tile .b16 x2048 at 0, cube .b16 x24 at 4096, x .b8 x1 at 4144");
  CHECK(program.variables()[0].extents == std::vector<std::int64_t>{64, 32});
  CHECK(program.variables()[1].extents == std::vector<std::int64_t>{2, 3, 4});
}

TEST_CASE("parser: a label names its statement") {
  const Program program = parse("mov.u32 a, 1; $load:mov.u32 b, a; mov.u32 c, b;\nend : mov.u32 d, c;", "sm_80");
  REQUIRE(program.statements().size() == 4);
  CHECK(program.statements()[0].label().empty());
  CHECK(program.statements()[1].label() == "$load");
  CHECK(program.statements()[2].label().empty());
  CHECK(program.statements()[3].label() == "end");
}

TEST_CASE("parser: without declarations a register is as wide as its first use") {
  CHECK(registers(parse("mov.u64 a, b; mov.f32 c, 1.0; mov.s16 d, 1; ld.shared.u8 e, [f]; ld.shared.v2.f64 {g, h}, [f]; "
                        "movmatrix.sync.aligned.m8n8.trans.b16 i, c;",
                        "sm_90a")) == "a .b64 0, b .b64 2, c .b32 4, d .b16 5, e .b32 6, f .b32 7, g .b64 8, h .b64 10, i .b32 12");
  CHECK(errors("mov.u32 a, 1; mov.u64 b, a;") == std::vector<std::string>{"1:26 'a' has 32 bits; mov.u64 takes 64 here"});
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
  const auto same = [](std::string_view opcode, std::string_view canonical) { return find(opcode, "sm_90").opcode() == canonical; };
  for (const Instruction& instruction : fuzzed_scalar_instructions(target("sm_90"))) {
    const std::string opcode(instruction.opcode());
    INFO(opcode);
    CHECK(same(opcode, opcode));
    const std::string mnemonic = opcode.substr(0, opcode.find('.'));
    if (mnemonic != "ld" && mnemonic != "st" && mnemonic != "cvt") continue;
    for (int i = 0; i < 24; ++i) REQUIRE(same(shuffled_opcode(random, opcode), opcode));
  }
  CHECK(same("ld.shared::cta.b32", "ld.shared.b32"));
  CHECK(same("fma.ftz.rn.f32", "fma.rn.ftz.f32"));
  CHECK(same("add.f32.rn", "add.rn.f32"));
  CHECK(same("mul.lo.u32", "mul.lo.u32"));
  CHECK(same("shf.l.b32.wrap", "shf.l.wrap.b32"));
  CHECK(same("mul.f32.rn", "mul.rn.f32"));
  for (const char* opcode : {"shf.wrap.l.b32", "div.ftz.full.f32", "dp2a.u32.lo.u32", "mul.u32.lo", "mad.s32.lo", "bar.sync.warp"}) {
    INFO(opcode);
    CHECK_THROWS_AS(find(opcode, "sm_90"), std::invalid_argument);
  }
}

TEST_CASE("parser: a list has every instruction that needs registers alone, and says why it has not the others") {
  for (const std::string& opcode : words_in(R"(
         lop3.b32 prmt.b32 shf.l.wrap.b32 popc.b64 mul.wide.u32 fma.rn.f32 mul.f32 max.f16x2 div.s32 ex2.approx.f32
         cvt.rn.satfinite.e4m3x2.f32 cvt.rna.tf32.f32 add.rn.bf16x2 setp.eq.u32 selp.b32 mov.pred addc.cc.u32 shfl.sync.idx.b32
         vote.sync.ballot.b32 match.any.sync.b64 redux.sync.add.s32 elect.sync activemask.b32 cvt.sat.s16.u16 cvt.u16.sat.s16
       )")) {
    INFO(opcode);
    const auto match = catalogue::find_row(opcode);
    REQUIRE(match);
    CHECK(code::list_refusal(*match).empty());
    CHECK(find(opcode, "sm_100a").opcode() == in_order(*match));
  }
  for (const std::string& opcode : words_in(R"(
         atom.shared.add.u32 ld.volatile.shared.b32 st.global.b32 bar.sync vadd.u32.u32.u32 vadd2.u32.u32.u32 add.f32 sub.f16x2
         cvt.rn.satfinite.e2m1x2.f32 cvt.rn.f32.f16 cvt.rn.f16.f64x2 mov.f16
       )")) {
    INFO(opcode);
    const auto match = catalogue::find_row(opcode);
    CHECK_FALSE((match && code::list_refusal(*match).empty()));
    CHECK_THROWS_AS(parse(opcode + " a;", "sm_100a"), SyntaxError);
  }
}

TEST_CASE("parser: a number may be a constant expression, and an offset of any size, as ptxas 13.0 takes them") {
  const Program program = parse(
      ".shared .b32 v[4]; .reg .b32 a; .reg .b16 h;\n"
      "mov.u32 a, --1; mov.u32 a, (1 << 4) | 3; mov.s16 h, ~7; mov.u32 a, v+2147483648; ld.shared.b32 a, [v+4*2+1-1];",
      "sm_90");
  const auto source = [&](std::size_t i) { return program.statements()[i].operands()[1].items[0]; };
  CHECK(source(0).bits == 1);
  CHECK(source(1).bits == 19);
  CHECK(source(2).bits == 0xfff8);
  CHECK(source(3).bits == 0x80000000);
  CHECK(source(4).bits == 8);
  CHECK(parse(".reg .b16 h; mov.s16 h, 1 << 16;", "sm_90").statements()[0].operands()[1].items[0].bits == 0);
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
    CHECK(print(program, program.statements()[0]).ends_with(c.rest));
  }
}

TEST_CASE("parser: large programs parse in bounded time") {
  const auto begin = std::chrono::steady_clock::now();
  std::string one_line, many_lines, registers;
  for (int i = 0; i < 5000; ++i) {
    one_line += "x;";
    many_lines += "x;\n";
    registers += "mov.u32 a" + std::to_string(i) + "," + std::to_string(i) + ";";
  }
  for (const std::string& text : {one_line, many_lines}) CHECK_FALSE(diagnostics(text).empty());
  for (const std::string& text : {registers, std::string(".reg .b32 %r<65536>;")}) CHECK(diagnostics(text).empty());
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("parser: what stands in a statement") {
  const Program program =
      parse(".shared .b64 v[2]; mov.u64 wide, v+0x10+-8; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {_, a}, [a+4+-20];", "sm_90a");
  REQUIRE(program.statements().size() == 2);
  const OperandText& source = program.statements()[0].operands()[1];
  CHECK(source.kind == OperandText::Kind::single);
  CHECK(source.items[0].kind == Item::Kind::variable);
  CHECK(source.items[0].bits == 8);
  CHECK(source.items[0].words == 2);
  CHECK(program.statements()[0].matrix() == nullptr);
  CHECK(program.statements()[0].instruction() == find("mov.u64", program.target()->name));
  const Statement& load = program.statements()[1];
  CHECK(load.matrix()->form().opcode == "ldmatrix.sync.aligned.m8n8.x2.shared.b16");
  CHECK(load.operands()[0].kind == OperandText::Kind::vector);
  CHECK(load.operands()[0].items[0].kind == Item::Kind::discard);
  CHECK(load.operands()[0].items[1].kind == Item::Kind::named);
  CHECK(load.operands()[1].kind == OperandText::Kind::address);
  CHECK(load.operands()[1].offset == -16);
  CHECK(program.matrix_statements() == std::vector<const Statement*>{&load});
}

}  // namespace
}  // namespace warpmat::parser_test
