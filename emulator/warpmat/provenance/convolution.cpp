#include <warpmat/provenance.h>

#include <cstdint>

namespace warpmat {
namespace {

/// (n, first, second) of number (n S0 + first) S1 + second.
struct Spot {
  int n;
  Convolution::Pair at;
};

Spot spot(int number, const Convolution::Pair& sizes) {
  return {number / sizes[1] / sizes[0], {number / sizes[1] % sizes[0], number % sizes[1]}};
}

int number(const Spot& spot, const Convolution::Pair& sizes) {
  return (spot.n * sizes[0] + spot.at[0]) * sizes[1] + spot.at[1];
}

}  // namespace

Convolution::Pair Convolution::result() const {
  Pair size{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t last = image[i] + 2 * std::int64_t{padding[i]} - std::int64_t{dilation[i]} * (filter[i] - 1) - 1;  // window's start
    size[i] = last < 0 ? 0 : static_cast<int>(last / stride[i] + 1);
  }
  return size;
}

std::optional<int> Convolution::pixel(int output, int tap) const {
  Spot at = spot(output, result());
  const Pair offset = spot(tap / channels, filter).at;
  for (std::size_t i = 0; i < 2; ++i) {
    at.at[i] = at.at[i] * stride[i] - padding[i] + offset[i] * dilation[i];
    if (at.at[i] < 0 || at.at[i] >= image[i]) return std::nullopt;
  }
  return number(at, image);
}

std::optional<int> Convolution::output(int pixel, int tap) const {
  Spot at = spot(pixel, image);
  const Pair offset = spot(tap / channels, filter).at, sizes = result();
  for (std::size_t i = 0; i < 2; ++i) {
    const int from_edge = at.at[i] + padding[i] - offset[i] * dilation[i];
    if (from_edge < 0 || from_edge % stride[i] != 0 || from_edge / stride[i] >= sizes[i]) return std::nullopt;
    at.at[i] = from_edge / stride[i];
  }
  return number(at, sizes);
}

}  // namespace warpmat
