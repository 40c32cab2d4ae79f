#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/observer.h>

namespace warpmat {

/// What a kernel seems to compute.
struct Guess {
  std::string product;  ///< as LaunchOptions::gemm takes it; empty: none was recognised
  std::string text;     ///< "looks like C = A*B^T, 128x192x256, except 64 of 24576 elements"; or why nothing was recognised
  /// Of a kernel without matrix instructions: elements that it computes otherwise than their neighbours.
  std::vector<Trap> findings{};
};

/// Finds what a kernel computes by a launch of it: which elements of which buffers its matrix instructions multiply, and where statements
/// store the sums; of a kernel without such instructions, which elements each stored element depends on. Values do not matter.
///
///   Guesser guesser(kernel, config, memory, arguments);
///   LaunchOptions options;
///   options.observer_of_cluster = [&](std::uint64_t cluster) { return guesser.observer(cluster); };
///   launch(kernel, config, memory, arguments, options);
///   std::string product = guesser.result().product;
///
/// It follows at most some 256 clusters, and keeps some 2^18 elements of the results. The memory must outlive it.
class Guesser {
 public:
  Guesser(const Kernel& kernel, const LaunchConfig& config, const DeviceMemory& memory, const std::vector<Argument>& arguments);
  ~Guesser();
  Guesser(const Guesser&) = delete;
  Guesser& operator=(const Guesser&) = delete;

  /// That of a cluster; nullptr for one that is not followed. Several threads may call it at once.
  std::unique_ptr<machine::Observer> observer(std::uint64_t cluster);
  /// After the launch, also after one that a trap ended. `errs`: the results are known to be wrong, so that rows with more elements than
  /// were multiplied are no padding, and what is merely unusual is a finding.
  Guess result(bool errs = false) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpmat
