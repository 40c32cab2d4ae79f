#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/staged_registers.h>
#include <warpmat/execute/staged_warp.h>
#include <warpmat/instruction.h>

namespace warpmat::inline v0_1 {

/// The kernel of `instruction` if StagedProduct executes it, else nullptr: mma of the operands d, a, b and c alone.
const FastPath* find_product(const Instruction& instruction);

/// The kernel if it supports all of ProductLanes, else nullptr. `product`: of find_product.
const FastPath* find_lane_product(const FastPath* product);

/// A product on the caller's registers where they are, for a kernel of find_lane_product.
class LaneProduct {
 public:
  /// `split`: Semantics::split_dot.
  LaneProduct(const FastPath& kernel, bool split) : kernel_(kernel), split_(split) {}

  /// Describes the form's `operands`, as StagedWarp::add. Returns false also if the words of some operand are not lane by lane.
  template <typename Place>
  bool add(std::span<const OperandWords> operands, Place place) {
    for (std::size_t i = 0; i < strides_.size(); ++i) {
      RegisterView r;
      if (!place(i, operands[i], r)) return false;
      const LaneRegisters registers{r.words(), r.word_stride(), r.lane_stride(), r.numbers(), nullptr, operands[i].words, true};
      if (!is_lane_by_lane(registers)) return false;
      lanes_.*order[i] = registers.lanes();
      strides_[i] = r.warp_stride();
    }
    return true;
  }

  /// Executes the warps in order until one needs a StagedWarp, which is then unchanged. Returns how many.
  std::size_t execute(std::size_t warps) {
    static constinit const Arguments no_registers{};
    for (std::size_t warp = 0; warp < warps; ++warp) {
      if (split_ && c_overlaps_earlier_d()) return warp;
      if (kernel_.execute({.first = no_registers, .apart = true, .lanes = lanes_}) != 1) return warp;
      for (std::size_t i = 0; i < strides_.size(); ++i) (lanes_.*order[i]).words += strides_[i];
    }
    return warps;
  }

 private:
  bool c_overlaps_earlier_d() const {
    const auto registers = [](const LaneWords& of) {
      return LaneRegisters{of.words, 1, of.lane_stride, nullptr, nullptr, accumulator_words, true};
    };
    return overlaps_earlier(registers(lanes_.c), registers(lanes_.d));
  }

  static constexpr LaneWords ProductLanes::*order[] = {&ProductLanes::d, &ProductLanes::a, &ProductLanes::b, &ProductLanes::c};
  static constexpr int accumulator_words = 4;  ///< of a split product that supports ProductLanes

  const FastPath& kernel_;
  const bool split_;  ///< C is added register by register
  ProductLanes lanes_;
  std::array<std::size_t, 4> strides_;  ///< from warp to warp
};

/// StagedWarp for a kernel of find_product, without what other instructions need: a warp of them takes less time than a general staging.
class StagedProduct {
 public:
  /// `split`: Semantics::split_dot.
  StagedProduct(const FastPath& kernel, bool split) : kernel_(kernel), split_(split) {}
  StagedProduct(const StagedProduct&) = delete;
  StagedProduct& operator=(const StagedProduct&) = delete;

  /// Describes the form's `operands`, as StagedWarp::add.
  template <typename Place>
  bool add(std::span<const OperandWords> operands, Place place) {
    for (std::size_t i = 0; i < count; ++i) {
      RegisterView registers;
      if (!place(i, operands[i], registers)) return false;
      LaneRegisters& entry = operands_[i];
      entry = {registers.words(), registers.word_stride(), registers.lane_stride(), registers.numbers(), nullptr, operands[i].words, false};
      entry.in_place = kernel_.takes_lanes(operands[i].name) && is_lane_by_lane(entry);
      strides_[i] = registers.warp_stride();
    }
    all_in_place_ = std::ranges::all_of(operands_, &LaneRegisters::in_place);
    if (!all_in_place_) use_registers();
    return true;
  }

  /// Executes the warps in order until one needs a StagedWarp, which is then unchanged. Returns how many.
  std::size_t execute(std::size_t warps) {
    ProductLanes lanes;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      if (split_ && overlaps_earlier(operands_[c], operands_[d])) return warp;
      if (!all_in_place_) fast_gather({operands_.data() + 1, count - 1});
      lanes = {operands_[d].lanes(), operands_[a].lanes(), operands_[b].lanes(), operands_[c].lanes()};
      if (kernel_.execute({.first = arguments_, .apart = true, .lanes = lanes}) != 1) return warp;
      if (!operands_[d].in_place) fast_scatter(operands_[d]);
      for (std::size_t i = 0; i < count; ++i) operands_[i].words += strides_[i];
    }
    return warps;
  }

 private:
  enum : std::size_t { d, a, b, c, count };  ///< the operands' order

  /// Gives the operands that are not in place, or all if the kernel wants it so, registers to be copied to.
  void use_registers() {
    std::size_t words = 0;
    for (std::size_t i = 0; i < count; ++i) {
      LaneRegisters& operand = operands_[i];
      if (kernel_.wants_all_lanes()) operand.in_place = false;
      if (operand.in_place) continue;
      const auto own = static_cast<std::size_t>(operand.count);
      operand.staged = &own_.registers[words];
      lists_[i] = {&own_.pointers[words], own};
      words += own;
    }
    own_.point(words);
    arguments_.destination = lists_[d];
    arguments_.source(OperandName::a) = lists_[a];
    arguments_.source(OperandName::b) = lists_[b];
    arguments_.source(OperandName::c) = lists_[c];
  }

  const FastPath& kernel_;
  const bool split_;  ///< C is added register by register
  std::array<LaneRegisters, count> operands_;
  std::array<std::size_t, count> strides_;  ///< from warp to warp
  std::array<RegisterList, count> lists_;
  Arguments arguments_;  ///< operands that are not in place
  bool all_in_place_ = false;
  StagedRegisters own_;
};

}  // namespace warpmat::inline v0_1
