
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::divergence_test {
namespace {

std::vector<std::uint32_t> expected_of(std::size_t count, auto f) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < count; ++i) out.push_back(f(i));
  return out;
}

TEST_CASE("lanes that a branch separates compute independently and converge", "[machine][divergence]") {
  // After the branch all lanes are together: activemask says so.
  const Module module = word_kernel(R"(
    and.b32 %r1, %i, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN;
    mul.lo.u32 %r2, %i, 3;
    activemask.b32 %r4;
    bra.uni MEET;
EVEN:
    add.u32 %r2, %i, 1000;
    activemask.b32 %r4;
MEET:
    activemask.b32 %r3;
    add.u32 %d, %r2, %r3;
    xor.b32 %d, %d, %r4;
)");
  CHECK(words_of(module, {1}, {32}) == expected_of(32, [](std::uint32_t i) {
          return ((i % 2 == 0 ? i + 1000 : 3 * i) + 0xffffffffu) ^ (i % 2 == 0 ? 0x55555555u : 0xaaaaaaaau);
        }));
}

TEST_CASE("loops whose lanes leave at different times", "[machine][divergence]") {
  const Module module = word_kernel(R"(
LOOP:
    setp.ge.u32 %p1, %r1, %i;
    @%p1 bra DONE;
    add.u32 %d, %d, %r1;
    add.u32 %r1, %r1, 1;
    bra LOOP;
DONE:
    activemask.b32 %r2;
    popc.b32 %r2, %r2;
    mad.lo.u32 %d, %r2, 10000, %d;
)");
  CHECK(words_of(module, {1}, {64}) == expected_of(64, [](std::uint32_t i) { return 320000 + (i == 0 ? 0 : i * (i - 1) / 2); }));
}

TEST_CASE("nested branches, an early exit and a jump table", "[machine][divergence]") {
  const Module module = word_kernel(R"(
    and.b32 %r1, %i, 3;
    mov.u32 %d, 7;
    st.global.u32 [%out], %d;
    setp.eq.u32 %p1, %i, 5;
    @%p1 exit;
    ts: .branchtargets A, B, A, C;
    brx.idx %r1, ts;
A:
    mov.u32 %d, 100;
    bra MEET;
B:
    setp.lt.u32 %p2, %i, 16;
    mov.u32 %d, 200;
    @%p2 bra MEET;
    add.u32 %d, %d, 1;
    bra MEET;
C:
    mov.u32 %d, 300;
MEET:
    activemask.b32 %r2;
    popc.b32 %r2, %r2;
    mad.lo.u32 %d, %r2, 1000, %d;
)");
  CHECK(words_of(module, {1}, {32}) == expected_of(32, [](std::uint32_t i) -> std::uint32_t {
          if (i == 5) return 7;
          const std::uint32_t value = i % 4 == 1 ? (i < 16 ? 200 : 201) : i % 4 == 3 ? 300 : 100;
          return 31000 + value;
        }));
}

TEST_CASE("a guard keeps what lanes had, in registers of every width and in predicates", "[machine][divergence]") {
  const Module module = word_kernel(R"(
    setp.lt.u32 %p1, %i, 10;
    mov.u64 %l1, 5;
    mov.b16 %s1, 6;
    setp.eq.u32 %p2, %i, %i;
    @%p1 mov.u64 %l1, 50;
    @!%p1 mov.b16 %s1, 60;
    @%p1 setp.ne.u32 %p2, %i, %i;
    selp.u32 %r1, 1, 0, %p2;
    cvt.u32.u64 %r2, %l1;
    cvt.u32.u16 %r3, %s1;
    mad.lo.u32 %d, %r1, 10000, %r2;
    mad.lo.u32 %d, %r3, 100, %d;
)");
  CHECK(words_of(module, {1}, {32}) == expected_of(32, [](std::uint32_t i) { return i < 10 ? 50 + 600u : 10000 + 5 + 6000u; }));
}

TEST_CASE("a lane that waits in a loop for another lane of its warp lets it run", "[machine][divergence]") {
  // A lock around a counter, taken by one lane after another; the lane that holds it leaves the loop and must be scheduled.
  const Module module = word_kernel(R"(
    .shared .u32 lock, counter;
    setp.ne.u32 %p1, %i, 0;
    @%p1 bra START;
    st.shared.u32 [lock], 0;
    st.shared.u32 [counter], 0;
START:
    bar.sync 0;
SPIN:
    atom.shared.cas.b32 %r1, [lock], 0, 1;
    setp.ne.u32 %p2, %r1, 0;
    @%p2 bra SPIN;
    ld.volatile.shared.u32 %r2, [counter];
    add.u32 %r2, %r2, 1;
    st.volatile.shared.u32 [counter], %r2;
    atom.shared.exch.b32 %r3, [lock], 0;
    bar.sync 0;
    ld.shared.u32 %d, [counter];
)");
  CHECK(words_of(module, {1}, {64}) == std::vector<std::uint32_t>(64, 64));
}

TEST_CASE("an aligned statement that some lanes never come to is reported with both sets of lanes", "[machine][divergence]") {
  const Module module = word_kernel(R"(
    setp.lt.u32 %p1, %i, 8;
    @!%p1 bra MEET;
    bar.sync 0;
MEET:
)");
  const std::string trap = trap_of(module, {32});
  CHECK(trap.find("bar.sync") != std::string::npos);
  CHECK(trap.find("0x000000ff") != std::string::npos);
  CHECK(trap.find("0xffffff00") != std::string::npos);
}

TEST_CASE("the registers of a long program share a small frame and keep their values", "[machine][frame]") {
  // Each register is written once; the sum needs all of the first 18, then chains of short-lived ones follow.
  std::string body = ".reg .b32 %x<600>;\n mov.u32 %x0, %i;\n";
  for (int i = 1; i < 600; ++i)
    body += "add.u32 %x" + std::to_string(i) + ", %x" + std::to_string(i - 1) + ", " + std::to_string(i % 7) + ";\n";
  std::uint32_t sum = 0;
  for (std::uint32_t i = 1; i < 600; ++i) sum += i % 7;
  const Module module = word_kernel(body + "add.u32 %d, %x599, %x0;\n");
  CHECK(words_of(module, {1}, {32}) == expected_of(32, [&](std::uint32_t i) { return 2 * i + sum; }));
}

}  // namespace
}  // namespace warpmat::divergence_test
