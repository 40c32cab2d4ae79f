
#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/numeric/rounding_mode.h>
#include <warpmat/ptx/catalogue/executable.h>
#include <warpmat/scalar/approximate.h>

#include "gpu/recordings/all_operands.h"
#include "test.h"

namespace warpmat::approximate_test {
namespace {

/// The first lane's result of a two-operand instruction.
std::uint32_t in_first_lane(const std::string& opcode, std::uint32_t a, std::uint32_t b) {
  const auto match = catalogue::find_row(opcode);
  REQUIRE(match);
  const catalogue::Executable executable = catalogue::executable(*match);
  alignas(64) std::uint32_t first[32]{a}, second[32]{b}, result[32];
  void* const results[] = {result};
  const void* const sources[] = {first, second};
  const RoundingMode nearest(RoundingMode::nearest);
  executable.function(results, sources, executable.modifiers);
  return result[0];
}

struct BestAgain {
  ~BestAgain() { use_best_instruction_set(); }
};

// `warpmat exhaust` compares all 4096 blocks of each.
TEST_CASE("Approximate instructions: an H200's answers to whole blocks of operands", "[approximate]") {
  const AllOperandsRecording recorded = read_all_operands(source_path("tests/vectors/sm_90/all_operands"));
  CHECK(recorded.source.starts_with("NVIDIA H200"));
  std::vector<std::string> opcodes;
  for (const AllOperands& instruction : recorded.instructions) opcodes.push_back(instruction.opcode);
  CHECK(opcodes == approximate_functions(target("sm_90a")));
  std::mt19937 engine(13);
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (const AllOperands& instruction : recorded.instructions) {
      INFO(instruction.opcode << ", " << set);
      // With the best kernels the block that begins with 1.0 in f32 and f64 alike, or close to it, and one other; else one.
      std::vector<std::size_t> blocks{engine() % block_count};
      if (set == instruction_sets().front()) blocks.push_back(0x3f8);
      CHECK(different_blocks(
                instruction, [&] { return emulated_function(instruction.opcode); }, blocks, 1, [] {})
                .empty());
    }
  }
}

TEST_CASE("A block's digest depends on the instruction", "[approximate]") {
  const auto flushing = emulated_function("ex2.approx.ftz.f32"), exact = emulated_function("ex2.approx.f32");
  CHECK(block_digest(*flushing, 0xc30) != block_digest(*exact, 0xc30));  // results are subnormal there
}

// Vectors compute what lies within bounds of exponents; the lane functions compute the rest.
TEST_CASE("Approximate instructions: a warp's lanes are those of the lane functions, at the bounds of vectors too", "[approximate]") {
  using scalar::Modifiers;
  struct Function {
    std::string opcode;
    std::uint32_t (*of)(std::uint32_t, std::uint32_t, const Modifiers&);
  };
  const Function functions[] = {
      {"rcp.approx", [](std::uint32_t a, std::uint32_t, const Modifiers& m) { return scalar::approximate_rcp(a, m); }},
      {"rsqrt.approx", [](std::uint32_t a, std::uint32_t, const Modifiers& m) { return scalar::approximate_rsqrt(a, m); }},
      {"sqrt.approx", [](std::uint32_t a, std::uint32_t, const Modifiers& m) { return scalar::approximate_sqrt(a, m); }},
      {"lg2.approx", [](std::uint32_t a, std::uint32_t, const Modifiers& m) { return scalar::approximate_lg2(a, m); }},
      {"sin.approx", [](std::uint32_t a, std::uint32_t, const Modifiers&) { return scalar::approximate_sin(a); }},
      {"cos.approx", [](std::uint32_t a, std::uint32_t, const Modifiers&) { return scalar::approximate_cos(a); }},
      {"tanh.approx", [](std::uint32_t a, std::uint32_t, const Modifiers&) { return multi_function::tanh(a); }},
      {"div.approx", [](std::uint32_t a, std::uint32_t b, const Modifiers& m) { return scalar::approximate_div(a, b, m); }},
      {"div.full", [](std::uint32_t a, std::uint32_t b, const Modifiers& m) { return scalar::full_div(a, b, m); }},
  };
  std::mt19937 engine(17);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  const auto operand = [&] {
    const std::uint32_t exponents[] = {0, 1, 2, 118, 119, 125, 126, 127, 128, 129, 130, 152, 155, 156, 157, 250, 251, 252, 253, 254, 255};
    const std::uint32_t fractions[] = {0, 1, 0x7fffff, 0x400000, 0x3fffff, 0xffff, 0x10000, 0x1ffff, 0x20000, 0x1ff, 0x200};
    const std::uint32_t exponent = random() % 2 != 0 ? exponents[random() % std::size(exponents)] : random() & 255;
    const std::uint32_t fraction = random() % 2 != 0 ? fractions[random() % std::size(fractions)] : random() & 0x7fffff;
    return (random() % 4 == 0 ? 0x80000000u : 0u) | exponent << 23 | fraction;
  };
  const RoundingMode nearest(RoundingMode::nearest);
  const BestAgain best_again;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (const auto& [opcode, of] : functions)
      for (const std::string type : {".f32", ".ftz.f32"}) {
        const std::string text = opcode + type;  // of which the match keeps parts
        const auto match = catalogue::find_row(text);
        if (text == "tanh.approx.ftz.f32") continue;  // PTX has none
        REQUIRE(match);
        const catalogue::Executable executable = catalogue::executable(*match);
        for (int round = 0; round < 2'000; ++round) {
          alignas(64) std::uint32_t a[32], b[32], result[32];
          for (int lane = 0; lane < 32; ++lane) a[lane] = operand(), b[lane] = operand();
          void* const results[] = {round % 2 != 0 ? a : result, nullptr};
          const void* const sources[] = {a, b, nullptr};
          std::uint32_t wanted[32];
          for (int lane = 0; lane < 32; ++lane) wanted[lane] = of(a[lane], b[lane], executable.modifiers);
          std::uint32_t first[32];
          std::copy_n(a, 32, first);
          executable.function(results, sources, executable.modifiers);
          for (int lane = 0; lane < 32; ++lane) {
            CAPTURE(set, opcode, type, first[lane], b[lane]);
            REQUIRE(static_cast<std::uint32_t*>(results[0])[lane] == wanted[lane]);
          }
        }
      }
  }
}

