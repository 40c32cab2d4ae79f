#include <warpmat/layout/zero_columns.h>

#include <cstddef>

namespace warpmat {

ZeroColumns decode_zero_columns(std::uint64_t bits, int m, int n) {
  const auto field = [&](int first, int count) { return static_cast<int>(bits >> first & ((std::uint64_t{1} << count) - 1)); };
  ZeroColumns columns{field(56, 6), std::vector<bool>(static_cast<std::size_t>(n))};
  if (field(39, 1) == 0) return columns;
  const int zeros = field(40, 8) + 1, used = field(48, 8) + 1, width = n * m / 128;
  for (int column = 0; column < n; ++column) {
    const int part = column / width, start = field(8 * part, 8);
    const bool zeros_first = field(32 + part, 1) != 0;
    const int at = (column % width + start) % (zeros + used);
    columns.zero[static_cast<std::size_t>(column)] = zeros_first ? at < zeros : at >= used;
  }
  return columns;
}

}  // namespace warpmat
