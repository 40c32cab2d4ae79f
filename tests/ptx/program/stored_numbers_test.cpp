#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::stored_numbers_test {

namespace {

/// The word of shared memory, first 0, into which `body` stores at %r9. %f1 is 300.7 and %f2 -1.5, which ptxas does not know; %p1 holds.
std::uint32_t stored(const std::string& body) {
  const std::string start =
      ".shared .b32 memory[2]; mov.u32 %r9, memory; shr.u32 %r1, %n, 20; add.u32 %r2, %r1, 0x4396599a; mov.b32 %f1, %r2;\n"
      "add.u32 %r2, %r1, 0xbfc00000; mov.b32 %f2, %r2; setp.eq.u32 %p1, %r1, 0; st.shared.u32 [%r9], 0;\n";
  return words_of(word_kernel(start + body + "\nld.shared.u32 %d, [%r9];"), {1}, {1})[0];
}

constexpr std::uint32_t bits = 0x4396599a;  // of 300.7

}  // namespace

// ptxas 13.0.88 for sm_90a: F2I, F2IP or F2I.F64 in front of the store, or none.
TEST_CASE("st converts a number that it stores in fewer bytes, as ptxas has it", "[stores]") {
  struct Case {
    const char* body;
    std::uint32_t word;
  };
  for (const Case& c : {
           Case{"mov.f32 %r5, %f1; st.shared.s16 [%r9], %r5;", 300},
           Case{"mov.f32 %r5, %f1; st.shared.u16 [%r9], %r5;", 300},
           Case{"mov.f32 %r5, %f1; st.shared.b16 [%r9], %r5;", 300},
           Case{"mov.f32 %r5, %f1; st.shared.s8 [%r9], %r5;", 127},
           Case{"mov.f32 %r5, %f1; st.shared.u8 [%r9], %r5;", 255},
           Case{"mov.f32 %r5, %f2; st.shared.s8 [%r9], %r5;", 0xff},
           Case{"mov.f32 %r5, %f2; st.shared.b8 [%r9], %r5;", 0},
           Case{"add.rn.f32 %r5, %f1, %f1; st.shared.s16 [%r9], %r5;", 601},
           Case{"mov.f32 %r5, %f1; add.u32 %r6, %r1, 1; ld.shared.u32 %r7, [%r9+4]; st.shared.s16 [%r9], %r5;", 300},
           Case{"st.shared.f32 [%r9+4], %f1; ld.shared.f32 %r5, [%r9+4]; st.shared.s16 [%r9], %r5;", 300},
           Case{"mov.b32 %r5, 0; @%p1 mov.f32 %r5, %f1; st.shared.s16 [%r9], %r5;", 300},
           Case{"cvt.f64.f32 %l5, %f1; st.shared.s16 [%r9], %l5;", 300},
           Case{"cvt.f64.f32 %l5, %f1; st.shared.u32 [%r9], %l5;", 300},
           Case{"cvt.rn.f16.f32 %s5, %f2; st.shared.s8 [%r9], %s5;", 0xff},
           // The register's low bits: as wide as the register, another type wrote it, several registers, a guard.
           Case{"mov.f32 %r5, %f1; st.shared.u32 [%r9], %r5;", bits},
           Case{"cvt.rn.f16.f32 %s5, %f2; st.shared.s16 [%r9], %s5;", 0xbe00},
           Case{"mov.b32 %r5, %f1; st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; xor.b32 %r5, %r5, 0; st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; mov.b32 %r6, %r5; st.shared.s16 [%r9], %r6;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; @%p1 st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"div.full.f32 %r5, %f1, 0f3F800000; st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"set.gt.f32.f32 %r5, %f1, %f2; st.shared.s16 [%r9+4], %r5;", 0},
           // Another block of ptxas's.
           Case{"mov.f32 %r5, %f1; L: st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; bar.warp.sync 1; st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; div.u32 %r6, %r1, %n; st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; lg2.approx.f32 %f6, %f1; st.shared.s16 [%r9], %r5;", bits & 0xffff},
           Case{"mov.f32 %r5, %f1; @!%p1 bra L; st.shared.s16 [%r9], %r5; L:", bits & 0xffff},
       }) {
    CAPTURE(c.body);
    CHECK(stored(c.body) == c.word);
  }
}

// ptxas 13.0.88 for sm_90a: F2I.U64.TRUNC in front of SHF.L.U64.HI and SHF.L.U32. 37.9 is 0x42179999.
TEST_CASE("a shift of 64 bits by a number is by the integer, as ptxas has it", "[stores]") {
  struct Case {
    const char* body;
    std::uint32_t word;
  };
  const std::string start = "add.u32 %r2, %r1, 0x42179999; mov.b32 %f3, %r2; cvt.u64.u32 %l2, %r1; add.u64 %l2, %l2, 1; ";
  const std::string high = " shr.u64 %l3, %l3, 32; cvt.u32.u64 %r6, %l3; st.shared.u32 [%r9], %r6;";
  for (const Case& c : {
           Case{"mov.f32 %r5, %f3; shl.b64 %l3, %l2, %r5;", 1u << 5},
           Case{"add.rn.f32 %r7, %f3, %f2; @%p1 shl.b64 %l3, %l2, %r7;", 1u << 4},
           Case{"shl.b64 %l4, %l2, 63; mov.f32 %r5, %f3; shr.u64 %l4, %l4, %r5; shl.b64 %l3, %l4, 32;", 1u << 26},
           // Bits: 0x42179999 is beyond 63. In 32 bits, the bits of a number too.
           Case{"mov.b32 %r5, %f3; shl.b64 %l3, %l2, %r5;", 0},
           Case{"mov.f32 %r5, %f3; shl.b32 %r7, 1, %r5; mov.b64 %l3, {%r7, %r7};", 0},
       }) {
    CAPTURE(c.body);
    CHECK(stored(start + c.body + high) == c.word);
  }
}

TEST_CASE("each lane stores its own number", "[stores]") {
  const std::string address = ".shared .b32 memory[4]; mov.u32 %r9, memory; mad.lo.u32 %r9, %i, 4, %r9; st.shared.u32 [%r9], 0;\n";
  const std::string load = " ld.shared.u32 %d, [%r9];";
  const std::vector<std::uint32_t> numbers{0, 1000, 2000, 3000};
  for (const char* store : {"mul.lo.u32 %r1, %i, 1000; cvt.rn.f64.u32 %l5, %r1; st.shared.u16 [%r9], %l5;",
                            "mul.lo.u32 %r1, %i, 1000; cvt.rn.f64.u32 %l5, %r1; st.shared.s32 [%r9], %l5;",
                            "mul.lo.u32 %r1, %i, 1000; cvt.rn.f32.u32 %r5, %r1; st.shared.u16 [%r9], %r5;"}) {
    CAPTURE(store);
    CHECK(words_of(word_kernel(address + store + load), {1}, {4}) == numbers);
  }
}

TEST_CASE("a store that ptxas converts is noted as such", "[stores]") {
  const Kernel kernel(word_kernel(".shared .b32 memory; mov.f32 %r5, 0f3F800000; st.shared.s8 [memory], %r5;"), "k");
  REQUIRE(program_of(kernel).folded.size() == 1);
  CHECK(program_of(kernel).folded[0].kind == code::Folded::Kind::converted);
}

}  // namespace warpmat::stored_numbers_test
