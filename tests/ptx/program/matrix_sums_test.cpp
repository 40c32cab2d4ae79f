#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::matrix_sums_test {

namespace {

constexpr float factor = 1.000244140625f;  // 1 + 2^-12: its square less 1 is 2^-11 + 2^-24

/// The first register of a product in which each row of A times each column of B is -1, and C's first register is what `c` leaves in %f5.
/// %f1 and %f2 hold `factor`, which ptxas does not know.
float element(const std::string& c, const std::string& target = "sm_90") {
  const std::string start = "shr.u32 %r1, %n, 20; add.u32 %r2, %r1, " + std::to_string(std::bit_cast<std::uint32_t>(factor)) +
                            "; mov.b32 %f1, %r2; mov.b32 %f2, %r2; mov.b32 %f6, 0; add.u32 %r3, %r1, 0x38383838;\n"
                            "and.b32 %r4, %i, 3; setp.eq.u32 %p1, %r4, 0; selp.b32 %r4, 0xb8, 0, %p1;\n";
  const std::string product =
      "\nmma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f11, %f12, %f13, %f14}, {%r3, %r3, %r3, %r3}, {%r4, %r1}, "
      "{%f5, %f6, %f6, %f6};\nmov.b32 %d, %f11;";
  return std::bit_cast<float>(words_of(word_kernel(start + c + product, target), {1}, {32})[7]);
}

}  // namespace

// FFMA at the line of the mma in ptxas 13.0.88's machine code for sm_90a, and FADD.
TEST_CASE("a product is fused with the addition of C of fp8's mma where that is an instruction", "[contraction]") {
  const float fused = std::fma(factor, factor, -1.f), rounded = factor * factor - 1.f;
  REQUIRE(fused == 0x1p-11f + 0x1p-24f);
  REQUIRE(rounded == 0x1p-11f);
  CHECK(element("mul.f32 %f5, %f1, %f2;") == fused);
  CHECK(element("mul.f32 %f4, %f1, %f2; mov.b32 %f5, %f4;") == fused);
  CHECK(element("neg.f32 %f3, %f1; mul.f32 %f4, %f3, %f2; neg.f32 %f5, %f4;") == fused);
  CHECK(element("mul.rn.f32 %f5, %f1, %f2;") == rounded);
  CHECK(element("mul.ftz.f32 %f5, %f1, %f2;") == rounded);
  CHECK(element("mul.f32 %f5, %f1, %f2; st.global.f32 [%out], %f5;") == rounded);
  CHECK(element("mul.f32 %f5, %f1, %f2;", "sm_89") == rounded);
  // Of f16 accumulators the addition is one of pairs.
  const auto fused_pairs = [](const std::string& product) {
    const std::string body =
        "mov.b32 %r1, %n; mov.b32 %r2, %i; " + product +
        " mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16 {%r5, %r6}, {%r1, %r2, %r1, %r2}, {%r1, %r2}, {%r3, %r4};";
    return program_of(Kernel(word_kernel(body + "xor.b32 %d, %r5, %r6;"), "k")).contracted.size();
  };
  CHECK(fused_pairs("mul.f16x2 %r3, %r1, %r2; mul.rn.f16x2 %r4, %r1, %r2;") == 1);
  CHECK(fused_pairs("mul.f16x2 %r3, %r1, %r2; mul.f16x2 %r4, %r2, %r2;") == 2);
}

}  // namespace warpmat::matrix_sums_test
