#pragma once

#include <cstdint>
#include <span>

#include <warpmat/numeric/dot.h>
#include <warpmat/numeric/ieee.h>
#include <warpmat/tables/deviation.h>

namespace warpmat {

/// The arithmetic of numeric/dot.h with rules changed. Without deviations it gives the same bits; a test checks that. So each deviation
/// changes what it names and nothing else.
class DeviatingUnit {
 public:
  /// `result` is the format of C and of results: f32 or f16.
  DeviatingUnit(const DotModel& model, Deviations deviations, Format result) : model_(model), deviations_(deviations), result_(result) {}

  /// An element of A or B as the unit multiplies it.
  Value multiplicand(Format format, std::uint64_t bits) const;

  /// Like dot_step() and dot() of numeric/dot.h.
  std::uint64_t step(std::span<const Value> a, std::span<const Value> b, std::uint64_t c) const;
  std::uint64_t dot(int step_length, std::span<const Value> a, std::span<const Value> b, std::uint64_t c) const;

  /// sum + C in one IEEE addition: the last instruction that the assembler emits for fp8.
  std::uint64_t last_addition(std::uint64_t sum, std::uint64_t c) const;

  /// The bits of C as the unit adds them.
  std::uint64_t accumulator(std::uint64_t c) const;

  std::uint64_t nan() const;

 private:
  bool has(Deviation deviation) const { return deviations_.has(deviation); }
  Value product(const Value& a, const Value& b) const;
  std::uint64_t sum(std::span<const Value> terms) const;
  std::int64_t cut(const Value& term, int unit_exponent) const;
  std::uint64_t round(std::int64_t sum, int unit_exponent, bool all_negative) const;
  std::uint64_t sign_bit() const { return std::uint64_t{1} << (row(result_).bits - 1); }

  const DotModel& model_;
  Deviations deviations_;
  Format result_;
};

/// fused_multiply_add of numeric/ieee.h with rules changed.
std::uint64_t deviating_fma(Deviations deviations, Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding,
                            NanRule nan_rule);

/// The NaN with only the highest fraction bit set.
std::uint64_t quiet_nan(Format format);

/// `bits`, or zero of the same sign if they are a subnormal number.
std::uint64_t flushed(Format format, std::uint64_t bits);

}  // namespace warpmat
