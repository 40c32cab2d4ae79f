#include "gpu/compare/random_states.h"

#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::random_states_test {
namespace {

TEST_CASE("a warp's random state depends on the seed and its number alone", "[gpu]") {
  const Program program =
      parse("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1}, {b0}, {d0, d1, d2, d3};", "sm_80");
  const WarpStates few = random_states(program, 5, 7, 64, 0), many = random_states(program, 20, 7, 64, 0),
                   other = random_states(program, 5, 8, 64, 0);
  for (std::size_t warp = 0; warp < few.warps; ++warp) {
    CHECK(std::ranges::equal(few.registers_of(warp), many.registers_of(warp)));
    CHECK(std::ranges::equal(few.shared_of(warp), many.shared_of(warp)));
    CHECK_FALSE(std::ranges::equal(few.registers_of(warp), other.registers_of(warp)));
  }
}

TEST_CASE("registers that begin as row addresses point to distinct rows inside the memory", "[gpu]") {
  const Program program = parse(
      "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {a, b, c, d}, [p+64];\n"
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [q+-32], {a, b, c, d};",
      "sm_90a");
  WarpStates states = random_states(program, 200, 1, 0, 1024);
  CHECK(states.shared_bytes == 1024);
  const auto slot = static_cast<std::size_t>(program.find_register("p")->slot);
  for (std::size_t warp = 0; warp < states.warps; ++warp) {
    const Register& addresses = states.registers_of(warp)[slot];
    CHECK(std::set<std::uint32_t>(addresses.begin(), addresses.end()).size() == warp_size);
  }
  CHECK_NOTHROW(EmulatorRunner(1024).run(program, states));
}

TEST_CASE("addresses that the program computes are no inputs", "[gpu]") {
  const Program program = parse(
      ".shared .align 16 .b8 tile[512]; .reg .b32 p, a;\n"
      "mov.u32 p, tile; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {a}, [p];",
      "sm_80");
  CHECK(random_states(program, 1, 1, 0, 0).shared_bytes == 512);
}

}  // namespace
}  // namespace warpmat::random_states_test
