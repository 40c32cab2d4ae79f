#pragma once

// Kernels that compare the device header with a card's own instruction, and that give its operands and answers to the CPU. CUDA C++17.
// gpu/lab/device/write-sweep writes a file for each form, which includes this one.

#include <warpmat/device/mma.h>

#include "gpu/lab/device/draw.h"

namespace warpmat::device {

/// The operands of one lane, as the instruction takes them.
template <Opcode opcode>
struct DrawnOperands {
  static constexpr Form form = forms[static_cast<int>(opcode)];
  static constexpr int a_words = fragments[form.fragment_a].words(), b_words = fragments[form.fragment_b].words(),
                       c_words = fragments[form.fragment_c].words(), words = a_words + b_words + c_words + 3;
  static constexpr bool sparse = form.metadata_group != 0, scaled = form.scale_vector != 0;

  u32 a[a_words], b[b_words], c[c_words];
  u32 e = 0, scale_a = 0, scale_b = 0;
};

template <int fragment, Format format>
__device__ void draw_words(u32* words, OperandClass which, Draw& draw, const WarpDraw& warp, bool b, bool accumulator) {
  constexpr Fragment f = fragments[fragment];
  constexpr FormatRow row = RowOf<format>::row;
  for (int word = 0; word < f.words(); ++word) words[word] = 0;
  if constexpr (format == Format::f64) {
    // The fields of an f64 are those of an f32 with a longer exponent and fraction.
    for (int i = 0; i < f.registers(); ++i) {
      const u32 high = draw_float<Format::f32>(which, draw, warp, b, accumulator), exponent = high >> 23 & 255;
      const bool special = exponent == 255;
      const u32 wide = special ? 2047 : exponent == 0 ? 0 : exponent + 1023 - 127;
      words[2 * i] = draw.below(2) == 0 ? draw.next() : 0;
      words[2 * i + 1] = (high & 0x80000000u) | wide << 20 | (high & 0x7fffff) >> 3;
      if (which == OperandClass::random) words[2 * i + 1] = draw.next();
    }
  } else {
    for (int word = 0; word < f.words(); ++word)
      for (int i = 0; i < f.per_register(); ++i) {
        u32 bits = 0;
        if constexpr (row.exponent_bits == 0)
          bits = draw_integer(which, row.bits, draw);
        else
          bits = draw_float<format>(which, draw, warp, b, accumulator);
        words[word] |= bits << (i * f.element_bits + f.payload_shift);
      }
  }
}

/// Metadata that the ISA defines: of each group two different places, ascending if `ordered`.
template <int group>
__device__ u32 draw_metadata(Draw& draw, bool ordered) {
  u32 word = 0;
  for (int i = 0; i < 8; ++i) {
    u32 code;
    if (group == 2) {
      code = draw.below(2) == 0 ? 0x4 : 0xe;
    } else {
      const u32 first = draw.below(3), second = first + 1 + draw.below(3 - first);
      code = ordered || draw.below(2) == 0 ? first | second << 2 : second | first << 2;
    }
    word |= code << 4 * i;
  }
  return word;
}

template <Format format>
__device__ u32 draw_scales(OperandClass which, Draw& draw) {
  u32 word = 0;
  for (int i = 0; i < 4; ++i) {
    const bool any = which == OperandClass::random || which == OperandClass::wide || (which == OperandClass::special && draw.below(8) == 0);
    u32 bits = any ? draw.next() & 255 : format == Format::ue8m0 ? static_cast<u32>(draw.between(120, 134)) : draw.below(127);
    if (format == Format::ue4m3) bits &= 127;
    word |= bits << 8 * i;
  }
  return word;
}

/// The operands of `lane` in warp number `warp` of a class. They depend on nothing else but the seed. Not inline: a form's kernels share
/// it.
template <Opcode opcode>
__device__ __noinline__ void draw_operands(DrawnOperands<opcode>& operands, OperandClass which, u64 seed, u64 warp, u32 lane,
                                           bool ordered) {
  constexpr Form form = forms[static_cast<int>(opcode)];
  const u64 key = seed * 0xd1342543de82ef95ull + (static_cast<u64>(which) << 56) + warp * 0x9fb21c651e98df25ull;
  Draw of_warp{key};
  const WarpDraw warp_draw(of_warp);
  Draw draw{key ^ (lane + 1) * 0x632be59bd9b4e019ull};
  draw_words<form.fragment_a, form.a>(operands.a, which, draw, warp_draw, false, false);
  draw_words<form.fragment_b, form.b>(operands.b, which, draw, warp_draw, true, false);
  draw_words<form.fragment_c, form.c>(operands.c, which, draw, warp_draw, false, true);
  if constexpr (operands.sparse) operands.e = draw_metadata<form.metadata_group>(draw, ordered);
  if constexpr (operands.scaled) {
    operands.scale_a = draw_scales<form.scale>(which, draw);
    operands.scale_b = draw_scales<form.scale>(which, draw);
  }
}

/// What is the same in all lanes of all warps of a launch.
struct Immediates {
  u32 selector = 0, byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
  bool ordered = true;
};

template <Opcode opcode, Hardware hardware>
__device__ __forceinline__ void model(u32 (&d)[Product<opcode, hardware>::fragment_d.words()], const DrawnOperands<opcode>& o,
                                      const Immediates& n) {
  using P = Product<opcode, hardware>;
  const Scales scales_a{o.scale_a, n.byte_a, n.thread_a}, scales_b{o.scale_b, n.byte_b, n.thread_b};
  if constexpr (P::sparse && P::scaled)
    mma<opcode, hardware>(d, o.a, o.b, o.c, o.e, n.selector, scales_a, scales_b);
  else if constexpr (P::sparse)
    mma<opcode, hardware>(d, o.a, o.b, o.c, o.e, n.selector);
  else if constexpr (P::scaled)
    mma<opcode, hardware>(d, o.a, o.b, o.c, scales_a, scales_b);
  else
    mma<opcode, hardware>(d, o.a, o.b, o.c);
}

/// The differences of a class: words that differ, and the numbers of the first warps with one.
struct Differences {
  u64 words;
  u32 warps;
  u64 first[4];
};

/// Every warp of a warpgroup multiplies by the B of the first one.
template <Opcode opcode>
__device__ void share_b(DrawnOperands<opcode>& operands) {
  constexpr int words = DrawnOperands<opcode>::b_words;
  __shared__ u32 of_first[words][32];
  __syncthreads();
  if (threadIdx.x < 32)
    for (int i = 0; i < words; ++i) of_first[i][threadIdx.x] = operands.b[i];
  __syncthreads();
  for (int i = 0; i < words; ++i) operands.b[i] = of_first[i][threadIdx.x % 32];
}

/// The descriptor of B in shared memory without swizzle, K-major: `words` core matrices of 8 columns by 16 bytes, contiguous in memory
/// along K. Word i of lane l of the fragment is word l of core matrix i.
template <int words>
__device__ u64 stored_b(const u32* b) {
  __shared__ alignas(128) u32 matrices[words][32];
  __syncthreads();  // the product before has read them
  if (threadIdx.x < 32)
    for (int i = 0; i < words; ++i) matrices[i][threadIdx.x] = b[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  constexpr u64 core_bytes = 128;
  const u64 address = __cvta_generic_to_shared(matrices);
  return (address & 0x3ffff) >> 4 | core_bytes >> 4 << 16 | words * core_bytes >> 4 << 32;
}

/// Compares the card with the model in `rounds` warps for each warp of the launch. blockIdx.y is the class. Warps are numbered from
/// `first` on. Where `out` is, it gets operands and the model's answer of each warp of the last round, for the CPU to judge:
/// [class][warp][word][lane], words of a, b, c, e, scale_a, scale_b and d.
template <typename Card, Opcode opcode, Hardware hardware>
__global__ void __launch_bounds__(128)
    compare_with_card(Differences* differences, u32* out, u64 seed, u64 first, int rounds, Immediates immediates) {
  using P = Product<opcode, hardware>;
  constexpr int d_words = P::fragment_d.words();
  const u32 lane = threadIdx.x % 32;
  const u64 warps = static_cast<u64>(gridDim.x) * (blockDim.x / 32), own = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  u32 words = 0;
  DrawnOperands<opcode> operands;
  u32 of_model[d_words];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const u64 warp = first + own + warps * static_cast<u64>(round);
    draw_operands<opcode>(operands, static_cast<OperandClass>(blockIdx.y), seed, warp, lane, immediates.ordered);
    if constexpr (Card::warpgroup) share_b(operands);
    model<opcode, hardware>(of_model, operands, immediates);
    if constexpr (Card::exists) {
      u32 of_card[d_words], different = 0;
      Card::mma(of_card, operands.a, operands.b, operands.c, operands.e, immediates.selector);
      for (int i = 0; i < d_words; ++i) different += of_card[i] != of_model[i];
      words += different;
      if (__any_sync(0xffffffffu, different != 0) && lane == 0) {
        const u32 number = atomicAdd(&differences[blockIdx.y].warps, 1u);
        if (number < 4) differences[blockIdx.y].first[number] = warp;
      }
    }
  }
  if (words != 0) atomicAdd(&differences[blockIdx.y].words, static_cast<unsigned long long>(words));
  if (out == nullptr) return;
  u32* next = out + (blockIdx.y * warps + own) * (operands.words + d_words) * 32 + lane;
  const auto write = [&](u32 word) {
    *next = word;
    next += 32;
  };
  for (int i = 0; i < operands.a_words; ++i) write(operands.a[i]);
  for (int i = 0; i < operands.b_words; ++i) write(operands.b[i]);
  for (int i = 0; i < operands.c_words; ++i) write(operands.c[i]);
  write(operands.e);
  write(operands.scale_a);
  write(operands.scale_b);
  for (int i = 0; i < d_words; ++i) write(of_model[i]);
}

/// In place of a card that lacks the form.
struct NoCard {
  static constexpr bool exists = false, warpgroup = false;
  static constexpr int selectors = 0;
};

/// `rounds` products in each warp, of operands that change a little from one to the next; the sum of all results.
template <Opcode opcode, Hardware hardware>
__global__ void __launch_bounds__(128) throughput(u32* out, u64 seed, OperandClass which, int rounds, Immediates immediates) {
  using P = Product<opcode, hardware>;
  const u32 lane = threadIdx.x % 32;
  DrawnOperands<opcode> drawn;
  draw_operands<opcode>(drawn, which, seed, blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane, immediates.ordered);
  DrawnOperands<opcode> operands = drawn;  // in registers, for no function has its address
  u32 sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    u32 d[P::fragment_d.words()];
    model<opcode, hardware>(d, operands, immediates);
    for (int i = 0; i < P::fragment_d.words(); ++i) sum ^= d[i];
    // Other elements meet: A's registers in turn, and one sign of B.
    const u32 last = operands.a[P::fragment_a.words() - 1];
    for (int i = P::fragment_a.words() - 1; i > 0; --i) operands.a[i] = operands.a[i - 1];
    operands.a[0] = last;
    operands.b[0] ^= 0x80000000u;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/// The same by the card's own instruction: four chains of sums in each warp.
template <typename Card, Opcode opcode>
__global__ void __launch_bounds__(128) throughput_of_card(u32* out, u64 seed, int rounds) {
  constexpr int chains = 4, words = DrawnOperands<opcode>::c_words;
  const u32 lane = threadIdx.x % 32;
  DrawnOperands<opcode> drawn;
  draw_operands<opcode>(drawn, OperandClass::close, seed, blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane, true);
  const DrawnOperands<opcode> operands = drawn;
  u32 sums[chains][words];
  for (int i = 0; i < chains; ++i)
    for (int j = 0; j < words; ++j) sums[i][j] = operands.c[j];
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < chains; ++i) Card::mma(sums[i], operands.a, operands.b, sums[i], operands.e, 0);
  u32 sum = 0;
  for (int i = 0; i < chains; ++i)
    for (int j = 0; j < words; ++j) sum ^= sums[i][j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace warpmat::device
