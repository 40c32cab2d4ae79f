// Sums that leave the range of a kernel's integers or of its results, and what infinities and NaNs do to them.

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include "test.h"

namespace warpmat::special_sums_test {
namespace {

/// Words of the registers of A, B and C, the same in all lanes. Registers 0 and 1 of A and 0 of B hold the first half of k.
struct Words {
  std::array<std::uint32_t, 4> a;
  std::array<std::uint32_t, 2> b;
  std::uint32_t c;
};

std::vector<std::uint32_t> registers_of(std::span<const std::uint32_t> words) {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t word : words) out.insert(out.end(), warp_size, word);
  return out;
}

/// The word that all registers of D hold afterwards, on both paths with every instruction set.
std::uint32_t result(std::string_view opcode, std::string_view target, const Words& in) {
  const Instruction mma(opcode, target);
  const auto c_words = static_cast<std::size_t>(mma.form().operand(OperandName::c).words());
  const std::vector<std::uint32_t> a = registers_of(in.a), b = registers_of(in.b), c(c_words * warp_size, in.c);
  std::vector<std::uint32_t> d(c.size());
  Batch batch;
  batch.source(OperandName::a) = a.data();
  batch.source(OperandName::b) = b.data();
  batch.source(OperandName::c) = c.data();
  batch.destination = d.data();
  execute(mma, batch, 1, {.path = Path::reference});
  const std::vector<std::uint32_t> expected = d;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    std::ranges::fill(d, 0);
    execute(mma, batch, 1);
    INFO(opcode << " on " << target << " with " << set);
    CHECK(d == expected);
  }
  use_best_instruction_set();
  CHECK(std::ranges::count(d, d.front()) == static_cast<std::ptrdiff_t>(d.size()));
  return d.front();
}

constexpr std::string_view bf16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
constexpr std::string_view f16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
constexpr std::string_view fp8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";

/// Twice in a word.
constexpr std::uint32_t twice(std::uint32_t bf16_or_f16) {
  return bf16_or_f16 << 16 | bf16_or_f16;
}

TEST_CASE("sixteen of the largest bf16 products with C are more units than an int32 holds") {
  // 255/128 times 2^40 and times 2^-40.
  const std::uint32_t a = twice(0x53ff), b = twice(0x2bff);
  const std::uint32_t sum = std::bit_cast<std::uint32_t>(16 * (255.0f * 255 / 16384) + 2 - 0x1p-17f), sign = 0x80000000;
  for (const std::string_view target : {"sm_80", "sm_90", "sm_120"}) {
    CHECK(result(bf16, target, {{a, a, a, a}, {b, b}, 0x3fffffff}) == sum);
    const std::uint32_t minus = a | twice(0x8000);
    CHECK(result(bf16, target, {{minus, minus, minus, minus}, {b, b}, sign | 0x3fffffff}) == (sign | sum));
  }
}

TEST_CASE("products of bf16 that f32 cannot hold cancel, overflow or vanish") {
  const std::uint32_t large = twice(0x7f00), minus = twice(0xff00), small = twice(0x0080), subnormal = twice(0x0001);
  for (const std::string_view target : {"sm_80", "sm_90", "sm_120"}) {
    CHECK(result(bf16, target, {{large, large, large, large}, {large, large}, 0}) == 0x7f800000);
    CHECK(result(bf16, target, {{small, small, small, small}, {small, small}, 0}) == 0);
    CHECK(result(bf16, target, {{subnormal, subnormal, subnormal, subnormal}, {minus, minus}, 0}) ==
          std::bit_cast<std::uint32_t>(-0.25f));  // 16 times -2^-133 · 2^127
  }
}

TEST_CASE("the infinity of a step that overflows meets the next step's") {
  const std::uint32_t large = twice(0x7f7f), infinity = twice(0x7f80), minus_one = twice(0xbf80);
  const Words wide{{large, large, infinity, infinity}, {large, minus_one}, 0};
  CHECK(result(bf16, "sm_80", wide) == 0x7fffffff);  // two steps
  CHECK(result(bf16, "sm_90", wide) == 0xff800000);  // one
  const std::uint32_t largest_f16 = twice(0x7bff), infinite_f16 = twice(0x7c00), minus_one_f16 = twice(0xbc00);
  const Words narrow{{largest_f16, largest_f16, infinite_f16, infinite_f16}, {largest_f16, minus_one_f16}, 0};
  CHECK(result(f16, "sm_80", narrow) == 0x7fff7fff);
  CHECK(result(f16, "sm_90", narrow) == 0xfc00fc00);
}

TEST_CASE("an infinity times zero, an infinite C and a NaN decide alone") {
  const std::uint32_t one = twice(0x3f80), infinity = twice(0x7f80);
  for (const std::string_view target : {"sm_80", "sm_90", "sm_120"}) {
    CHECK(result(bf16, target, {{infinity, infinity, infinity, infinity}, {one, one}, 0x3f800000}) == 0x7f800000);
    CHECK(result(bf16, target, {{infinity, infinity, infinity, infinity}, {0, one}, 0x3f800000}) == 0x7fffffff);
    CHECK(result(bf16, target, {{infinity, infinity, infinity, infinity}, {one, one}, 0xff800000}) == 0x7fffffff);
    CHECK(result(bf16, target, {{one, one, one, one}, {one, one}, 0xff800000}) == 0xff800000);
  }
  const std::uint32_t ones = 0x38383838, nan_last = 0x7f383838;
  for (const std::string_view target : {"sm_89", "sm_90", "sm_120"}) {
    CHECK(result(fp8, target, {{ones, ones, ones, ones}, {ones, ones}, 0}) == std::bit_cast<std::uint32_t>(32.0f));
    CHECK(result(fp8, target, {{ones, ones, nan_last, nan_last}, {ones, ones}, 0}) == 0x7fffffff);
    CHECK(result(fp8, target, {{ones, ones, ones, ones}, {ones, nan_last}, 0x3f800000}) == 0x7fffffff);
  }
}

}  // namespace
}  // namespace warpmat::special_sums_test
