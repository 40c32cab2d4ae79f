// Elements of memory that all lanes access, or a part of them: bytes and halves in a row, vectors of words in any order, each lane's own
// local memory.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::element_test {

TEST_CASE("elements in a row, vectors in any order and local memory are each lane's own, whatever lanes access them", "[machine][memory]") {
  struct Case {
    const char* body;
    std::uint32_t (*expected)(std::uint32_t i);
  };
  for (const Case& c : {
           Case{"add.u64 %l1, %l1, %l2; st.shared.u8 [%l1], %r1; ld.shared.u8 %d, [%l1];", [](std::uint32_t i) { return i * 37 % 256; }},
           Case{"add.u64 %l1, %l1, %l2; st.shared.u8 [%l1], %r1; ld.shared.s8 %d, [%l1];",
                [](std::uint32_t i) { return static_cast<std::uint32_t>(static_cast<std::int8_t>(i * 37)); }},
           Case{"mad.lo.u64 %l1, %l2, 2, %l1; mul.lo.u32 %r1, %r1, 50; st.shared.u16 [%l1], %r1; ld.shared.s16 %d, [%l1];",
                [](std::uint32_t i) { return static_cast<std::uint32_t>(static_cast<std::int16_t>(i * 37 * 50)); }},
           // The first word of the lane before, the second of the lane behind: the lanes stand in the opposite order.
           Case{"sub.u64 %l3, 31, %l2; mad.lo.u64 %l1, %l3, 8, %l1; add.u32 %r2, %r1, 5; st.shared.v2.u32 [%l1], {%r1, %r2}; "
                "ld.shared.v2.u32 {%r3, %r4}, [%l1]; mad.lo.u32 %d, %r4, 100, %r3;",
                [](std::uint32_t i) { return (i * 37 + 5) * 100 + i * 37; }},
           // Two lanes have the same address, each in its own memory.
           Case{"mov.u64 %l1, mine; and.b64 %l3, %l2, 3; mad.lo.u64 %l1, %l3, 4, %l1; st.local.u32 [%l1], %r1; ld.local.u32 %d, [%l1];",
                [](std::uint32_t i) { return i * 37; }},
           Case{"mov.u64 %l1, mine; and.b64 %l3, %l2, 7; add.u64 %l1, %l1, %l3; st.local.u8 [%l1], %r1; ld.local.u8 %d, [%l1];",
                [](std::uint32_t i) { return i * 37 % 256; }},
           // Consecutive addresses are not consecutive memory.
           Case{"mov.u64 %l1, mine; mad.lo.u64 %l1, %l2, 4, %l1; st.local.u32 [%l1], %r1; ld.local.u32 %d, [%l1];",
                [](std::uint32_t i) { return i * 37; }},
       })
    for (const std::uint32_t lanes : {32u, 11u}) {
      const Module module = word_kernel(
          ".shared .align 16 .b8 s[256]; .local .align 16 .b32 mine[32]; mov.u64 %l1, s; cvt.u64.u32 %l2, %i; "
          "mul.lo.u32 %r1, %i, 37; setp.lt.u32 %p1, %i, " +
          std::to_string(lanes) + "; @!%p1 bra E; " + c.body + " E:");
      INFO(c.body << " in " << lanes << " lanes");
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < 32; ++i) expected.push_back(i < lanes ? c.expected(i) : 0);
      CHECK(words_of(module, {1}, {32}) == expected);
    }
}

TEST_CASE("local memory beyond its end and at an odd address is reported of the lane", "[machine][memory]") {
  const auto trap_at = [](const std::string& address) {
    return message_of([&] {
      words_of(
          word_kernel(".local .align 16 .b32 mine[8]; mov.u64 %l1, mine; cvt.u64.u32 %l2, %i; " + address + " ld.local.u32 %d, [%l1];"),
          {1}, {32});
    });
  };
  CHECK(trap_at("mad.lo.u64 %l1, %l2, 4, %l1;").find("lane 8, ") != std::string::npos);
  CHECK(trap_at("mad.lo.u64 %l1, %l2, 4, %l1;").find("outside of local memory, which has 32 bytes") != std::string::npos);
  CHECK(trap_at("shr.u64 %l2, %l2, 4; add.u64 %l1, %l1, %l2;").find("lane 16, ") != std::string::npos);
  CHECK(trap_at("shr.u64 %l2, %l2, 4; add.u64 %l1, %l1, %l2;").find("not a multiple of 4") != std::string::npos);
}

}  // namespace warpmat::element_test
