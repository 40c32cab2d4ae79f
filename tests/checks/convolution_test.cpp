// Which pixel an output of a convolution multiplies by which tap, by walking over all of them.

#include <warpmat/provenance.h>

#include "test.h"

namespace warpmat::convolution_test {
namespace {

using warpmat::Convolution;

struct Walk {
  std::map<std::pair<int, int>, int> pixels;   ///< by output and tap
  std::map<std::pair<int, int>, int> outputs;  ///< by pixel and tap
  int count = 0;                               ///< of outputs
};

Walk walk(const Convolution& c) {
  Walk all;
  for (int n = 0; n < c.images; ++n)
    for (int top = -c.padding[0]; top + c.dilation[0] * (c.filter[0] - 1) < c.image[0] + c.padding[0]; top += c.stride[0])
      for (int left = -c.padding[1]; left + c.dilation[1] * (c.filter[1] - 1) < c.image[1] + c.padding[1]; left += c.stride[1]) {
        int tap = 0;
        for (int r = 0; r < c.filter[0]; ++r)
          for (int s = 0; s < c.filter[1]; ++s)
            for (int channel = 0; channel < c.channels; ++channel, ++tap) {
              const int h = top + r * c.dilation[0], w = left + s * c.dilation[1];
              if (h < 0 || h >= c.image[0] || w < 0 || w >= c.image[1]) continue;
              const int pixel = n * c.image[0] * c.image[1] + h * c.image[1] + w;
              all.pixels[{all.count, tap}] = pixel;
              all.outputs[{pixel, tap}] = all.count;
            }
        ++all.count;
      }
  return all;
}

TEST_CASE("outputs, taps and pixels of convolutions", "[checks]") {
  const auto c =
      GENERATE(Convolution{2, 2, 1, {5, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, Convolution{1, 3, 1, {8, 8}, {3, 2}, {2, 1}, {0, 1}, {1, 1}},
               Convolution{2, 1, 1, {9, 6}, {3, 1}, {2, 3}, {2, 0}, {2, 1}}, Convolution{1, 2, 1, {4, 4}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
               Convolution{3, 1, 1, {6, 10}, {2, 4}, {1, 2}, {3, 2}, {3, 2}});
  const Walk all = walk(c);
  const int outputs = c.images * c.result()[0] * c.result()[1];
  CHECK(outputs == all.count);
  const auto at = [](const std::map<std::pair<int, int>, int>& map, int first, int tap) {
    const auto found = map.find({first, tap});
    return found == map.end() ? -1 : found->second;
  };
  int wrong = 0;
  for (int tap = 0; tap < c.taps(); ++tap) {
    for (int output = 0; output < outputs; ++output) wrong += c.pixel(output, tap).value_or(-1) != at(all.pixels, output, tap);
    for (int pixel = 0; pixel < c.images * c.image[0] * c.image[1]; ++pixel)
      wrong += c.output(pixel, tap).value_or(-1) != at(all.outputs, pixel, tap);
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace warpmat::convolution_test
