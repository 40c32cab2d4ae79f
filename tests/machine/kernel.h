#pragma once

#include <warpmat/diagnostic.h>
#include <warpmat/launch.h>

#include "test.h"

namespace warpmat {

/// A module with one entry `k`; `parameters` stand between its parentheses.
inline Module module_of(std::string_view parameters, std::string_view body, std::string_view target = "sm_90",
                        std::string_view before = {}) {
  return Module(".version 9.0\n.target " + std::string(target) + "\n.address_size 64\n" + std::string(before) + "\n.visible .entry k(" +
                std::string(parameters) + ")\n{\n" + std::string(body) + "\n}\n");
}

/// The text of an entry `k` with one parameter `out`, a pointer to a word for each thread. The body finds the address of its thread's word
/// in %out, the number of the thread within the grid (x only) in %i, and writes its result to %d; registers %r<20>, %s<20> (16 bits),
/// %l<20> (64), %p<20> are there. `before` and `directives` stand before the entry and behind its parameters.
inline std::string word_kernel_text(std::string_view body, std::string_view target = "sm_90", std::string_view before = {},
                                    std::string_view directives = {}) {
  return ".version 9.0\n.target " + std::string(target) + "\n.address_size 64\n" + std::string(before) +
         "\n.visible .entry k(.param .u64 out)\n" + std::string(directives) + R"({

    .reg .b32 %r<20>; .reg .b16 %s<20>; .reg .b64 %l<20>; .reg .pred %p<20>; .reg .b64 %out, %offset; .reg .b32 %i, %n, %c, %d; .reg .f32 %f<20>;
    mov.u32 %i, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %c, %ctaid.x;
    mad.lo.s32 %i, %c, %n, %i;
    ld.param.u64 %out, [out];
    mul.wide.u32 %offset, %i, 4;
    add.s64 %out, %out, %offset;
    mov.u32 %d, 0;
)" + std::string(body) +
         R"(
    st.global.u32 [%out], %d;
    ret;
}
)";
}

inline Module word_kernel(std::string_view body, std::string_view target = "sm_90", std::string_view before = {}) {
  return Module(word_kernel_text(body, target, before));
}

/// What word_kernel's threads wrote.
inline std::vector<std::uint32_t> words_of(const Module& module, Dim3 grid, Dim3 block, const LaunchOptions& options = {},
                                           std::uint32_t shared_bytes = 0, const KernelOptions& kernel_options = {}) {
  DeviceMemory memory;
  const std::uint64_t count = grid.count() * block.count();
  const std::uint64_t out = memory.allocate(4 * count, "out");
  launch(Kernel(module, "k", kernel_options), {grid, block, shared_bytes}, memory, {out}, options);
  return memory.read<std::uint32_t>(out, count);
}

/// The message of the trap that a launch of word_kernel ends with.
inline std::string trap_of(const Module& module, Dim3 block, std::uint32_t shared_bytes = 0) {
  try {
    words_of(module, {1}, block, {}, shared_bytes);
  } catch (const Trap& trap) {
    return trap.what();
  }
  return "no trap";
}

}  // namespace warpmat
