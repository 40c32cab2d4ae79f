// Programs through the C interface.

#include <warpmat/c_program.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::program_test {
namespace {

constexpr const char* program_text = R"(
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, {b0, b1}, {c0, c1, c2, c3};
  st.shared.u32 [address], d0;
)";

TEST_CASE("C: a program is parsed once and run by a warp", "[c]") {
  auto error = sized<warpmat_error>();
  warpmat_program* program = warpmat_program_parse(program_text, "sm_90", &error);
  INFO(error.message);
  REQUIRE(program != nullptr);
  CHECK(warpmat_program_register_count(program) == 15);
  CHECK(warpmat_program_register_name(program, 0) == std::string("d0"));
  CHECK(warpmat_program_register_name(program, 15) == nullptr);
  CHECK(warpmat_program_register_name(program, -1) == nullptr);
  warpmat_warp* warp = warpmat_warp_create(program, 256, &error);
  REQUIRE(warp != nullptr);
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1"})
    for (int lane = 0; lane < 32; ++lane) warpmat_warp_register(warp, name, 0)[lane] = 0x3c003c00;
  std::uint32_t* const addresses = warpmat_warp_register(warp, "address", 0);
  for (std::uint32_t lane = 0; lane < 32; ++lane) addresses[lane] = 4 * lane;
  for (const unsigned flags : {0u, WARPMAT_REFERENCE_PATH}) {
    REQUIRE(warpmat_warp_run(warp, flags, &error) == WARPMAT_OK);
    CHECK(warpmat_warp_register(warp, "d3", 0)[31] == 0x41800000);
  }
  std::size_t bytes = 0;
  const std::uint8_t* shared = warpmat_warp_shared(warp, &bytes);
  CHECK(bytes == 256);
  const std::uint32_t sixteen = 0x41800000;
  CHECK(std::memcmp(shared + 124, &sixteen, 4) == 0);

  for (const auto& [address, status] : {std::pair(130u, WARPMAT_MISALIGNED), {256u, WARPMAT_OUT_OF_RANGE}}) {
    error = sized<warpmat_error>();
    addresses[7] = address;
    CHECK(warpmat_warp_run(warp, 0, &error) == status);
    CHECK(error.lane == 7);
    CHECK(error.line == 3);
    CHECK(error.address == address);
    CHECK(warpmat_warp_run(warp, 0, nullptr) == status);
  }
  CHECK(warpmat_warp_run(warp, WARPMAT_WIDE_ADDRESSES, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_warp_register(warp, "d9", 0) == nullptr);
  CHECK(warpmat_warp_register(warp, "d0", 1) == nullptr);
  warpmat_warp_free(warp);
  warpmat_program_free(program);
}

TEST_CASE("C: misuse of programs", "[c]") {
  auto error = sized<warpmat_error>();
  CHECK(warpmat_program_parse(nullptr, "sm_90", &error) == nullptr);
  CHECK(error.status == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_program_parse("mma;\n", "sm_90", &error) == nullptr);
  CHECK(error.status == WARPMAT_SYNTAX);
  CHECK(error.line == 1);
  CHECK(warpmat_program_parse("", "sm_1", &error) == nullptr);
  CHECK(error.status == WARPMAT_UNKNOWN_TARGET);
  CHECK(std::string(error.message).starts_with("unknown target 'sm_1': there are sm_70, "));
  CHECK(warpmat_program_parse("mma;\n", "sm_90", nullptr) == nullptr);
  CHECK(warpmat_warp_create(nullptr, 0, &error) == nullptr);
  CHECK(error.status == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_warp_run(nullptr, 0, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_warp_register(nullptr, "a", 0) == nullptr);
  CHECK(warpmat_program_register_count(nullptr) == 0);
  std::size_t bytes = 1;
  CHECK(warpmat_warp_shared(nullptr, &bytes) == nullptr);
  CHECK(bytes == 0);
  warpmat_warp_free(nullptr);
  warpmat_program_free(nullptr);
}

}  // namespace
}  // namespace warpmat::program_test
