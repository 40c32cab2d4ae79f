#pragma once

#include <warpmat/device/layout.h>
#include <warpmat/device/number.h>

namespace warpmat::device {

/// A form on a hardware: what the tables say of it, as constants.
template <Opcode opcode, Hardware hardware>
struct Product {
  static constexpr Form form = forms[static_cast<int>(opcode)];
  static constexpr Lowering lowering = lowerings[lowering_sets[form.lowering_set][static_cast<int>(hardware)]];
  static_assert(lowering.arithmetic != Arithmetic::none, "this hardware has no such instruction");

  static constexpr bool sparse = form.metadata_group != 0, scaled = form.scale_vector != 0;
  static constexpr Format accumulator = form.c == form.d ? form.d : Format::f32;  ///< of the unit's sums

  // Indices of `fragments`; of operands that the form lacks that of D, which is not used then.
  static constexpr int d = form.fragment_d, a = form.fragment_a, b = form.fragment_b, c = form.fragment_c, e = sparse ? form.fragment_e : d,
                       scale_a = scaled ? form.fragment_scale_a : d, scale_b = scaled ? form.fragment_scale_b : d;
  static constexpr Fragment fragment_d = fragments[d], fragment_a = fragments[a], fragment_b = fragments[b], fragment_c = fragments[c],
                            fragment_e = fragments[e], fragment_scale_a = fragments[scale_a], fragment_scale_b = fragments[scale_b];

  // What a lane's number sets in the places of what it needs.
  static constexpr LaneBits a_bits = lane_bits(fragment_d, fragment_a, true, false),
                            b_bits = lane_bits(fragment_d, fragment_b, false, true), c_bits = lane_bits(fragment_d, fragment_c, true, true),
                            e_bits = lane_bits(fragment_d, fragment_e, true, false),
                            scale_a_bits = lane_bits(fragment_d, fragment_scale_a, true, false),
                            scale_b_bits = lane_bits(fragment_d, fragment_scale_b, false, true);

  // The rows and columns of D of which a lane has elements.
  static constexpr Lines rows = lines(fragment_d, Axis::row), columns = lines(fragment_d, Axis::column);
};

/// The type of an element's bits.
template <Format format>
struct BitsOf {
  using Type = u32;
};
template <>
struct BitsOf<Format::f64> {
  using Type = u64;
};

/// The elements of D that a lane holds: bits[row][column] of P::rows and P::columns.
template <typename P>
struct Results {
  typename BitsOf<P::form.d>::Type bits[P::rows.count][P::columns.count];
};

/// The registers that a lane of a warp holds, and what is the same in all lanes.
template <typename P>
struct Registers {
  u32 a[P::fragment_a.words()], b[P::fragment_b.words()], c[P::fragment_c.words()];
  u32 e, scale_a, scale_b;           ///< metadata of a sparse A; scale factors
  u32 selector, scales_a, scales_b;  ///< the numbers of the matrices of metadata and of scale factors
};

/// Element number `number` of a lane's registers, of at most 32 bits.
template <int fragment>
WARPMAT_DEVICE_INLINE u32 own_element(const u32* words, int number) {
  constexpr int inside = fragments[fragment].inside, element_bits = fragments[fragment].element_bits;
  constexpr int shift = fragments[fragment].payload_shift, payload = fragments[fragment].payload_bits;
  const u32 bits = words[number >> inside] >> ((number & ((1 << inside) - 1)) * element_bits + shift);
  return payload >= 32 ? bits : bits & ((1u << (payload & 31)) - 1);
}

/// C of the elements of D of a lane.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void read_c(const Warp& warp, Results<P>& c) {
  constexpr Fragment f = P::fragment_c;
  constexpr LaneBits bits = P::c_bits;
  constexpr Lines rows = P::rows, columns = P::columns;
  const u32 of_lane = bits.of(warp.lane());
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < columns.count; ++j)
      c.bits[i][j] = element_at<P::c, bits.all()>(f.place(rows.line[i], columns.line[j]), of_lane,
                                                  [&](int number, int lane) { return warp.c(number, lane); });
  }
}

/// Element `k` along K of a row of the stored A, of the rows that `line` and the lane give.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE auto element_of_a(const Warp& warp, u32 line, int k) {
  constexpr Fragment f = P::fragment_a;
  constexpr LaneBits bits = P::a_bits;
  return element_at<P::a, bits.all()>(f.place(line, static_cast<u32>(k)), bits.of(warp.lane()),
                                      [&](int number, int lane) { return warp.a(number, lane); });
}

/// Element `k` along K of a column of B.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE auto element_of_b(const Warp& warp, int k, u32 line) {
  constexpr Fragment f = P::fragment_b;
  constexpr LaneBits bits = P::b_bits;
  return element_at<P::b, bits.all()>(f.place(static_cast<u32>(k), line), bits.of(warp.lane()),
                                      [&](int number, int lane) { return warp.b(number, lane); });
}

/// The code of metadata of a group of a row of A: 4 bits. Codes that the ISA does not define count as they are written.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE u32 code_of(const Warp& warp, u32 line, int group) {
  constexpr Fragment f = P::fragment_e;
  constexpr LaneBits bits = P::e_bits;
  constexpr u32 of_selector = f.spread(Axis::matrix, ~0u);
  return element_at<P::e, bits.all() | of_selector>(f.place(line, static_cast<u32>(group)),
                                                    bits.of(warp.lane()) | f.spread(Axis::matrix, warp.selector()),
                                                    [&](int number, int lane) { return warp.e(lane) >> 4 * number & 15; });
}

/// Scale factor `i` of a row of A, or of a column of B: the bits of an element.
template <typename P, bool of_b, typename Warp>
WARPMAT_DEVICE_INLINE u32 scale_of(const Warp& warp, u32 line, int i) {
  constexpr Fragment f = of_b ? P::fragment_scale_b : P::fragment_scale_a;
  constexpr LaneBits bits = of_b ? P::scale_b_bits : P::scale_a_bits;
  constexpr u32 of_ids = f.spread(Axis::matrix, ~0u);
  const u32 factor = static_cast<u32>(i);
  const u32 matrix = f.spread(Axis::matrix, of_b ? warp.scales_b() : warp.scales_a());
  return element_at < of_b ? P::scale_b : P::scale_a,
         bits.all() | of_ids > (of_b ? f.place(factor, line) : f.place(line, factor), bits.of(warp.lane()) | matrix,
                                [&](int number, int lane) { return (of_b ? warp.scale_b(lane) : warp.scale_a(lane)) >> 8 * number & 255; });
}

}  // namespace warpmat::device
