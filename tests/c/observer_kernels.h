#pragma once

// Kernels whose launches cause every event, as text for C and C++.

#include <string>

#include "machine/kernel.h"
#include "machine/tensor_kernel.h"

namespace warpmat::observer_kernels {

/// Clusters of two blocks of a warp: each other's shared memory, copies of both kinds, a call, an exchange, ldmatrix, barriers, an atomic.
inline std::string cluster() {
  return word_kernel_text(R"(
  .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;
  mov.u32 %r0, tile; mov.u32 %r1, bar; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0;
  shl.b32 %r3, %r2, 2; add.u32 %r4, %r0, %r3;
  st.shared.u32 [%r4], %r2;
  @%p1 mbarrier.init.shared::cta.b64 [%r1], 1;
  fence.proxy.async;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1;
  mapa.shared::cluster.u32 %r6, %r4, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  cp.async.ca.shared.global [%r4+128], [%out], 4;
  cp.async.wait_all;
  mov.b64 %l0, %out;
  @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 %l1, [%r1], 16;
  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0+512], [%l0], 16, [%r1];
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], 0;
  @!%p2 bra AGAIN;
  fence.proxy.async;
  bar.sync 0;
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%l0], [%r0], 16;
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group 0;
  bar.sync 0;
  shfl.sync.idx.b32 %r7, %r7, 3, 31, 0xffffffff;
  setp.lt.u32 %p3, %r2, 4;
  @%p3 call (%d), next, (%r7);
  shl.b32 %r8, %r2, 4; and.b32 %r8, %r8, 127; add.u32 %r8, %r8, %r0;
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r8];
  ld.param.u64 %l2, [out];
  atom.global.add.u32 %r10, [%l2+4], 1;
)",
                          "sm_90", ".func (.reg .b32 result) next(.reg .b32 n) {\n  add.u32 result, n, 1;\n  ret;\n}\n");
}

/// Two warpgroups; the first multiplies from shared memory and from registers. They change their registers by different numbers.
inline std::string wgmma() {
  const std::string product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, ";
  return word_kernel_text(R"(
  .shared .align 1024 .b8 tile[8192];
  mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 5; add.s32 %r3, %r3, %r1;
  mov.b32 %r4, 0x3c003c00;
  st.shared.v4.b32 [%r3], {%r4, %r4, %r4, %r4};
  fence.proxy.async;
  bar.sync 0;
  cvt.u64.u32 %l1, %r1; shr.u64 %l1, %l1, 4; or.b64 %l1, %l1, 0x0000001000080000; add.s64 %l2, %l1, 128;
  mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
  wgmma.fence.sync.aligned;
)" + product + "%l1, %l2, 1, 1, 1, 0, 0;\n" +
                              product + R"({%r4, %r4, %r4, %r4}, %l2, 0, 1, 1, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mov.b32 %d, %f0;
  and.b32 %r2, %r2, 32; setp.ne.u32 %p0, %r2, 0; @%p0 bra OTHER;
  setmaxnreg.dec.sync.aligned.u32 40;
  bra DONE;
OTHER:
  setmaxnreg.dec.sync.aligned.u32 32;
DONE:
)",
                          "sm_90a", "", ".maxntid 256, 1, 1 .minnctapersm 1\n");
}

/// Tensor memory: a product, its commit, a load and a store.
inline std::string tensor() {
  using namespace tensor_kernel;
  return word_kernel_text(variables + allocate(32) + operands("0x3c003c00", "0x08040010") + R"(setp.lt.u32 %p0, %i, 32; @!%p0 bra LAST;
  @%p1 tcgen05.mma.cta_group::1.kind::f16 [%r10], %l1, %l2, %r13, %p3;
  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];
)" + wait + R"(
  tcgen05.ld.sync.aligned.16x64b.x2.b32 {%d, %r1}, [%r12+3]; tcgen05.wait::ld.sync.aligned;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r12], {%r4}; tcgen05.wait::st.sync.aligned;
LAST:
)" + free(32),
                          "sm_100a");
}

}  // namespace warpmat::observer_kernels
