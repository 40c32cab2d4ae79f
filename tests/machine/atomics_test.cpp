// Atomic additions of f64, as an H200 answers: recorded there for these numbers, in global and in shared memory.

#include <array>
#include <cstdint>
#include <vector>

#include "catch.h"
#include "machine/kernel.h"

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

}  // namespace
}  // namespace warpmat::atomics_test
