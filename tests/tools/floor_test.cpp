#include "tools/report/floor.h"

#include "test.h"

namespace warpmat::floor_test {
namespace {

std::optional<Floor> floor_of(const char* opcode, Hardware hardware) {
  return find_floor(*find_form(opcode), hardware);
}

constexpr auto f16_to_f16 = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
constexpr auto f16_to_f32 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
constexpr auto bf16 = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
constexpr auto volta = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16";

TEST_CASE("floors are those that were measured or published, and say which") {
  using enum Hardware;
  using enum Evidence;
  struct Row {
    Hardware hardware;
    int f32, f16;
    Evidence evidence;
  };
  constexpr Row rows[] = {{sm_80, -132, -20, published},  {sm_86, -132, -20, published}, {sm_87, -132, -20, assumed},
                          {sm_88, -132, -20, assumed},    {sm_89, -132, -20, published}, {sm_90, -133, -21, measured},
                          {sm_100, -133, -21, published}, {sm_103, -133, -21, assumed},  {sm_110, -133, -21, assumed},
                          {sm_120, -133, -21, assumed},   {sm_121, -133, -21, assumed}};
  for (const Row& r : rows) {
    CAPTURE(name(r.hardware));
    const auto f16 = floor_of(f16_to_f16, r.hardware), f32 = floor_of(bf16, r.hardware);
    REQUIRE((f16 && f32));
    CHECK(f16->exponent == r.f16);
    CHECK(f32->exponent == r.f32);
    CHECK(f16->evidence == r.evidence);
    CHECK(f32->evidence == r.evidence);
  }
  CHECK(floor_of(f16_to_f16, sm_75)->exponent == -20);
  CHECK(floor_of(f16_to_f16, sm_75)->evidence == assumed);
  CHECK(floor_of(volta, sm_70)->exponent == -19);
  CHECK(floor_of(volta, sm_70)->evidence == published);
}

TEST_CASE("no form has a floor that no operands reach") {
  using enum Hardware;
  CHECK_FALSE(floor_of(f16_to_f32, sm_90));                                             // products are multiples of 2^-48, far above 2^-158
  CHECK_FALSE(floor_of("mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", sm_90));  // of 2^-32, above 2^-46
  CHECK_FALSE(floor_of("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", sm_90));
  CHECK_FALSE(floor_of("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", sm_90));
  CHECK_FALSE(floor_of("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", sm_90));
  CHECK_FALSE(floor_of(volta, sm_90));  // not in a matrix unit
  CHECK_FALSE(floor_of(bf16, sm_75));   // there is no such form
}

TEST_CASE("every hardware has a row for the floors of 16-bit formats") {
  for (const Target& target : targets())
    for (const char* const opcode : {f16_to_f16, bf16, volta})
      if (const auto floor = floor_of(opcode, target.hardware)) {
        CAPTURE(opcode, target.name);
        CHECK(floor->source != "not measured");
      }
}

TEST_CASE("a floor that was not measured is assumed") {
  const auto fp8 = floor_of("mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", Hardware::sm_89);
  REQUIRE(fp8);
  CHECK(fp8->exponent == no_floor);
  CHECK(fp8->evidence == Evidence::assumed);
}

TEST_CASE("a floor is no better known than the sums that it belongs to") {
  for (const Form& form : forms())
    for (const Target& target : targets())
      if (const auto floor = find_floor(form, target.hardware)) {
        CAPTURE(form.opcode, target.name);
        CHECK(floor->evidence <= find_lowering(form, target.hardware)->evidence);
        CHECK_FALSE(floor->source.empty());
      }
}

}  // namespace
}  // namespace warpmat::floor_test
