#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/numeric/dot.h>

namespace warpmat {

/// A sum in the units of a matrix unit's register.
struct AlignedSum {
  int largest_exponent;  ///< of the terms that are not zero; no_floor if all are
  int unit_exponent;     ///< a unit of `sum` is 2^unit_exponent
  std::int64_t sum;
};

/// `term` in units of 2^unit_exponent, truncated toward zero: what a matrix unit keeps of it.
std::int64_t truncate(const Value& term, int unit_exponent);

/// Sees each step of the arithmetic as it is computed, for whom shows the steps (execute/explain.h). Events carry it to the reference
/// (numeric/events.h); the calls of one step come in the order of the functions here.
class Observer {
 public:
  virtual ~Observer() = default;

  /// What follows computes result `number` of an instruction: (matrix * rows + row) * columns + column.
  virtual void result(std::size_t number) = 0;
  /// The next product is that of stored column `stored` of A; where nothing says so, columns ascend from 0.
  virtual void column(std::size_t stored) = 0;
  /// The factors of a unit's step, in pairs, and the bits that it adds their products to. Where `groups` is not 0, the step's terms are
  /// that many sums of group_elements products, times two scale factors each.
  virtual void factors(std::span<const Value> a, std::span<const Value> b, std::uint64_t c, std::size_t groups) = 0;
  /// A unit's step; the last term is C. Nothing is aligned where a term is NaN or infinite.
  virtual void sum(Format accumulator, std::span<const Value> terms, const AlignedSum* aligned, std::uint64_t result) = 0;
  /// An IEEE a * b + c; an addition is one whose b is 1 and that no column was named for.
  virtual void fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, std::uint64_t result) = 0;
  /// All products of integers or bits, and their sum with C before it is made an s32.
  virtual void integers(std::span<const std::int64_t> products, std::int64_t c, std::int64_t sum) = 0;
};

}  // namespace warpmat
