#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/export.h>
#include <warpmat/layout/swizzle.h>

namespace warpmat {

/// What the tensor memory accelerator is told about a tensor in global memory: the arguments of cuTensorMapEncodeTiled or
/// cuTensorMapEncodeIm2col (CUDA Driver API reference, "Tensor Map Object Management"). Enumerators have the driver's numbers.
///
/// An interleaved tensor keeps its channels in slices of 16 or 32 bytes. Its dimensions are W, {H, {D,}} slices, N; a slice is what an
/// element is elsewhere, and the distance of neighbours along W is not among the strides: it is the slice (measured on an H200).
struct WARPMAT_API TensorMap {
  enum class Type : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
  enum class Interleave : std::uint8_t { none, bytes_16, bytes_32 };
  using Swizzle = warpmat::Swizzle;
  enum class L2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
  enum class Fill : std::uint8_t { zeros, nan };
  enum class Mode : std::uint8_t { tile, im2col };
  static constexpr std::size_t most_dimensions = 5;
  static constexpr std::size_t bytes = 128;     ///< of an encoded map
  static constexpr std::size_t alignment = 64;  ///< of its place
  using Encoded = std::array<std::uint8_t, bytes>;

  Type type = Type::u8;
  std::uint32_t rank = 1;                                    ///< dimensions, the innermost first
  std::uint64_t address = 0;                                 ///< generic address of element (0, 0, ...)
  std::array<std::uint64_t, most_dimensions> dims{};         ///< elements
  std::array<std::uint64_t, most_dimensions - 1> strides{};  ///< bytes, of dimensions 1, 2, ...
  std::array<std::uint32_t, most_dimensions> box{};          ///< tile: elements that a copy traverses
  std::array<std::uint32_t, most_dimensions> element_strides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  Fill fill = Fill::zeros;

  Mode mode = Mode::tile;
  /// im2col: the corners of the box in which the filter's base walks, from the first and from the last element of W, {H, {D}}.
  std::array<std::int32_t, most_dimensions - 2> lower_corner{}, upper_corner{};
  std::uint32_t channels = 0;  ///< im2col: elements of each pixel
  std::uint32_t pixels = 0;    ///< im2col: that a copy moves

  /// What the driver would refuse, as one sentence; nothing where it takes the map.
  [[nodiscard]] std::optional<std::string> problem() const;
  /// The 128 bytes of a kernel's argument; their layout is warpmat's own, as NVIDIA does not publish the GPU's. Throws
  /// std::invalid_argument with the problem.
  [[nodiscard]] Encoded encode() const;
  /// The same without a look at what is in the map: for edits on the device.
  [[nodiscard]] Encoded encode_unchecked() const;
  /// The map that 128 bytes are; nothing where they are none.
  [[nodiscard]] static std::optional<TensorMap> decode(std::span<const std::uint8_t> encoded);

  std::uint64_t element_bytes() const;
  /// Bytes that neighbours along dimension 0 are apart in global memory: an element's, or a slice's.
  std::uint64_t unit_bytes() const;
  /// The first of the dimensions W, {H, {D}}: channels lie before them unless they are interleaved.
  std::size_t first_spatial() const { return interleave == Interleave::none ? 1 : 0; }
  /// Places of dimension `i` that a copy in tile mode moves: ceil(box / element stride), of slices one. Elements of dimension 0 have no
  /// stride.
  std::uint32_t extent(std::size_t i) const;
  /// A copy moves rows of bytes that lie together in global memory: of elements, or one slice each.
  std::uint64_t row_bytes() const;
  std::uint64_t rows() const;
  /// Bytes that a copy counts at its mbarrier: those of its rows, inside of the tensor or not.
  std::uint64_t box_bytes() const { return rows() * row_bytes(); }
  /// Bytes from one row to the next in shared memory: rows that are shorter than the swizzle's span begin at its multiples, slices lie one
  /// behind the other (both measured on an H200).
  std::uint64_t row_pitch() const;
  /// Bytes of shared memory from the first to the last of a box: whole spans of the swizzle, whose chunks change places.
  std::uint64_t shared_bytes() const;
};

/// The names of launch descriptions: "bf16", "128B", "nan"; nothing for another one.
[[nodiscard]] WARPMAT_API std::optional<TensorMap::Type> find_tensor_type(std::string_view name);
[[nodiscard]] WARPMAT_API std::string_view name(TensorMap::Type type);

}  // namespace warpmat
