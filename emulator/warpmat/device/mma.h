#pragma once

// The bits of another GPU's matrix instructions, computed on the GPU that executes this. CUDA C++17, for nvcc and NVRTC. A host compiler
// without CUDA compiles it too, for whole warps at once: mma_on_host.

#include <warpmat/device/float.h>
#include <warpmat/device/fused.h>
#include <warpmat/device/grouped.h>
#include <warpmat/device/integer.h>

namespace warpmat::device {

/// The operand of block scales: a register of scale factors, and the bytes and lanes of it that PTX's {byte-id, thread-id} select.
struct Scales {
  u32 word, byte_id, thread_id;
};

/// A lane's operands before lanes exchange them, and what computes with them.
template <typename P, Arithmetic arithmetic = P::lowering.arithmetic>
struct Computation;
template <typename P>
struct Computation<P, Arithmetic::dot> {
  using Operands = FloatOperands<P>;
  template <typename Warp>
  WARPMAT_DEVICE_INLINE static void multiply(const Warp& warp, Results<P>& d) {
    multiply_floats<P>(warp, d);
  }
};
template <typename P>
struct Computation<P, Arithmetic::split_dot> : Computation<P, Arithmetic::dot> {};
template <typename P>
struct Computation<P, Arithmetic::grouped_dot> {
  using Operands = GroupOperands<P>;
  template <typename Warp>
  WARPMAT_DEVICE_INLINE static void multiply(const Warp& warp, Results<P>& d) {
    multiply_groups<P>(warp, d);
  }
};
template <typename P>
struct Computation<P, Arithmetic::f64_chain> {
  using Operands = FusedOperands<P>;
  template <typename Warp>
  WARPMAT_DEVICE_INLINE static void multiply(const Warp& warp, Results<P>& d) {
    multiply_f64<P>(warp, d);
  }
};
template <typename P>
struct Computation<P, Arithmetic::m8n8k4_fma> {
  using Operands = FusedOperands<P>;
  template <typename Warp>
  WARPMAT_DEVICE_INLINE static void multiply(const Warp& warp, Results<P>& d) {
    multiply_quads<P>(warp, d);
  }
};
template <typename P>
struct Computation<P, Arithmetic::integer_dot> {
  using Operands = IntegerOperands<P>;
  template <typename Warp>
  WARPMAT_DEVICE_INLINE static void multiply(const Warp& warp, Results<P>& d) {
    multiply_integers<P>(warp, d);
  }
};
template <typename P>
struct Computation<P, Arithmetic::bit_dot> : Computation<P, Arithmetic::integer_dot> {};

template <typename P>
using Operands = typename Computation<P>::Operands;

/// The registers of D that hold a lane's elements.
template <typename P>
WARPMAT_DEVICE_INLINE void store(const Results<P>& results, u32* d) {
  constexpr Fragment f = P::fragment_d;
  constexpr auto rows = P::d_rows;
  constexpr auto columns = P::d_columns;
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < f.words(); ++i) d[i] = 0;
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < P::columns.count; ++j) {
      const u32 place = rows.of[i] | columns.of[j], word = place >> (f.inside + 5);
      if constexpr (f.register_bits == 64) {
        d[2 * word] = static_cast<u32>(results.bits[i][j]);
        d[2 * word + 1] = static_cast<u32>(static_cast<u64>(results.bits[i][j]) >> 32);
      } else {
        d[word] |= static_cast<u32>(results.bits[i][j]) << ((place & ((1u << f.inside) - 1)) * static_cast<u32>(f.element_bits));
      }
    }
  }
}

#if defined(__CUDACC__)
/// The lanes of a GPU's warp, which exchange their operands.
template <typename P>
class ShuffledWarp {
 public:
  __device__ __forceinline__ ShuffledWarp(const Operands<P>& own, const Registers<P>& registers) : own_(own), registers_(registers) {
    asm("mov.u32 %0, %%laneid;" : "=r"(lane_));
  }
  __device__ __forceinline__ int lane() const { return lane_; }
  __device__ __forceinline__ auto a(int number, int lane) const { return exchanged(own_.a[number], lane); }
  __device__ __forceinline__ auto b(int number, int lane) const { return exchanged(own_.b[number], lane); }
  __device__ __forceinline__ auto c(int number, int lane) const {
    if constexpr (P::c == P::d)
      return own_.c[number];
    else
      return exchanged(own_.c[number], lane);
  }
  __device__ __forceinline__ u32 e(int lane) const { return exchanged(registers_.e, lane); }
  __device__ __forceinline__ u32 scale_a(int lane) const { return exchanged(registers_.scale_a, lane); }
  __device__ __forceinline__ u32 scale_b(int lane) const { return exchanged(registers_.scale_b, lane); }
  __device__ __forceinline__ u32 selector() const { return registers_.selector; }
  __device__ __forceinline__ u32 scales_a() const { return registers_.scales_a; }
  __device__ __forceinline__ u32 scales_b() const { return registers_.scales_b; }

