#pragma once

// D = A · B + C of any size with the bits of another GPU: tiles of one dense instruction, chained along K as kernels do it. Each product's
// D is operand C of the next one, k ascending. What is beyond a matrix's edge counts as zeros.

#include <warpmat/device/mma.h>

namespace warpmat::device {

/// Equally spaced matrices in memory. An element has 1, 2, 4 or 8 bytes of its own, with its bits at the low end; strides are in elements.
struct MatrixView {
  void* data;  ///< null: zeros, for C alone
  i64 rows, columns, row_stride, column_stride, batch_stride;
};

/// What a GEMM reads and writes.
struct GemmOperands {
  MatrixView d, a, b, c;
  i64 promote_every;  ///< after so many steps of K the sums are added to separate f32 sums, and begin again from zero; 0: never
};

/// Rows and columns of the elements of a fragment that one lane holds, without the lane's part.
template <int count>
struct Coordinates {
  u32 row[count], column[count];
};

template <int count>
WARPMAT_DEVICE_BOTH constexpr Coordinates<count> coordinates(const Fragment& f) {
  Coordinates<count> out{};
  for (int i = 0; i < count; ++i) {
    const u32 number = static_cast<u32>(i), place = (number & ((1u << f.inside) - 1)) | number >> f.inside << (f.inside + 5);
    out.row[i] = f.coordinate(Axis::row, place);
    out.column[i] = f.coordinate(Axis::column, place);
  }
  return out;
}

/// A fragment of a tile that lies in memory.
template <int fragment>
struct StoredTile {
  static constexpr Fragment f = fragments[fragment];
  static constexpr int bytes = f.payload_bits <= 8 ? 1 : f.payload_bits / 8;
  static constexpr auto elements = coordinates<f.elements()>(f);

  const MatrixView& matrix;
  unsigned char* data;  ///< of the batch's matrix
  i64 row, column;      ///< of the lane in the tile at (0, 0)

  WARPMAT_DEVICE_INLINE StoredTile(const MatrixView& of, i64 batch, int lane)
      : matrix(of),
        data(static_cast<unsigned char*>(of.data) + batch * of.batch_stride * bytes),
        row(of_lane(Axis::row, lane)),
        column(of_lane(Axis::column, lane)) {}

  /// The lane's registers of the tile at (`first_row`, `first_column`).
  WARPMAT_DEVICE_INLINE void load(u32 (&words)[f.words()], i64 first_row, i64 first_column) const {
    constexpr auto at = elements;
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < f.words(); ++i) words[i] = 0;
    if (matrix.data == nullptr) return;
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < f.elements(); ++i) {
      const i64 r = first_row + row + at.row[i], c = first_column + column + at.column[i];
      const u64 bits = r < matrix.rows && c < matrix.columns ? read(data + (r * matrix.row_stride + c * matrix.column_stride) * bytes) : 0;
      if constexpr (f.register_bits == 64) {
        words[2 * i] = static_cast<u32>(bits);
        words[2 * i + 1] = static_cast<u32>(bits >> 32);
      } else {
        constexpr u32 mask = f.payload_bits >= 32 ? ~0u : (1u << (f.payload_bits & 31)) - 1;
        words[i >> f.inside] |= (static_cast<u32>(bits) & mask) << ((i & ((1 << f.inside) - 1)) * f.element_bits + f.payload_shift);
      }
    }
  }

  WARPMAT_DEVICE_INLINE void store(const u32 (&words)[f.words()], i64 first_row, i64 first_column) const {
    constexpr auto at = elements;
    WARPMAT_DEVICE_UNROLL
    for (int i = 0; i < f.elements(); ++i) {
      const i64 r = first_row + row + at.row[i], c = first_column + column + at.column[i];
      if (r >= matrix.rows || c >= matrix.columns) continue;
      u64 bits = 0;
      if constexpr (f.register_bits == 64)
        bits = static_cast<u64>(words[2 * i + 1]) << 32 | words[2 * i];
      else
        bits = own_element<fragment>(words, i);
      write(data + (r * matrix.row_stride + c * matrix.column_stride) * bytes, bits);
    }
  }

 private:
  template <int size, typename = void>
  struct Word {
    using Type = u32;
  };
  template <typename none>
  struct Word<1, none> {
    using Type = unsigned char;
  };
  template <typename none>
  struct Word<2, none> {
    using Type = unsigned short;
  };
  template <typename none>
  struct Word<8, none> {
    using Type = u64;
  };
  WARPMAT_DEVICE_INLINE static i64 of_lane(Axis axis, int lane) {
    constexpr Fragment own = f;
    return own.coordinate(axis, static_cast<u32>(lane) << own.inside);
  }
  WARPMAT_DEVICE_INLINE static u64 read(const unsigned char* from) { return *reinterpret_cast<const typename Word<bytes>::Type*>(from); }
  WARPMAT_DEVICE_INLINE static void write(unsigned char* to, u64 bits) {
    using Type = typename Word<bytes>::Type;
    *reinterpret_cast<Type*>(to) = static_cast<Type>(bits);
  }
};

