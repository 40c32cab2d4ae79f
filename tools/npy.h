#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// The element types that this program exchanges with NumPy.
enum class DType : std::uint8_t { uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32, float64 };

/// NumPy's name: "uint32".
std::string_view name(DType dtype);

std::size_t size_of(DType dtype);

/// An array as a .npy file holds it: elements in C order, little-endian.
struct NpyArray {
  DType dtype = DType::uint8;
  std::vector<std::size_t> shape;
  std::vector<std::byte> bytes;  ///< product of shape, times size_of(dtype)

  /// Zeros. Throws std::length_error where the size in bytes has no 64-bit number.
  static NpyArray zeros(DType dtype, std::vector<std::size_t> shape);

  /// The elements, where T is the C++ type of dtype.
  template <typename T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// "uint32 [3][4][32]"; "uint32 scalar" for a shape without dimensions.
std::string describe(const NpyArray& array);

/// Reads format 1.0 or 2.0. Fortran order, big-endian and dtypes not listed above are refused, as is a file that is shorter or longer than
/// its shape says. Throws std::runtime_error naming the file and what is wrong.
NpyArray read_npy(const std::filesystem::path& path);

/// The same from the next `size` bytes of a stream. Allocates no more than `size` says. The message names no file.
NpyArray read_npy(std::istream& in, std::uint64_t size);

/// Writes format 1.0, whole or not at all. Throws std::runtime_error.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace warpmat
