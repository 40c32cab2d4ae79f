#include <warpmat/ptx/catalogue/video_selectors.h>

#include <array>

namespace warpmat::catalogue {
namespace {

using scalar::Video;

/// The number of elements of a SIMD instruction: 2 or 4; 0 for a scalar one.
int simd_count(const Match& match) {
  const int elements = match.pattern->row.video_elements;
  return elements == 1 ? 0 : elements;
}

/// "b2" or "h1" as a part of a word; false for anything else.
bool part(std::string_view selector, std::uint8_t& first_bit, std::uint8_t& bits) {
  if (selector.size() != 2 || (selector[0] != 'b' && selector[0] != 'h')) return false;
  bits = selector[0] == 'b' ? 8 : 16;
  const int index = selector[1] - '0';
  if (index < 0 || index >= 32 / bits) return false;
  first_bit = static_cast<std::uint8_t>(index * bits);
  return true;
}

/// The elements that "h10" or "b7654" names, from the last to the first.
bool places(std::string_view selector, int count, std::size_t least, int end, std::array<std::uint8_t, 4>& found, std::size_t& length) {
  if (selector.empty() || selector[0] != (count == 2 ? 'h' : 'b')) return false;
  selector.remove_prefix(1);
  length = selector.size();
  if (length < least || length > static_cast<std::size_t>(count)) return false;
  for (std::size_t i = 0; i < length; ++i) {
    const int place = selector[length - 1 - i] - '0';
    if (place < 0 || place >= end) return false;
    found[i] = static_cast<std::uint8_t>(place);
  }
  return true;
}

/// A clamped result that is merged is refused: ptxas 13.0's code depends on the sources' types in undocumented ways.
bool set_scalar_selector(Video& video, const Match& match, int operand, std::string_view selector) {
  if (operand > 0)
    return part(selector, video.first_bit[static_cast<std::size_t>(operand - 1)], video.bits[static_cast<std::size_t>(operand - 1)]);
  video.merge = part(selector, video.result_first_bit, video.result_bits);
  return video.merge && video.second == Video::Second::none && !match.has(".sat");
}

bool set_simd_selector(Video& video, int count, int operand, std::string_view selector) {
  std::array<std::uint8_t, 4> found{};
  std::size_t length = 0;
  if (operand > 0) {
    if (!places(selector, count, static_cast<std::size_t>(count), 2 * count, found, length)) return false;
    video.select[static_cast<std::size_t>(operand - 1)] = found;
    return true;
  }
  if (!places(selector, count, 1, count, found, length)) return false;
  video.mask = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (i > 0 && found[i] <= found[i - 1]) return false;  // descending order, without repetition
    video.mask = static_cast<std::uint8_t>(video.mask | 1 << found[i]);
  }
  return true;
}

}  // namespace

bool is_video(const Match& match) {
  return match.pattern->row.video_elements != 0;
}

Video video_modifiers(const Match& match) {
  Video video;
  const int count = simd_count(match);
  const auto is_signed = [&](std::size_t i) { return match.types.at(i)->is_signed_integer(); };
  // vset alone has no type of d: c has the signedness of a [H200].
  const std::size_t first_source = match.types.size() - 2;
  video.is_signed = {is_signed(first_source), is_signed(first_source + 1)};
  video.signed_result = is_signed(0);
  if (match.is(Name::vmad)) video.signed_result = video.is_signed[0] || video.is_signed[1];
  for (const auto& [qualifier, operation] :
       {std::pair{Qualifier(".add"), Video::Second::add}, {Qualifier(".min"), Video::Second::min}, {Qualifier(".max"), Video::Second::max}})
    if (match.has(qualifier)) video.second = operation;
  video.plus_one = match.has(".po");
  video.scale = match.has(".shr7") ? 7 : match.has(".shr15") ? 15 : 0;
  for (std::uint8_t i = 0; i < video.select[0].size() && i < count; ++i) {
    video.select[0][i] = i;
    video.select[1][i] = static_cast<std::uint8_t>(i + count);
  }
  return video;
}

bool set_selector(Video& video, const Match& match, int operand, std::string_view selector) {
  const int count = simd_count(match);
  if (operand == 0 && match.is(Name::vmad)) return false;
  return count == 0 ? set_scalar_selector(video, match, operand, selector) : set_simd_selector(video, count, operand, selector);
}

bool negate_operand(Video& video, const Match& match, int operand) {
  if (!match.is(Name::vmad) || video.plus_one) return false;
  if (operand == 3)
    video.negate_c = true;
  else
    video.negate_product = !video.negate_product;
  video.signed_result = true;
  return !(video.negate_product && video.negate_c);
}

}  // namespace warpmat::catalogue
