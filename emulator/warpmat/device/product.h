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

  static constexpr int d = form.fragment_d, a = form.fragment_a, b = form.fragment_b, c = form.fragment_c, e = form.fragment_e;
  static constexpr Fragment fragment_d = fragments[d], fragment_a = fragments[a], fragment_b = fragments[b], fragment_c = fragments[c];

  static constexpr bool sparse = form.metadata_group != 0;
  static constexpr Format accumulator = form.c == form.d ? form.d : Format::f32;  ///< of the unit's sums

  // What a lane's number sets in the places of what it needs.
  static constexpr LaneBits a_bits = lane_bits(fragment_d, fragment_a, true, false);
  static constexpr LaneBits b_bits = lane_bits(fragment_d, fragment_b, false, true);
  static constexpr LaneBits c_bits = lane_bits(fragment_d, fragment_c, true, true);

  // The rows and columns of D of which a lane has elements.
  static constexpr Lines<16> rows = lines<16>(fragment_d, Axis::row), columns = lines<16>(fragment_d, Axis::column);
};

/// The registers that a lane of a warp holds, and what is the same in all lanes.
template <typename P>
struct Registers {
  u32 a[P::fragment_a.words()], b[P::fragment_b.words()], c[P::fragment_c.words()];
  u32 e = 0, scale_a = 0, scale_b = 0;  ///< metadata of a sparse A; scale factors
  u32 selector = 0, scales_a = 0, scales_b = 0;  ///< the numbers of the matrices of metadata and of scale factors
};

/// Element number `number` of a lane's registers, of at most 32 bits.
template <int fragment>
WARPMAT_DEVICE_INLINE u32 own_element(const u32* words, int number) {
  constexpr Fragment f = fragments[fragment];
  const int inside = number & ((1 << f.inside) - 1);
  const u32 bits = words[number >> f.inside] >> (inside * f.element_bits + f.payload_shift);
  return f.payload_bits >= 32 ? bits : bits & ((1u << (f.payload_bits & 31)) - 1);
}

}  // namespace warpmat::device
