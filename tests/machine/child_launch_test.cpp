#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "catch.h"
#include "machine/kernel.h"

namespace warpmat::child_launch_test {
namespace {

/// Each thread whose number is even launches `child` with (thread + 1) blocks of 2 threads and the parameters (out, thread).
const std::string text = R"(
.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2
(.param .b64 function, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 result) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);
.visible .entry child(.param .u64 out, .param .u32 number) { ret; }
.visible .entry k(.param .u64 out)
{
  .reg .b32 %i, %n, %r; .reg .b64 %f, %b, %out, %stream; .reg .pred %p;
  mov.u32 %i, %tid.x;
  ld.param.u64 %out, [out];
  and.b32 %r, %i, 1;
  setp.ne.u32 %p, %r, 0;
  @%p ret;
  mov.u64 %f, child;
  add.u32 %n, %i, 1;
  mov.u64 %stream, 3;
  {
    .param .b64 function; .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12]; .param .b32 shared; .param .b64 result;
    st.param.b64 [function], %f;
    st.param.b32 [grid], %n; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
    st.param.b32 [block], 2; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
    st.param.b32 [shared], 16;
    call.uni (result), __cudaCDP2GetParameterBufferV2, (function, grid, block, shared);
    ld.param.b64 %b, [result];
  }
  st.u64 [%b], %out;
  st.u32 [%b+8], %i;
  {
    .param .b64 buffer; .param .b64 stream; .param .b32 result;
    st.param.b64 [buffer], %b;
    st.param.b64 [stream], %stream;
    call.uni (result), __cudaCDP2LaunchDeviceV2, (buffer, stream);
    ld.param.b32 %r, [result];
  }
  ret;
}
)";

}  // namespace

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

TEST_CASE("a launch from a kernel traps where nobody runs it", "[machine]") {
  const Kernel kernel(Module(text), "k");
  DeviceMemory memory;
  const std::uint64_t out = memory.allocate(64, "out");
  CHECK_THAT(message_of([&] { launch(kernel, {.block = {1}}, memory, {out}); }),
             ContainsSubstring("the kernel launches another one or copies, which only 'warpmat cuda' runs"));
}

}  // namespace warpmat::child_launch_test
