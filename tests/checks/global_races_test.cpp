// Races of the blocks of a grid in global memory.

#include <warpmat/checks/global_races.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::global_races_test {
namespace {

/// Blocks of one thread: %t is the block, %b the address of `shared_words` in global memory, %o that of the block's own word there.
std::vector<std::string> warnings_of(const std::string& body, const LaunchOptions& options, std::uint32_t blocks = 4) {
  const Module module = word_kernel(R"(
    .reg .b32 %t, %v, %w; .reg .b64 %b, %o, %x; .reg .pred %first, %last;
    mov.u32 %t, %ctaid.x;
    mov.u32 %w, %nctaid.x; sub.u32 %w, %w, 1;
    setp.eq.u32 %first, %t, 0;
    setp.eq.u32 %last, %t, %w;
    mov.u64 %b, shared_words; cvta.global.u64 %b, %b;
    mul.wide.u32 %x, %t, 4;
    add.u64 %o, %b, %x;
)" + body,
                                    "sm_90", ".global .align 16 .b32 shared_words[64];");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * blocks, "out");
  return launch(Kernel(module, "k"), {{blocks}, {1}}, memory, {out}, options).warnings;
}

/// Whether the blocks race, with one thread and with three. The reports are the same, too, unless the values depend on the race.
bool races(const std::string& body, bool values_depend = false) {
  std::vector<std::vector<std::string>> all;
  for (const int jobs : {1, 3}) all.push_back(warnings_of(body, {.jobs = jobs, .checks = {.races = true}}));
  CHECK(all[0].empty() == all[1].empty());
  CHECK((values_depend || all[0] == all[1]));
  CHECK(warnings_of(body, {}).empty());
  return !all[0].empty();
}

/// A number, which joins its equals.
struct Number {
  int value = 0;
  bool join(const Number& next) const { return value == next.value; }
};

TEST_CASE("runs of bytes are what an array of their records says, and as few as can be", "[checks][races]") {
  constexpr std::uint32_t bytes = 64;
  std::mt19937 random(7);
  std::vector<checks::ByteRuns<Number>::Run> scratch;
  for (int round = 0; round < 500; ++round) {
    checks::ByteRuns<Number> runs;
    std::array<int, bytes> expected{};
    std::ptrdiff_t count = 0;
    for (int i = 0; i < 20; ++i) {
      const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
      const std::uint32_t first = below(bytes), end = first + 1 + below(bytes - first);
      const int added = static_cast<int>(random() % 2) + 1;
      std::uint32_t place = first;
      count += runs.update(first, end, scratch, [&](Number& number, std::uint32_t from, std::uint32_t to) {
        CHECK(from == place);
        for (std::uint32_t byte = from; byte < to; ++byte) CHECK(expected[byte] == number.value);
        number.value = (number.value + added) % 3 + 1;
        place = to;
      });
      REQUIRE(place == end);
      for (std::uint32_t byte = first; byte < end; ++byte) expected[byte] = (expected[byte] + added) % 3 + 1;
      std::array<int, bytes> found{};
      for (const auto& run : runs.runs())
        for (std::uint32_t byte = run.first; byte < run.end; ++byte) found[byte] = run.record.value;
      REQUIRE(found == expected);
      std::ptrdiff_t least = 0;
      for (std::uint32_t byte = 0; byte < bytes; ++byte)
        least += expected[byte] != 0 && (byte == 0 || expected[byte] != expected[byte - 1]) ? 1 : 0;
      REQUIRE(std::ssize(runs.runs()) == least);
      REQUIRE(count == least);
    }
  }
}