 private:
  __device__ __forceinline__ static u32 exchanged(u32 word, int lane) { return __shfl_sync(0xffffffffu, word, lane); }
  __device__ __forceinline__ static i32 exchanged(i32 word, int lane) { return __shfl_sync(0xffffffffu, word, lane); }
  __device__ __forceinline__ static u64 exchanged(u64 word, int lane) { return __shfl_sync(0xffffffffu, word, lane); }
  __device__ __forceinline__ static Element exchanged(const Element& e, int lane) {
    return {__shfl_sync(0xffffffffu, e.significand, lane), __shfl_sync(0xffffffffu, e.exponent, lane)};
  }
  const Operands<P>& own_;
  const Registers<P>& registers_;
  int lane_;
};

template <typename P>
__device__ __forceinline__ void multiply_and_add(u32 (&d)[P::fragment_d.words()], const u32 (&a)[P::fragment_a.words()],
                                                 const u32 (&b)[P::fragment_b.words()], const u32 (&c)[P::fragment_c.words()], u32 e,
                                                 u32 selector, const Scales& of_a, const Scales& of_b) {
  Registers<P> registers;
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::fragment_a.words(); ++i) registers.a[i] = a[i];
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::fragment_b.words(); ++i) registers.b[i] = b[i];
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::fragment_c.words(); ++i) registers.c[i] = c[i];
  registers.e = e;
  registers.selector = selector;
  constexpr u32 vector = P::scaled ? P::form.scale_vector : 1;
  registers.scale_a = of_a.word;
  registers.scale_b = of_b.word;
  registers.scales_a = (of_a.byte_id + 4 * of_a.thread_id) / vector;
  registers.scales_b = (of_b.byte_id + 4 * of_b.thread_id) / vector;
  const Operands<P> own(registers);
  Results<P> results;
  Computation<P>::multiply(ShuffledWarp<P>(own, registers), results);
  store<P>(results, d);
}

/// d = a · b + c with the bits that `hardware` returns. All 32 lanes of a warp call it together. Arguments are the instruction's own
/// fragments, in registers of 32 bits as PTX lists them, an f64 in two, the low half first. d may be c. A form that the hardware lacks does
/// not compile. Bits that the ISA leaves undefined: padding of 6- and 4-bit elements counts for nothing.
template <Opcode opcode, Hardware hardware, typename P = Product<opcode, hardware>>
__device__ __forceinline__ void mma(u32 (&d)[P::fragment_d.words()], const u32 (&a)[P::fragment_a.words()],
                                    const u32 (&b)[P::fragment_b.words()], const u32 (&c)[P::fragment_c.words()]) {
  static_assert(!P::sparse && !P::scaled, "this form has further operands");
  multiply_and_add<P>(d, a, b, c, 0, 0, {}, {});
}

/// The same with a sparse A. Undefined codes of `e` count as they are written; `selector` is one that the ISA defines, the same in all
/// lanes.
template <Opcode opcode, Hardware hardware, typename P = Product<opcode, hardware>>
__device__ __forceinline__ void mma(u32 (&d)[P::fragment_d.words()], const u32 (&a)[P::fragment_a.words()],
                                    const u32 (&b)[P::fragment_b.words()], const u32 (&c)[P::fragment_c.words()], u32 e, u32 selector) {
  static_assert(P::sparse && !P::scaled, "this form has other operands");
  multiply_and_add<P>(d, a, b, c, e, selector, {}, {});
}

