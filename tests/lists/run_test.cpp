#include <warpmat/program.h>

#include "test.h"

namespace warpmat::run_test {
namespace {

std::string trap_message(Warp& warp) {
  return message_of([&] { run(warp); });
}

TEST_CASE("run: a new warp is zero but for its shared memory's size") {
  const Program program = parse(".shared .b8 v[100]; .reg .b64 a;", "sm_80");
  const Warp warp(program), padded(program, 4096), tight(program, 10);
  CHECK(warp.reg("a") == Register{});
  CHECK(warp.reg("a", 1) == Register{});
  CHECK(warp.shared().size() == 100);
  CHECK(padded.shared().size() == 4096);
  CHECK(tight.shared().size() == 100);
}

// Only parse() makes programs and statements, and their parts cannot be changed.
static_assert(!std::is_aggregate_v<Program> && !std::is_aggregate_v<Statement>);
static_assert(!std::is_default_constructible_v<Program> && !std::is_default_constructible_v<Statement>);
static_assert(std::is_same_v<decltype(std::declval<Program&>().registers()), const std::vector<NamedRegister>&>);
static_assert(std::is_same_v<decltype(std::declval<Program&>().variables()), const std::vector<SharedVariable>&>);
static_assert(std::is_same_v<decltype(std::declval<Program&>().statements()), const std::vector<Statement>&>);
static_assert(std::is_same_v<decltype(std::declval<Program&>().constants()), const std::vector<Register>&>);
static_assert(std::is_same_v<decltype(std::declval<Statement&>().operands()), const std::vector<OperandText>&>);
static_assert(std::is_same_v<decltype(std::declval<Statement&>().guard()), const std::optional<Item>&>);

TEST_CASE("run: a warp refuses statements and operands that are not its program's") {
  const char* const text = ".reg .b32 a, c<40>; .shared .b32 v[4];\nmov.u32 a, v;\nld.shared.b32 c39, [a];";
  const Program program = parse(text, "sm_80"), same = parse(text, "sm_80"), empty = parse("", "sm_80");
  Warp warp(program), none(empty);
  const Statement copied = program.statements()[1];
  for (const Statement* const statement : {&copied, &same.statements()[1], &same.statements()[0]}) {
    CHECK_THROWS_WITH(warp.execute(*statement),
                      "the statement is a copy or another program's: a warp knows those of its program().statements()");
    CHECK_THROWS_AS(warp.executing(*statement), std::invalid_argument);
    CHECK_THROWS_AS(warp.addresses_read(*statement), std::invalid_argument);
    CHECK_THROWS_AS(none.execute(*statement), std::invalid_argument);
  }
  CHECK(warp.reg("a") == Register{});
  CHECK(warp.words(copied.operands()[0]) == std::vector{warp.reg("c39").data()});
  CHECK_THROWS_WITH(none.words(copied.operands()[0]), "the operand is not of the warp's program: its registers do not exist");
  OperandText before = copied.operands()[0];
  before.items[0].slot = -1;
  CHECK_THROWS_AS(warp.words(before), std::invalid_argument);
  run(warp);
  CHECK(warp.addresses_read(program.statements()[1]) != nullptr);
}

TEST_CASE("run: shared memory may begin elsewhere than at 0; variables move with it, numbers do not") {
  const Program program = parse(
      ".shared .b32 v[4];\n"
      "mov.u32 a, v;\n"
      "mov.u64 w, v+8;\n"
      "st.shared.b32 [v+4], 7;\n"
      "ld.shared.b32 b, [a+4];\n"
      "mov.u32 zero, 0;\n"
      "ld.shared.b32 c, [zero];\n",
      "sm_80");
  Warp warp(program, 16, 1024);
  CHECK(trap_message(warp) == "line 7: lane 0, address 0x0: load of 4 bytes outside of shared memory, which has 16 bytes from 0x400 on");
  CHECK(warp.reg("a")[2] == 1024);
  CHECK(warp.reg("w")[2] == 1032);
  CHECK(warp.reg("b")[2] == 7);
  CHECK(warp.shared().bytes()[4] == 7);
  Warp at_zero(program, 16);
  CHECK(trap_message(at_zero) == "nothing");
}

TEST_CASE("run: registers are asked for by name and word") {
  const Program program = parse(".reg .b32 a; .reg .f64 w; .reg .b16 h;", "sm_80");
  Warp warp(program);
  warp.reg("w", 1)[3] = 5;
  CHECK(std::as_const(warp).reg("w", 1)[3] == 5);
  CHECK(warp.reg("w", 0)[3] == 0);
  struct Case {
    const char* name;
    int word;
    const char* message;
  };
  for (const Case& c : {Case{"b", 0, "the program has no register 'b'"}, Case{"", 0, "the program has no register ''"},
                        Case{"a", 1, "register 'a' has 32 bits, no word 1"}, Case{"h", 1, "register 'h' has 16 bits, no word 1"},
                        Case{"w", 2, "register 'w' has 64 bits, no word 2"}, Case{"w", -1, "register 'w' has 64 bits, no word -1"}}) {
    INFO(c.name << " " << c.word);
    CHECK_THROWS_WITH(warp.reg(c.name, c.word), c.message);
    CHECK_THROWS_AS(warp.reg(c.name, c.word), std::invalid_argument);
  }
}

TEST_CASE("run: _ swallows a result, and nothing that is read changes") {
  const Program program = parse(
      ".shared .b32 v[4];\n"
      "st.shared.v4.b32 [v], {1, 2, 3, 4};\n"
      "ld.shared.v4.b32 {_, b, _, d}, [v];\n"
      "ld.shared.v2.b64 {w, _}, [v];\n"
      "mov.u32 lane, %laneid;\n"
      "mov.u32 zero, 0;\n",
      "sm_90a");
  Warp warp(program);
  for (int i = 0; i < 2; ++i) run(warp);
  CHECK(warp.reg("b")[4] == 2);
  CHECK(warp.reg("d")[4] == 4);
  CHECK(warp.reg("w")[4] == 1);
  CHECK(warp.reg("w", 1)[4] == 2);
  CHECK(warp.reg("lane")[4] == 4);
  CHECK(warp.reg("zero")[4] == 0);
}

TEST_CASE("run: mma takes numbers and %laneid beside registers") {
  const Program program = parse(
      ".reg .b32 r<4>; .reg .f32 d<4>, e<4>;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {r0, 0}, {r1}, {0f3F800000, 0f40000000, 0fBF800000, "
      "0f00000000};\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {_, e1, _, _}, {r0, %laneid}, {r1}, {d0, d1, d2, d3};\n",
      "sm_80");
  Warp warp(program);
  run(warp);
  CHECK(warp.reg("d0")[21] == 0x3f800000);
  CHECK(warp.reg("d1")[21] == 0x40000000);
  CHECK(warp.reg("d2")[21] == 0xbf800000);
  CHECK(warp.reg("e1")[21] == 0x40000000);
  CHECK(warp.reg("e0")[21] == 0);
}

TEST_CASE("run: a warp refers to its program, so that it cannot be made from one that goes at once") {
  static_assert(std::is_constructible_v<Warp, Program&> && std::is_constructible_v<Warp, const Program&>);
  static_assert(!std::is_constructible_v<Warp, Program> && !std::is_constructible_v<Warp, const Program>);
  static_assert(!std::is_constructible_v<Warp, Program, std::size_t>);
}

TEST_CASE("run: what the ISA leaves undefined traps, or does what was measured, on both paths") {
  const Program program = parse(
      "mov.b32 one, 0x3c003c00; mov.b32 c, 0;\n"
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {one, one, one, one}, {one, one, one, one}, {c, c, c, c}, c, "
      "0;",
      "sm_90");  // metadata of 0: both of two stored elements multiply the first element of B
  for (const Path path : {Path::fast, Path::reference}) {
    Warp trapping(program), executing(program);
    CHECK_THROWS_AS(run(trapping, {.path = path}), Trap);
    CHECK(trapping.reg("d0")[0] == 0);
    run(executing, {.path = path, .undefined = Undefined::hardware});
    CHECK(executing.reg("d0")[0] == 0x41800000);
  }
}

TEST_CASE("run: many threads run one program") {
  const Program program = parse(
      ".shared .b32 v[32]; mov.u32 l, %laneid; shl.b32 p, l, 2; add.u32 x, seed, l; st.shared.b32 [p], x; ld.shared.b32 y, [p];", "sm_80");
  std::vector<int> wrong(8);
  {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] {
        Warp warp(program);
        for (std::uint32_t seed = 0; seed < 200; ++seed) {
          warp.reg("seed").fill(seed * 1000 + static_cast<std::uint32_t>(t));
          run(warp);
          for (std::uint32_t lane = 0; lane < warp_size; ++lane)
            wrong[t] += warp.reg("y")[lane] != seed * 1000 + static_cast<std::uint32_t>(t) + lane;
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(wrong == std::vector<int>(8));
}

TEST_CASE("run: lanes whose guard does not hold have no address") {
  const Program program = parse(".reg .b32 a, b; .reg .pred p; @p ld.shared.b32 b, [a]; @!p st.shared.b32 [a], b;", "sm_90");
  Warp warp(program, 64);
  warp.reg("a").fill(0xffffffff);
  warp.reg("p").fill(0);
  for (std::size_t lane = 0; lane < warp_size; ++lane) warp.reg("a")[lane] = 4 * (lane % 16);
  warp.reg("a")[9] = 64;
  warp.reg("b")[3] = 77;
  warp.reg("p")[9] = 1;
  CHECK(trap_message(warp) == "line 1: lane 9, address 0x40: load of 4 bytes outside of shared memory, which has 64 bytes from 0x0 on");
  warp.reg("p").fill(0);
  CHECK(trap_message(warp) == "line 1: lane 9, address 0x40: store of 4 bytes outside of shared memory, which has 64 bytes from 0x0 on");
  warp.reg("a")[9] = 0;
  CHECK(trap_message(warp) == "nothing");
}

TEST_CASE("run: lanes that an exchange waits for and that name others are a trap, which changes nothing") {
  const Program program = parse(".reg .b32 a, b, m; mov.u32 a, 5; shfl.sync.idx.b32 b, a, 0, 31, m; mov.u32 a, 6;", "sm_90");
  Warp warp(program);
  warp.reg("m").fill(0xffffffff);
  warp.reg("m")[4] = 0x10;
  CHECK(trap_message(warp).starts_with("line 1: lane 0: shfl.sync.idx.b32 is executed by lanes 0xffffffef only; lanes 0x00000010"));
  CHECK(warp.reg("a")[0] == 5);
  CHECK(warp.reg("b")[0] == 0);
  warp.reg("m")[4] = 0xffffffff;
  CHECK(trap_message(warp) == "nothing");
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) CHECK(warp.reg("b")[lane] == 5);
}

TEST_CASE("run: lanes that wait for one that names itself alone are a trap, before that lane has got anything") {
  const Program program = parse(
      ".reg .b32 a, b, c, m; .reg .pred first; mov.u32 a, 5; shfl.sync.idx.b32 b, a, 0, 31, m;\n"
      "elect.sync c|first, m; mov.u32 a, 6;",
      "sm_90");
  Warp warp(program);
  warp.reg("m").fill(0xffffffff);
  warp.reg("m")[0] = 1;
  CHECK(trap_message(warp).starts_with("line 1: lane 1: shfl.sync.idx.b32 is executed by lanes 0xfffffffe only; lanes 0x00000001"));
  CHECK(warp.reg("b") == Register{});
  CHECK(warp.reg("a")[0] == 5);
  warp.reg("c").fill(7);
  CHECK_THROWS_AS(warp.execute(program.statements()[2]), Trap);
  CHECK(warp.reg("c")[0] == 7);
  CHECK(warp.reg("first") == Register{});
  for (std::size_t lane = 0; lane < warp_size; ++lane) warp.reg("m")[lane] = lane < 16 ? 0xffff : 0xffff0000;
  CHECK(trap_message(warp) == "nothing");  // two groups that are here in full
  CHECK(warp.reg("b")[31] == 5);
  CHECK(warp.reg("c")[31] == 16);
}

TEST_CASE("run: a trap among statements that run on names its own line; what stands before has happened") {
  const Program program = parse(
      "mov.b32 one, 0x3c003c00; mov.b32 c, 0;\n"
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {e0, e1, e2, e3}, {one, one, one, one}, {one, one}, {c, c, c, c};\n"
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {one, one, one, one}, {one, one, one, one}, {c, c, c, c}, c, "
      "0;\n"
      "mov.u32 behind, 1;",
      "sm_90");  // metadata of 0 is undefined
  Warp warp(program);
  warp.reg("d0").fill(77);
  try {
    run(warp);
    FAIL("no trap");
  } catch (const Trap& trap) {
    CHECK(std::string(trap.what()).starts_with("line 3: lane 0: "));
    CHECK(trap.kind == Trap::Kind::undefined);
    CHECK(trap.site.operand == OperandName::e);
    CHECK(trap.site.kernel.empty());
  }
  CHECK(warp.reg("e0")[0] == 0x41800000);
  CHECK(warp.reg("d0")[0] == 77);
  CHECK(warp.reg("behind")[0] == 0);
}

TEST_CASE("run: a product of f64 has registers of two words, numbers and _") {
  const Program program = parse(
      ".reg .f64 a, b, c, d<2>;\n"
      "mov.f64 a, 1.0; mov.f64 b, 2.0; mov.f64 c, 3.0;\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {d0, _}, {a}, {b}, {c, 0d3FF0000000000000};\n"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {_, d1}, {a}, {b}, {c, 0d3FF0000000000000};",
      "sm_80");
  Warp warp(program);
  run(warp);
  CHECK(trap_message(warp) == "nothing");
  const auto value = [&](const char* name) { return std::bit_cast<double>(warp.reg(name)[7] | std::uint64_t{warp.reg(name, 1)[7]} << 32); };
  CHECK(value("d0") == 11);
  CHECK(value("d1") == 9);
  CHECK(value("c") == 3);
}

TEST_CASE("run: rows and matrices have addresses of 32 and 64 bits and of variables, whatever their state space") {
  const Program program = parse(
      ".shared .align 16 .b32 v[128]; .reg .b32 n, r<4>, s<4>; .reg .b64 w; .reg .f32 f<8>, g<8>;\n"
      "st.shared.b32 [v+16], 7; mov.u32 n, v; mov.u64 w, v;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [v+16];\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r1}, [n+16];\n"
      "ldmatrix.sync.aligned.m8n8.x1.b16 {r2}, [w+16];\n"
      "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {f0, f1, f2, f3, f4, f5, f6, f7}, [w], 8;\n"
      "wmma.load.c.sync.aligned.row.m16n16k16.f32 {g0, g1, g2, g3, g4, g5, g6, g7}, [n], 8;",
      "sm_90");
  Warp warp(program, 4096, 1024);
  CHECK(trap_message(warp) == "nothing");
  for (const char* const row : {"r0", "r1", "r2"}) CHECK(warp.reg(row)[0] == 7);
  for (const char* const name : {"0", "1", "2", "3", "4", "5", "6", "7"})
    CHECK(warp.reg(std::string("f") + name) == warp.reg(std::string("g") + name));
  const Program high = parse(".reg .b64 w; .reg .b32 r; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r}, [w];", "sm_90");
  Warp beyond(high, 1024);
  beyond.reg("w", 1).fill(1);
  CHECK(trap_message(beyond) == "nothing");  // of addresses in shared memory the low 32 bits count
}

TEST_CASE("run: a copy of a warp goes its own way") {
  const Program program =
      parse(".shared .b32 v; .reg .b32 a; .reg .b64 w; add.u32 a, a, 1; add.u64 w, w, 3; st.shared.b32 [v], a;", "sm_90");
  Warp warp(program);
  run(warp);
  Warp copy = warp;
  run(copy);
  run(copy);
  Warp moved = std::move(copy);
  run(moved);
  CHECK(warp.reg("a")[0] == 1);
  CHECK(warp.shared().bytes()[0] == 1);
  CHECK(moved.reg("a")[0] == 4);
  CHECK(moved.reg("w")[0] == 12);
  CHECK(moved.shared().bytes()[0] == 4);
}

}  // namespace
}  // namespace warpmat::run_test
