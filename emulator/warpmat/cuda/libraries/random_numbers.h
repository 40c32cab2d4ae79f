#pragma once

#include <array>
#include <cstdint>
#include <vector>

// The pseudo-random generators of cuRAND, whose algorithms and seeds NVIDIA's device headers have. A generator is a number of threads;
// each has a sequence of its own, at a distance from the one before.

namespace warpmat::cuda {

/// XORWOW (Marsaglia 2003). Threads are 2^67 elements apart.
class Xorwow {
 public:
  using State = std::array<std::uint32_t, 6>;  ///< five words, and the counter
  static State seeded(std::uint64_t seed);
  static std::uint32_t next(State& state);
  static void skip(State& state, std::uint64_t count);
  static void skip_thread(State& state);
};

/// MRG32k3a (L'Ecuyer 1999). Threads are 2^76 elements apart. Elements are numbers from 1 to the first modulus.
class Mrg32k3a {
 public:
  using State = std::array<std::uint64_t, 6>;
  static State seeded(std::uint64_t seed);
  static std::uint32_t next(State& state);
  static void skip(State& state, std::uint64_t count);
  static void skip_thread(State& state);
};

/// Philox4x32-10 (Salmon et al. 2011). The number of a thread is a part of the counter.
class Philox {
 public:
  struct State {
    std::uint64_t seed = 0, thread = 0, block = 0;
    std::array<std::uint32_t, 4> numbers{};
    unsigned used = 4;
  };
  static State seeded(std::uint64_t seed) { return {.seed = seed}; }
  static std::uint32_t next(State& state);
  /// `count` blocks of four.
  static void skip(State& state, std::uint64_t count) { state.block += count; }
  static void skip_thread(State& state) { ++state.thread; }
};

/// The threads of a generator, which have states of their own. Groups of numbers come from one thread after another, from place `first` on,
/// as if each group before had taken one number, or one block of Philox, of its thread. With `seed_step` threads have seeds so far apart,
/// and not places in one sequence.
template <typename Generator>
class Threads {
 public:
  Threads(std::uint64_t seed, std::uint64_t count, std::uint64_t first, std::uint64_t seed_step = 0)
      : seed_(seed), seed_step_(seed_step), count_(count), first_(first), last_(Generator::seeded(seed)) {}

  /// The next numbers of the thread whose turn `group` is.
  void take(std::uint64_t group, std::vector<std::uint32_t>& numbers) {
    typename Generator::State& state = state_of(group);
    before_ = state;
    for (std::uint32_t& each : numbers) each = Generator::next(state);
  }
  std::uint64_t thread_of(std::uint64_t group) const { return group % count_; }
  /// Gives back what take() took last.
  void give_back(std::uint64_t group) { state_of(group) = before_; }

 private:
  typename Generator::State& state_of(std::uint64_t group) {
    const std::uint64_t thread = thread_of(group);
    while (states_.size() <= thread) make();
    return states_[thread];
  }
  void make() {
    if (seed_step_ != 0)
      last_ = Generator::seeded(seed_ + seed_step_ * states_.size());
    else if (!states_.empty())
      Generator::skip_thread(last_);
    states_.push_back(last_);
    const std::uint64_t skipped = first_ / count_ + (states_.size() <= first_ % count_ ? 1 : 0);
    if (skipped != 0) Generator::skip(states_.back(), skipped);
  }

  std::uint64_t seed_, seed_step_, count_, first_;
  typename Generator::State before_{}, last_;  ///< before take(); the first of the last thread that was made
  std::vector<typename Generator::State> states_;
};

// What nvcc compiles log, sincospi and exp to for GPUs, operation by operation (nvcc 13.0), for the numbers that generators give.
float log_of_gpu(float x);
double log_of_gpu(double x);
float exp_of_gpu(float x);
double exp_of_gpu(double x);

/// Two numbers, distributed normally.
template <typename T>
struct NormalPair {
  T first, second;
};
/// Of two uniform numbers: `u` above 0 and up to 1, and an angle.
NormalPair<float> box_muller(float u, float angle);
/// The angle in half turns.
NormalPair<double> box_muller(double u, double half_turns);

/// A number distributed normally, of one uniform number, by the inverse of erfc as nvcc compiles it.
float normal_of(std::uint32_t x);
double normal_double_of(std::uint32_t x);
double normal_double_of(std::uint64_t x);

}  // namespace warpmat::cuda
