#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/forms.h>
#include <warpmat/warp.h>

namespace warpmat {

/// The storage of a matrix of wmma.load or wmma.store in memory.
struct MatrixStorage {
  std::uint64_t address = 0;  ///< of its first element
  std::uint32_t stride = 0;   ///< elements from one row to the next; for .col from one column to the next
};

/// Bytes that are consecutive in memory and in a register, for each lane: a part of what wmma.load and wmma.store move.
struct MatrixRun {
  int reg = 0, bit = 0;  ///< start of the run in the lanes' registers
  std::array<std::uint16_t, warp_size> lines,
      elements;  ///< of its first element: the row and the place in the row; of .col the column, and there
};

/// All runs of a fragment; each has `bytes` bytes.
struct MatrixRuns {
  std::uint32_t bytes = 0;
  std::vector<MatrixRun> runs;
};

/// The runs of `form`, of wmma.load or wmma.store.
[[nodiscard]] MatrixRuns matrix_runs(const Form& form);

/// The same, made once: for a form of the table itself.
[[nodiscard]] const MatrixRuns& listed_runs(const Form& form);

/// Where the bytes of `lane` of a run begin in memory.
[[nodiscard]] inline std::uint64_t address_of(const Form& form, const MatrixStorage& storage, const MatrixRun& run, int lane) {
  const auto i = static_cast<std::size_t>(lane);
  return storage.address +
         (std::uint64_t{run.lines[i]} * storage.stride + run.elements[i]) * static_cast<std::uint64_t>(form.memory_bits) / 8;
}

/// Nothing if both are multiples of what `form` needs (Form::memory_alignment); else what is wrong.
[[nodiscard]] std::optional<std::string> misaligned(const Form& form, const MatrixStorage& storage);

}  // namespace warpmat
