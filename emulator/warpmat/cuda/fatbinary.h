#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <warpmat/forms.h>

namespace warpmat::cuda {

/// Of the PTX of one program, all of its objects together.
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{1} << 30;

/// An image in a fatbinary, as nvcc embeds it: one kernel module for one target.
struct Image {
  enum class Kind : std::uint16_t { ptx = 1, elf = 2 };  ///< others exist
  Kind kind = Kind::ptx;
  int target = 0;             ///< 90 of sm_90 or compute_90
  bool architecture = false;  ///< compute_90a
  std::uint64_t flags = 0;
  std::string options;                    ///< of PTX: those with which nvcc called ptxas, "-g --fmad false"
  std::span<const std::uint8_t> payload;  ///< as it is stored
  std::uint64_t bytes = 0;                ///< when it is decompressed, as the fatbinary says

  /// The text of a PTX image. Throws FatbinaryError, also where the text has more than `most` bytes.
  std::string text(std::uint64_t most = most_text_bytes) const;
  /// The ELF file of an image of machine code. Throws the same.
  std::string machine_code(std::uint64_t most = most_text_bytes) const;
};

/// What a program has for a target: PTX, which is executed, and what tells how an assembler makes machine code of it.
struct DeviceCode {
  std::string text{};
  std::string options{};                    ///< of ptxas, of all objects
  std::vector<std::string> machine_code{};  ///< ELF files that the target runs
};

class FatbinaryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What an image for cuModuleLoadData is, by its first bytes: PTX is text that ends with NUL.
enum class ImageKind { wrapper, fatbinary, machine_code, ptx };
ImageKind image_kind(const void* image);

/// The bytes of a fatbinary with its header, as that says. `header`: at least fatbinary_header_bytes.
inline constexpr std::size_t fatbinary_header_bytes = 16;
std::uint64_t fatbinary_bytes(const void* header);

/// The images of a fatbinary, its header first, which point into it. Throws FatbinaryError, also where its headers say more than is mapped.
std::vector<Image> read_fatbinary(const void* fatbinary);

/// The images behind the wrapper that a program registers: those of each object, of which there are several with -rdc=true. Throws
/// FatbinaryError.
std::vector<std::vector<Image>> read_wrapper(const void* wrapper);

/// The code for `target` behind a wrapper, the PTX of all objects linked. Objects without PTX for it, such as NVIDIA's device runtime, are
/// left out unless none has any: then throws FatbinaryError.
DeviceCode wrapper_code(const void* wrapper, const Target& target);

/// The same of the images of one fatbinary.
DeviceCode device_code(std::span<const Image> images, const Target& target);

/// The PTX image for `target`: of the newest architecture that is not newer, one with the architecture's own features first. Throws
/// FatbinaryError that says how to compile.
const Image& choose_ptx(std::span<const Image> images, const Target& target);

}  // namespace warpmat::cuda