/// The same with block scales; ids are those that the ISA defines, the same in all lanes.
template <Opcode opcode, Hardware hardware, typename P = Product<opcode, hardware>>
__device__ __forceinline__ void mma(u32 (&d)[P::fragment_d.words()], const u32 (&a)[P::fragment_a.words()],
                                    const u32 (&b)[P::fragment_b.words()], const u32 (&c)[P::fragment_c.words()], const Scales& of_a,
                                    const Scales& of_b) {
  static_assert(!P::sparse && P::scaled, "this form has other operands");
  multiply_and_add<P>(d, a, b, c, 0, 0, of_a, of_b);
}

/// The same with a sparse A and block scales.
template <Opcode opcode, Hardware hardware, typename P = Product<opcode, hardware>>
__device__ __forceinline__ void mma(u32 (&d)[P::fragment_d.words()], const u32 (&a)[P::fragment_a.words()],
                                    const u32 (&b)[P::fragment_b.words()], const u32 (&c)[P::fragment_c.words()], u32 e, u32 selector,
                                    const Scales& of_a, const Scales& of_b) {
  static_assert(P::sparse && P::scaled, "this form has other operands");
  multiply_and_add<P>(d, a, b, c, e, selector, of_a, of_b);
}

#else

/// All lanes of a warp on a host.
template <typename P>
class HostWarp {
 public:
  HostWarp(const Operands<P>* operands, const Registers<P>* registers, int lane)
      : operands_(operands), registers_(registers), lane_(lane) {}
  int lane() const { return lane_; }
  auto a(int number, int lane) const { return operands_[lane].a[number]; }
  auto b(int number, int lane) const { return operands_[lane].b[number]; }
  auto c(int number, int lane) const { return operands_[lane].c[number]; }
  u32 e(int lane) const { return registers_[lane].e; }
  u32 scale_a(int lane) const { return registers_[lane].scale_a; }
  u32 scale_b(int lane) const { return registers_[lane].scale_b; }
  u32 selector() const { return registers_[lane_].selector; }
  u32 scales_a() const { return registers_[lane_].scales_a; }
  u32 scales_b() const { return registers_[lane_].scales_b; }

 private:
  const Operands<P>* operands_;
  const Registers<P>* registers_;
  int lane_;
};

/// The operands of a warp: word i of an operand in lane l is operand[i * 32 + l]. Those that the form lacks are null.
struct HostOperands {
  const u32 *a, *b, *c, *e = nullptr, *scale_a = nullptr, *scale_b = nullptr;
  u32 selector = 0, scales_a = 0, scales_b = 0;  ///< numbers of matrices: forms.h
};

/// mma for all lanes of a warp on a host, to d[i * 32 + lane].
template <Opcode opcode, Hardware hardware>
void mma_on_host(u32* d, const HostOperands& from) {
  using P = Product<opcode, hardware>;
  struct Lane {
    Registers<P> registers;
    explicit Lane(const HostOperands& o, int lane) {
      for (int i = 0; i < P::fragment_a.words(); ++i) registers.a[i] = o.a[i * warp_lanes + lane];
      for (int i = 0; i < P::fragment_b.words(); ++i) registers.b[i] = o.b[i * warp_lanes + lane];
      for (int i = 0; i < P::fragment_c.words(); ++i) registers.c[i] = o.c[i * warp_lanes + lane];
      registers.e = o.e == nullptr ? 0 : o.e[lane];
      registers.scale_a = o.scale_a == nullptr ? 0 : o.scale_a[lane];
      registers.scale_b = o.scale_b == nullptr ? 0 : o.scale_b[lane];
      registers.selector = o.selector;
      registers.scales_a = o.scales_a;
      registers.scales_b = o.scales_b;
    }
  };
  // Operands have no default constructor, for a GPU's lane has one of them alone.
  union Warp {
    Warp() {}
    Operands<P> lanes[warp_lanes];
  } operands;
  Registers<P> registers[warp_lanes];
  for (int lane = 0; lane < warp_lanes; ++lane) {
    registers[lane] = Lane(from, lane).registers;
    operands.lanes[lane] = Operands<P>(registers[lane]);
  }
  for (int lane = 0; lane < warp_lanes; ++lane) {
    Results<P> results;
    Computation<P>::multiply(HostWarp<P>(operands.lanes, registers, lane), results);
    u32 of_lane[P::fragment_d.words()];
    store<P>(results, of_lane);
    for (int i = 0; i < P::fragment_d.words(); ++i) d[i * warp_lanes + lane] = of_lane[i];
  }
}
#endif

}  // namespace warpmat::device
