#include <warpmat/cuda/libraries/random_poisson.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace warpmat::cuda {
namespace {

/// The probabilities from `first` on. They begin far below what f64 has.
struct Probabilities {
  std::uint32_t first = 0;
  std::vector<long double> all;
};

/// Those that are at least `least`, which is far above the last one that long double has.
Probabilities poisson_probabilities(double mean, long double least) {
  Probabilities found;
  long double p = std::exp(-static_cast<long double>(mean));
  for (std::uint32_t k = 0; k <= mean || p >= least; p *= static_cast<long double>(mean) / ++k) {
    if (p < least) continue;
    if (found.all.empty()) found.first = k;
    found.all.push_back(p);
  }
  return found;
}

// As curand_discrete.h has them. Kernels read no address of the host; it is 0 here.

struct DiscreteDistribution {
  std::uint64_t host_self = 0, table = 0, host_table = 0;
  double deviation = 0, mean = 0;
  std::uint32_t method = 0, of_host = 0;
};
struct DistributionTable {
  std::uint64_t histogram = 0, host_histogram = 0;
  std::uint32_t shift = 0, length = 0, of_host = 0, padding = 0;
};
struct HistogramArrays {
  std::uint64_t bounds = 0, host_bounds = 0, donors = 0, host_donors = 0;
  std::uint32_t of_host = 0, padding = 0;
};
constexpr std::uint32_t by_histogram = 5, by_normal = 7;  ///< curandMethod_t

template <typename T>
void append(std::vector<std::uint8_t>& bytes, const T* first, std::size_t count) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(first);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
}

}  // namespace

std::vector<std::uint8_t> poisson_distribution(double mean, std::uint64_t address) {
  std::vector<std::uint8_t> bytes;
  if (mean >= poisson_histograms_end) {
    const DiscreteDistribution normal{.deviation = std::sqrt(mean), .mean = mean, .method = by_normal};
    append(bytes, &normal, 1);
    return bytes;
  }
  const SquareHistogram of = poisson_histogram(mean);
  const std::size_t size = of.bounds.size();
  const std::uint64_t table = address + sizeof(DiscreteDistribution), arrays = table + sizeof(DistributionTable),
                      bounds = arrays + sizeof(HistogramArrays);
  const DiscreteDistribution distribution{.table = table, .method = by_histogram};
  const DistributionTable columns{.histogram = arrays, .shift = of.first, .length = static_cast<std::uint32_t>(size)};
  const HistogramArrays places{.bounds = bounds, .donors = bounds + size * sizeof(double)};
  append(bytes, &distribution, 1);
  append(bytes, &columns, 1);
  append(bytes, &places, 1);
  append(bytes, of.bounds.data(), size);
  append(bytes, of.donors.data(), size);
  return bytes;
}

std::uint32_t SquareHistogram::result(double u) const {
  const auto size = bounds.size(), column = std::min(static_cast<std::size_t>(u * static_cast<double>(size)), size - 1);
  return first + (u < bounds[column] ? static_cast<std::uint32_t>(column) : donors[column]);
}

SquareHistogram poisson_histogram(double mean) {
  const Probabilities of = poisson_probabilities(mean, 0x1p-1075L * 1.000000001L);  // what rounds to a number of f64
  const std::size_t size = of.all.size();
  std::vector<long double> heights(size);  // in columns
  for (std::size_t i = 0; i < size; ++i) heights[i] = of.all[i] * static_cast<long double>(size);
  SquareHistogram histogram{of.first, std::vector<double>(size), std::vector<std::uint32_t>(size)};
  std::vector<bool> is_full(size);
  const auto close = [&](std::size_t column, std::size_t donor, long double height) {
    histogram.bounds[column] = static_cast<double>((static_cast<long double>(column) + height) / static_cast<long double>(size));
    histogram.donors[column] = static_cast<std::uint32_t>(donor);
    is_full[column] = true;
  };
  // Columns that are too low, from the left, are filled up from the last one that is high enough, again and again.
  std::size_t donor = size;
  const auto has_donor = [&] {
    while (donor > 0 && heights[donor - 1] < 1) --donor;
    return donor > 0;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < size && has_donor(); ++i) {
      if (is_full[i] || heights[i] >= 1) continue;
      close(i, donor - 1, heights[i]);
      heights[donor - 1] -= 1 - heights[i];
      changed = true;
    }
  }
  for (std::size_t i = 0; i < size; ++i)
    if (!is_full[i]) close(i, i, 1);
  return histogram;
}

PoissonInverse::PoissonInverse(double mean) {
  const Probabilities of = poisson_probabilities(mean, 0x1p-64L);  // no number lies below the sum of the others
  first_ = of.first;
  long double sum = 0;
  for (const long double p : of.all) {
    if (sum > 0.5L && p < 0x1p-54L) break;  // as sums of f64 end
    sums_.push_back(sum += p);
  }
}

std::uint32_t PoissonInverse::result(double u) const {
  const auto found = std::lower_bound(sums_.begin(), std::prev(sums_.end()), static_cast<long double>(u));
  return first_ + static_cast<std::uint32_t>(found - sums_.begin());
}

std::uint32_t poisson_of_normal(double mean, float normal) {
  return static_cast<std::uint32_t>(std::sqrt(mean) * static_cast<double>(normal) + mean + 0.5);
}
std::uint32_t poisson_of_normal(float mean, float normal) {
  return static_cast<std::uint32_t>(std::fma(normal, std::sqrt(mean), mean) + 0.5f);
}

}  // namespace warpmat::cuda
