// Texture fetches by the CUDA C++ Programming Guide, appendix "Texture Fetching": nearest texels, and linear filtering with weights of 8
// fraction bits. The rounding of sums, and of coordinates to those bits, is assumed.

#include <warpmat/machine/texture.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <warpmat/launch.h>
#include <warpmat/numeric/checked_size.h>

namespace warpmat::machine {
namespace {

constexpr double weight_one = 256;  ///< weights have 8 fraction bits
constexpr std::int64_t outside = -1;

/// `value` between the bounds; NaN, which the host and kernels may give, becomes the lower one.
double bounded(double value, double low, double high) {
  return value > low ? std::min(value, high) : low;
}

double srgb_to_linear(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// The number of a half: exact.
float number_of_half(std::uint32_t bits) {
  const std::uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction | 0x400), static_cast<int>(exponent) - 25);
  return sign != 0 ? -magnitude : magnitude;
}

/// The integer of a channel as a fraction of the largest one.
float fraction_of(std::uint32_t word, std::uint32_t bits, bool has_sign) {
  if (!has_sign) return static_cast<float>(static_cast<double>(word) / static_cast<double>((std::uint64_t{1} << bits) - 1));
  const double value = static_cast<std::int32_t>(word);
  return static_cast<float>(std::max(-1.0, value / static_cast<double>((std::uint64_t{1} << (bits - 1)) - 1)));
}

/// The index of a texel for an index outside; `outside` for the border.
std::int64_t inside(std::int64_t i, std::int64_t size, Texture::Address mode) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case Texture::Address::wrap: return ((i % size) + size) % size;
    case Texture::Address::mirror: {
      const std::int64_t period = 2 * size, place = ((i % period) + period) % period;
      return place < size ? place : period - 1 - place;
    }
    case Texture::Address::clamp: return std::clamp<std::int64_t>(i, 0, size - 1);
    case Texture::Address::border: break;
  }
  return outside;
}

}  // namespace

/// Two neighbouring texels of a dimension, and the weight of the second.
struct TextureReader::Axis {
  std::int64_t first = 0, second = 0;
  double weight = 0;
};

TextureReader::TextureReader(const Texture& texture, DeviceMemory& memory) : texture_(texture) {
  for (const Texture::Level& level : texture.levels) {
    if (level.width == 0 || level.height == 0 || level.depth < (texture.cube ? 6u : 1u)) throw std::out_of_range("a level has no texels");
    const CheckedSize bytes = CheckedSize(level.depth - 1) * level.slice_pitch + CheckedSize(level.height - 1) * level.row_pitch +
                              CheckedSize(level.width) * texture.texel_bytes();
    bytes_.push_back(memory.bytes(level.address, bytes.value().value_or(~std::uint64_t{0})).data());
  }
}

std::uint8_t* TextureReader::bytes(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
  return bytes_[0] + z * texture_.levels[0].slice_pitch + y * texture_.levels[0].row_pitch + x;
}

/// A texel's words. Channels that it lacks are zero, as on an H200; a fraction or half is a float.
std::array<std::uint32_t, 4> TextureReader::words(std::size_t level, const std::array<std::int64_t, 3>& at) const {
  std::array<std::uint32_t, 4> out{};
  const Texture::Level& from = texture_.levels[level];
  if (std::ranges::find(at, outside) != at.end()) {
    if (texture_.linear_memory) return out;
    for (std::size_t c = 0; c < texture_.channels; ++c) out[c] = std::bit_cast<std::uint32_t>(texture_.border[c]);
    return out;
  }
  const std::uint8_t* const texel = bytes_[level] + static_cast<std::uint64_t>(at[2]) * from.slice_pitch +
                                    static_cast<std::uint64_t>(at[1]) * from.row_pitch +
                                    static_cast<std::uint64_t>(at[0]) * texture_.texel_bytes();
  const std::size_t bytes = texture_.channel_bits / 8u;
  for (std::size_t c = 0; c < texture_.channels; ++c) {
    std::uint32_t word = 0;
    std::memcpy(&word, texel + c * bytes, bytes);
    if (texture_.numbers == Texture::Numbers::signed_integer && bytes < 4) {
      const int shift = 32 - texture_.channel_bits;
      word = static_cast<std::uint32_t>(static_cast<std::int32_t>(word << shift) >> shift);
    }
    if (texture_.numbers == Texture::Numbers::floating) {
      if (bytes == 2) word = std::bit_cast<std::uint32_t>(number_of_half(word));
    } else if (texture_.reads_fractions) {
      float value = fraction_of(word, texture_.channel_bits, texture_.numbers == Texture::Numbers::signed_integer);
      if (texture_.srgb && c < 3) value = static_cast<float>(srgb_to_linear(value));
      word = std::bit_cast<std::uint32_t>(value);
    }
    out[c] = word;
  }
  return out;
}

