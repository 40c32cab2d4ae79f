#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/runners/kernel_runner.h"

namespace warpmat {

// What a GPU gave for random kernels, small enough to bring home: a line each. The kernels are not stored, seed and number make them again.
// The first line has a digest of kernel 0's text, by which a version that draws others is refused.
//
//   # seed 7, sm_90a, kernel 0 5ad2e07c31b9
//   0 91c0f5e2ab34
//   1 08ffb2917c5d assembler
//   2 7be2045d9a61 differs 3 2 1:4096:0a1b
//
// These are the kernel's number, a digest of all buffers, and whether the emulator gave the same: by the rule, with --assembler ptxas
// alone, or not. Then follow how many of the kernel's statements `--assembler ptxas` names, how many bytes differ, and what the GPU gave:
// buffer, offset, bytes.

/// Consecutive bytes of a buffer on the GPU.
struct BytesFound {
  std::size_t buffer = 0, at = 0;
  std::vector<std::uint8_t> bytes;
  friend bool operator==(const BytesFound&, const BytesFound&) = default;
};

struct RecordedKernel {
  enum class Same : std::uint8_t { by_rule, by_assembler, no };
  std::uint64_t index = 0;
  std::string digest;
  Same same = Same::by_rule;
  std::size_t named = 0, mismatches = 0;
  std::vector<BytesFound> found{};  ///< a part of the bytes that differ
  friend bool operator==(const RecordedKernel&, const RecordedKernel&) = default;
};

struct RecordedKernels {
  std::uint64_t seed = 0;
  std::string target;
  std::string first_kernel{};  ///< a digest of kernel 0's text; older files have none
  std::vector<RecordedKernel> kernels{};
};

/// Of all buffers, 12 hexadecimal digits.
std::string digest_of(const KernelAnswer& answer);

/// Of a kernel's text, as many.
std::string digest_of(std::string_view text);

/// Where `found` is another than `expected`: at most `most` bytes.
std::vector<BytesFound> bytes_found(const KernelAnswer& expected, const KernelAnswer& found, std::size_t most);

/// The first line of the file, and one for a kernel, both with their end.
std::string header_line(std::uint64_t seed, std::string_view target, std::string_view first_kernel = "");
std::string line_of(const RecordedKernel& kernel);

/// Reads the file's text. Throws std::runtime_error that names the line.
RecordedKernels parse_kernel_answers(std::string_view text);

}  // namespace warpmat
