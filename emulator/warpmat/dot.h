#pragma once

#include <span>
#include <string_view>

#include <warpmat/formats.h>
#include <warpmat/version.h>

namespace warpmat {

// How a matrix unit adds up a dot product.
//
// A unit takes `step_bytes` of stored K at a time. The products of one step and the accumulator are not added one after the other. They are
// added in one wide fixed-point register. The largest term decides the weight of its lowest bit; lower bits are lost:
//
//   decode     every operand exactly; subnormals count, with their format's smallest exponent and an unnormalised significand
//   multiply   exactly; a product's exponent is e_a + e_b and stays so when its significand reaches 2
//   align      E is the largest exponent among the terms that are not zero, the accumulator included, but at least the floor that
//              the unit has for the format of its result
//   truncate   every term toward zero to a multiple of 2^(E - fraction_bits)
//   sum        exactly: the order does not matter
//   round      once: toward zero to f32, to nearest even to f16; too large becomes infinity, zero becomes +0
//
// Any NaN, 0 · infinity, or infinities of both signs give the canonical NaN; otherwise an infinity keeps its sign. The result of a step is
// the accumulator of the next, with K ascending. The order of the steps is visible in the bits; the order within a sum is not.
//
// Sources: Fasi, Higham, Mikaitis, Pranesh 2021; arXiv 2511.10909; arXiv 2512.07004. docs/reference/numerics.md says how each number of a
// row is known.

WARPMAT_LOCAL inline constexpr int no_floor = -10'000;  ///< below every exponent; safe to subtract from

/// One row: the arithmetic of one generation of matrix unit for 16-, 19- and 8-bit floating-point products.
struct DotModel {
  std::string_view name;
  int step_bytes;            ///< bytes of one row of A that one step consumes: 32 bytes are 16 f16, 8 tf32 or 32 e4m3
  int fraction_bits;         ///< bits kept below the largest term's unit bit
  int result_fraction_bits;  ///< fraction bits that an f32 result keeps: 23, or fewer with zeros below
  int floor_f32 = no_floor;  ///< lower bound of E for f32 results
  int floor_f16 = no_floor;  ///< lower bound of E for f16 results

  int floor(Format result) const { return result == Format::f16 ? floor_f16 : floor_f32; }
};

namespace dot_models {
// The floors: docs/reference/numerics.md. Each is the smallest exponent of the result's format minus
// (fraction_bits - 18). volta has no floor for f32, because no f16 operands reach it.
WARPMAT_LOCAL inline constexpr DotModel volta{"volta", 8, 23, 23, no_floor, -19};
WARPMAT_LOCAL inline constexpr DotModel ampere{"ampere", 16, 24, 23, -132, -20};  // Turing, Ampere, and Ada's 16- and 19-bit types
WARPMAT_LOCAL inline constexpr DotModel ada_fp8{"ada_fp8", 16, 13, 13};
WARPMAT_LOCAL inline constexpr DotModel hopper{"hopper", 32, 25, 23, -133, -21};  // Hopper and Blackwell
WARPMAT_LOCAL inline constexpr DotModel hopper_k4{"hopper_k4", 16,   25,
                                                  23,          -133, -21};  // the same unit where an instruction has four tf32 of K alone
WARPMAT_LOCAL inline constexpr DotModel blackwell_fp4{"blackwell_fp4", 32, 35, 23};  // groups of 4-bit products with scales
}  // namespace dot_models

/// Elements of `format` that one step of `model` consumes.
inline int step_elements(const DotModel& model, Format format) {
  return model.step_bytes * 8 / row(format).bits;
}

/// The exact product of two elements; a zero of either sign is Kind::zero.
[[nodiscard]] WARPMAT_API Value multiply(const Value& a, const Value& b);

/// One step over terms already multiplied: align, truncate, sum, round. The accumulator is one of the terms; the result is bits of
/// `accumulator` (f32 or f16).
WARPMAT_API std::uint64_t sum_step(const DotModel& model, Format accumulator, std::span<const Value> terms);

/// One step: round(2^scale_exponent · sum of a[i] · b[i] + c). `a` and `b` have equal length, at most max_step_elements; `c` and the result
/// are bits of `accumulator`. A block-scaled unit adds `scale_exponent` to the exponent of every product.
WARPMAT_API std::uint64_t dot_step(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                                   std::uint64_t c, int scale_exponent = 0);

WARPMAT_LOCAL inline constexpr std::size_t max_step_elements = 32;  ///< 32 bytes of an 8-bit format

/// A whole dot product: `a` and `b` in steps of `step_length` elements, ascending, from `c`.
WARPMAT_API std::uint64_t dot(const DotModel& model, int step_length, Format accumulator, std::span<const Value> a,
                              std::span<const Value> b, std::uint64_t c, int scale_exponent = 0);

/// One step of a unit for 4-bit blocks (kind::mxf4, kind::mxf4nvf4). Groups of 16 products are summed exactly. Each sum times its two scale
/// factors is one term, aligned by the scales' exponents alone [arXiv 2511.10909]. `scales_a` and `scales_b` have one factor per group.
WARPMAT_API std::uint64_t grouped_dot(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b,
                                      std::span<const Value> scales_a, std::span<const Value> scales_b, std::uint64_t c);

WARPMAT_LOCAL inline constexpr std::size_t group_elements = 16;

}  // namespace warpmat
