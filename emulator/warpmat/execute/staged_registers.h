#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <warpmat/tables/capacity.h>
#include <warpmat/warp.h>

namespace warpmat {

/// Copies of one warp's registers for the kernels and the reference, one for each word of an instruction's operands, and pointers to them.
struct StagedRegisters {
  static constexpr std::size_t at_once = 4;                                            ///< pointers that are set at once
  static constexpr std::size_t most = (capacity::form_words / at_once + 1) * at_once;  ///< an address of 64 bits is one more

  // No initial values: each call makes one and fills it as far as needed.
  std::array<Register, most> registers;
  std::array<std::uint32_t*, most> pointers;

  /// The pointers to `count` registers from `first` on.
  std::span<std::uint32_t* const> list(const Register* first, std::size_t count) const {
    return {&pointers[static_cast<std::size_t>(first - registers.data())], count};
  }
  /// Sets the first `words` pointers.
  void point(std::size_t words) {
    for (std::size_t i = 0; i < words; i += at_once)
      for (std::size_t j = 0; j < at_once; ++j) pointers[i + j] = registers[i + j].data();
  }
};

}  // namespace warpmat
