#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpmat {

/// 16 bytes of shared memory with their contents: "row 3", "k 8-15".
struct MemoryChunk {
  std::uint32_t address = 0;  ///< a multiple of 16
  int line = 0;               ///< chunks of the same line have the same colour
  std::string above, below;   ///< two lines of text
};

/// An SVG picture of shared memory, 128 bytes a row like its banks, with the place of each chunk. Rows without a chunk are left out, with a
/// note.
std::string memory_svg(const std::string& title, const std::string& remark, const std::vector<MemoryChunk>& chunks);

}  // namespace warpmat
