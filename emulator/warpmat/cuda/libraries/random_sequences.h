#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

// The generators of cuRAND whose results take one number each, in their order: an H200 gave the same
// (lab/notebook/2026-11-30-curand-and-textures.md, 2026-11-30-curand-poisson.md).

namespace warpmat::cuda {

class NumberSequence {
 public:
  NumberSequence() = default;
  NumberSequence(const NumberSequence&) = delete;
  NumberSequence& operator=(const NumberSequence&) = delete;
  virtual ~NumberSequence() = default;
  /// The numbers of a call's results.
  virtual std::vector<std::uint64_t> take(std::size_t count) = 0;
};

/// MT19937 (Matsumoto, Nishimura 1998): 8,192 generators, 2^2048 numbers apart. Of the seed its lower 32 bits count.
std::unique_ptr<NumberSequence> make_mersenne_twister(std::uint64_t seed);
/// MTGP32 (Saito, Matsumoto 2013): so many generators with parameters of their own, which give 256 numbers each in turn.
std::unique_ptr<NumberSequence> make_mtgp32(std::uint64_t seed, std::size_t generators);
/// Sobol's sequence in numbers of 32 or 64 bits: a call has equally many points in each dimension, dimension after dimension.
std::unique_ptr<NumberSequence> make_sobol(int bits, bool scrambled, std::size_t dimensions, std::uint64_t offset);

/// Dimensions whose direction numbers are known here.
inline constexpr std::size_t sobol_dimensions = 1111, scrambled_dimensions = 20;
constexpr std::size_t known_dimensions(bool scrambled) {
  return scrambled ? scrambled_dimensions : sobol_dimensions;
}
/// The 64 direction numbers of each of them; those of 32 bits are the upper halves of the first ones.
const std::vector<std::uint64_t>& sobol_directions(bool scrambled);
/// What is added to each number of a scrambled dimension.
const std::vector<std::uint64_t>& scramble_constants();

}  // namespace warpmat::cuda
