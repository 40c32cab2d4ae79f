#include "gpu/runners/emulator_runner.h"

#include "gpu/compare/random_states.h"
#include "test.h"

namespace warpmat::emulator_runner_test {
namespace {

constexpr const char* text = R"(
.shared .align 16 .b8 pad[32];
.shared .align 16 .b32 tile[128];
.reg .b32 at, d0, d1, p; .reg .b64 wide; .reg .b16 half;
mov.u32 at, tile+4;
mov.u64 wide, tile+-16;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {d0, d1}, [p];
)";

TEST_CASE("results do not depend on the number of threads", "[gpu]") {
  const Program program = parse(text, "sm_90a");
  const WarpStates initial = random_states(program, 500, 3, 0, 1024);
  WarpStates one = initial, many = initial;
  EmulatorRunner(1024, 1).run(program, one);
  EmulatorRunner(1024, 5).run(program, many);
  CHECK(one == many);
  CHECK_FALSE(one == initial);
}

TEST_CASE("shared memory begins at the runner's base", "[gpu]") {
  const Program program = parse(text, "sm_90a");
  for (const std::uint32_t base : {0u, 1024u, 4096u}) {
    WarpStates states = random_states(program, 100, 3, 0, base);
    EmulatorRunner runner(base, 2);
    CHECK(runner.shared_base() == base);
    runner.run(program, states);
    for (std::size_t warp = 0; warp < states.warps; ++warp) {
      CHECK(states.registers_of(warp)[0][9] == base + 36);
      CHECK(states.registers_of(warp)[4][9] == base + 16);
      CHECK(states.registers_of(warp)[5][9] == 0);
    }
  }
  // The same memories and rows at another base give the same matrices.
  WarpStates low = random_states(program, 100, 3, 0, 0), high = random_states(program, 100, 3, 0, 2048);
  EmulatorRunner(0).run(program, low);
  EmulatorRunner(2048).run(program, high);
  for (std::size_t warp = 0; warp < low.warps; ++warp) CHECK(low.registers_of(warp)[2] == high.registers_of(warp)[2]);
}

TEST_CASE("16-bit registers have 16 bits", "[gpu]") {
  const Program program = parse(".reg .b16 a, b; mov.b16 b, a;", "sm_80");
  WarpStates states(program, 1);
  states.registers_of(0)[0].fill(0xdeadbeef);
  EmulatorRunner().run(program, states);
  CHECK(states.registers_of(0)[0][4] == 0xbeef);
  CHECK(states.registers_of(0)[1][4] == 0xbeef);
}

TEST_CASE("a trap names warp, line and statement and leaves the states as they were", "[gpu]") {
  const Program program = parse("mov.b32 a, 1;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {d}, [p];", "sm_90");
  WarpStates states(program, 300, 1024);
  states.registers_of(70)[2][3] = 8;
  states.registers_of(250)[2][1] = 8;
  const WarpStates before = states;
  for (const unsigned threads : {1u, 4u}) {
    try {
      EmulatorRunner(0, threads).run(program, states);
      FAIL("no trap");
    } catch (const std::runtime_error& e) {
      const std::string message = e.what();
      if (threads == 1) CHECK(message.starts_with("warp 70: line 2: lane 3, address 0x8: "));
      CHECK(message.ends_with("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {d}, [p];"));
    }
    CHECK(states == before);
  }
}

TEST_CASE("a runner executes as its options say", "[gpu]") {
  // Metadata of 0, which the ISA does not define: both of two stored elements multiply the first element of B.
  const Program program = parse(
      "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {one, one, one, one}, {one, one, one, one}, {c, c, c, c}, c, "
      "0;",
      "sm_90");
  WarpStates states(program, 3);
  const auto one = static_cast<std::size_t>(program.find_register("one")->slot),
             d0 = static_cast<std::size_t>(program.find_register("d0")->slot);
  for (std::size_t warp = 0; warp < states.warps; ++warp) states.registers_of(warp)[one].fill(0x3c003c00);
  for (const Path path : {Path::fast, Path::reference}) {
    WarpStates executed = states;
    CHECK_THROWS_AS(EmulatorRunner(0, 2, {.path = path}).run(program, executed), std::runtime_error);
    EmulatorRunner(0, 2, {.path = path, .undefined = Undefined::hardware}).run(program, executed);
    for (std::size_t warp = 0; warp < states.warps; ++warp) CHECK(executed.registers_of(warp)[d0][31] == 0x41800000);
  }
  CHECK(EmulatorRunner(0, 2, {.path = Path::reference}).description() == "emulator (reference) on 2 threads");
}

}  // namespace
}  // namespace warpmat::emulator_runner_test