TextureReader::Colour TextureReader::colour(std::size_t level, const std::array<std::int64_t, 3>& at) const {
  const std::array<std::uint32_t, 4> bits = words(level, at);
  Colour out;
  for (std::size_t c = 0; c < 4; ++c) out[c] = std::bit_cast<float>(bits[c]);
  return out;
}

/// The texels of a coordinate. Wrap and mirror are for normalised coordinates; for others they clamp.
TextureReader::Axis TextureReader::axis(int dimension, double coordinate, std::uint32_t size, bool filters) const {
  Texture::Address mode = texture_.cube ? Texture::Address::clamp : texture_.address[static_cast<std::size_t>(dimension)];
  const bool repeats = mode == Texture::Address::wrap || mode == Texture::Address::mirror;
  if (std::isnan(coordinate) || (repeats && std::isinf(coordinate))) coordinate = 0;
  if (texture_.normalised_coordinates) {
    if (mode == Texture::Address::wrap) coordinate -= std::floor(coordinate);
    if (mode == Texture::Address::mirror) {
      const double whole = std::floor(coordinate);
      coordinate = std::fmod(whole, 2) != 0 ? 1 - (coordinate - whole) : coordinate - whole;
    }
    coordinate *= size;
  } else if (repeats) {
    mode = Texture::Address::clamp;
  }
  coordinate = std::clamp(coordinate, -2.0, size + 2.0);
  if (!filters) {
    const std::int64_t i = inside(static_cast<std::int64_t>(std::floor(coordinate)), size, mode);
    return {i, i, 0};
  }
  const double fixed = std::floor((coordinate - 0.5) * weight_one + 0.5), whole = std::floor(fixed / weight_one);
  const auto i = static_cast<std::int64_t>(whole);
  return {inside(i, size, mode), inside(i + 1, size, mode), fixed / weight_one - whole};
}

std::int64_t TextureReader::slice(const TexturePoint& point, std::size_t level) const {
  const std::int64_t layers = texture_.levels[level].depth / (texture_.cube ? 6 : 1);
  const std::int64_t layer = texture_.layered ? std::clamp<std::int64_t>(point.layer, 0, layers - 1) : 0;
  return texture_.cube ? 6 * layer + static_cast<std::int64_t>(point.at[2]) : layer;
}

/// The face of a cube that a direction meets, and the place on it: the Programming Guide's table of "Cubemap Textures".
TexturePoint TextureReader::on_face(TexturePoint point) const {
  const auto [x, y, z] = point.at;
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  double face = 0, m = 0, s = 0, t = 0;
  if (ax >= ay && ax >= az) {
    face = x >= 0 ? 0 : 1, m = ax, s = x >= 0 ? -z : z, t = -y;
  } else if (ay >= az) {
    face = y >= 0 ? 2 : 3, m = ay, s = x, t = y >= 0 ? z : -z;
  } else {
    face = z >= 0 ? 4 : 5, m = az, s = z >= 0 ? x : -x, t = -y;
  }
  const double scale = texture_.normalised_coordinates ? 1 : texture_.levels[0].width;
  point.at = {(s / m + 1) / 2 * scale, (t / m + 1) / 2 * scale, face};
  return point;
}

int TextureReader::filtered_dimensions() const {
  return texture_.cube ? 2 : texture_.dimensions;
}

std::array<std::uint32_t, 4> TextureReader::fetch_point(std::size_t level, const TexturePoint& point) const {
  const Texture::Level& from = texture_.levels[level];
  const std::array<std::uint32_t, 3> size{from.width, from.height, from.depth};
  std::array<std::int64_t, 3> at{};
  const int dimensions = filtered_dimensions();
  for (int d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    at[i] = axis(d, point.at[i], size[i], false).first;
  }
  if (texture_.layered || texture_.cube) at[2] = slice(point, level);
  return words(level, at);
}

