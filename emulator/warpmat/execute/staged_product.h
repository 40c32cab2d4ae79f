#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/fast/operand_views.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/staged_registers.h>
#include <warpmat/execute/staged_warp.h>
#include <warpmat/instruction.h>
#include <warpmat/numeric/made_as_needed.h>

namespace warpmat {

inline void set_view(OperandViews& views, std::size_t operand, const RegisterView& view) {
  operand == 0 ? views.set_written(view) : views.set_source(product_order[operand], view);
}

/// One warp, for a kernel: registers of D share no word.
inline Warps one_warp_apart(const OperandViews& views) {
  Warps one = views.warps();
  one.apart = true;
  return one;
}

/// A product on the caller's registers where they are, for a kernel that is_product() and takes_all_lanes().
class LaneProduct {
 public:
  /// `split`: Semantics::split_dot.
  LaneProduct(const FastPath& kernel, bool split) : kernel_(kernel), split_(split) {}

  /// Describes the form's `operands`. Returns false if the words of some operand are not lane by lane.
  bool add(std::span<const OperandWords> operands, std::span<const RegisterView> views) {
    for (std::size_t i = 0; i < product_order.size(); ++i) {
      const RegisterView& r = views[i];
      if (!is_lane_by_lane(r, operands[i].words)) return false;
      set_view(views_, i, {r.word(0), r.warp_stride(), 1, r.lane_stride()});
    }
    return true;
  }

  /// Executes the warps in order until one needs a StagedWarp, which is then unchanged. Returns how many. Precondition: `warps` is not 0.
  std::size_t execute(std::size_t warps) {
    for (std::size_t warp = 0;;) {
      if (split_ && overlaps_earlier(views_.source(OperandName::c), views_.written(), accumulator_words)) return warp;
      if (kernel_.execute(one_warp_apart(views_)) != 1) return warp;
      if (++warp == warps) return warps;
      go_to_next();
    }
  }

 private:
  void go_to_next() {
    views_.set_written(views_.written().from_warp(1));
    for (const OperandName name : {OperandName::a, OperandName::b, OperandName::c}) views_.go_to_next(name);
  }

  static constexpr int accumulator_words = 4;  ///< of a split product that is executed lane by lane

  const FastPath& kernel_;
  const bool split_;  ///< C is added register by register
  OperandViews views_;
};

/// StagedWarp for a kernel that is_product(), without what other instructions need: a warp of them takes less time than a general staging.
class StagedProduct {
 public:
  /// `split`: Semantics::split_dot.
  StagedProduct(const FastPath& kernel, bool split) : kernel_(kernel), split_(split) {}
  StagedProduct(const StagedProduct&) = delete;
  StagedProduct& operator=(const StagedProduct&) = delete;

  /// Describes the form's `operands`.
  void add(std::span<const OperandWords> operands, std::span<const RegisterView> views) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool in_place = kernel_.takes_lanes(operands[i].name) && is_lane_by_lane(views[i], operands[i].words);
      operands_.make(i, views[i], nullptr, operands[i].words, in_place);
      all_in_place_ = all_in_place_ && in_place;
    }
    if (!all_in_place_) use_registers();
    for (std::size_t i = 0; i < count; ++i)
      if (operands_[i].in_place) set_view(views_, i, operands_[i].lanes());
  }

  /// Executes the warps in order until one needs a StagedWarp, which is then unchanged. Returns how many.
  std::size_t execute(std::size_t warps) {
    for (std::size_t warp = 0; warp < warps; ++warp) {
      if (warp != 0) go_to(warp);
      const LaneRegisters& result = operands_[d];
      if (split_ && overlaps_earlier(operands_[c].view, result.view, result.count, warp)) return warp;
      if (!all_in_place_) fast_gather({operands_.data() + 1, count - 1});
      if (kernel_.execute(one_warp_apart(views_)) != 1) return warp;
      if (!result.in_place) fast_scatter(result);
    }
    return warps;
  }

 private:
  enum : std::size_t { d, a, b, c, count };  ///< as product_order

  /// Gives the operands that are not in place, or all if the kernel wants it so, registers to be copied to.
  void use_registers() {
    std::size_t words = 0;
    for (std::size_t i = 0; i < count; ++i) {
      LaneRegisters& operand = operands_[i];
      if (kernel_.wants_all_lanes()) operand.in_place = false;
      if (operand.in_place) continue;
      const auto own = static_cast<std::size_t>(operand.count);
      operand.staged = &own_.registers[words];
      set_view(views_, i, own_.list(operand.staged, own));
      words += own;
    }
    own_.point(words);
  }

  void go_to(std::size_t warp) {
    for (std::size_t i = 0; i < count; ++i) {
      operands_[i].go_to(warp);
      if (operands_[i].in_place) set_view(views_, i, operands_[i].lanes());
    }
  }

  const FastPath& kernel_;
  const bool split_;  ///< C is added register by register
  bool all_in_place_ = true;
  MadeAsNeeded<LaneRegisters, count> operands_;
  OperandViews views_;  ///< where the kernel finds them: in place, or in own_
  StagedRegisters own_;
};

}  // namespace warpmat
