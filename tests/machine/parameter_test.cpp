
#include <warpmat/observer.h>

#include "machine/kernel.h"
#include "test.h"

using namespace warpmat;

namespace warpmat::parameter_test {
namespace {

/// Counts accesses to parameters.
class ParameterLoads : public machine::Observer {
 public:
  ParameterLoads() : Observer(machine::EventKinds::accesses) {}
  void access(const machine::AccessEvent& event) override { count += event.space == Space::param; }

  int count = 0;
};

TEST_CASE("Parameters of every size are loaded, in all lanes or some, twice, beside each other", "[machine]") {
  // Words and pairs of words of all lanes are copied from rows that the launch has filled; the others are loaded.
  const Module module = module_of(".param .u64 out, .param .u32 a, .param .s16 b, .param .u8 c, .param .align 16 .b8 d[16]", R"(
    .reg .b32 %r<9>; .reg .b64 %l<4>; .reg .pred %p;
    ld.param.u64 %l0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %l1, %r0, 28;
    add.u64 %l0, %l0, %l1;
    ld.param.u32 %r1, [a];
    ld.param.s16 %r2, [b];
    ld.param.u8 %r3, [c];
    ld.param.u32 %r4, [d+12];
    ld.param.v2.u32 {%r5, %r6}, [d];
    ld.param.u64 %l2, [d+8];
    ld.param.u32 %r7, [a];
    setp.ge.u32 %p, %r0, 40;
    @%p ld.param.u32 %r7, [d+4];
    st.global.u32 [%l0], %r1;
    st.global.u32 [%l0+4], %r2;
    st.global.u32 [%l0+8], %r3;
    st.global.u32 [%l0+12], %r4;
    st.global.u32 [%l0+16], %r6;
    cvt.u32.u64 %r8, %l2;
    st.global.u32 [%l0+20], %r8;
    st.global.u32 [%l0+24], %r7;
    ret;
)");
  std::vector<std::uint8_t> bytes(16);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(0x10 + i);
  constexpr std::uint32_t threads = 64;
  // Two launches with other values: a kernel keeps nothing of the first.
  for (const std::uint32_t a : {7u, 0xfffffffeu})
    for (const bool observed : {false, true}) {
      ParameterLoads loads;
      LaunchOptions options;
      if (observed) options.observers = {&loads};
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(28 * threads, "out");
      const LaunchResult result = launch(Kernel(module, "k"), {{1}, {threads}}, memory,
                                         {out, a, static_cast<std::int16_t>(-3), static_cast<std::uint8_t>(200), Argument(bytes)}, options);
      const auto words = memory.read<std::uint32_t>(out, 7 * threads);
      for (std::uint32_t thread = 0; thread < threads; ++thread) {
        CAPTURE(a, observed, thread);
        const std::vector<std::uint32_t> found(words.begin() + 7 * thread, words.begin() + 7 * thread + 7);
        CHECK(found == std::vector<std::uint32_t>{a, 0xfffffffd, 200, 0x1f1e1d1c, 0x17161514, 0x1b1a1918, thread >= 40 ? 0x17161514 : a});
      }
      // two warps, 8 loads in both and the guarded one in the second
      CHECK(loads.count == (observed ? 2 * 8 + 1 : 0));
      static std::uint64_t operations = 0;
      if (operations == 0) operations = result.operations;
      CHECK(result.operations == operations);
    }
}

TEST_CASE("Lanes of a warp that access rows of sixteen and eight words", "[machine]") {
  // Rows of 16, 8 and 2 words with gaps between them, loaded and stored: patterns that are consecutive in parts. All lanes, and some.
  const Module module = module_of(".param .u64 out, .param .u32 shift, .param .u32 from", R"(
    .reg .b32 %r<9>; .reg .b64 %l<4>; .reg .pred %p;
    .shared .align 16 .b8 tile[16384];
    ld.param.u64 %l0, [out];
    ld.param.u32 %r1, [shift];
    ld.param.u32 %r2, [from];
    mov.u32 %r0, %tid.x;
    shr.u32 %r3, %r0, %r1;
    mul.lo.u32 %r3, %r3, 100;
    add.u32 %r3, %r3, %r0;
    shl.b32 %r3, %r3, 2;
    mov.u32 %r4, tile;
    add.u32 %r4, %r4, %r3;
    setp.ge.u32 %p, %r0, %r2;
    add.u32 %r5, %r0, 1000;
    st.shared.u32 [%r4], %r0;
    @%p st.shared.u32 [%r4], %r5;
    mov.u32 %r6, 5;
    @%p ld.shared.u32 %r6, [%r4];
    ld.shared.u32 %r7, [%r4];
    mul.wide.u32 %l1, %r0, 8;
    add.u64 %l0, %l0, %l1;
    st.global.u32 [%l0], %r6;
    st.global.u32 [%l0+4], %r7;
    ret;
)");
  for (const std::uint32_t shift : {1u, 3u, 4u})
    for (const std::uint32_t from : {0u, 11u, 16u, 32u}) {
      DeviceMemory memory;
      const std::uint64_t out = memory.allocate(8 * 32, "out");
      launch(Kernel(module, "k"), {{1}, {32}}, memory, {out, shift, from});
      const auto words = memory.read<std::uint32_t>(out, 2 * 32);
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        CAPTURE(shift, from, lane);
        CHECK(words[2 * lane] == (lane >= from ? lane + 1000 : 5));
        CHECK(words[2 * lane + 1] == (lane >= from ? lane + 1000 : lane));
      }
    }
}

TEST_CASE("Vectors of words that lie in a row are stored and loaded, by all lanes and by some", "[machine]") {
  const Module module = module_of(".param .u64 out, .param .u32 from", R"(
    .reg .b32 %r<12>; .reg .b64 %l<4>; .reg .pred %p;
    ld.param.u64 %l0, [out];
    ld.param.u32 %r1, [from];
    mov.u32 %r0, %tid.x;
    setp.ge.u32 %p, %r0, %r1;
    mul.wide.u32 %l1, %r0, 16;
    add.u64 %l1, %l0, %l1;
    mul.wide.u32 %l2, %r0, 8;
    add.u64 %l2, %l0, %l2;
    add.u32 %r2, %r0, 100;
    add.u32 %r3, %r0, 200;
    add.u32 %r4, %r0, 300;
    st.global.v4.u32 [%l1], {%r0, %r2, %r3, %r4};
    @%p st.global.v4.u32 [%l1], {%r4, %r3, %r2, %r0};
    @%p ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%l1];
    ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%l1];
    st.global.v2.u32 [%l2+512], {%r8, %r7};
    @%p st.global.v2.u32 [%l2+512], {%r6, %r5};
    ld.global.v2.u32 {%r9, %r10}, [%l2+512];
    st.global.v2.u32 [%l2+768], {%r10, %r9};
    ret;
)");
  for (const std::uint32_t from : {0u, 9u, 32u}) {
    DeviceMemory memory;
    const std::uint64_t out = memory.allocate(1024, "out");
    launch(Kernel(module, "k"), {{1}, {32}}, memory, {out, from});
    const auto words = memory.read<std::uint32_t>(out, 256);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      CAPTURE(from, lane);
      const bool turned = lane >= from;
      const auto four = turned ? std::vector<std::uint32_t>{lane + 300, lane + 200, lane + 100, lane}
                               : std::vector<std::uint32_t>{lane, lane + 100, lane + 200, lane + 300};
      CHECK(std::vector(words.begin() + 4 * lane, words.begin() + 4 * lane + 4) == four);
      const auto two = turned ? std::vector{four[1], four[0]} : std::vector{four[3], four[2]};
      CHECK(std::vector(words.begin() + 128 + 2 * lane, words.begin() + 128 + 2 * lane + 2) == two);
      CHECK(std::vector(words.begin() + 192 + 2 * lane, words.begin() + 192 + 2 * lane + 2) == std::vector{two[1], two[0]});
    }
  }
}

