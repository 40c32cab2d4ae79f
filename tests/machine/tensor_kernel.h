#pragma once

#include <string>

#include <fmt/core.h>

namespace warpmat::tensor_kernel {

// Parts of kernels with tcgen05, in blocks of four warps. %i is the thread's number in the block; %p0 holds in warp 0, %p1 in thread 0.

inline const std::string variables = ".shared .align 1024 .b8 tile[16384]; .shared .align 8 .b64 bar; .shared .b32 where, other;";

/// Columns of tensor memory for .cta_group::`group`. %r10 is the address of the first, %r12 that of the warp's first lane in it.
inline std::string allocate(int columns, int group = 1) {
  return fmt::format(R"(
    mov.u32 %i, %tid.x;
    setp.lt.u32 %p0, %i, 32;
    @!%p0 bra ALLOCATED;
    tcgen05.alloc.cta_group::{1}.sync.aligned.shared::cta.b32 [where], {0};
ALLOCATED:
    bar.sync 0;
    ld.shared.u32 %r10, [where];
    shr.u32 %r11, %i, 5;
    shl.b32 %r11, %r11, 21;
    add.u32 %r12, %r10, %r11;
)",
                     columns, group);
}

inline std::string free(int columns, int group = 1) {
  return fmt::format(R"(
    bar.sync 0;
    @!%p0 bra FREED;
    tcgen05.dealloc.cta_group::{1}.sync.aligned.b32 %r10, {0};
FREED:
)",
                     columns, group);
}

/// A in the first 4096 bytes of the tile, B behind it, both K-major without a swizzle, 32 bytes of K; %l1 and %l2 are their descriptors.
/// Each thread writes the word of register `word` to 64 bytes from %r3 on. `bar` awaits one arrival. %r13 is the instruction's descriptor.
inline std::string operands(const std::string& word, const std::string& descriptor) {
  return "mov.b32 %r4, " + word + R"(;
    mov.u32 %r1, tile;
    shl.b32 %r3, %i, 6;
    add.s32 %r3, %r3, %r1;
    st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
    st.shared.v4.b32 [%r3+16], {%r4, %r4, %r4, %r4};
    st.shared.v4.b32 [%r3+32], {%r4, %r4, %r4, %r4};
    st.shared.v4.b32 [%r3+48], {%r4, %r4, %r4, %r4};
    fence.proxy.async;
    setp.eq.u32 %p1, %i, 0;
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    bar.sync 0;
    cvt.u64.u32 %l1, %r1;
    shr.u64 %l1, %l1, 4;
    or.b64 %l1, %l1, 0x0000401000080000;
    add.s64 %l2, %l1, 256;
    mov.u32 %r14, 0;
    setp.ne.u32 %p3, %r14, 0;
    mov.u32 %r13, )" +
         descriptor + ";\n";
}

/// For the phase of parity 0 of `bar`.
inline const std::string wait = R"(
AGAIN:
    mbarrier.try_wait.parity.shared.b64 %p4, [bar], 0;
    @!%p4 bra AGAIN;
    tcgen05.fence::after_thread_sync;
)";

}  // namespace warpmat::tensor_kernel
