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
  static constexpr NumberBits a_bits = lane_bits(fragment_d, fragment_a, true, false),
                              b_bits = lane_bits(fragment_d, fragment_b, false, true),
                              c_bits = lane_bits(fragment_d, fragment_c, true, true),
                              e_bits = lane_bits(fragment_d, fragment_e, true, false),
                              scale_a_bits = lane_bits(fragment_d, fragment_scale_a, true, false),
                              scale_b_bits = lane_bits(fragment_d, fragment_scale_b, false, true);

  static constexpr NumberBits e_matrix = matrix_bits(fragment_e), scale_a_matrix = matrix_bits(fragment_scale_a),
                              scale_b_matrix = matrix_bits(fragment_scale_b);

  // The rows and columns of D of which a lane has elements.
  static constexpr Lines rows = lines(fragment_d, Axis::row), columns = lines(fragment_d, Axis::column);

  // The places of these, and of what is along K. Constants, for computing them would be loops in each lane.
  static constexpr int groups = sparse ? form.k / form.metadata_group : 1, factors = scaled ? form.scale_vector : 1;
  static constexpr auto d_rows = places<rows.count>(fragment_d, Axis::row, rows);
  static constexpr auto d_columns = places<columns.count>(fragment_d, Axis::column, columns);
  static constexpr auto c_rows = places<rows.count>(fragment_c, Axis::row, rows);
  static constexpr auto c_columns = places<columns.count>(fragment_c, Axis::column, columns);
  static constexpr auto a_rows = places<rows.count>(fragment_a, Axis::row, rows);
  static constexpr auto a_along_k = places<form.stored_k>(fragment_a, Axis::column);
  static constexpr auto b_columns = places<columns.count>(fragment_b, Axis::column, columns);
  static constexpr auto b_along_k = places<form.k>(fragment_b, Axis::row);
  static constexpr auto e_rows = places<rows.count>(fragment_e, Axis::row, rows);
  static constexpr auto e_groups = places<groups>(fragment_e, Axis::column);
  static constexpr auto scale_rows = places<rows.count>(fragment_scale_a, Axis::row, rows);
  static constexpr auto scale_columns = places<columns.count>(fragment_scale_b, Axis::column, columns);
  static constexpr auto factors_a = places<factors>(fragment_scale_a, Axis::column);
  static constexpr auto factors_b = places<factors>(fragment_scale_b, Axis::row);
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

// What follows reads elements for the rows and columns of D that a lane has: `row` and `column` are indices of P::rows and P::columns.

/// C of the elements of D of a lane.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE void read_c(const Warp& warp, Results<P>& c) {
  constexpr NumberBits bits = P::c_bits;
  constexpr auto rows = P::c_rows;
  constexpr auto columns = P::c_columns;
  const u32 of_lane = bits.of(static_cast<u32>(warp.lane()));
  const auto read = [&](int number, int lane) { return warp.c(number, lane); };
  WARPMAT_DEVICE_UNROLL
  for (int i = 0; i < P::rows.count; ++i) {
    WARPMAT_DEVICE_UNROLL
    for (int j = 0; j < P::columns.count; ++j) c.bits[i][j] = element_at<P::c, bits.all()>(rows.of[i] | columns.of[j], of_lane, read);
  }
}

/// Element `k` along K of a row of the stored A.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE auto element_of_a(const Warp& warp, int row, int k) {
  constexpr NumberBits bits = P::a_bits;
  constexpr auto rows = P::a_rows;
  constexpr auto along_k = P::a_along_k;
  const auto read = [&](int number, int lane) { return warp.a(number, lane); };
  return element_at<P::a, bits.all()>(rows.of[row] | along_k.of[k], bits.of(static_cast<u32>(warp.lane())), read);
}

/// Element `k` along K of a column of B.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE auto element_of_b(const Warp& warp, int k, int column) {
  constexpr NumberBits bits = P::b_bits;
  constexpr auto columns = P::b_columns;
  constexpr auto along_k = P::b_along_k;
  const auto read = [&](int number, int lane) { return warp.b(number, lane); };
  return element_at<P::b, bits.all()>(along_k.of[k] | columns.of[column], bits.of(static_cast<u32>(warp.lane())), read);
}

/// The code of metadata of a group of a row of A: 4 bits. Codes that the ISA does not define count as they are written.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE u32 code_of(const Warp& warp, int row, int group) {
  constexpr NumberBits matrix = P::e_matrix;
  constexpr NumberBits bits = P::e_bits;
  constexpr auto rows = P::e_rows;
  constexpr auto groups = P::e_groups;
  constexpr u32 may_set = bits.all() | matrix.all();
  const u32 set = bits.of(static_cast<u32>(warp.lane())) | matrix.of(warp.selector());
  const auto read = [&](int number, int lane) { return warp.e(lane) >> 4 * number & 15; };
  return element_at<P::e, may_set>(rows.of[row] | groups.of[group], set, read);
}

/// Scale factor `i` of a row of A: the bits of an element.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE u32 scale_of_row(const Warp& warp, int row, int i) {
  constexpr NumberBits matrix = P::scale_a_matrix;
  constexpr NumberBits bits = P::scale_a_bits;
  constexpr auto rows = P::scale_rows;
  constexpr auto factors = P::factors_a;
  constexpr u32 may_set = bits.all() | matrix.all();
  const u32 set = bits.of(static_cast<u32>(warp.lane())) | matrix.of(warp.scales_a());
  const auto read = [&](int number, int lane) { return warp.scale_a(lane) >> 8 * number & 255; };
  return element_at<P::scale_a, may_set>(rows.of[row] | factors.of[i], set, read);
}

/// Scale factor `i` of a column of B.
template <typename P, typename Warp>
WARPMAT_DEVICE_INLINE u32 scale_of_column(const Warp& warp, int column, int i) {
  constexpr NumberBits matrix = P::scale_b_matrix;
  constexpr NumberBits bits = P::scale_b_bits;
  constexpr auto columns = P::scale_columns;
  constexpr auto factors = P::factors_b;
  constexpr u32 may_set = bits.all() | matrix.all();
  const u32 set = bits.of(static_cast<u32>(warp.lane())) | matrix.of(warp.scales_b());
  const auto read = [&](int number, int lane) { return warp.scale_b(lane) >> 8 * number & 255; };
  return element_at<P::scale_b, may_set>(factors.of[i] | columns.of[column], set, read);
}

}  // namespace warpmat::device
