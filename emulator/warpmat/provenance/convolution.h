#pragma once

#include <array>
#include <optional>

namespace warpmat::checks {

/// A convolution as a product of matrices that its kernel forms as it goes: A has a row for each output (n, p, q) and a column for each
/// tap, an (r, s, c) of the filters; its elements are those of an image, or zeros where the window reaches beyond it. The image lies as
/// N x H x W x C, the filters as K x R x S x C, the results as N x P x Q x K. Filters are not turned round.
struct Convolution {
  using Pair = std::array<int, 2>;  ///< along the height, along the width

  int images = 0, channels = 0, filters = 0;
  Pair image{}, filter{};  ///< sizes
  Pair stride{1, 1}, padding{0, 0}, dilation{1, 1};

  /// The size of the results.
  Pair result() const;
  int outputs() const { return images * result()[0] * result()[1]; }
  int taps() const { return filter[0] * filter[1] * channels; }
  int channel(int tap) const { return tap % channels; }

  /// The pixel (n H + h) W + w which the output multiplies by the tap; nothing in the padding.
  std::optional<int> pixel(int output, int tap) const;
  /// The output which multiplies the pixel by the tap; nothing where none does.
  std::optional<int> output(int pixel, int tap) const;
};

}  // namespace warpmat::checks
