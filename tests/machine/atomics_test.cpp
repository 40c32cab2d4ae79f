// Atomic additions of f64, as an H200 answers: recorded there for these numbers, in global and in shared memory. Atomics of words in shared
// memory by the ISA's formulas.

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::atomics_test {
namespace {

struct Sum {
  std::uint64_t memory, operand;  ///< what was there, what is added
  std::uint64_t global, shared;   ///< what is there afterwards
};

constexpr std::array sums{
    Sum{0x7ff0000000000001, 0x7fffffffffffffff, 0x7fffffffffffffff, 0x7ff8000000000001},
    Sum{0x7ff0000000000001, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000001},
    Sum{0xfff0000000000002, 0x7ff0000000000001, 0x7ff0000000000001, 0xfff8000000000002},
    Sum{0x7ff8000000000003, 0x7ff4000000000005, 0x7ff4000000000005, 0x7ff8000000000003},
    Sum{0x7ff4000000000005, 0xfffc000000000006, 0xfffc000000000006, 0x7ffc000000000005},
    Sum{0x7ff0000000000000, 0xfff0000000000002, 0xfff0000000000002, 0xfff8000000000002},
    Sum{0x7ff0000000000000, 0xfff0000000000000, 0xfff8000000000000, 0xfff8000000000000},
    Sum{0x3ff0000000000000, 0x7ff4000000000005, 0x7ff4000000000005, 0x7ffc000000000005},
    Sum{0x7ff4000000000005, 0x8000000000000000, 0x7ff4000000000005, 0x7ffc000000000005},
    Sum{0x0000000000000001, 0x0000000000000001, 0x0000000000000002, 0x0000000000000002},
    Sum{0x3ff0000000000000, 0x3ff0000000000000, 0x4000000000000000, 0x4000000000000000},
};

/// Each thread adds its operand to its number, in global memory and in a copy in shared memory.
Module adding(const char* operation) {
  return module_of(".param .u64 numbers, .param .u64 operands, .param .u64 copies", R"(
    .reg .b32 %r<2>; .reg .b64 %l<6>; .reg .f64 %f<4>;
    .shared .align 8 .b8 memory[256];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %l3, %r0, 8;
    ld.param.u64 %l0, [numbers];  add.u64 %l0, %l0, %l3;
    ld.param.u64 %l1, [operands]; add.u64 %l1, %l1, %l3;
    ld.param.u64 %l2, [copies];   add.u64 %l2, %l2, %l3;
    mov.u64 %l4, memory;          add.u64 %l4, %l4, %l3;
    ld.global.f64 %f0, [%l0];
    ld.global.f64 %f1, [%l1];
    st.shared.f64 [%l4], %f0;
)" + std::string(operation) +
                                                                                        R"(
    ld.shared.f64 %f2, [%l4];
    st.global.f64 [%l2], %f2;
    ret;
)");
}

TEST_CASE("atomic sums of f64 keep NaNs in global memory and make them quiet in shared memory", "[machine]") {
  const Module atom = adding("atom.global.add.f64 %f3, [%l0], %f1; atom.shared.add.f64 %f3, [%l4], %f1;");
  const Module red = adding("red.global.add.f64 [%l0], %f1; red.shared.add.f64 [%l4], %f1;");
  for (const Module& module : {atom, red}) {
    std::vector<std::uint64_t> numbers, operands;
    for (const Sum& sum : sums) numbers.push_back(sum.memory), operands.push_back(sum.operand);
    DeviceMemory memory;
    const std::uint64_t a = memory.allocate(numbers, "numbers"), b = memory.allocate(operands, "operands"),
                        c = memory.allocate(8 * sums.size(), "copies");
    launch(Kernel(module, "k"), {{1}, {static_cast<std::uint32_t>(sums.size())}}, memory, {a, b, c});
    const auto global = memory.read<std::uint64_t>(a, sums.size()), shared = memory.read<std::uint64_t>(c, sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      INFO("sum " << i);
      CHECK(global[i] == sums[i].global);
      CHECK(shared[i] == sums[i].shared);
    }
  }
}

struct WordAtomic {
  std::string opcode;
  std::uint32_t (*left)(std::uint32_t old, std::uint32_t b, std::uint32_t c);
};

template <bool smaller>
std::uint32_t signed_pick(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return (static_cast<std::int32_t>(b) < static_cast<std::int32_t>(old)) == smaller ? b : old;
}

std::uint32_t sum_of_floats(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  const float sum = std::bit_cast<float>(old) + std::bit_cast<float>(b);
  return std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum);
}

