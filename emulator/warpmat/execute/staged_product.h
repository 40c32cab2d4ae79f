#pragma once

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
    const bool quads = kernel_.takes_quads();
    std::size_t words = 0;
    for (std::size_t i = 0; i < count; ++i) {
      BatchDestination registers;
      if (!place(i, operands[i], registers)) return false;
      const std::size_t own = operands[i].words;
      std::uint32_t* const in_quads = quads && i != b ? quads_[i].data() : nullptr;
      operands_[i] = {registers.words,
                      registers.word_stride,
                      registers.lane_stride,
                      registers.numbers,
                      &own_.registers[words],
                      operands[i].words,
                      i != a,
                      in_quads};
      strides_[i] = registers.stride;
      lists_[i] = {&own_.pointers[words], own};
      words += own;
    }
    own_.point(words);
    return true;
  }

  /// Executes the warps in order until one needs a StagedWarp, which is then unchanged. Returns how many.
  std::size_t execute(std::size_t warps) {
    Arguments arguments;
    arguments.destination = lists_[d];
    arguments.source(OperandName::a) = lists_[a];
    arguments.source(OperandName::b) = lists_[b];
    arguments.source(OperandName::c) = lists_[c];
    Warps staged{.first = arguments, .apart = true};
    for (std::size_t warp = 0; warp < warps; ++warp) {
      if (split_ && overlaps_earlier(operands_[c], operands_[d])) return warp;
      fast_gather({operands_.data() + 1, count - 1}, operands_[d]);
      staged.quads = {operands_[a].quads, operands_[c].quads, operands_[d].quads};
      if (kernel_.execute(staged) != 1) return warp;
      fast_scatter(operands_[d]);
      for (std::size_t i = 0; i < count; ++i) operands_[i].words += strides_[i];
    }
    return warps;
  }

 private:
  enum : std::size_t { d, a, b, c, count };  ///< the operands' order

  const FastPath& kernel_;
  const bool split_;  ///< C is added register by register
  std::array<LaneRegisters, count> operands_;
  std::array<std::size_t, count> strides_;  ///< from warp to warp
  std::array<RegisterList, count> lists_;
  StagedRegisters own_;
  alignas(64) std::array<std::array<std::uint32_t, QuadWords::words>, count> quads_;  ///< none for b
};

}  // namespace warpmat::inline v0_1
