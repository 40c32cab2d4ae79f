#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <warpmat/export.h>

namespace warpmat {

/// What the tensor memory accelerator is told about a tensor in global memory: the arguments of cuTensorMapEncodeTiled (CUDA Driver API
/// reference, "Tensor Map Object Management"). Enumerators have the driver's numbers.
struct WARPMAT_API TensorMap {
  enum class Type : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
  enum class Interleave : std::uint8_t { none, bytes_16, bytes_32 };
  enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };
  enum class L2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
  enum class Fill : std::uint8_t { zeros, nan };
  static constexpr std::size_t most_dimensions = 5;
  static constexpr std::size_t bytes = 128;     ///< of an encoded map
  static constexpr std::size_t alignment = 64;  ///< of its place
  using Encoded = std::array<std::uint8_t, bytes>;

  Type type = Type::u8;
  std::uint32_t rank = 1;                                    ///< dimensions, the innermost first
  std::uint64_t address = 0;                                 ///< generic address of element (0, 0, ...)
  std::array<std::uint64_t, most_dimensions> dims{};         ///< elements
  std::array<std::uint64_t, most_dimensions - 1> strides{};  ///< bytes, of dimensions 1, 2, ...
  std::array<std::uint32_t, most_dimensions> box{};          ///< elements that a copy traverses
  std::array<std::uint32_t, most_dimensions> element_strides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  Fill fill = Fill::zeros;

  /// What cuTensorMapEncodeTiled would refuse, as one sentence; nothing where it takes the map.
  std::optional<std::string> problem() const;
  /// The 128 bytes of a kernel's argument; their layout is warpmat's own, as NVIDIA does not publish the GPU's. Throws
  /// std::invalid_argument with the problem.
  Encoded encode() const;
  /// The same without a look at what is in the map: for edits on the device.
  Encoded encode_unchecked() const;
  /// The map that 128 bytes are; nothing where they are none.
  static std::optional<TensorMap> decode(std::span<const std::uint8_t> encoded);

  std::uint64_t element_bytes() const;
  /// Elements of dimension `i` that a copy moves: ceil(box / element stride). The innermost has no stride.
  std::uint32_t extent(std::size_t i) const;
  /// Bytes that a copy counts at its mbarrier: those of the elements of a box, inside of the tensor or not.
  std::uint64_t box_bytes() const;
  /// Bytes from one row of a box to the next in shared memory: rows that are shorter than the swizzle's span begin at its multiples
  /// (measured on an H200).
  std::uint64_t row_pitch() const;
  /// Bytes of shared memory from the first to the last of a box.
  std::uint64_t shared_bytes() const;
};

/// The names of launch descriptions: "bf16", "128B", "nan"; nothing for another one.
[[nodiscard]] WARPMAT_API std::optional<TensorMap::Type> find_tensor_type(std::string_view name);
[[nodiscard]] WARPMAT_API std::string_view name(TensorMap::Type type);

}  // namespace warpmat
