#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <warpmat/machine/internals.h>

#include "catch.h"
#include "machine/kernel.h"
#include "warpmat/ptx/program/code.h"

namespace warpmat::loops_test {

namespace {

constexpr float start = 1.2345678f, factor = 1.0009766f, addend = -0.30000001f;

/// The product and the sum of a loop that computes p = x * factor, x = p + addend: their bits, added. A round is fused where `fused` says.
template <typename Fused>
std::uint32_t rounds_of(int rounds, Fused fused) {
  float x = start;
  volatile float product = 0;  // of the last round, rounded
  for (int round = 0; round < rounds; ++round) {
    product = x * factor;
    x = fused(round) ? std::fma(x, factor, addend) : product + addend;
  }
  return std::bit_cast<std::uint32_t>(x) + std::bit_cast<std::uint32_t>(static_cast<float>(product));
}

/// Whether a round of a loop with an unknown number of rounds is fused: groups of four, of two and of one, and not the last of a group,
/// whose product is needed behind the loop.
bool is_fused_in_groups(int round, int rounds) {
  const int fours = rounds / 4 * 4, left = rounds - fours;
  return round < fours ? round % 4 != 3 : left > 1 && round == fours;
}

/// Values that ptxas does not know.
std::string values() {
  std::string text = "shr.u32 %r10, %n, 20; mov.u32 %r12, %nctaid.x;\n";
  for (const auto& [name, value] : {std::pair{"%f1", start}, {"%f2", factor}, {"%f3", addend}})
    text += "add.u32 %r11, %r10, " + std::to_string(std::bit_cast<std::uint32_t>(value)) + "; mov.b32 " + name + ", %r11;\n";
  return text;
}

constexpr const char* sum = "mul.f32 %f5, %f1, %f2; add.f32 %f1, %f5, %f3;\n";
constexpr const char* result = "mov.b32 %r8, %f1; mov.b32 %r9, %f5; add.u32 %d, %r8, %r9;";

std::string down(const std::string& count, const std::string& body) {
  return "mov.u32 %r1, " + count + ";\nL:\n" + body + "sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;\n";
}

/// What the first block's threads write; %r12 holds the number of blocks.
std::vector<std::uint32_t> words(const std::string& body, std::uint32_t blocks) {
  return words_of(word_kernel(values() + body + result), {blocks}, {32});
}

}  // namespace

// Groups as ptxas 13.0.88's machine code has them for sm_90a.
TEST_CASE("loops with an unknown number of rounds are unrolled by four, two and one", "[loops]") {
  const std::string up = "mov.u32 %r1, 0;\nL:\n" + std::string(sum) + "add.s32 %r1, %r1, 1; ";
  bool all_the_same = true;
  for (int rounds = 1; rounds < 10; ++rounds) {
    CAPTURE(rounds);
    const std::uint32_t expected = rounds_of(rounds, [&](int round) { return is_fused_in_groups(round, rounds); });
    const auto count = static_cast<std::uint32_t>(rounds);
    CHECK(words(down("%r12", sum), count)[0] == expected);
    CHECK(words(up + "setp.lt.s32 %p1, %r1, %r12; @%p1 bra L;\n", count)[0] == expected);
    CHECK(words(up + "setp.lo.u32 %p1, %r1, %r12; @%p1 bra L;\n", count)[0] == expected);
    CHECK(words(up + "setp.ne.u32 %p1, %r1, %r12; @%p1 bra L;\n", count)[0] == expected);
    CHECK(words(down("%r12", std::string(sum) + "vote.sync.ballot.b32 %r7, %p2, -1;\n"), count)[0] == expected);
    const std::uint32_t rounded = rounds_of(rounds, [](int) { return false; });
    all_the_same &= expected == rounded;
    CHECK(words(down("%r12", ".pragma \"nounroll\";\n" + std::string(sum)), count)[0] == rounded);
  }
  CHECK_FALSE(all_the_same);
}

TEST_CASE("lanes of an unrolled loop have rounds of their own", "[loops]") {
  const std::vector<std::uint32_t> found = words("add.u32 %r2, %i, 1;\n" + down("%r2", sum), 1);
  for (int lane = 0; lane < 32; ++lane)
    CHECK(found[static_cast<std::size_t>(lane)] == rounds_of(lane + 1, [&](int round) { return is_fused_in_groups(round, lane + 1); }));
  // A loop with a vote is not unrolled where the lanes may differ.
  const std::string vote = std::string(sum) + "vote.sync.any.pred %p2, %p1, 0xffffffff;\n";
  const std::vector<std::uint32_t> voting = words("shr.u32 %r2, %i, 10; add.u32 %r2, %r2, 5;\n" + down("%r2", vote), 1);
  CHECK(voting[7] == rounds_of(5, [](int) { return false; }));
}

TEST_CASE("loops that count past their bound go on as they did", "[loops]") {
  // More than the bound at the start: one round.
  const std::string counted =
      "add.u32 %r1, %r12, 7;\nL:\n" + std::string(sum) + "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r12; @%p1 bra L;\n";
  CHECK(words(counted, 1)[0] == rounds_of(1, [](int) { return false; }));
}

TEST_CASE("what the rounds overwrite is not needed behind them", "[loops]") {
  volatile float product = start * factor;
  const float rounded = product + addend, fused = std::fma(start, factor, addend);
  const std::string before = "mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f3;\n";
  const auto sum_before = [&](const std::string& body) {
    return std::bit_cast<float>(
        words_of(word_kernel(values() + before + down("%r12", body) + "st.global.f32 [%out], %f5; mov.b32 %d, %f6;"), {3}, {32})[0]);
  };
  CHECK(sum_before("sub.f32 %f5, %f1, %f2;\n") == fused);
  CHECK(sum_before("sub.f32 %f7, %f1, %f2;\n") == rounded);
}

namespace {

/// What `text` leaves in %f6. %f1, %f2 and %f3 are start, factor and addend, loaded long before `text`; the word at [%l0+4096] is addend
/// too. LOOP stands for a loop of [n] rounds with the statements up to the next |, in which %f7 changes; then %f5, %f6 and %f7 are stored.
float waiting_sum(std::string text) {
  const std::size_t at = text.find("LOOP"), end = text.find('|', at);
  const std::string in_loop = text.substr(at + 4, end - at - 4);
  text.replace(at, end + 1 - at,
               "ld.param.u32 %r3, [n]; L: mul.f32 %f7, %f7, %f4;" + in_loop +
                   " sub.u32 %r3, %r3, 1; setp.ne.u32 %p0, %r3, 0; @%p0 bra L;\n"
                   "st.global.f32 [%l0], %f5; st.global.f32 [%l0+8], %f6; st.global.f32 [%l0+16], %f7;");
  std::string body =
      ".reg .f32 %f<20>; .reg .b32 %r<20>; .reg .pred %p<8>; .reg .b64 %l<8>;\n"
      "ld.param.u64 %l0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %l1, %r0, 4; add.u64 %l0, %l0, %l1;\n"
      "ld.global.f32 %f1, [%l0]; ld.global.f32 %f2, [%l0+1024]; ld.global.f32 %f3, [%l0+2048]; ld.global.f32 %f4, [%l0+3072];\n"
      "ld.global.u32 %r1, [%l0+4096]; setp.gt.s32 %p5, %r1, 100; mov.b32 %f7, %f4;\n";
  for (int i = 0; i < 12; ++i) body += "st.global.b32 [%l0+" + std::to_string(8192 + 12 * i) + "], %r1;\n";
  std::vector<float> numbers(4096);
  numbers[0] = start;
  numbers[256] = factor;
  numbers[512] = numbers[1024] = addend;
  DeviceMemory memory;
  const std::uint64_t p = memory.allocate(numbers, "p");
  launch(Kernel(module_of(".param .u64 p, .param .u32 n", body + text + "\nret;", "sm_90a"), "k"), {{1}, {1}}, memory,
         {p, std::uint32_t{3}});
  return memory.read<float>(p, 3)[2];
}

}  // namespace

// FFMA or FADD in ptxas 13.0.88's machine code of these kernels for sm_90a.
TEST_CASE("a sum that may wait until behind a loop in groups has a product of its own", "[loops]") {
  volatile float product = start * factor;
  const float rounded = product + addend, fused = std::fma(start, factor, addend);
  const std::string sum = "mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f3; ", near = "ld.global.f32 %f9, [%l0+4096]; ",
                    of_near = near + "mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f9; ";
  for (const std::string& text : std::vector<std::string>{
           sum + "LOOP |",
           "neg.f32 %f8, %f3; neg.f32 %f9, %f8; mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f9; LOOP |",
           of_near + "LOOP | st.global.f32 [%l0+24], %f9;",
           of_near + "LOOP fma.rn.f32 %f7, %f7, %f9, %f4; |",
           sum + "st.global.f32 [%l0+32], %f5; LOOP |",
           "mul.f32 %f5, %f1, %f2; neg.f32 %f8, %f5; sub.f32 %f6, %f3, %f8; LOOP |",
           "mul.f32 %f5, %f1, %f2; mov.b32 %f1, %f5; add.f32 %f6, %f5, %f3; LOOP |",
           "mul.f32 %f1, %f1, %f2; add.f32 %f6, %f1, %f3; mov.b32 %f5, %f1; LOOP |",
       }) {
    CAPTURE(text);
    CHECK(waiting_sum(text) == fused);
  }
  for (const std::string& text : std::vector<std::string>{
           // What only the sum needs was loaded just before, or is not computed by an instruction of the lane.
           of_near + "LOOP |",
           "ld.global.f32 %f9, [%l0+1024]; mul.f32 %f5, %f1, %f9; add.f32 %f6, %f5, %f3; LOOP |",
           of_near + "LOOP add.rn.f32 %f9, %f9, %f7; | st.global.f32 [%l0+24], %f9;",
           "mov.f32 %f8, 0f3F800000; div.rn.f32 %f9, %f3, %f8; mul.f32 %f5, %f1, %f2; add.f32 %f6, %f5, %f9; LOOP |",
           // The sum is needed before the loop or in it.
           sum + "st.global.f32 [%l0+32], %f6; LOOP |",
           sum + "LOOP max.f32 %f7, %f7, %f6; |",
           sum + "max.f32 %f8, %f6, %f4; st.global.f32 [%l0+32], %f8; LOOP |",
           sum + "setp.gt.f32 %p6, %f1, %f2; @%p6 st.global.f32 [%l0+32], %f6; LOOP |",
       }) {
    CAPTURE(text);
    CHECK(waiting_sum(text) == rounded);
  }
}

TEST_CASE("blocks of more than 21 operations are not unrolled", "[loops]") {
  for (const int more : {16, 17}) {
    std::string body = sum;
    for (int i = 0; i < more; ++i) body += "fma.rn.f32 %f6, %f6, %f6, %f6;\n";
    const auto is_fused = [&](int round) { return more == 16 && is_fused_in_groups(round, 6); };
    CHECK(words(down("%r12", body), 6)[0] == rounds_of(6, is_fused));
  }
}

TEST_CASE("loops with a known number of rounds become copies", "[loops]") {
  for (const int rounds : {1, 2, 3, 7, 32}) {
    CAPTURE(rounds);
    CHECK(words(down(std::to_string(rounds), sum), 1)[0] == rounds_of(rounds, [&](int round) { return round != rounds - 1; }));
  }
  // Of the counter ptxas computes the root itself: 1 / sqrt(3) is 0x3f13cd3a, the multi-function unit's is one less.
  const std::string roots =
      "mov.u32 %r1, 1; mov.b32 %d, 0;\nL:\n" + std::string("cvt.rn.f32.u32 %f6, %r1; rsqrt.approx.f32 %f7, %f6; mov.b32 %d, %f7;\n");
  const auto root = [&](const std::string& bound) {
    return words_of(word_kernel("shr.u32 %r10, %n, 20; add.u32 %r10, %r10, 9;\n" + roots + "add.u32 %r1, %r1, 1; setp.lo.u32 %p1, %r1, " +
                                bound + "; @%p1 bra L;\n"),
                    {1}, {1})[0];
  };
  const std::uint32_t known = root("9"), unknown = root("%r10");
  CHECK(known == std::bit_cast<std::uint32_t>(static_cast<float>(1 / std::sqrt(8.0))));
  CHECK(unknown != known);
}

TEST_CASE("pairs of neg are moves in copies of rounds and behind a loop", "[loops]") {
  constexpr std::uint32_t payload = 0xff812345, canonical = 0x7fffffff;
  const std::string start_with_nan =
      "shr.u32 %r10, %n, 20; add.u32 %r11, %r10, " + std::to_string(payload) + "; mov.b32 %f1, %r11; mov.u32 %r12, %nctaid.x;\n";
  // Four rounds and two are pairs, a single one is not.
  for (std::uint32_t rounds = 1; rounds < 10; ++rounds)
    CHECK(words_of(word_kernel(start_with_nan + down("%r12", "neg.f32 %f1, %f1;\n") + "mov.b32 %d, %f1;"), {rounds}, {32})[0] ==
          (rounds % 2 == 0 ? payload : canonical));
  CHECK(words_of(word_kernel(start_with_nan + down("%r12", "neg.f32 %f2, %f1;\n") + "neg.f32 %f3, %f2; mov.b32 %d, %f3;"), {3}, {32})[0] ==
        payload);
}

TEST_CASE("sums that no round changes are fused in front of a loop that stays", "[loops]") {
  const std::string outside = "mul.f32 %f5, %f1, %f2;\n";
  const std::string vote = "vote.sync.any.pred %p2, %p1, 0xffffffff;\n";
  const auto loop = [&](const std::string& body) {
    return words_of(
        word_kernel(values() + outside + "shr.u32 %r2, %i, 10; add.u32 %r2, %r2, 2;\n" + down("%r2", body + vote) + "mov.b32 %d, %f6;"),
        {1}, {32})[3];
  };
  volatile float product = start * factor;
  const float rounded = product + addend, fused = std::fma(start, factor, addend);
  REQUIRE(rounded != fused);
  CHECK(std::bit_cast<float>(loop("add.f32 %f6, %f5, %f3;\n")) == fused);
  CHECK(std::bit_cast<float>(loop("mov.b32 %f3, %f3; add.f32 %f6, %f5, %f3;\n")) == rounded);
}

TEST_CASE("products by a number or a kernel's parameter are fused in whatever region", "[loops]") {
  volatile float product = start * factor;
  const float rounded = product + addend, fused = std::fma(start, factor, addend);
  const std::string number = std::to_string(std::bit_cast<std::uint32_t>(factor));
  const std::string branch = "setp.ge.u32 %p1, %i, 40; @%p1 bra L; st.global.u32 [%out], %i; L: ";
  const auto sum_behind = [&](const std::string& body) {
    return std::bit_cast<float>(words_of(word_kernel(values() + body + "mov.b32 %d, %f6;"), {1}, {1})[0]);
  };
  CHECK(sum_behind("mul.f32 %f5, %f1, %f2;" + branch + "add.f32 %f6, %f5, %f3;") == rounded);
  CHECK(sum_behind("mov.b32 %f4, " + number + "; mul.f32 %f5, %f1, %f4;" + branch + "add.f32 %f6, %f5, %f3;") == fused);
  CHECK(sum_behind("mov.b32 %f4, " + number + "; mul.f32 %f5, %f1, %f4; mov.b32 %f1, %f2;" + branch + "add.f32 %f6, %f5, %f3;") == fused);
  // The store keeps it.
  CHECK(sum_behind("mov.b32 %f4, " + number + "; mul.f32 %f5, %f1, %f4;" + branch + "st.global.f32 [%out], %f5; add.f32 %f6, %f5, %f3;") ==
        rounded);
  const Module module =
      module_of(".param .u64 out, .param .f32 scale",
                ".reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %out; .reg .pred %p<2>; .reg .b32 %n; ld.param.u64 %out, [out]; "
                "mov.u32 %n, %ntid.x;\n" +
                    values() +
                    "ld.param.f32 %f2, [scale]; mul.f32 %f5, %f1, %f2; setp.ge.u32 %p1, %n, 40; @%p1 bra L; "
                    "st.global.u32 [%out], %n; L: add.f32 %f6, %f5, %f3; st.global.f32 [%out], %f6; ret;");
  CHECK(program_of(Kernel(module, "k")).contracted.size() == 1);
}

}  // namespace warpmat::loops_test
