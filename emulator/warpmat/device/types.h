#pragma once

// Types of the tables and the words that CUDA and a host compiler spell differently. C++17; no header of any library, so that NVRTC
// compiles it as it is.

#if defined(__CUDACC__)
#define WARPMAT_DEVICE_BOTH __host__ __device__
#define WARPMAT_DEVICE_INLINE __host__ __device__ __forceinline__
#define WARPMAT_DEVICE_UNROLL _Pragma("unroll")
#else
#define WARPMAT_DEVICE_BOTH
#define WARPMAT_DEVICE_INLINE inline
#define WARPMAT_DEVICE_UNROLL
#endif

namespace warpmat::device {

using u32 = unsigned int;
using i32 = int;
using u64 = unsigned long long;
using i64 = long long;
static_assert(sizeof(u32) == 4 && sizeof(u64) == 8, "CUDA's integers");

inline constexpr int warp_lanes = 32;

/// The meaning of the largest exponent codes: formats.h.
enum class Specials : unsigned char { ieee, one_nan, none };

/// A row of formats.h.
struct FormatRow {
  int bits;
  bool is_signed;
  int exponent_bits, fraction_bits, ignored_low_bits;
  Specials specials;
  bool has_zero;

  WARPMAT_DEVICE_BOTH constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  WARPMAT_DEVICE_BOTH constexpr int min_exponent() const { return (has_zero ? 1 : 0) - bias(); }
  WARPMAT_DEVICE_BOTH constexpr int max_exponent() const {
    return (1 << exponent_bits) - (specials == Specials::ieee || fraction_bits == 0 ? 2 : 1) - bias();
  }
};

/// What computes a form on a hardware: Semantics of forms.h without moves. m8n8k4 in a matrix unit is one step of `dot`.
enum class Arithmetic : unsigned char { none, dot, split_dot, grouped_dot, f64_chain, m8n8k4_fma, integer_dot, bit_dot };

/// A form's computation on one hardware: dot.h has the meaning of the numbers. All of them are 0 without a matrix unit of floats.
struct Lowering {
  Arithmetic arithmetic;
  int step_bytes, fraction_bits, result_fraction_bits, floor_f32, floor_f16;
};

enum class Axis : unsigned char { row, column, matrix, copy };

/// Which lane and register holds which element: layout.h. From low to high, the bits of a place are the element's number inside
/// the register, the lane (5 bits) and the register. Each of them is one bit of the row, of the column, or of the matrix.
struct Fragment {
  int element_bits, register_bits, payload_bits, payload_shift;
  int inside;  ///< bits of the number inside the register
  int size;    ///< bits of a place
  struct Bit {
    Axis axis;
    unsigned char bit;
  } bits[16];

  WARPMAT_DEVICE_BOTH constexpr int registers() const { return 1 << (size - inside - 5); }
  WARPMAT_DEVICE_BOTH constexpr int words() const { return registers() * register_bits / 32; }
  WARPMAT_DEVICE_BOTH constexpr int per_register() const { return 1 << inside; }
  WARPMAT_DEVICE_BOTH constexpr int elements() const { return registers() << inside; }  ///< of one lane
  WARPMAT_DEVICE_BOTH constexpr int count(Axis axis) const {
    int n = 0;
    for (int i = 0; i < size; ++i) n += bits[i].axis == axis;
    return n;
  }
  /// The bits of a place that `number` along `axis` sets.
  WARPMAT_DEVICE_BOTH constexpr u32 spread(Axis axis, u32 number) const {
    u32 place = 0;
    for (int i = 0; i < size; ++i)
      if (bits[i].axis == axis) place |= (number >> bits[i].bit & 1) << i;
    return place;
  }
  WARPMAT_DEVICE_BOTH constexpr u32 place(u32 row, u32 column, u32 matrix = 0) const {
    return spread(Axis::row, row) | spread(Axis::column, column) | spread(Axis::matrix, matrix);
  }
  /// The number along `axis` at `place`: the inverse of spread.
  WARPMAT_DEVICE_BOTH constexpr u32 coordinate(Axis axis, u32 place) const {
    u32 number = 0;
    for (int i = 0; i < size; ++i)
      if (bits[i].axis == axis) number |= (place >> i & 1) << bits[i].bit;
    return number;
  }
};

enum class BitOperation : unsigned char { none, bit_xor, bit_and };
enum class Rounding : unsigned char { nearest_even, toward_zero, down, up };

/// Of tables.h, where it has an enumerator for each row.
enum class Format : unsigned char;

/// forms.h; fragments are indices of `fragments`, -1 where the form lacks the operand.
struct Form {
  int m, n, k, stored_k;
  Format d, a, b, c;
  short fragment_d, fragment_a, fragment_b, fragment_c, fragment_e;
  int metadata_group;  ///< elements of the expanded A that one code of metadata covers; 0: dense
  Format scale;
  int scale_vector;  ///< scale factors of a row of A; 0: none
  bool satfinite;
  BitOperation bit_operation;
  Rounding rounding;
  short lowering_set;
  short fragment_scale_a, fragment_scale_b;
};

}  // namespace warpmat::device
