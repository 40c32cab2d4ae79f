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

#include <warpmat/files/npy_file.h>

namespace warpmat {

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

/// Reads a whole file. Throws what NpyReader throws.
NpyArray read_npy(const std::filesystem::path& path);

/// Writes format 1.0, whole or not at all. Throws std::runtime_error.
void write_npy(const std::filesystem::path& path, const NpyArray& array);

}  // namespace warpmat
