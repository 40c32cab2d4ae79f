#include <warpmat/tables/wgmma_layout.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace warpmat {
namespace {

constexpr int warp_bits = 2;

int bits_of(const std::vector<AxisBits>& space) {
  int bits = 0;
  for (const AxisBits& axis : space) bits += axis.bits;
  return bits;
}

/// The layout of one warp's rows, with further rows for the other warps.
LinearLayout for_all_warps(const LinearLayout& of_warp) {
  std::vector<AxisBits> from = of_warp.from(), to = of_warp.to();
  std::vector<std::uint64_t> columns = of_warp.columns();
  const auto row = std::ranges::find(from, LayoutAxis::row, &AxisBits::axis);
  const auto at = bits_of({from.begin(), row + 1});
  const int first_warp_bit = bits_of(to);
  row->bits += warp_bits;
  to.push_back({LayoutAxis::warp, warp_bits});
  for (int i = 0; i < warp_bits; ++i) columns.insert(columns.begin() + at + i, std::uint64_t{1} << (first_warp_bit + i));
  return {std::move(from), std::move(to), std::move(columns)};
}

}  // namespace

TiledLayout register_layout(const WgmmaForm& form, OperandName operand) {
  LinearLayout tile = for_all_warps(linear_layout(form.tile->operand(operand).fragment));
  if (operand != OperandName::d) return {std::move(tile), {}};
  return {std::move(tile), {{LayoutAxis::column, LayoutAxis::reg, static_cast<std::uint32_t>(form.tiles())}}};
}

}  // namespace warpmat
