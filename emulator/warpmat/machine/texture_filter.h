#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

// The sums of texture filters, as an H200 computes them: lab/notebook/2026-11-29-texture-filters.md.

namespace warpmat::machine {

constexpr int weight_one = 256;  ///< weights have 8 fraction bits

/// A weight of 256ths, rounded: half of a 256th goes up.
constexpr int rounded_weight(int product) {
  return (product + weight_one / 2) / weight_one;
}

/// A channel of a texel with its weight. Texels of one group are aligned to each other.
struct WeightedTexel {
  double value = 0;
  int weight = 0;
  std::size_t group = 0;
};

constexpr std::size_t most_filter_groups = 4;  ///< two levels, and in each two slices

/// What floating-point texels keep in a sum, and their sum after it.
struct FilterFormat {
  int kept_bits;    ///< behind the first bit of the largest texel of a group: the others are cut there
  int significand;  ///< bits of the result
  int least_power;  ///< of the result's last bit
};
constexpr FilterFormat filter_of_f32{27, 24, -149}, filter_of_f16{14, 11, -24}, filter_of_srgb{7, 11, -24};

/// The sum of texels times weights: half of the last bit goes away from zero. Texels below 2^-126 are zero.
float filtered_sum(std::span<const WeightedTexel> texels, const FilterFormat& format);
/// The same of texels that are integers of 16 bits: half goes up.
std::int64_t filtered_integer(std::span<const WeightedTexel> texels);

/// How far a coordinate moves, in texels.
using Gradient = std::array<double, 3>;
/// The level that gradients choose: in 256ths, nearly always an H200's
/// (lab/notebook/2026-11-30-curand-and-textures.md, 2026-11-30-curand-poisson.md).
double level_of_gradients(const Gradient& dx, const Gradient& dy);

/// The linear number of an sRGB channel of 8 bits.
float linear_of_srgb(std::uint8_t code);

}  // namespace warpmat::machine
