#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Poisson's distribution as cuRAND's library makes it of uniform numbers (lab/notebook/2026-11-30-curand-poisson.md).

namespace warpmat::cuda {

/// The square histogram of Marsaglia, Tsang and Wang ("Fast generation of discrete random variables", 2004): one column for each result,
/// equally wide. A number below the column's bound gives its own result, another one that of its donor.
struct SquareHistogram {
  std::uint32_t first = 0;  ///< the result of column 0
  std::vector<double> bounds;
  std::vector<std::uint32_t> donors;

  /// Of a number above 0 and up to 1.
  std::uint32_t result(double u) const;
};
/// From this mean on cuRAND has no histogram.
inline constexpr double poisson_histograms_end = 2000;
/// Below it. The columns are those of results whose probability is a number of f64 above 0.
SquareHistogram poisson_histogram(double mean);

/// The distribution function, whose first result that reaches a number is the number's.
class PoissonInverse {
 public:
  /// Up to a mean of 8,000.
  explicit PoissonInverse(double mean);
  std::uint32_t result(double u) const;

 private:
  std::uint32_t first_;  ///< result of the first sum
  std::vector<long double> sums_;
};

/// Rounded to the nearest number of events: of a normal number from 0 to 1.
std::uint32_t poisson_of_normal(double mean, float normal);
/// The same in f32, as MT19937 has it.
std::uint32_t poisson_of_normal(float mean, float normal);

/// The bytes that curandCreatePoissonDistribution leaves at an address of the GPU's memory, for kernels: curand_discrete.h names the
/// fields.
std::vector<std::uint8_t> poisson_distribution(double mean, std::uint64_t address);

}  // namespace warpmat::cuda
