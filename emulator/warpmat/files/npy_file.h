#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/files/output_file.h>

namespace warpmat {

/// The element types that this program exchanges with NumPy.
enum class DType : std::uint8_t { uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, float32, float64 };

/// One element type.
struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::string_view code;  ///< as the header spells it, without the byte order
  std::size_t bytes;
};

/// All element types, in the order of `DType`.
std::span<const DTypeRow> dtype_rows();

/// NumPy's name: "uint32".
std::string_view name(DType dtype);

/// The type of that name, or nothing.
std::optional<DType> find_dtype(std::string_view name);

std::size_t size_of(DType dtype);

/// The bytes with which a .npy file begins.
inline constexpr std::string_view npy_magic = "\x93NUMPY";

/// The description of the array in a .npy file.
struct NpyHeader {
  DType dtype = DType::uint8;
  std::vector<std::size_t> shape;

  /// The size of the elements, or nothing if it exceeds 64 bits.
  std::optional<std::size_t> byte_count() const;
};

/// "uint32 [3][4][32]"; "uint32 scalar" for a shape without dimensions.
std::string describe(const NpyHeader& header);

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

/// Writes a whole file of format 1.0, or none. Throws std::runtime_error.
void write_npy(const std::filesystem::path& path, const NpyHeader& header, std::span<const std::byte> elements);

}  // namespace warpmat
