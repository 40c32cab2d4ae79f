// Runs a kernel, and catches what the library throws.

#include <warpmat/diagnostic.h>
#include <warpmat/launch.h>

#include <cstdio>
#include <vector>

using namespace warpmat;

constexpr const char* text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 p) {
  .reg .b64 a, offset;
  .reg .b32 i, x;
  ld.param.u64 a, [p];
  mov.u32 i, %tid.x;
  mul.wide.u32 offset, i, 4;
  add.u64 a, a, offset;
  ld.global.u32 x, [a];
  add.u32 x, x, x;
  st.global.u32 [a], x;
  ret;
}
)";

int main() {
  const Kernel kernel(Module(text), "twice");
  DeviceMemory memory;
  std::vector<std::uint32_t> numbers(64);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const std::uint64_t address = memory.allocate(numbers);
  launch(kernel, {.grid = {1}, .block = {64}}, memory, {address});
  const auto doubled = memory.read<std::uint32_t>(address, numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (doubled[i] != 2 * i) return 1;
  int caught = 0;
  try {
    launch(kernel, {.grid = {1}, .block = {96}}, memory, {address});
  } catch (const Trap& trap) {
    caught += trap.site.kernel == "twice";
  }
  try {
    const Module broken(".entry {");
  } catch (const SyntaxError& error) {
    caught += !error.errors.empty();
  }
  std::printf("%d caught\n", caught);
  return caught == 2 ? 0 : 1;
}