// Answers of an H200 to operands at which the lowerings of div scale, or do not.
TEST_CASE("Approximate division: an H200's answers where the operands are scaled", "[approximate]") {
  struct Division {
    std::uint32_t a, b, approx, approx_ftz, full, full_ftz;
  };
  const Division divisions[] = {
      // Products that reach 2^-126 only when they are rounded as subnormal numbers: .ftz flushes them.
      {0x33ffffff, 0xf3000000, 0x80800000, 0x80000000, 0x80800000, 0x80000000},
      {0x3fffffff, 0x7f000000, 0x00000000, 0x00000000, 0x00800000, 0x00000000},
      {0xe55d34bc, 0xfee35fe9, 0x00000000, 0x00000000, 0x25f90e04, 0x25f90e04},
      {0x3eafb28e, 0xfe259083, 0x8043eabe, 0x80000000, 0x8043eabe, 0x80000000},
      {0x800641b0, 0x011d2df8, 0xbca30af7, 0x80000000, 0xbca30af7, 0x80000000},
      {0x3ec044a2, 0x006f2a55, 0x7ddd627f, 0x7f800000, 0x7ddd627f, 0x7f800000},
      {0x3f207062, 0xff5e2e06, 0x80000000, 0x80000000, 0x80171b8d, 0x80000000},
      {0x81135849, 0x406dbcbf, 0x804f54f5, 0x80000000, 0x804f54f5, 0x80000000},
      {0xff1b45ad, 0x7ec07aeb, 0x80000000, 0x80000000, 0xbfce835c, 0xbfce835c},
      {0x00423e54, 0xc0c962de, 0x800a86a8, 0x80000000, 0x800a86a8, 0x80000000},
      {0x00000000, 0x802e6f47, 0x80000000, 0x7fffffff, 0x80000000, 0x7fffffff},
      {0x8101e34d, 0x80020439, 0x4300d34f, 0x7f800000, 0x4300d34f, 0x7f800000},
      {0x0078663d, 0x00000001, 0x4af0cc7a, 0x7fffffff, 0x4af0cc7a, 0x7fffffff},
      {0xbf2406f1, 0x7e800000, 0x80520378, 0x80000000, 0x80520378, 0x80000000},
      {0xff800000, 0xfee43d98, 0x7fffffff, 0x7fffffff, 0x7f800000, 0x7f800000},
      {0x806f5e89, 0x00000000, 0xff800000, 0x7fffffff, 0xff800000, 0x7fffffff},
      {0xd1dad3ff, 0xfff51b09, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {0xfea4801a, 0x42ee2613, 0xfb30d4c4, 0xfb30d4c4, 0xfb30d4c4, 0xfb30d4c4},
      {0xfd152cbe, 0x812173c7, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
      {0x80335deb, 0xff8b3eab, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {0x7daca823, 0x805bc488, 0xff800000, 0xff800000, 0xff800000, 0xff800000},
      {0x80927b44, 0x8145bf5e, 0x3ebda1cc, 0x3ebda1cc, 0x3ebda1cc, 0x3ebda1cc},
      {0x007fffff, 0xff1d8663, 0x80000000, 0x80000000, 0x80000000, 0x80000000},
      {0x7e800000, 0x805d9b8b, 0xff800000, 0xff800000, 0xff800000, 0xff800000},
      {0x00c2b89e, 0x7f92ee85, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {0x7ed256d3, 0x80aac34e, 0xff800000, 0xff800000, 0xff800000, 0xff800000},
      {0xff3c9cbd, 0xfff1b8b6, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {0x80b68d0a, 0x80000000, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
      {0x7f8b9713, 0x7f800000, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {0x7fe65e21, 0x013f8168, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
      {0x7f800000, 0x005cae6b, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
      {0xff6557f8, 0x80000000, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
      {0xff800000, 0x808145bd, 0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000},
      {0x8026d4ce, 0xff800000, 0x00000000, 0x00000000, 0x00000000, 0x00000000},
      {0xff7d6f3f, 0x7e800000, 0xc07d6f3f, 0xc07d6f3f, 0xc07d6f3f, 0xc07d6f3f},
      {0xfea52d7b, 0xff800000, 0x00000000, 0x00000000, 0x00000000, 0x00000000},
      {0x7f800000, 0x7f800000, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
  };
  for (const Division& d : divisions) {
    INFO(std::hex << d.a << " / " << d.b);
    CHECK(in_first_lane("div.approx.f32", d.a, d.b) == d.approx);
    CHECK(in_first_lane("div.approx.ftz.f32", d.a, d.b) == d.approx_ftz);
    CHECK(in_first_lane("div.full.f32", d.a, d.b) == d.full);
    CHECK(in_first_lane("div.full.ftz.f32", d.a, d.b) == d.full_ftz);
  }
}

}  // namespace
}  // namespace warpmat::approximate_test
