// A sweep of the small formats: the number of every code, the largest and the smallest, and the error of rounding to each format.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include <warpmat/formats.h>

using namespace warpmat;

namespace {

struct Range {
  double largest = 0, smallest = INFINITY;  ///< finite magnitudes; the smallest is not zero
  int specials = 0;                         ///< codes of infinities and NaNs
};

Range range_of(Format format) {
  Range range;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << row(format).bits; ++code) {
    const double magnitude = std::abs(to_double(format, code));
    if (!std::isfinite(magnitude)) {
      ++range.specials;
      continue;
    }
    range.largest = std::max(range.largest, magnitude);
    if (magnitude != 0) range.smallest = std::min(range.smallest, magnitude);
  }
  return range;
}

/// Whether rounding each finite code's number gives the code back, the sign of zero aside.
bool survives(Format format) {
  for (std::uint64_t code = 0; code < std::uint64_t{1} << row(format).bits; ++code) {
    const double number = to_double(format, code);
    if (std::isfinite(number) && to_double(format, from_double(format, number)) != number) return false;
  }
  return true;
}

}  // namespace

int main() {
  bool all = true;
  std::printf("%-6s %4s %12s %12s %9s  %s\n", "format", "bits", "largest", "smallest", "specials", "0.3 becomes");
  for (const FormatRow& format : format_rows()) {
    if (format.bits > 16) continue;
    const Range range = range_of(format.format);
    std::printf("%-6s %4d %12.6g %12.6g %9d  %.8g\n", std::string(format.name).c_str(), format.bits, range.largest, range.smallest,
                range.specials, to_double(format.format, from_double(format.format, 0.3)));
    all = all && survives(format.format);
  }
  return all ? 0 : 1;
}
