#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/version.h>

namespace warpmat {

class DeviceMemory;

/// What a texture or surface object names: texels in global memory, and how they are read. add_texture() gives it a handle.
struct Texture {
  enum class Numbers : std::uint8_t { unsigned_integer, signed_integer, floating };
  enum class Address : std::uint8_t { wrap, clamp, mirror, border };  ///< of coordinates outside; as cudaTextureAddressMode
  /// A level: `width` texels in each of `height` rows in each of `depth` slices, layers or faces. Pitches in bytes.
  struct Level {
    std::uint64_t address = 0;
    std::uint32_t width = 1, height = 1, depth = 1;
    std::uint64_t row_pitch = 0, slice_pitch = 0;
  };

  Numbers numbers = Numbers::floating;
  std::uint8_t channel_bits = 32, channels = 1;
  std::uint8_t dimensions = 1;         ///< without layers and faces
  bool layered = false, cube = false;  ///< six faces; of a layered cube six for each layer
  bool linear_memory = false;          ///< texels by their number alone; those outside are zero
  bool surface = false;                ///< for suld and sust, not for tex
  std::vector<Level> levels;           ///< of a mipmap; else one

  std::array<Address, 3> address{Address::clamp, Address::clamp, Address::clamp};
  bool filters = false;  ///< linear filtering; else the nearest texel
  bool filters_levels = false;
  bool normalised_coordinates = false;  ///< from 0 to 1 over the texture
  bool reads_fractions = false;         ///< integers are read as floats from 0 or -1 to 1
  bool srgb = false;                    ///< red, green and blue are gamma-encoded
  std::array<float, 4> border{};
  float level_bias = 0, least_level = 0, most_level = 0;

  std::uint32_t texel_bytes() const { return static_cast<std::uint32_t>(channel_bits) / 8 * channels; }
};

/// Makes a texture or surface object of texels in `memory`. Returns its handle, which no other object gets, and which is not 0.
WARPMAT_API std::uint64_t add_texture(DeviceMemory& memory, Texture texture);
/// Whether there was such an object.
WARPMAT_API bool remove_texture(DeviceMemory& memory, std::uint64_t handle);
/// nullptr where no object has that handle.
WARPMAT_API const Texture* find_texture(const DeviceMemory& memory, std::uint64_t handle);

namespace machine {

struct WeightedTexel;

/// A place in a texture, as a lane names it.
struct TexturePoint {
  std::array<double, 3> at{};  ///< x, y, z; of integer coordinates their values
  std::int64_t layer = 0;
  double level = 0;
};

/// A texture with its bytes in this process.
class TextureReader {
 public:
  /// Throws std::out_of_range where its texels do not lie in a buffer of `memory`.
  TextureReader(const Texture& texture, DeviceMemory& memory);

  /// The four words that tex gives: red, green, blue, alpha.
  std::array<std::uint32_t, 4> fetch(const TexturePoint& point) const;
  /// The four words that tld4 gives: one component of the texels that linear filtering would use at level 0: left lower, right lower, right
  /// upper, left upper, where y grows downwards to "lower".
  std::array<std::uint32_t, 4> gather(const TexturePoint& point, int component) const;
  /// The level that gradients of the coordinates choose: nearly the binary logarithm of the longest one, in texels.
  double level_of(const std::array<double, 3>& dx, const std::array<double, 3>& dy) const;

  const Texture& texture() const { return texture_; }
  /// The bytes at `x` (in bytes) of a row of level 0. Precondition: they lie inside.
  std::uint8_t* bytes(std::uint64_t x, std::uint64_t y, std::uint64_t z) const;

 private:
  struct Axis;
  struct Taps;

  double in_texels(double coordinate, Texture::Address mode, std::uint32_t size, bool& backwards) const;
  Axis axis(int dimension, double coordinate, std::uint32_t size, bool filters) const;
  Axis beside_row() const;
  TexturePoint on_face(TexturePoint point) const;
  std::array<std::uint32_t, 4> words(std::size_t level, const std::array<std::int64_t, 3>& at) const;
  std::array<std::uint32_t, 4> fetch_point(std::size_t level, const TexturePoint& point) const;
  void add_taps(Taps& taps, std::size_t level, const TexturePoint& point, int share) const;
  double integer_of(float fraction) const;
  float filtered_channel(std::span<WeightedTexel> texels, std::size_t channel) const;
  std::array<std::uint32_t, 4> filtered(const Taps& taps) const;
  std::int64_t slice(const TexturePoint& point, std::size_t level) const;
  int filtered_dimensions() const;

  const Texture& texture_;
  std::vector<std::uint8_t*> bytes_;  ///< of each level
};

}  // namespace machine
}  // namespace warpmat