const std::vector<WordAtomic> word_atomics{
    {"add.u32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old + b; }},
    {"add.s32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old + b; }},
    {"min.u32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return std::min(old, b); }},
    {"max.u32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return std::max(old, b); }},
    {"min.s32", signed_pick<true>},
    {"max.s32", signed_pick<false>},
    {"inc.u32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old >= b ? 0 : old + 1; }},
    {"dec.u32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old == 0 || old > b ? b : old - 1; }},
    {"and.b32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old & b; }},
    {"or.b32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old | b; }},
    {"xor.b32", [](std::uint32_t old, std::uint32_t b, std::uint32_t) { return old ^ b; }},
    {"exch.b32", [](std::uint32_t, std::uint32_t b, std::uint32_t) { return b; }},
    {"add.f32", sum_of_floats},
    {"cas.b32", [](std::uint32_t old, std::uint32_t b, std::uint32_t c) { return old == b ? c : old; }},
};

/// Thread i updates word i % 5 of shared memory, which begins with `start`, by its own b and c, if bit i of `lanes` is set; else its result
/// is 7. Returns what each thread found, and the words.
std::vector<std::uint32_t> updated(const WordAtomic& atomic, std::uint32_t lanes, bool reads_result, const std::array<std::uint32_t, 32>& b,
                                   const std::array<std::uint32_t, 5>& start) {
  const std::string opcode = (reads_result ? "atom.shared." : "red.shared.") + atomic.opcode;
  const std::string operands = std::string(reads_result ? "%r4, " : "") + "[%r2], %r3" + (atomic.opcode == "cas.b32" ? ", %r0" : "");
  const Module module = module_of(".param .u64 out, .param .u64 operands, .param .u32 lanes", R"(
    .reg .b32 %r<8>; .reg .b64 %l<6>; .reg .pred %p<3>;
    .shared .align 4 .b8 words[20];
    mov.u32 %r0, %tid.x;
    ld.param.u64 %l0, [out]; ld.param.u64 %l1, [operands]; ld.param.u32 %r5, [lanes];
    mul.wide.u32 %l2, %r0, 4; add.u64 %l1, %l1, %l2; add.u64 %l0, %l0, %l2;
    ld.global.u32 %r3, [%l1];
    rem.u32 %r1, %r0, 5; shl.b32 %r1, %r1, 2; mov.u32 %r2, words; add.u32 %r2, %r2, %r1;
    setp.lt.u32 %p1, %r0, 5;
    ld.global.u32 %r6, [%l1+128];
    @%p1 st.shared.u32 [%r2], %r6;
    bar.warp.sync 0xffffffff;
    shr.u32 %r5, %r5, %r0; and.b32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0;
    mov.u32 %r4, 7;
    @%p2 )" + opcode + " " + operands + R"(;
    st.global.u32 [%l0], %r4;
    bar.warp.sync 0xffffffff;
    ld.shared.u32 %r6, [%r2];
    @%p1 st.global.u32 [%l0+128], %r6;
    ret;
)");
  std::vector<std::uint32_t> operands_and_start(b.begin(), b.end());
  operands_and_start.insert(operands_and_start.end(), start.begin(), start.end());
  operands_and_start.resize(64);
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(4 * 64, "out"), in = memory.allocate(operands_and_start, "operands");
  launch(Kernel(module, "k"), {{1}, {32}}, memory, {out, in, lanes});
  return memory.read<std::uint32_t>(out, 37);
}

TEST_CASE("atomics of words in shared memory take the lanes in order, also where several have one address", "[machine]") {
  std::mt19937 random(3);
  for (const WordAtomic& atomic : word_atomics)
    for (const std::uint32_t lanes : {0xffffffffu, 0x5a3cf00fu, 0x00010000u})
      for (const bool reads_result : {true, false}) {
        if (!reads_result && (atomic.opcode == "exch.b32" || atomic.opcode == "cas.b32")) continue;
        std::array<std::uint32_t, 32> b;
        std::array<std::uint32_t, 5> words;
        for (std::uint32_t& word : b) word = static_cast<std::uint32_t>(random() % 2 != 0 ? random() % 4 : random());
        for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random() % 4);
        CAPTURE(atomic.opcode, lanes, reads_result);
        const std::vector<std::uint32_t> result = updated(atomic, lanes, reads_result, b, words);
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          const bool executes = (lanes >> lane & 1) != 0;
          std::uint32_t& word = words[lane % 5];
          CHECK(result[lane] == (executes && reads_result ? word : 7));
          if (executes) word = atomic.left(word, b[lane], lane);
        }
        for (std::size_t i = 0; i < 5; ++i) CHECK(result[32 + i] == words[i]);
      }
}

TEST_CASE("sums of f32 at one address take the lanes in order, and flush subnormal numbers in global memory alone", "[machine]") {
  const std::string body = R"(
    .shared .align 4 .b8 word[4];
    cvt.rn.f32.u32 %f1, %i; mul.f32 %f2, %f1, 0f2F7FFFFF; add.f32 %f3, %f2, 0f3F000001;
    setp.lt.u32 %p1, %i, 3; @%p1 mov.f32 %f3, 0f00000003;
    mov.u32 %r1, word; mov.u32 %r2, 0; setp.eq.u32 %p2, %i, 0; @%p2 st.shared.u32 [%r1], %r2; bar.warp.sync -1;
)";
  const std::string first = "mul.lo.u32 %r3, %i, 4; cvt.u64.u32 %l1, %r3; sub.u64 %l1, %out, %l1; ";  // one place of all
  const auto in_shared = words_of(word_kernel(body + "atom.shared.add.f32 %f4, [%r1], %f3; mov.b32 %d, %f4;"), {1}, {32});
  const auto in_global =
      words_of(word_kernel(body + first + "atom.global.add.f32 %f4, [%l1], %f3; bar.warp.sync -1; mov.b32 %d, %f4;"), {1}, {32});
  float shared = 0, global = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    INFO("lane " << lane);
    CHECK(in_shared[lane] == std::bit_cast<std::uint32_t>(shared));
    CHECK(in_global[lane] == std::bit_cast<std::uint32_t>(global));
    const float added = lane < 3 ? std::bit_cast<float>(3u)
                                 : static_cast<float>(lane) * std::bit_cast<float>(0x2f7fffffu) + std::bit_cast<float>(0x3f000001u);
    shared += added;
    global += lane < 3 ? 0 : added;
  }
}

}  // namespace
}  // namespace warpmat::atomics_test
