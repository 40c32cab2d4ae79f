// What the kernels of this folder share: one PTX statement a function.
#pragma once

#include <cstdint>

__device__ inline uint32_t shared_address(const void* pointer) { return static_cast<uint32_t>(__cvta_generic_to_shared(pointer)); }

// 16 bytes from global to shared memory; copy_part reads only the first `bytes` of them, 0 to 16, and fills with zeros.
__device__ inline void copy(uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void copy_part(uint32_t to, const void* from, uint32_t bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

__device__ inline void ldmatrix(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ inline void ldmatrix_trans(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

#define PLANTED_MMA(NAME, OPCODE, NUMBER, KIND)                                                                              \
  __device__ inline void NAME(NUMBER(&d)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) { \
    asm volatile(OPCODE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                   \
                 : "+" KIND(d[0]), "+" KIND(d[1]), "+" KIND(d[2]), "+" KIND(d[3])                                            \
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                                    \
  }
PLANTED_MMA(mma_f16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", float, "f")
PLANTED_MMA(mma_bf16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
PLANTED_MMA(mma_tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
PLANTED_MMA(mma_s8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", int, "r")
PLANTED_MMA(mma_e4m3, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", float, "f")

// mbarriers and the tensor memory accelerator (TMA).

__device__ inline void init_barrier(uint64_t& barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)), "r"(arrivals) : "memory");
}
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void wait(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN; }" ::"r"(shared_address(&barrier)),
      "r"(parity)
      : "memory");
}
__device__ inline void arrive_expecting(uint64_t& barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)), "r"(bytes) : "memory");
}

struct __align__(64) TensorMap {
  uint64_t opaque[16];
};

/// Copies the map's box at element `x`, row `y`.
__device__ inline void load_box(uint32_t to, const TensorMap& map, int x, int y, uint64_t& barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier))
               : "memory");
}

// Products of a warpgroup.

__device__ inline void fence_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void finish_products() { asm volatile("wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

enum Swizzle : uint64_t { swizzle_none = 0, swizzle_128 = 1, swizzle_64 = 2, swizzle_32 = 3 };

/// A matrix in shared memory for wgmma; the offsets in bytes.
__device__ inline uint64_t descriptor(uint32_t address, uint32_t leading, uint32_t stride, Swizzle swizzle) {
  return (address >> 4 & 0x3fff) | uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 | swizzle << 62;
}

#define PLANTED_8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define PLANTED_D64                                                                                                                   \
  " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, " \
  "%27, %28, %29, %30, %31}"

/// D = A B + D of 64 x 64, or D = A B; OPCODE with the types, MORE with the transpositions.
#define PLANTED_WGMMA(NAME, OPCODE, MORE)                                                                    \
  template <int transposed_b = 0>                                                                            \
  __device__ inline void NAME(float(&d)[32], uint64_t a, uint64_t b, bool add) {                             \
    asm volatile("{ .reg .pred add; setp.ne.b32 add, %34, 0;\n" OPCODE PLANTED_D64 ", %32, %33, add, 1, 1" MORE "; }" \
                 : PLANTED_8(0), PLANTED_8(8), PLANTED_8(16), PLANTED_8(24)                                  \
                 : "l"(a), "l"(b), "r"(static_cast<int>(add)), "n"(transposed_b));                           \
  }
PLANTED_WGMMA(wgmma_f16, "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", ", 0, %35")
PLANTED_WGMMA(wgmma_bf16, "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16", ", 0, %35")
PLANTED_WGMMA(wgmma_e4m3, "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3", "")

/// The same of 64 x 32, with A in registers.
__device__ inline void wgmma_f16_registers(float (&d)[16], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint64_t b, bool add) {
  asm volatile(
      "{ .reg .pred add; setp.ne.b32 add, %21, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
      "{%16, %17, %18, %19}, %20, add, 1, 1, 0; }"
      : PLANTED_8(0), PLANTED_8(8)
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(static_cast<int>(add)));
}
