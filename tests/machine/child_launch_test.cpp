
#include "machine/kernel.h"
#include "machine/launching_kernel.h"
#include "test.h"

namespace warpmat::child_launch_test {
namespace {

/// Each thread whose number is even launches (thread + 1) blocks with its number.
const std::string text = launching_kernel("and.b32 %r, %i, 1; setp.eq.u32 %p, %r, 0; add.u32 %n, %i, 1; mov.u32 %number, %i;");

TEST_CASE("a kernel's launches are handed to the caller with their parameters, in order", "[machine]") {
  const Kernel kernel(Module(text), "k");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(64, "out");
  for (const int jobs : {1, 3}) {
    ChildLaunches children;
    launch(kernel, {.grid = {2}, .block = {4}}, memory, {out}, {.jobs = jobs, .children = &children});
    REQUIRE(children.made.size() == 4);
    CHECK(children.prepared.empty());
    for (std::size_t i = 0; i < 4; ++i) {
      const ChildLaunch& child = children.made[i];
      const std::uint32_t thread = i % 2 == 0 ? 0 : 2;
      CHECK(child.entry == "child");
      CHECK(child.grid == Dim3{thread + 1, 1, 1});
      CHECK(child.block == Dim3{2, 1, 1});
      CHECK(child.shared_bytes == 16);
      CHECK(child.stream == 3);
      std::uint64_t pointer = 0;
      std::uint32_t number = 0;
      std::memcpy(&pointer, child.parameters.data(), 8);
      std::memcpy(&number, child.parameters.data() + 8, 4);
      CHECK(pointer == out);
      CHECK(number == thread);
    }
  }
}

TEST_CASE("a launch from a kernel traps where the caller does not take it", "[machine]") {
  const Kernel kernel(Module(text), "k");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(64, "out");
  CHECK_THAT(message_of([&] { launch(kernel, {.block = {1}}, memory, {out}); }),
             ContainsSubstring("the kernel launches another one or copies, which only 'warpmat cuda' runs"));
}

}  // namespace
}  // namespace warpmat::child_launch_test
