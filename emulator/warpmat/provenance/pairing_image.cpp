// Convolutions: one operand of a product holds elements of an image, or zeros of its padding. Which row of A an element belongs to depends
// on the tap that it meets, an element of the filters in the other operand.

#include <algorithm>

#include <fmt/core.h>

#include <warpmat/machine/internals.h>
#include <warpmat/provenance/pairing.h>

namespace warpmat::provenance {

/// The output for which the element of an image at `place`, a pixel and a channel, meets the tap at `k`; nothing where none needs both.
Pairing::Seen Pairing::seen_in_image(const Operand& image, const std::pair<int, int>& place, int k) const {
  const int tap = image.taps->depths[static_cast<std::size_t>(k)];
  if (tap < 0 || gemm_->convolution->channel(tap) != place.second) return {};
  const auto output = gemm_->convolution->output(place.first, tap);
  return output ? Seen{*output, tap} : Seen{};
}

/// Where all elements of a k are zeros of the padding, the taps alone say which k it is.
void Pairing::look_for_padding(Operand& image) const {
  for (int k = 0; k < image.depth; ++k) {
    bool zeros = true;
    for (int line = 0; line < image.origins->lines; ++line) zeros &= !image.origin(line, k).known();
    if (zeros) image.depths[static_cast<std::size_t>(k)] = image.taps->depths[static_cast<std::size_t>(k)];
  }
}

/// Row and column of an element in the matrix that lies in memory: of an image, its pixel and channel; nothing in the padding.
std::optional<std::pair<int, int>> Pairing::stored_place(const Operand& operand, const Seen& seen) const {
  if (operand.taps != nullptr) {
    const auto pixel = gemm_->convolution->pixel(seen.line, seen.depth);
    return pixel ? std::optional(std::pair(*pixel, gemm_->convolution->channel(seen.depth))) : std::nullopt;
  }
  const int depth = operand.sparse() ? seen.depth / (2 * operand.group) * operand.group : seen.depth;
  return operand.is_b ? std::pair(depth, seen.line) : std::pair(seen.line, depth);
}

/// Traps where an element of the image meets a tap with which no output multiplies it, or a zero stands where one belongs.
void Pairing::check_image(const OriginProduct& product, const Operand& image) {
  const Convolution& convolution = *gemm_->convolution;
  const Operand& taps = *image.taps;
  const auto some = static_cast<int>(std::ranges::find_if(taps.lines, [](int line) { return line >= 0; }) - taps.lines.begin());
  for (int line = 0; line < image.origins->lines; ++line)
    for (int k = 0; k < image.depth; ++k) {
      const int tap = taps.depths[static_cast<std::size_t>(k)], output = image.lines[static_cast<std::size_t>(line)];
      if (tap < 0 || image.at(line, k).line >= 0) continue;
      const Origin& origin = image.origin(line, k);
      const auto place = place_of(*image.matrix, origin);
      const std::string filter = name_of(taps, {taps.lines[static_cast<std::size_t>(some)], tap});
      const auto ways = [&] {
        const std::string of_image = place ? image.matrix->element(place->first, place->second) : fmt::format("operand {}", image.letter);
        return together(notes_of(of_image, origin, warp_of(product.event)), notes_of(filter, taps.origin(some, k), warp_of(product.event)));
      };
      if (place) {
        const int channel = convolution.channel(tap);
        const std::string why =
            place->second == channel ? "no output needs both" : fmt::format("channel {} meets channel {}", place->second, channel);
        const std::string element = image.matrix->element(place->first, place->second);
        product.event.trap(-1, std::nullopt, {fmt::format("the product multiplies {} by {}: {}", element, filter, why), ways()},
                           Trap::Kind::mispaired);
      }
      if (!origin.known() && output >= 0 && convolution.pixel(output, tap))
        product.event.trap(-1, std::nullopt,
                           {fmt::format("the product multiplies no element of {} by {}, where {} belongs", image.matrix->name, filter,
                                        name_of(image, {output, tap})),
                            ways()},
                           Trap::Kind::mispaired);
    }
}

}  // namespace warpmat::provenance