/// An ordinary f32 addition, to nearest even, with the canonical NaN.
WARPMAT_DEVICE_INLINE u32 add_f32(u32 x, u32 y) {
  const u32 sum = fused_f32(x, 0x3f800000u, y);
  return (sum & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : sum;
}

/// Checks at compile time that the form multiplies two dense matrices and chains.
template <typename P>
struct GemmForm {
  static_assert(!P::sparse && !P::scaled && P::fragment_d.count(Axis::matrix) == 0, "a GEMM needs a dense form of one product");
  static_assert(P::form.c == P::form.d, "a chain along K needs C and D of one format");
  static constexpr i64 m = P::form.m, n = P::form.n, k = P::form.k;
  static constexpr int d_words = P::fragment_d.words(), a_words = P::fragment_a.words(), b_words = P::fragment_b.words();
};

#if defined(__CUDACC__)
/// The tile of D with its first element at (`row`, `column`), by one warp.
template <Opcode opcode, Hardware hardware>
__device__ void gemm_tile(const GemmOperands& of, i64 batch, i64 row, i64 column) {
  using P = Product<opcode, hardware>;
  using F = GemmForm<P>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const StoredTile<P::a> a_tile(of.a, batch, lane);
  const StoredTile<P::b> b_tile(of.b, batch, lane);
  u32 sums[F::d_words], total[F::d_words] = {}, a[F::a_words], b[F::b_words];
  StoredTile<P::c>(of.c, batch, lane).load(sums, row, column);
  i64 until_promotion = of.promote_every;
  if (of.promote_every != 0) {
    for (int i = 0; i < F::d_words; ++i) total[i] = sums[i], sums[i] = 0;
  }
#pragma unroll 1
  for (i64 k = 0; k < of.a.columns; k += F::k) {
    a_tile.load(a, row, k);
    b_tile.load(b, k, column);
    mma<opcode, hardware>(sums, a, b, sums);
    if constexpr (P::form.d == Format::f32) {
      if (of.promote_every == 0 || (--until_promotion != 0 && k + F::k < of.a.columns)) continue;
      until_promotion = of.promote_every;
      for (int i = 0; i < F::d_words; ++i) total[i] = add_f32(total[i], sums[i]), sums[i] = 0;
    }
  }
  StoredTile<P::d>(of.d, batch, lane).store(of.promote_every != 0 ? total : sums, row, column);
}

/// All of D: a warp for each tile. Blocks of 128 threads; the grid is (tiles of a row / 4 upwards, tiles of a column, batches).
template <Opcode opcode, Hardware hardware>
__device__ void gemm_block(const GemmOperands& of) {
  using F = GemmForm<Product<opcode, hardware>>;
  const i64 column = (static_cast<i64>(blockIdx.x) * 4 + threadIdx.x / 32) * F::n;
  if (column < of.d.columns) gemm_tile<opcode, hardware>(of, blockIdx.z, blockIdx.y * F::m, column);
}

/// The same as a kernel.
template <Opcode opcode, Hardware hardware>
__global__ void __launch_bounds__(128) gemm(GemmOperands of) {
  gemm_block<opcode, hardware>(of);
}

#else
template <int number>
struct Constant {
  static constexpr int value = number;
};

/// The same on a host, for one matrix of the batch.
template <Opcode opcode, Hardware hardware>
void gemm_on_host(const GemmOperands& of, i64 batch) {
  using P = Product<opcode, hardware>;
  using F = GemmForm<P>;
  const auto load = [&](auto fragment, const MatrixView& matrix, u32* words, i64 row, i64 column) {
    constexpr int number = decltype(fragment)::value;
    for (int lane = 0; lane < warp_lanes; ++lane) {
      u32 of_lane[fragments[number].words()];
      StoredTile<number>(matrix, batch, lane).load(of_lane, row, column);
      for (int i = 0; i < fragments[number].words(); ++i) words[i * warp_lanes + lane] = of_lane[i];
    }
  };
  u32 sums[F::d_words * warp_lanes], total[F::d_words * warp_lanes], a[F::a_words * warp_lanes], b[F::b_words * warp_lanes];
  for (i64 row = 0; row < of.d.rows; row += F::m)
    for (i64 column = 0; column < of.d.columns; column += F::n) {
      load(Constant<P::c>(), of.c, total, row, column);
      for (int i = 0; i < F::d_words * warp_lanes; ++i) sums[i] = of.promote_every != 0 ? 0 : total[i];
      i64 steps = 0;
      for (i64 k = 0; k < of.a.columns; k += F::k) {
        load(Constant<P::a>(), of.a, a, row, k);
        load(Constant<P::b>(), of.b, b, k, column);
        mma_on_host<opcode, hardware>(sums, {a, b, sums});
        if (of.promote_every == 0 || (++steps % of.promote_every != 0 && k + F::k < of.a.columns)) continue;
        for (int i = 0; i < F::d_words * warp_lanes; ++i) total[i] = add_f32(total[i], sums[i]), sums[i] = 0;
      }
      for (int lane = 0; lane < warp_lanes; ++lane) {
        u32 of_lane[F::d_words];
        for (int i = 0; i < F::d_words; ++i) of_lane[i] = (of.promote_every != 0 ? total : sums)[i * warp_lanes + lane];
        StoredTile<P::d>(of.d, batch, lane).store(of_lane, row, column);
      }
    }
}
#endif

}  // namespace warpmat::device
