#include "gpu/lab/rules/reach.h"

#include "test.h"

namespace warpmat::reach_test {
namespace {

Reach of(const char* opcode, Hardware hardware, Event event, std::size_t number = 0) {
  const Form& form = *find_form(opcode);
  return reach(form, *find_lowering(form, hardware), event, number);
}

constexpr auto f16_to_f16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
constexpr auto f16_to_f32 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
constexpr auto bf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
constexpr auto fp8_to_f16 = "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16";
constexpr auto fp8_to_f32 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
constexpr auto s8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
constexpr auto u8 = "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32";
constexpr auto load = "ldmatrix.sync.aligned.m8n8.x2.shared.b16";

// These are worked out by hand from the formats; that the cases of a sweep reach what they should is tested in
// tests/tools/coverage_test.cpp.
TEST_CASE("what can be reached follows from formats and units") {
  using enum Event;
  using enum Hardware;
  CHECK(of(f16_to_f16, sm_90, cut_by_floor).reachable());
  CHECK_FALSE(of(f16_to_f32, sm_90, cut_by_floor).reachable());  // products are multiples of 2^-48
  CHECK(of(bf16, sm_90, cut_by_floor).reachable());
  CHECK_FALSE(of(fp8_to_f16, sm_90, e_below_floor).reachable());  // 2^-18 is the smallest product
  CHECK(of("mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", sm_90, e_below_floor).reachable());
  CHECK_FALSE(of("mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16", sm_90, cut_by_floor).reachable());

  CHECK_FALSE(of(f16_to_f32, sm_90, overflow_by_sum).reachable());
  CHECK(of(f16_to_f16, sm_90, overflow_by_sum).reachable());
  CHECK(of(bf16, sm_90, overflow_by_sum).reachable());
  CHECK_FALSE(of(bf16, sm_90, overflow_by_rounding).reachable());
  CHECK(of(f16_to_f16, sm_90, overflow_by_rounding).reachable());
  CHECK_FALSE(of(f16_to_f32, sm_90, rounding_carries).reachable());
  CHECK(of(fp8_to_f32, sm_90, rounding_carries).reachable());  // the addition of C rounds to nearest
  CHECK_FALSE(of(fp8_to_f32, sm_89, half_beside_even).reachable());
  CHECK(of(fp8_to_f16, sm_89, half_beside_even).reachable());

  CHECK(of(f16_to_f16, sm_90, nan_of_zero_times_infinity).reachable());
  CHECK_FALSE(of(fp8_to_f16, sm_90, nan_of_zero_times_infinity).reachable());
  CHECK(of(f16_to_f16, sm_90, distance, 27).reachable());
  CHECK_FALSE(of(f16_to_f16, sm_90, distance, 28).concerns);
  CHECK(of(f16_to_f16, sm_80, distance, 26).reachable());
  CHECK_FALSE(of(f16_to_f16, sm_80, distance, 27).concerns);

  CHECK(of(s8, sm_90, integer_leaves_and_returns).reachable());
  CHECK_FALSE(of(u8, sm_90, integer_leaves_and_returns).reachable());
  CHECK(of(u8, sm_90, integer_above).reachable());
  CHECK_FALSE(of(u8, sm_90, integer_below).reachable());
  CHECK_FALSE(of(s8, sm_90, exact).concerns);
  CHECK(of(load, sm_90, row_address, 15).reachable());
  CHECK_FALSE(of(load, sm_90, row_address, 16).concerns);
}

TEST_CASE("every region concerns some form, and can be reached in some") {
  for (std::size_t i = 0; i < event_count; ++i)
    for (std::size_t number = 0; number < numbers_of(static_cast<Event>(i)); ++number) {
      bool concerns = false, reachable = false;
      for (const Form& form : forms())
        for (const Target& target : targets())
          if (const Lowering* lowering = find_lowering(form, target.hardware)) {
            const Reach r = reach(form, *lowering, static_cast<Event>(i), number);
            concerns = concerns || r.concerns;
            reachable = reachable || r.reachable();
          }
      CAPTURE(name(static_cast<Event>(i)), number);
      const bool invalid_code = static_cast<Event>(i) == Event::metadata_code && (number & 3) == number >> 2;
      const bool no_distance = static_cast<Event>(i) == Event::distance && number > distance_beyond(dot_models::blackwell_fp4);
      CHECK((concerns && reachable) == !(invalid_code || no_distance));
    }
}

}  // namespace
}  // namespace warpmat::reach_test
