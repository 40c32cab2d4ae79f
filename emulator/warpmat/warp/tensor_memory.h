#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpmat {

/// The words of a block's tensor memory: 128 lanes of 512 columns. Of a word that was not written the ISA says nothing; it is 0.
class TensorMemory {
 public:
  static constexpr int lanes = 128, columns = 512;

  TensorMemory() : words_(std::size_t{lanes} * columns) {}

  /// Precondition: the cell exists.
  std::uint32_t& word(int lane, int column) { return words_[index(lane, column)]; }
  std::uint32_t word(int lane, int column) const { return words_[index(lane, column)]; }

 private:
  static std::size_t index(int lane, int column) { return static_cast<std::size_t>(lane) * columns + static_cast<std::size_t>(column); }

  std::vector<std::uint32_t> words_;
};

}  // namespace warpmat
