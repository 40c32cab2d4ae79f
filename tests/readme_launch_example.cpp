#include <warpmat/warpmat.h>

#include "catch.h"

using namespace warpmat;

TEST_CASE("my kernel scales every element") {
  const Module module(R"(  // what nvcc -ptx writes
      .version 9.0
      .target sm_90
      .address_size 64
      .entry scale(.param .u64 x, .param .f32 factor) {
        .reg .b32 %r<4>; .reg .b64 %d<3>; .reg .f32 %f<3>;
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r3, %r1, 32, %r2;
        ld.param.u64 %d1, [x]; mul.wide.s32 %d2, %r3, 4; add.s64 %d1, %d1, %d2;
        ld.param.f32 %f1, [factor]; ld.global.f32 %f2, [%d1];
        mul.f32 %f2, %f2, %f1; st.global.f32 [%d1], %f2; ret;
      })");
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate(std::vector<float>(64, 1.5f), "x");
  launch(Kernel(module, "scale"), {.grid = {2}, .block = {32}}, memory, {x, 2.0f});
  CHECK(memory.read<float>(x, 64) == std::vector<float>(64, 3.0f));
}