TextureReader::Colour TextureReader::filtered(std::size_t level, const TexturePoint& point) const {
  const Texture::Level& from = texture_.levels[level];
  const std::array<std::uint32_t, 3> size{from.width, from.height, from.depth};
  std::array<Axis, 3> axes{};
  const int dimensions = filtered_dimensions();
  for (int d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    axes[i] = axis(d, point.at[i], size[i], texture_.filters);
  }
  Colour sum{};
  for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
    double weight = 1;
    std::array<std::int64_t, 3> at{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
      const bool second = (corner >> d & 1) != 0;
      weight *= second ? axes[d].weight : 1 - axes[d].weight;
      at[d] = second ? axes[d].second : axes[d].first;
    }
    if (weight == 0) continue;
    if (texture_.layered || texture_.cube) at[2] = slice(point, level);
    const Colour texel = colour(level, at);
    for (std::size_t c = 0; c < 4; ++c) sum[c] += weight * texel[c];
  }
  return sum;
}

std::array<std::uint32_t, 4> TextureReader::fetch(const TexturePoint& given) const {
  const TexturePoint point = texture_.cube ? on_face(given) : given;
  if (texture_.linear_memory) {
    const bool exists = given.at[0] >= 0 && given.at[0] < texture_.levels[0].width;
    return words(0, {exists ? static_cast<std::int64_t>(given.at[0]) : outside, 0, 0});
  }
  const double last = static_cast<double>(texture_.levels.size() - 1);
  const double most = bounded(texture_.most_level, 0, last), least = bounded(texture_.least_level, 0, most);
  double level = last == 0 ? 0 : bounded(given.level + texture_.level_bias, least, most);
  level = std::floor(level * weight_one + 0.5) / weight_one;
  if (!texture_.filters_levels) level = std::floor(level + 0.5);
  const auto lower = static_cast<std::size_t>(std::min(level, last));
  const double weight = level - static_cast<double>(lower);
  if (!texture_.filters && weight == 0) return fetch_point(lower, point);
  const auto at_level = [&](std::size_t number) {
    TexturePoint scaled = point;
    if (!texture_.normalised_coordinates)
      for (double& at : scaled.at) at = std::ldexp(at, -static_cast<int>(number));
    if (texture_.cube) scaled.at[2] = point.at[2];
    return filtered(number, scaled);
  };
  Colour sum = at_level(lower);
  if (weight > 0) {
    const Colour above = at_level(lower + 1);
    for (std::size_t c = 0; c < 4; ++c) sum[c] = (1 - weight) * sum[c] + weight * above[c];
  }
  std::array<std::uint32_t, 4> out{};
  for (std::size_t c = 0; c < 4; ++c) out[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[c]));
  return out;
}

std::array<std::uint32_t, 4> TextureReader::gather(const TexturePoint& given, int component) const {
  const TexturePoint point = texture_.cube ? on_face(given) : given;
  const Axis x = axis(0, point.at[0], texture_.levels[0].width, true), y = axis(1, point.at[1], texture_.levels[0].height, true);
  const std::int64_t z = texture_.layered || texture_.cube ? slice(point, 0) : 0;
  const std::array<std::array<std::int64_t, 3>, 4> corners{
      {{x.first, y.second, z}, {x.second, y.second, z}, {x.second, y.first, z}, {x.first, y.first, z}}};
  std::array<std::uint32_t, 4> out{};
  for (std::size_t i = 0; i < 4; ++i) out[i] = words(0, corners[i])[static_cast<std::size_t>(component)];
  return out;
}

double TextureReader::level_of(const std::array<double, 3>& dx, const std::array<double, 3>& dy) const {
  const Texture::Level& base = texture_.levels[0];
  const std::array<double, 3> size{static_cast<double>(base.width), static_cast<double>(base.height), static_cast<double>(base.depth)};
  double longest = 0;
  for (const auto* gradient : {&dx, &dy}) {
    double square = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(texture_.dimensions); ++d) {
      const double texels = (*gradient)[d] * (texture_.normalised_coordinates ? size[d] : 1);
      square += texels * texels;
    }
    longest = std::max(longest, std::sqrt(square));
  }
  return longest == 0 ? 0 : std::log2(longest);
}

}  // namespace warpmat::machine
