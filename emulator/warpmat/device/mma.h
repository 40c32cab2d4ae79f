#pragma once

// The bits of another GPU's matrix instructions, computed on the GPU that executes this.

#include <warpmat/device/float.h>
#include <warpmat/device/integer.h>

namespace warpmat::device {

template <typename P>
struct OperandsOf {
  static constexpr bool floats = P::lowering.arithmetic == Arithmetic::dot || P::lowering.arithmetic == Arithmetic::split_dot;
};

/// Lanes of a GPU's warp, which exchange their elements.
template <typename P, typename Operands>
class ShuffledWarp {
 public:
  WARPMAT_DEVICE_INLINE ShuffledWarp(const Operands& own, int lane) : own_(own), lane_(lane) {}
  WARPMAT_DEVICE_INLINE int lane() const { return lane_; }
  WARPMAT_DEVICE_INLINE auto a(int number, int lane) const { return exchanged(own_.a[number], lane); }
  WARPMAT_DEVICE_INLINE auto b(int number, int lane) const { return exchanged(own_.b[number], lane); }
  WARPMAT_DEVICE_INLINE u32 c(int number, int lane) const { return P::c == P::d ? own_.c[number] : exchanged(own_.c[number], lane); }

 private:
  WARPMAT_DEVICE_INLINE static u32 exchanged(u32 word, int lane) {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(0xffffffffu, word, lane);
#else
    return word + 0 * static_cast<u32>(lane);
#endif
  }
  WARPMAT_DEVICE_INLINE static Element exchanged(const Element& e, int lane) {
    return {static_cast<s32>(exchanged(static_cast<u32>(e.significand), lane)),
            static_cast<s32>(exchanged(static_cast<u32>(e.exponent), lane))};
  }
  const Operands& own_;
  int lane_;
};

/// All lanes of a warp on a host.
template <typename Operands>
class HostWarp {
 public:
  HostWarp(const Operands* lanes, int lane) : lanes_(lanes), lane_(lane) {}
  int lane() const { return lane_; }
  auto a(int number, int lane) const { return lanes_[lane].a[number]; }
  auto b(int number, int lane) const { return lanes_[lane].b[number]; }
  u32 c(int number, int lane) const { return lanes_[lane].c[number]; }

 private:
  const Operands* lanes_;
  int lane_;
};

/// The registers of D that hold bits[row][column].
template <typename P>
WARPMAT_DEVICE_INLINE void store(const u32 (&bits)[P::rows.count][P::columns.count], u32* d) {
  constexpr Fragment f = P::fragment_d;
  constexpr auto rows = P::rows, columns = P::columns;
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < f.words(); ++i) d[i] = 0;
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j) {
      const u32 place = f.place(rows.line[i], columns.line[j]);
      d[place >> (f.inside + 5)] |= bits[i][j] << ((place & ((1u << f.inside) - 1)) * static_cast<u32>(f.element_bits));
    }
  }
}

template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void multiply(const Warp& warp, u32* d) {
  u32 bits[P::rows.count][P::columns.count];
  if constexpr (OperandsOf<P>::floats)
    multiply_floats<P>(warp, bits);
  else
    multiply_integers<P>(warp, bits);
  store<P>(bits, d);
}

template <bool floats, typename P>
struct Select {
  using Type = FloatOperands<P>;
};
template <typename P>
struct Select<false, P> {
  using Type = IntegerOperands<P>;
};
template <typename P>
using Operands = typename Select<OperandsOf<P>::floats, P>::Type;

#if defined(__CUDACC__)
/// d = a · b + c with the bits that `hardware` returns. All 32 lanes of a warp must call it together; arguments are the instruction's own
/// fragments, in registers of 32 bits as PTX lists them.
template <Opcode opcode, Hardware hardware>
__device__ __forceinline__ void mma(u32 (&d)[Product<opcode, hardware>::fragment_d.words()],
                                    const u32 (&a)[Product<opcode, hardware>::fragment_a.words()],
                                    const u32 (&b)[Product<opcode, hardware>::fragment_b.words()],
                                    const u32 (&c)[Product<opcode, hardware>::fragment_c.words()]) {
  using P = Product<opcode, hardware>;
  Registers<P> registers;
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::fragment_a.words(); ++i) registers.a[i] = a[i];
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::fragment_b.words(); ++i) registers.b[i] = b[i];
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::fragment_c.words(); ++i) registers.c[i] = c[i];
  const Operands<P> own(registers);
  int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  multiply<P>(ShuffledWarp<P, Operands<P>>(own, lane), d);
}
#endif

#if !defined(__CUDA_ARCH__)
/// The same for all lanes of a warp on a host: word i of an operand in lane l is operand[i * 32 + l].
template <Opcode opcode, Hardware hardware>
void mma_on_host(u32* d, const u32* a, const u32* b, const u32* c) {
  using P = Product<opcode, hardware>;
  struct Lanes {
    alignas(Operands<P>) unsigned char bytes[warp_lanes * sizeof(Operands<P>)];
  } lanes;
  Operands<P>* const operands = reinterpret_cast<Operands<P>*>(lanes.bytes);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    Registers<P> registers;
    for (int i = 0; i < P::fragment_a.words(); ++i) registers.a[i] = a[i * warp_lanes + lane];
    for (int i = 0; i < P::fragment_b.words(); ++i) registers.b[i] = b[i * warp_lanes + lane];
    for (int i = 0; i < P::fragment_c.words(); ++i) registers.c[i] = c[i * warp_lanes + lane];
    operands[lane] = Operands<P>(registers);
  }
  for (int lane = 0; lane < warp_lanes; ++lane) {
    u32 of_lane[P::fragment_d.words()];
    multiply<P>(HostWarp<Operands<P>>(operands, lane), of_lane);
    for (int i = 0; i < P::fragment_d.words(); ++i) d[i * warp_lanes + lane] = of_lane[i];
  }
}
#endif

}  // namespace warpmat::device
