// What is known of the registers of a program's wgmma before any cluster is executed.

#include <warpmat/checks/product_registers.h>
#include <warpmat/machine/internals.h>

#include "machine/kernel.h"
#include "test.h"

namespace warpmat::product_registers_test {
namespace {

std::string product(const std::string& accumulators) {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" + accumulators + "}, %l1, %l1, 0, 1, 1, 0, 0;\n";
}

TEST_CASE("products with the same accumulators have the number of the first one", "[checks]") {
  const std::string low = product("%f0, %f1, %f2, %f3"), high = product("%f4, %f5, %f6, %f7");
  const std::string sums = "add.f32 %f0, %f0, %f4; add.f32 %f1, %f1, %f5; add.f32 %f2, %f2, %f6; add.f32 %f3, %f3, %f7;";
  const Kernel kernel(word_kernel("mov.u64 %l1, 0;" + low + high + low + high + sums + "mov.b32 %d, %f0;", "sm_90a"), "k");
  const code::Program& program = program_of(kernel);
  const checks::ProductRegisters registers(program);
  REQUIRE(registers.next_concerned.size() == program.operations.size() + 1);
  CHECK(registers.next_concerned.back() == program.operations.size());
  std::vector<std::uint32_t> products, numbers;
  for (std::uint32_t i = 0; i < program.operations.size(); ++i) {
    if (program.operations[i].semantics != catalogue::Semantics::wgmma) continue;
    products.push_back(i);
    numbers.push_back(registers.accumulators[i]);
    CHECK(registers.next_concerned[i] == i);
  }
  REQUIRE(products.size() == 4);
  CHECK(numbers == std::vector<std::uint32_t>{products[0], products[1], products[0], products[1]});
  CHECK(registers.next_concerned.front() > 0);  // the move of %l1 concerns none
  CHECK(std::ranges::is_sorted(registers.next_concerned));
}

TEST_CASE("a program without wgmma has no registers of products", "[checks]") {
  const Kernel kernel(word_kernel("mov.u32 %d, 1;"), "k");
  CHECK(checks::ProductRegisters(program_of(kernel)).next_concerned.empty());
}

}  // namespace
}  // namespace warpmat::product_registers_test
