#pragma once

#include <warpmat/wgmma.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace warpmat {

/// Operand d, a or e in the registers of a warpgroup.
class WarpgroupRegisters {
 public:
  WarpgroupRegisters(const WgmmaForm& form, OperandName operand)
      : form_(form), operand_(operand), fragment_(form.tile->operand(operand).fragment), layout_(register_layout(form, operand)) {
    for (int m = 0; m < matrices(); ++m)
      for (int r = 0; r < size(LayoutAxis::row); ++r)
        for (int c = 0; c < size(LayoutAxis::column); ++c) back_[key(place(r, c, m))] = element(r, c, m);
  }

  int size(LayoutAxis axis) const {
    return static_cast<int>(axis == LayoutAxis::row || axis == LayoutAxis::column || axis == LayoutAxis::matrix ? layout_.size_from(axis)
                                                                                                                : layout_.size_to(axis));
  }
  int matrices() const { return fragment_.matrices(); }

  Point place(int r, int c, int m) const { return layout_(element(r, c, m)); }

  /// The elements in a register, from its low bits to its high bits.
  std::vector<Point> held(int in_warp, int in_lane, int in_reg) const {
    std::vector<Point> elements;
    for (int i = 0; i < fragment_.elements_per_register(); ++i) {
      Point place;
      place[LayoutAxis::warp] = static_cast<std::uint32_t>(in_warp);
      place[LayoutAxis::lane] = static_cast<std::uint32_t>(in_lane);
      place[LayoutAxis::reg] = static_cast<std::uint32_t>(in_reg);
      if (fragment_.elements_per_register() > 1) place[LayoutAxis::bit] = static_cast<std::uint32_t>(i * fragment_.element_bits());
      elements.push_back(back_.at(key(place)));
    }
    return elements;
  }

  bool fills_register() const { return fragment_.element_bits() == fragment_.register_bits(); }
  int element_bits() const { return fragment_.element_bits(); }

  const WgmmaForm& form() const { return form_; }
  OperandName operand() const { return operand_; }

 private:
  using Key = std::array<std::uint32_t, 4>;  ///< warp, lane, register, bit

  static Key key(const Point& place) {
    return {place[LayoutAxis::warp], place[LayoutAxis::lane], place[LayoutAxis::reg], place[LayoutAxis::bit]};
  }

  Point element(int r, int c, int m) const {
    Point point;
    point[LayoutAxis::row] = static_cast<std::uint32_t>(r);
    point[LayoutAxis::column] = static_cast<std::uint32_t>(c);
    if (matrices() > 1) point[LayoutAxis::matrix] = static_cast<std::uint32_t>(m);
    return point;
  }

  const WgmmaForm& form_;
  OperandName operand_;
  Fragment fragment_;
  TiledLayout layout_;
  std::map<Key, Point> back_;
};

}  // namespace warpmat
