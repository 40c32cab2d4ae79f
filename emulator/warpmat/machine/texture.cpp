// Texture fetches by the CUDA C++ Programming Guide, appendix "Texture Fetching": nearest texels, and linear filtering with weights of 8
// fraction bits. How coordinates, weights and sums are rounded are an H200's answers: lab/notebook/2026-11-29-texture-filters.md.

#include <warpmat/machine/texture.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <warpmat/launch.h>
#include <warpmat/machine/texture_filter.h>
#include <warpmat/numeric/checked_size.h>

namespace warpmat::machine {
namespace {

constexpr std::int64_t outside = -1;

/// `value` between the bounds; NaN, which the host and kernels may give, becomes the lower one.
double bounded(double value, double low, double high) {
  return value > low ? std::min(value, high) : low;
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

/// Two neighbouring texels of a dimension, and the weight of the second in 256ths.
struct TextureReader::Axis {
  std::int64_t first = 0, second = 0;
  int weight = 0;
};

/// The texels of a filter with their weights.
struct TextureReader::Taps {
  struct Tap {
    std::size_t level = 0;
    std::array<std::int64_t, 3> at{};
    int weight = 0;
    std::size_t group = 0;  ///< texels of a level and slice
  };
  static constexpr std::size_t most = 16;

  void add(const Tap& tap) {
    if (tap.weight != 0) all[count++] = tap;
  }

  std::array<Tap, most> all{};
  std::size_t count = 0;
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
      const bool is_srgb = texture_.srgb && c < 3;
      word = std::bit_cast<std::uint32_t>(
          is_srgb ? linear_of_srgb(static_cast<std::uint8_t>(word))
                  : fraction_of(word, texture_.channel_bits, texture_.numbers == Texture::Numbers::signed_integer));
    }
    out[c] = word;
  }
  return out;
}

/// A normalised coordinate in texels. It has 21 fraction bits, or 22 in more than 8,192 texels; what is below is cut. A mirrored one comes
/// from the other side: `backwards`.
double TextureReader::in_texels(double coordinate, Texture::Address mode, std::uint32_t size, bool& backwards) const {
  const int bits = size <= 8192 ? 21 : 22;
  coordinate = std::ldexp(std::floor(std::ldexp(coordinate, bits)), -bits);
  const double whole = std::floor(coordinate);
  if (mode == Texture::Address::wrap) coordinate -= whole;
  if (mode == Texture::Address::mirror) {
    backwards = std::fmod(whole, 2) != 0;
    coordinate = backwards ? 1 - (coordinate - whole) : coordinate - whole;
  }
  return coordinate * size;
}

/// The texels of a coordinate. Wrap and mirror are for normalised coordinates; for others they clamp. A clamped coordinate is that of a
/// texel's middle.
TextureReader::Axis TextureReader::axis(int dimension, double coordinate, std::uint32_t size, bool filters) const {
  Texture::Address mode = texture_.cube ? Texture::Address::clamp : texture_.address[static_cast<std::size_t>(dimension)];
  const bool repeats = mode == Texture::Address::wrap || mode == Texture::Address::mirror;
  if (std::isnan(coordinate) || (repeats && std::isinf(coordinate))) coordinate = 0;
  bool backwards = false;
  if (texture_.normalised_coordinates)
    coordinate = in_texels(coordinate, mode, size, backwards);
  else if (repeats)
    mode = Texture::Address::clamp;
  coordinate = std::clamp(coordinate, -2.0, size + 2.0);
  const auto down = [&](double value) { return static_cast<std::int64_t>(backwards ? std::ceil(value) - 1 : std::floor(value)); };
  if (!filters) {
    const std::int64_t i = inside(down(coordinate), size, mode);
    return {i, i, 0};
  }
  const std::int64_t fixed = down((coordinate - 0.5) * weight_one + 0.5), i = fixed >> 8;
  const bool clamped = mode == Texture::Address::clamp && (i < 0 || i + 1 >= size);
  return {inside(i, size, mode), inside(i + 1, size, mode), clamped ? 0 : static_cast<int>(fixed & (weight_one - 1))};
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

/// A texture of one dimension is one row, read at y = 0: half of it is what lies beside that row. Only a border is another texel.
TextureReader::Axis TextureReader::beside_row() const {
  if (texture_.dimensions != 1 || texture_.address[1] != Texture::Address::border) return {};
  return {outside, 0, weight_one / 2};
}

/// Adds the texels of a level, whose weights are `share` in all: shared among slices, then columns, then rows, each time rounded.
void TextureReader::add_taps(Taps& taps, std::size_t level, const TexturePoint& point, int share) const {
  const Texture::Level& from = texture_.levels[level];
  const std::array<std::uint32_t, 3> size{from.width, from.height, from.depth};
  std::array<Axis, 3> axes{};
  const int dimensions = filtered_dimensions();
  for (int d = 0; d < dimensions; ++d) {
    const auto i = static_cast<std::size_t>(d);
    axes[i] = axis(d, point.at[i], size[i], texture_.filters);
  }
  if (dimensions == 1 && texture_.filters) axes[1] = beside_row();
  const auto [x, y, z] = axes;
  const std::size_t first_group = taps.count == 0 ? 0 : 2;
  const int before = rounded_weight(share * (weight_one - z.weight));
  for (const std::size_t far : {0u, 1u}) {
    const int slice_share = far != 0 ? share - before : before;
    const int right = rounded_weight(slice_share * x.weight), left = slice_share - right;
    const int right_below = rounded_weight(right * y.weight), left_above = rounded_weight(left * (weight_one - y.weight));
    std::int64_t depth = far != 0 ? z.second : z.first;
    if (texture_.layered || texture_.cube) depth = slice(point, level);
    taps.add({level, {x.first, y.first, depth}, left_above, first_group + far});
    taps.add({level, {x.second, y.first, depth}, right - right_below, first_group + far});
    taps.add({level, {x.first, y.second, depth}, left - left_above, first_group + far});
    taps.add({level, {x.second, y.second, depth}, right_below, first_group + far});
  }
}

/// A fraction as the filter adds it up: of 16 bits. Signed ones of 8 bits have 3 bits behind them.
double TextureReader::integer_of(float fraction) const {
  if (texture_.numbers == Texture::Numbers::unsigned_integer) return std::floor(double{fraction} * 65535 + 0.5);
  if (texture_.channel_bits == 16) return std::floor(double{fraction} * 32767 + 0.5);
  return std::floor(std::floor(double{fraction} * 127 + 0.5) * 32767 / 127 * 8) / 8;
}

float TextureReader::filtered_channel(std::span<WeightedTexel> texels, std::size_t channel) const {
  if (texture_.numbers == Texture::Numbers::floating)
    return filtered_sum(texels, texture_.channel_bits == 16 ? filter_of_f16 : filter_of_f32);
  if (texture_.srgb && channel < 3) return filtered_sum(texels, filter_of_srgb);
  for (WeightedTexel& texel : texels) texel.value = integer_of(static_cast<float>(texel.value));
  const double one = texture_.numbers == Texture::Numbers::unsigned_integer ? 65535 : 32767;
  return static_cast<float>(std::max(-1.0, static_cast<double>(filtered_integer(texels)) / one));
}

std::array<std::uint32_t, 4> TextureReader::filtered(const Taps& taps) const {
  std::array<std::array<WeightedTexel, Taps::most>, 4> texels{};
  for (std::size_t i = 0; i < taps.count; ++i) {
    const Taps::Tap& tap = taps.all[i];
    const std::array<std::uint32_t, 4> bits = words(tap.level, tap.at);
    for (std::size_t c = 0; c < 4; ++c) texels[c][i] = {std::bit_cast<float>(bits[c]), tap.weight, tap.group};
  }
  std::array<std::uint32_t, 4> out{};
  for (std::size_t c = 0; c < texture_.channels; ++c)
    out[c] = std::bit_cast<std::uint32_t>(filtered_channel({texels[c].data(), taps.count}, c));
  return out;
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
  level = std::floor(level * weight_one) / weight_one;
  if (!texture_.filters_levels) level = std::floor(level + 0.5);
  const auto lower = static_cast<std::size_t>(std::min(level, last));
  const int weight = static_cast<int>((level - static_cast<double>(lower)) * weight_one);
  if (!texture_.filters && weight == 0) return fetch_point(lower, point);
  Taps taps;
  const auto at_level = [&](std::size_t number) {
    TexturePoint scaled = point;
    if (!texture_.normalised_coordinates)
      for (double& at : scaled.at) at = std::ldexp(at, -static_cast<int>(number));
    if (texture_.cube) scaled.at[2] = point.at[2];
    add_taps(taps, number, scaled, number == lower ? weight_one - weight : weight);
  };
  at_level(lower);
  if (weight > 0) at_level(lower + 1);
  return filtered(taps);
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
  const auto in_texels_of = [&](const std::array<double, 3>& gradient) {
    Gradient texels{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(texture_.dimensions); ++d)
      texels[d] = gradient[d] * (texture_.normalised_coordinates ? size[d] : 1);
    return texels;
  };
  return level_of_gradients(in_texels_of(dx), in_texels_of(dy));
}

}  // namespace warpmat::machine
