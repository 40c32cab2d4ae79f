
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::shared_variables_test {

TEST_CASE("an index that leaves its shared variable for the next one is reported", "[machine]") {
  const std::string variables = ".shared .align 4 .b8 a[64]; .shared .align 4 .b8 b[128]; .extern .shared .align 4 .b8 rest[];";
  const std::string index = "mul.lo.u32 %r2, %i, 4; add.u32 %r2, %r2, %r7;";  // of each thread's word, and %r7 bytes
  const auto trap = [&](int from, const std::string& use) {
    return trap_of(word_kernel(variables + fmt::format("mov.u32 %r7, {};", from) + index + use, "sm_90"), {16}, 256);
  };
  const std::string uses[] = {
      "mov.u32 %r1, a; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %i;",
      "mov.u32 %r1, a; add.u32 %r3, %r2, %r1; sub.u32 %r3, %r3, 8; ld.shared.u32 %r4, [%r3 + 8];",
      "mov.u32 %r1, a; mad.lo.u32 %r3, %r2, 1, %r1; atom.shared.add.u32 %r4, [%r3], 1;",
      "mov.u64 %l1, a; cvta.shared.u64 %l1, %l1; cvt.u64.u32 %l2, %r2; add.u64 %l1, %l1, %l2; st.u32 [%l1], %i;",
      "mov.u32 %r3, a; add.u32 %r3, %r3, %r2; mov.u32 %r5, 0; again: st.shared.u32 [%r3], %i; add.u32 %r3, %r3, 0; add.u32 %r5, %r5, 1; "
      "setp.lt.u32 %p1, %r5, 2; @%p1 bra again;",
  };
  const std::string other = "mov.u32 %r8, b; st.shared.u32 [%r8], %i; mov.u32 %r8, rest; st.shared.u32 [%r8 + 64], %i;";
  for (const std::string& use : uses) {
    INFO(use);
    CHECK_THAT(trap(4, other + use), ContainsSubstring("lane 15") && ContainsSubstring("'a'") && ContainsSubstring("0 bytes into 'b'"));
    CHECK(trap(0, "st.shared.u32 [a], 0;" + other + "mov.u32 %r1, a; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], 0; bar.sync 0;" + use) ==
          "no trap");
  }
  // An address of two variables belongs to neither, nor does one that was selected.
  CHECK(trap(4, other + "mov.u32 %r1, a; mov.u32 %r3, b; sub.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r2; "
                        "st.shared.u32 [%r3], %i;") == "no trap");
  CHECK(trap(4, other + "mov.u32 %r1, a; mov.u32 %r3, b; setp.eq.u32 %p1, %i, 99; selp.u32 %r3, %r1, %r3, %p1; add.u32 %r3, %r3, %r2; "
                        "st.shared.u32 [%r3], %i;") == "no trap");
}

}  // namespace warpmat::shared_variables_test
