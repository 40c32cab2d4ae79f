#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/numeric/dot.h>

namespace warpmat {

/// A sum in the units of a matrix unit's register.
struct AlignedSum {
  int largest_exponent;  ///< of the nonzero terms; no_floor if all are zero
  int unit_exponent;     ///< a unit of `sum` is 2^unit_exponent
  std::int64_t sum;
};

/// `term` in units of 2^unit_exponent, truncated toward zero, as a matrix unit does.
std::int64_t truncate(const Value& term, int unit_exponent);

/// Callbacks for step-by-step explanations (execute/explain.h). Events pass it to the reference (numeric/events.h). Calls of one step come
/// in the order of the functions below.
class Observer {
 public:
  virtual ~Observer() = default;

  /// The following calls compute result `number` of an instruction: (matrix * rows + row) * columns + column.
  virtual void result(std::size_t number) = 0;
  /// The next product uses stored column `stored` of A. Without this call, columns ascend from 0.
  virtual void column(std::size_t stored) = 0;
  /// The factors of a unit's step, in pairs, and the accumulator's bits. If `groups` is not 0, the step's terms are that many sums of
  /// group_elements products, each times two scale factors.
  virtual void factors(std::span<const Value> a, std::span<const Value> b, std::uint64_t c, std::size_t groups) = 0;
  /// A unit's step; the last term is C. `aligned` is nullptr if a term is NaN or infinite: nothing is aligned then.
  virtual void sum(Format accumulator, std::span<const Value> terms, const AlignedSum* aligned, std::uint64_t result) = 0;
  /// An IEEE a * b + c. An addition has b = 1 and no preceding column().
  virtual void fused(Format format, std::uint64_t a, std::uint64_t b, std::uint64_t c, Rounding rounding, std::uint64_t result) = 0;
  /// All products of integers or bits, and their sum with C before conversion to s32.
  virtual void integers(std::span<const std::int64_t> products, std::int64_t c, std::int64_t sum) = 0;
};

}  // namespace warpmat
