#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/output_file.h"

namespace warpmat {

/// The element types that this program exchanges with NumPy.
enum class DType : std::uint8_t { uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32, float64 };

/// NumPy's name: "uint32".
std::string_view name(DType dtype);

/// The type of that name, or nothing.
std::optional<DType> find_dtype(std::string_view name);

std::size_t size_of(DType dtype);

/// The description of the array in a .npy file.
struct NpyHeader {
  DType dtype = DType::uint8;
  std::vector<std::size_t> shape;

  /// The size of the elements, or nothing if it exceeds 64 bits.
  std::optional<std::size_t> byte_count() const;
};

/// "uint32 [3][4][32]"; "uint32 scalar" for a shape without dimensions.
std::string describe(const NpyHeader& header);

/// An array in the form of a .npy file: elements in C order, little-endian.
struct NpyArray : NpyHeader {
  std::vector<std::byte> bytes;  ///< product of shape, times size_of(dtype)

  /// Zeros. Throws std::length_error if the size in bytes exceeds 64 bits.
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

/// Reads the header of format 1.0 or 2.0 from the next `size` bytes of a stream; the stream is then at the elements. Refuses Fortran order,
/// big-endian, dtypes not listed above, and a `size` that differs from that of header and elements. Throws std::runtime_error; allocates at
/// most `size` bytes.
NpyHeader read_npy_header(std::istream& in, std::uint64_t size);

/// A .npy file to be read in pieces, possibly by many threads. Throws std::runtime_error naming the file and the error.
class NpyReader {
 public:
  /// Reads the header as read_npy_header does.
  explicit NpyReader(const std::filesystem::path& path);

  const NpyHeader& header() const { return header_; }

  /// Fills `bytes` with those of the elements from byte `offset` on.
  void read(std::uint64_t offset, std::span<std::byte> bytes);

 private:
  [[noreturn]] void refuse(std::string_view reason) const;

  std::filesystem::path path_;
  std::mutex mutex_;
  std::ifstream in_;
  NpyHeader header_;
  std::uint64_t elements_ = 0;  ///< their offset in the file
};

/// A .npy file of format 1.0 to be written in pieces, possibly by many threads; an OutputFile. Throws std::runtime_error.
class NpyWriter {
 public:
  NpyWriter(const std::filesystem::path& path, const NpyHeader& header);

  /// Writes bytes of the elements from byte `offset` on.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void finish() { file_.finish(); }

 private:
  std::mutex mutex_;
  OutputFile file_;
  std::uint64_t elements_;  ///< their offset in the file
};

/// Reads a whole file. Throws what NpyReader throws.
NpyArray read_npy(const std::filesystem::path& path);

/// Writes format 1.0, whole or not at all. Throws std::runtime_error.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace warpmat
