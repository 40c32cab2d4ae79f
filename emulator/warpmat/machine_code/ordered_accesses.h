#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/ir/code.h>

namespace warpmat::machine_code {

/// Which loads and stores with an order, as volatile ones, code may execute like others: those of shared memory by which no warp waits. The
/// warps of a block take turns, so only who waits for another one can see the order. Others the machine executes, which counts how often a
/// warp looks in vain.
class OrderedAccesses {
 public:
  explicit OrderedAccesses(const code::Program& program);

  /// Of a load or store whose access is ordered.
  bool can_be_inside(std::int32_t number);

 private:
  static constexpr code::Slot slot_bytes = 4;  ///< of the smallest register, a predicate
  using Slots = std::vector<bool>;             ///< of registers, by where they begin

  template <typename Visit>
  void for_targets(const code::Operation& operation, Visit visit) const;
  void find_loops();
  void find_deciding();
  void step_back(std::int32_t number, Slots& deciding);
  const code::Operation& operation(std::int32_t i) const { return program_.operations[static_cast<std::size_t>(i)]; }

  const code::Program& program_;
  std::vector<bool> in_loop_;  ///< whether an operation may be executed again
  std::vector<bool> decides_;  ///< whether a branch depends on its result, by way of registers; empty before it is asked for
};

}  // namespace warpmat::machine_code
