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

/// The tensor memory accelerator's description of a tensor in global memory: the arguments of cuTensorMapEncodeTiled or
/// cuTensorMapEncodeIm2col (CUDA Driver API reference, "Tensor Map Object Management"). Enumerators have the driver's numbers.
///
/// An interleaved tensor stores its channels in slices of 16 or 32 bytes. Its dimensions are W, {H, {D,}} slices, N. A slice replaces an
/// element, and the distance of neighbours along W is not among the strides: it is the slice (measured on an H200).
struct WARPMAT_API TensorMap {
  /// Sixteen elements of u4x16, u4x16_p64 and u6x16_p32 have 8, 8 and 12 contiguous bytes in global memory, and 8, 16 and 16 in shared
  /// memory: padding follows, which keeps its old contents (PTX ISA 9.1 section 5.5.1.1; the driver's 16U4_ALIGN8B, 16U4_ALIGN16B and
  /// 16U6_ALIGN16B; sm_100 on).
  enum class Type : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, u4x16, u4x16_p64, u6x16_p32 };
  enum class Interleave : std::uint8_t { none, bytes_16, bytes_32 };
  using Swizzle = warpmat::Swizzle;
  /// What a swizzle of 128 bytes keeps together: 16 bytes, 32, 32 whose halves of 16 bytes exchange their 8 bytes in every other line of
  /// 128, or 64 (PTX ISA 9.1 section 5.5.7; all but the first: sm_100 on). Which lines exchange 8 bytes is assumed: the odd ones.
  enum class Atom : std::uint8_t { bytes_16, bytes_32, bytes_32_flip_8, bytes_64 };
  enum class L2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
  enum class Fill : std::uint8_t { zeros, nan };
  enum class Mode : std::uint8_t { tile, im2col };
  static constexpr std::size_t max_dimensions = 5;
  static constexpr std::size_t bytes = 128;     ///< of an encoded map
  static constexpr std::size_t alignment = 64;  ///< of its address
  using Encoded = std::array<std::uint8_t, bytes>;

  Type type = Type::u8;
  std::uint32_t rank = 1;                                   ///< dimensions, the innermost first
  std::uint64_t address = 0;                                ///< generic address of element (0, 0, ...)
  std::array<std::uint64_t, max_dimensions> dims{};         ///< elements
  std::array<std::uint64_t, max_dimensions - 1> strides{};  ///< bytes, of dimensions 1, 2, ...
  std::array<std::uint32_t, max_dimensions> box{};          ///< tile: elements that a copy traverses
  std::array<std::uint32_t, max_dimensions> element_strides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  Atom atom = Atom::bytes_16;  ///< others with Swizzle::bytes_128 alone
  L2Promotion l2_promotion = L2Promotion::none;
  Fill fill = Fill::zeros;

  Mode mode = Mode::tile;
  /// im2col: the corners of the box in which the filter's base moves, relative to the first and the last element of W, {H, {D}}.
  std::array<std::int32_t, max_dimensions - 2> lower_corner{}, upper_corner{};
  std::uint32_t channels = 0;  ///< im2col: elements of each pixel
  std::uint32_t pixels = 0;    ///< im2col: pixels of a copy

  /// The driver's number of swizzle and atom (CU_TENSOR_MAP_SWIZZLE_NONE is 0).
  int swizzle_number() const;
  static constexpr int swizzle_numbers = 7;
  /// Precondition: `number` is below swizzle_numbers.
  void set_swizzle(int number);

  /// The driver's reason to refuse the map, as one sentence; nothing if it accepts the map.
  [[nodiscard]] std::optional<std::string> problem() const;
  /// The 128 bytes of a kernel's argument. Their layout is warpmat's own, because NVIDIA does not publish the GPU's. Throws
  /// std::invalid_argument with problem().
  [[nodiscard]] Encoded encode() const;
  /// The same without checking the map: for edits on the device.
  [[nodiscard]] Encoded encode_unchecked() const;
  /// Decodes 128 bytes; nothing if they are not a map.
  [[nodiscard]] static std::optional<TensorMap> decode(std::span<const std::uint8_t> encoded);

  std::uint64_t element_bits() const;
  /// The distance in bits of neighbours along dimension 0 in global memory: an element, or a slice.
  std::uint64_t unit_bits() const;
  /// The bytes of global memory that a chunk of 16 bytes in shared memory holds: 16, or fewer with padding behind them.
  std::uint32_t chunk_bytes() const;
  /// The address of byte `place` of shared memory under the swizzle.
  std::uint32_t swizzled(std::uint32_t place) const;
  /// The first of the dimensions W, {H, {D}}: channels precede them unless they are interleaved.
  std::size_t first_spatial() const { return interleave == Interleave::none ? 1 : 0; }
  /// The number of places along dimension `i` that a copy in tile mode moves: ceil(box / element stride); 1 for slices. Dimension 0 has no
  /// element stride.
  std::uint32_t extent(std::size_t i) const;
  /// The bytes of a row: contiguous elements in global memory, or one slice.
  std::uint64_t row_bytes() const;
  std::uint64_t rows() const;
  /// The bytes of a row in shared memory, with the padding of its chunks.
  std::uint64_t shared_row_bytes() const { return row_bytes() / chunk_bytes() * 16 + row_bytes() % chunk_bytes(); }
  /// The bytes that a copy counts at its mbarrier: all its rows, inside the tensor or not. Padding does not count (assumed: so CUTLASS
  /// expects it).
  std::uint64_t box_bytes() const { return rows() * row_bytes(); }
  /// The bytes from one row to the next in shared memory. Rows shorter than the swizzle's span begin at its multiples; slices are
  /// contiguous (both measured on an H200).
  std::uint64_t row_pitch() const;
  /// The bytes of shared memory that a box occupies: whole spans of the swizzle.
  std::uint64_t shared_bytes() const;
};

/// The types named as in launch descriptions: "bf16", "128B", "nan"; nothing for another name.
[[nodiscard]] WARPMAT_API std::optional<TensorMap::Type> find_tensor_type(std::string_view name);
[[nodiscard]] WARPMAT_API std::string_view name(TensorMap::Type type);

}  // namespace warpmat
