#include "gpu/lab/mutants/distinguish.h"

#include "gpu/lab/mutants/variant_runner.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::distinguish_test {
namespace {

std::optional<Distinction> found(const char* opcode, const char* first, const char* second, const char* target_name = "sm_90a") {
  return distinguish(*find_form(opcode), {&target(target_name), parse_variant(first), parse_variant(second), 128, 1});
}

constexpr const char* f16_to_f16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
constexpr const char* f16_to_f32 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr const char* tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";

std::size_t counted(const std::vector<std::uint64_t>& bits) {
  std::size_t count = 0;
  for (const std::uint64_t element : bits) count += element != 0;
  return count;
}

TEST_CASE("operands are found on which models differ, and they are few", "[mutants]") {
  const auto check = [](const char* opcode, const char* first, const char* second, const char* target_name = "sm_90a") {
    CAPTURE(opcode, first, second);
    const auto distinction = found(opcode, first, second, target_name);
    REQUIRE(distinction);
    CHECK(result_bits(*distinction, distinction->by_first) != result_bits(*distinction, distinction->by_second));
    CHECK(counted(operands_of(*distinction).a) <= 4);
  };
  check(f16_to_f32, "hopper", "ampere");
  check(f16_to_f32, "hopper", "hopper:fraction_bits=26");
  check(f16_to_f16, "hopper", "hopper:result_toward_zero");
  check(tf32, "table", "table:zero_terms_aligned");
  check("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", "table", "table:clamp_left_out");
  check("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "table", "table:fp8_in_one_unit");
  check("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", "table", "table:nan_of_a_first");
}

TEST_CASE("the first model's answer is the emulator's where that is the table's", "[mutants]") {
  const auto distinction = found(f16_to_f32, "table", "ampere");
  REQUIRE(distinction);
  WarpStates states = distinction->initial;
  EmulatorRunner(0, 1).run(distinction->program, states);
  CHECK(states == distinction->by_first);
}

TEST_CASE("models that never differ have no such operands", "[mutants]") {
  CHECK_FALSE(found(f16_to_f32, "hopper", "hopper:step_bytes=64"));  // one step has all of K
}

TEST_CASE("values are written as people read them", "[mutants]") {
  CHECK(value_text(Format::f16, 0x0c00) == "2^-12");
  CHECK(value_text(Format::f16, 0x0001) == "2^-24");
  CHECK(value_text(Format::f16, 0xbe00) == "-1.5 * 2^0");
  CHECK(value_text(Format::f16, 0x8000) == "-0");
  CHECK(value_text(Format::f16, 0xfc00) == "-infinity");
  CHECK(value_text(Format::f32, 0x7f800001) == "NaN 0x7f800001");
  CHECK(value_text(Format::s8, 0xff) == "-1");
}

}  // namespace
}  // namespace warpmat::distinguish_test
