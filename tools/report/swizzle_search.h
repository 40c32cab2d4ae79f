#pragma once

#include <warpmat/explain.h>
#include <warpmat/layout.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpmat {

/// A matrix for which a layout in shared memory is searched.
struct SwizzleTile {
  int rows = 0, columns = 0, element_bits = 0;
  std::string format{};

  int row_bytes() const { return columns * element_bits / 8; }
};

/// "64x64:f16". Throws std::runtime_error that says what would be right.
SwizzleTile parse_tile(const std::string& text);

/// The instruction sequence with which warps store or load all of a tile.
struct TileAccess {
  std::string name{};  ///< "cp.async.16", "ldmatrix.x4.trans"
  checks::BankAccess access = checks::BankAccess::load;
  std::uint32_t bytes = 16;  ///< for each lane
  int matrices = 0;          ///< for ldmatrix and stmatrix; else 0
  bool column = false;       ///< lanes run down a column of chunks, not along the rows
};

/// All named stores or loads: cp.async.N (N bytes), ldmatrix.xN[.trans], stmatrix.xN[.trans], ld.N or st.N (N bits), and ld.N.column and
/// st.N.column.
std::vector<TileAccess> tile_accesses(bool stores);

/// The access of that name. Throws std::runtime_error listing the names.
TileAccess parse_access(const std::string& name, bool stores);

/// A layout of a tile in memory.
struct SwizzleCandidate {
  std::string name{};  ///< in the syntax of MemoryLayout::parse()
  MemoryLayout layout{};
  std::size_t bytes = 0;  ///< of the tile
  int bits = 0, base = 0, shift = 0, pad = 0;
};

/// Consecutive rows, padded rows, and every XOR swizzle that keeps the chunks of the widest of `accesses` contiguous.
std::vector<SwizzleCandidate> swizzle_candidates(const SwizzleTile& tile, const std::vector<TileAccess>& accesses);

/// The wavefronts of an access of the whole tile, and their minimum.
struct TileWavefronts {
  std::uint64_t taken = 0, least = 0;
};
TileWavefronts tile_wavefronts(const SwizzleTile& tile, const TileAccess& access, const MemoryLayout& layout);

/// The offset in bytes of an element, as expressions in C.
std::string address_formula(const SwizzleTile& tile, const SwizzleCandidate& candidate);

/// "CU_TENSOR_MAP_SWIZZLE_128B", if a tensor map has the layout for a box of the tile's size.
std::optional<std::string_view> tma_mode(const SwizzleTile& tile, const SwizzleCandidate& candidate);

/// CuTe's swizzle of element numbers, "Swizzle<3,3,3>"; nothing for padded rows.
std::optional<std::string> cute_swizzle(const SwizzleTile& tile, const SwizzleCandidate& candidate);

}  // namespace warpmat
