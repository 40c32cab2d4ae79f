#include "gpu/lab/device/judge.h"

#include <warpmat/forms.h>

#include "test.h"

namespace warpmat::device_judge_test {
namespace {

constexpr unsigned lanes = 32, f16_ones = 0x3c003c00, f32_17 = 0x41880000, f32_1 = 0x3f800000;

/// Words of a, b, c, e, the scale factors and d of m16n8k16: 16 products of 1, and 1.
std::vector<unsigned> ones(std::size_t warps) {
  std::vector<unsigned> words;
  const auto add = [&](std::size_t count, unsigned word) { words.insert(words.end(), count * lanes, word); };
  for (std::size_t warp = 0; warp < warps; ++warp) {
    add(4 + 2, f16_ones);
    add(4, f32_1);
    add(3, 0);
    add(4, f32_17);
  }
  return words;
}

TEST_CASE("the judge of a card's answers counts each word that differs, and tells the first", "[gpu]") {
  const JudgedForm form{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_80", 4, 2, 4, 4, 0, {0, 0}, {0, 0}};
  constexpr std::size_t warps = 300;
  std::vector<unsigned> answers = ones(warps);
  std::array<char, 200> first{};
  CHECK(warpmat_judge(&form, answers.data(), warps, first.data(), first.size()) == 0);
  CHECK(std::string(first.data()) == "");
  answers[299 * 17 * lanes + 15 * lanes + 9] ^= 1;  // beyond those of the reference
  CHECK(warpmat_judge(&form, answers.data(), warps, first.data(), first.size()) == 1);
  CHECK(std::string(first.data()) == "warp 299, word 2, lane 9: 0x41880000 is expected, 0x41880001 found");
  answers[13 * lanes] = 0;
  first.fill(0);
  CHECK(warpmat_judge(&form, answers.data(), warps, first.data(), first.size()) == 3);  // one of them by the reference, too
}

TEST_CASE("the judge selects metadata and scale factors", "[gpu]") {
  // Stored ones; the metadata of selector 1 alone is valid.
  const JudgedForm sparse{"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90a", 2, 2, 4, 4, 1, {0, 0}, {0, 0}};
  std::vector<unsigned> answers(15 * lanes, f16_ones);
  const auto fill = [&](std::size_t word, std::size_t count, unsigned value) {
    std::fill_n(answers.begin() + static_cast<std::ptrdiff_t>(word * lanes), count * lanes, value);
  };
  fill(4, 4, f32_1);
  fill(8, 1, 0x44444444);
  fill(11, 4, 0x41100000);  // 8 products and 1
  std::array<char, 200> first{};
  CHECK(warpmat_judge(&sparse, answers.data(), 1, first.data(), first.size()) == 0);
  CHECK(std::string(first.data()) == "");
  const JudgedForm undefined{"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90a", 2, 2, 4, 4, 9, {0, 0}, {0, 0}};
  CHECK(warpmat_judge(&undefined, answers.data(), 1, first.data(), first.size()) == ~0ull);
  CHECK(std::string(first.data()).find("selector 9 is undefined") != std::string::npos);
}

TEST_CASE("the judge says which form it does not know", "[gpu]") {
  const JudgedForm form{"mma.sync.aligned.m16n8k17", "sm_80", 4, 2, 4, 4, 0, {0, 0}, {0, 0}};
  std::array<char, 200> first{};
  CHECK(warpmat_judge(&form, nullptr, 0, first.data(), first.size()) == ~0ull);
  CHECK(std::string(first.data()).find("m16n8k17") != std::string::npos);
}

}  // namespace
}  // namespace warpmat::device_judge_test
