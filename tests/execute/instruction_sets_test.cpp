#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/execute/operands/batch.h>
#include <warpmat/instruction.h>

#include "test.h"

namespace warpmat::instruction_sets_test {
namespace {

/// D of a product of ones, by the fast path.
std::vector<std::uint32_t> product_of_ones() {
  const Instruction mma("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90");
  const std::vector<std::uint32_t> ones(4 * warp_size, 0x3c003c00), zeros(4 * warp_size, 0);
  std::vector<std::uint32_t> d(4 * warp_size);
  Batch batch;
  batch.source(OperandName::a) = batch.source(OperandName::b) = ones.data();
  batch.source(OperandName::c) = zeros.data();
  batch.destination = d.data();
  execute(mma, batch, 1);
  return d;
}

TEST_CASE("every instruction set can be chosen and gives the same bits") {
  const std::vector<std::string_view> sets = instruction_sets();
#ifdef __x86_64__
  std::vector<std::string_view> expected{"AVX-512", "AVX2", "SSE4"};
  std::erase_if(expected, [&](std::string_view name) { return std::ranges::find(sets, name) == sets.end(); });
  CHECK(sets == expected);
#elif defined(__aarch64__)
  CHECK(sets == std::vector<std::string_view>{"NEON"});
#endif
  const std::vector<std::uint32_t> sixteens(4 * warp_size, 0x41800000);
  for (const std::string_view set : sets) {
    INFO(set);
    use_instruction_set(set);
    CHECK(product_of_ones() == sixteens);
    CHECK(instruction_sets() == sets);
  }
  use_best_instruction_set();
  CHECK(product_of_ones() == sixteens);
}

TEST_CASE("an instruction set that is not there cannot be chosen") {
  CHECK_THROWS_AS(use_instruction_set("AVX3"), std::invalid_argument);
  CHECK_THROWS_AS(use_instruction_set(""), std::invalid_argument);
}

}  // namespace
}  // namespace warpmat::instruction_sets_test
