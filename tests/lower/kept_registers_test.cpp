// KernelOptions::keep_registers: each register has a place of its own, which Program::registers names.

#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/machine/internals.h>

#include "test.h"

namespace warpmat::kept_registers_test {

constexpr auto text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 x) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
  .reg .b32 named;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  add.u32 %r2, %r1, 1;
  add.u32 %r3, %r2, 1;
  add.u32 %r4, %r3, 1;
  mov.u32 named, %r4;
  setp.gt.u32 %p1, named, 16;
  selp.b32 %r5, named, %r1, %p1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  ret;
}
)";

std::vector<std::uint32_t> run(const Kernel& kernel) {
  DeviceMemory memory;
  const std::uint64_t x = memory.allocate(128, "x");
  launch(kernel, {.block = {32}}, memory, {x});
  return memory.read<std::uint32_t>(x, 32);
}

TEST_CASE("registers that are kept have names, types and places of their own", "[ptx][registers]") {
  const Module module(text);
  const Kernel kept(module, "sums", {.keep_registers = true});
  std::map<std::string, code::PlacedRegister> registers;
  std::set<code::Slot> places;
  for (const code::PlacedRegister& each : program_of(kept).registers) {
    registers.emplace(each.name, each);
    places.insert(each.slot);
    CHECK(each.written);
  }
  CHECK(registers.size() == 10);  // those that a statement names
  CHECK(places.size() == registers.size());
  CHECK(registers.at("%r4").type == "b32");
  CHECK(registers.at("%rd3").register_class == code::RegisterClass::wide);
  CHECK(registers.at("%p1").type == "pred");
  CHECK(registers.contains("named"));
}

TEST_CASE("a kernel that keeps its registers computes the same", "[ptx][registers]") {
  const Module module(text);
  const Kernel usual(module, "sums");
  CHECK(program_of(usual).registers.empty());
  CHECK(run(usual) == run(Kernel(module, "sums", {.keep_registers = true})));
}

}  // namespace warpmat::kept_registers_test
