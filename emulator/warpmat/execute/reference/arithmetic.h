#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <warpmat/forms.h>
#include <warpmat/numeric/ieee.h>
#include <warpmat/numeric/matrix_unit.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

/// The four elements along K of a row of A and of a column of B of m8n8k4: f16 bits.
struct Quad {
  std::array<std::uint64_t, 4> a, b;
};

/// What execute/reference computes of one result, a function for each rule; the functions of the matrix unit are MatrixUnit's. `Self` is
/// the deriving class, as there. PlainArithmetic is what ships. The laboratory derives others: it counts which rules decide a result
/// (gpu/lab/rules/counting.cpp) and turns single rules (gpu/lab/rules/deviating.cpp). explain/explain.cpp records the steps.
template <typename Self>
class ReferenceArithmetic : public MatrixUnit<Self> {
 public:
  // ---- Notes. They compute nothing.

  /// The following calls compute result `number` of an instruction: (matrix * rows + row) * columns + column.
  void result(std::size_t /*number*/) {}
  /// The next product is of stored column `stored` of A. Without this call, columns ascend from 0.
  void column(std::size_t /*stored*/) {}

  // ---- Types of C and D that differ: wmma. A NaN becomes the canonical one [H200].

  /// The format in which the unit adds up.
  Format sum_format(const Form& form) { return form.accumulator(); }
  /// C for the unit: exact.
  std::uint64_t widened(const Form& form, std::uint64_t c) { return converted(form.format(OperandName::c), self().sum_format(form), c); }
  /// The unit's sum as D, to nearest even.
  std::uint64_t narrowed(const Form& form, std::uint64_t sum) {
    return converted(self().sum_format(form), form.format(OperandName::d), sum);
  }

  static std::uint64_t converted(Format from, Format to, std::uint64_t bits) { return from == to ? bits : encode(to, decode(from, bits)); }

  // ---- IEEE operations outside of the matrix unit

  std::uint64_t fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, NanRule nan_rule) {
    return fused_multiply_add(format, a, b, c, rounding, nan_rule);
  }
  /// a + b, with canonical NaN.
  std::uint64_t sum_of(Format format, std::uint64_t a, std::uint64_t b) {
    return self().fused(format, a, one(format), b, Rounding::nearest_even, NanRule::canonical);
  }

  // ---- fp8 in two halves

  /// An element as the unit multiplies it. A subnormal of e4m3 is a normal f16, and is aligned as one.
  Value split_multiplicand(Format format, std::uint64_t bits) {
    return self().multiplicand(Format::f16, encode(Format::f16, decode(format, bits)));
  }
  /// Whether stored element `k` of `count` is added in the first step.
  bool in_first_half(std::size_t k, std::size_t /*count*/) { return k / 2 % 2 == 0; }
  /// Both steps, from `sum`.
  std::uint64_t halves(const DotModel& model, Format accumulator, std::span<const Value> a, std::span<const Value> b, std::uint64_t sum) {
    std::array<Value, capacity::float_k> half_a, half_b;
    for (const bool first : {true, false}) {
      std::size_t count = 0;
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (self().in_first_half(k, a.size()) != first) continue;
        self().column(k);
        half_a[count] = a[k];
        half_b[count++] = b[k];
      }
      sum = self().step(model, accumulator, std::span(half_a).first(count), std::span(half_b).first(count), sum);
    }
    return sum;
  }
  /// The addition of C.
  std::uint64_t last_addition(Format format, std::uint64_t sum, std::uint64_t c) { return self().sum_of(format, sum, c); }

  // ---- f64

  std::uint64_t f64_chain(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, std::uint64_t c, Rounding rounding) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t k = self().part_of_k(i, a.size());
      self().column(k);
      c = self().fused(Format::f64, a[k], b[k], c, rounding, NanRule::propagate);
    }
    return c;
  }

  // ---- m8n8k4 of f16 on the f32 cores

  /// Whether two sums of two products are added to C, or all four in a chain.
  bool adds_pairs(Format d) { return d == Format::f16; }

  std::uint64_t m8n8k4(const Quad& quad, std::uint64_t c_bits, Format c_format, Format d_format) {
    const std::uint64_t c = converted(c_format, Format::f32, c_bits);
    if (!self().adds_pairs(d_format)) return self().m8n8k4_result(self().sum_of(Format::f32, c, chain(quad, 0, 4, 0)), d_format);
    const std::uint64_t negative_zero = 0x80000000;  // x * y alone: adding -0 changes nothing
    const std::uint64_t low = chain(quad, 0, 2, negative_zero), high = chain(quad, 2, 4, negative_zero);
    return self().m8n8k4_result(self().sum_of(Format::f32, self().sum_of(Format::f32, c, low), high), d_format);
  }

  /// Products `begin` to `end` - 1, added to `sum` one after the other.
  std::uint64_t chain(const Quad& quad, std::size_t begin, std::size_t end, std::uint64_t sum) {
    for (std::size_t k = begin; k < end; ++k) {
      self().column(k);
      sum = self().fused(Format::f32, converted(Format::f16, Format::f32, quad.a[k]), converted(Format::f16, Format::f32, quad.b[k]), sum,
                         Rounding::nearest_even, NanRule::canonical);
    }
    return sum;
  }

  /// D of the sum, which is f32. A NaN becomes the canonical one.
  std::uint64_t m8n8k4_result(std::uint64_t sum, Format d) { return converted(Format::f32, d, sum); }

  // ---- Integers and bits

  /// C and all products, exactly.
  std::int64_t integer_sum(std::span<const std::int64_t> a, std::span<const std::int64_t> b, std::int64_t c) {
    for (std::size_t k = 0; k < a.size(); ++k) c += a[k] * b[k];
    return c;
  }
  /// The same of .b1.
  std::int64_t bit_sum(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b, std::int64_t c, BitOperation operation) {
    for (std::size_t k = 0; k < a.size(); ++k) c += bit_product(a[k], b[k], operation);
    return c;
  }
  static std::int64_t bit_product(std::uint8_t a, std::uint8_t b, BitOperation operation) {
    return operation == BitOperation::bit_xor ? a ^ b : a & b;
  }
  /// An exact sum as s32: clamped with .satfinite, else modulo 2^32.
  std::uint32_t s32(std::int64_t sum, bool satfinite) {
    using Limits = std::numeric_limits<std::int32_t>;
    return static_cast<std::uint32_t>(satfinite ? std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()) : sum);
  }

 protected:
  using MatrixUnit<Self>::self;
};

struct PlainArithmetic final : ReferenceArithmetic<PlainArithmetic> {};

}  // namespace warpmat
