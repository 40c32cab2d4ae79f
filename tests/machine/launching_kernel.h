#pragma once

#include <string>

namespace warpmat {

/// An entry `k` whose threads launch `child` in stream 3: with %n blocks of 2 threads, 16 bytes of shared memory and the parameters
/// (out, %number). The body finds the thread's number in %i, sets these registers, and %p where the thread launches.
inline std::string launching_kernel(const std::string& body) {
  return R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2
(.param .b64 function, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 result) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);
.visible .entry child(.param .u64 out, .param .u32 number) { ret; }
.visible .entry k(.param .u64 .ptr .align 8 out)
{
  .reg .b32 %i, %n, %number, %r; .reg .b64 %f, %b, %out, %stream; .reg .pred %p;
  mov.u32 %i, %tid.x;
  ld.param.u64 %out, [out];
)" + body +
         R"(
  @!%p ret;
  mov.u64 %f, child;
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
  st.u32 [%b+8], %number;
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
}

}  // namespace warpmat