TEST_CASE("accesses of two blocks to a byte race, unless both read or store the same", "[checks][races]") {
  CHECK(races("st.global.u32 [%b], %t;"));
  CHECK(!races("st.global.u32 [%b], 7;"));
  CHECK(!races("st.global.u32 [%o], %t;"));
  CHECK(!races("ld.global.u32 %d, [%b];"));
  CHECK(races("ld.global.u32 %d, [%b]; @%first st.global.u32 [%b], 5;"));
  CHECK(races("@%first st.global.u32 [%b], 5; ld.global.u32 %d, [%b];"));
  CHECK(races("@%first st.global.u8 [%b+3], 5; ld.global.u32 %d, [%b];"));
  CHECK(!races("@%first st.global.u8 [%b+3], 5; @!%first ld.global.u16 %s0, [%b];"));
  CHECK(!races("@%first st.global.u32 [%b], 0; ld.global.u32 %d, [%b];"));  // what is there
  CHECK(!races("@%first st.global.u8 [%b+1], 5; @!%first st.global.u8 [%b+2], 6;"));
  CHECK(races("@%first st.global.u32 [%b], 0; @!%first st.global.u32 [%b], 1;"));  // the first leaves what is there
  CHECK(races("@%first st.global.u32 [%b], 0x0105; @!%first st.global.u8 [%b+1], 2;"));
  CHECK(!races("@%first st.global.u32 [%b], 0x0105; @!%first st.global.u8 [%b+1], 1;"));
  CHECK(races("@%first st.global.v2.u32 [%b], {%t, 1}; ld.global.u32 %d, [%b+4];"));
}

TEST_CASE("races in global memory say when there was more than they can follow", "[checks][races]") {
  using checks::GlobalRaces;
  for (const std::ptrdiff_t most : {2, 4}) {
    GlobalRaces races(most);
    for (std::uint64_t cluster = 0; cluster < 3; ++cluster) {
      GlobalRaces::Local local(GlobalRaces::most_runs);
      std::vector<checks::ByteRuns<GlobalRaces::Touched>::Run> scratch;
      local.page(cluster)->bytes.update(0, 4, scratch, [](GlobalRaces::Touched& touched, auto, auto) { touched.read.made = true; });
      races.add(cluster, 0, std::move(local), [](auto, const auto&) { FAIL(); });
    }
    CHECK(races.left_out() == (most < 3));
  }
}

TEST_CASE("atomics race with plain accesses, and not with each other", "[checks][races]") {
  CHECK(!races("red.global.add.u32 [%b], 1;"));
  CHECK(!races("atom.global.add.u32 %v, [%b], 1; ld.relaxed.gpu.global.u32 %d, [%b];"));
  CHECK(races("@!%first red.global.add.u32 [%b], 1; @%first ld.global.u32 %d, [%b];"));
  CHECK(races("ld.global.u32 %v, [%b]; add.u32 %v, %v, 1; st.global.u32 [%b], %v;", true));
}

TEST_CASE("fences of the GPU's scope, or releases and acquires, may order blocks", "[checks][races]") {
  const std::string sum = R"(
    st.global.u32 [%o+16], %t;
    FENCE
    atom.global.add.u32 %v, [%b], 1;
    setp.ne.u32 %last, %v, %w;
    @%last bra OVER;
    ACQUIRE
    ld.global.u32 %d, [%b+20];
    OVER: mov.u32 %d, 0;)";
  const auto with = [&](const std::string& fence, const std::string& acquire) {
    std::string body = sum;
    body.replace(body.find("FENCE"), 5, fence);
    body.replace(body.find("ACQUIRE"), 7, acquire);
    return body;
  };
  CHECK(races(with("", "")));
  CHECK(races(with("membar.cta;", "membar.cta;")));
  CHECK(!races(with("membar.gl;", "membar.gl;")));
  CHECK(!races(with("fence.acq_rel.gpu;", "fence.acq_rel.gpu;")));
  CHECK(!races("st.global.u32 [%o+16], %t; atom.acq_rel.gpu.global.add.u32 %v, [%b], 1; @%last ld.global.u32 %d, [%b+20];"));
  CHECK(races("st.global.u32 [%o+16], %t; atom.relaxed.gpu.global.add.u32 %v, [%b], 1; @%last ld.global.u32 %d, [%b+20];"));
}

TEST_CASE("a race of blocks names both places, and one launch after another has none", "[checks][races]") {
  const std::vector<std::string> warnings =
      warnings_of("@%first st.global.u32 [%o], 5;\n@!%first ld.global.u32 %d, [%b];", {.checks = {.races = true}});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings.front(), ContainsSubstring("race between blocks") && ContainsSubstring("(ld.global.u32)") &&
                                   ContainsSubstring("(st.global.u32)") && ContainsSubstring("block (0,0,0)"));
  CHECK(warnings_of("@%last st.global.u32 [%b], 5;", {.checks = {.races = true}}, 1).empty());
}

}  // namespace
}  // namespace warpmat::global_races_test