TEST_CASE("Loads that go on by any step read a buffer up to its bounds", "[machine]") {
  // The CPU is told what a load may read next; that may lie outside.
  const Module module = module_of(".param .u64 out, .param .u64 in, .param .s64 step, .param .u32 rounds", R"(
    .reg .b32 %r<5>; .reg .b64 %l<5>; .reg .pred %p;
    ld.param.u64 %l0, [out];
    ld.param.u64 %l1, [in];
    ld.param.s64 %l2, [step];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %l3, %r0, 4;
    add.u64 %l0, %l0, %l3;
    add.u64 %l1, %l1, %l3;
    mov.u32 %r2, 0;
$next:
    ld.global.u32 %r3, [%l1];
    add.u32 %r2, %r2, %r3;
    add.s64 %l1, %l1, %l2;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra $next;
    st.global.u32 [%l0], %r2;
    ret;
)");
  constexpr std::uint32_t rows = 512;
  for (const std::int32_t step : {1, 2, 5, 100, -1, -3, -100}) {
    DeviceMemory memory;
    std::vector<std::uint32_t> numbers(32 * rows);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * i);
    const std::uint64_t in = memory.allocate(numbers, "in"), out = memory.allocate(128, "out");
    const auto rounds = static_cast<std::uint32_t>((rows - 1) / static_cast<std::uint32_t>(std::abs(step)) + 1);
    const std::uint64_t first = step > 0 ? in : in + 128 * (rows - 1);
    launch(Kernel(module, "k"), {{1}, {32}}, memory, {out, first, std::int64_t{128} * step, rounds});
    const auto sums = memory.read<std::uint32_t>(out, 32);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < rounds; ++i) {
        const auto row = static_cast<std::int64_t>(step > 0 ? 0 : rows - 1) + std::int64_t{step} * i;
        sum += numbers[static_cast<std::size_t>(row) * 32 + lane];
      }
      CAPTURE(step, lane);
      CHECK(sums[lane] == sum);
    }
  }
}

}  // namespace
}  // namespace warpmat::parameter_test
