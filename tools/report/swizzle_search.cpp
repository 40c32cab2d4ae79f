#include "tools/report/swizzle_search.h"

#include <fmt/core.h>
#include <warpmat/warp.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "tools/report/element_array.h"

namespace warpmat {
namespace {

using checks::BankAccess;

constexpr int ldmatrix_rows = 8;     // of ldmatrix and stmatrix
constexpr std::uint32_t chunk = 16;  // bytes of their rows

/// The division of a tile among the lanes of an access's instructions.
struct Division {
  int chunks;        ///< of the access's size in a row
  int instructions;  ///< for the whole tile
};

Division division_of(const SwizzleTile& tile, const TileAccess& access) {
  const int chunks = tile.row_bytes() / static_cast<int>(access.bytes);
  const int at_once = access.matrices > 0 ? access.matrices * ldmatrix_rows : warp_size;
  return {chunks, tile.rows * chunks / at_once};
}

/// Row and chunk of `lane` in instruction `number`.
struct Spot {
  int row, chunk;
};

/// ldmatrix and stmatrix access blocks of 16 rows and two chunks: x4 a whole block, x2 16 rows of one chunk, x1 8 rows of one.
Spot matrix_spot(const SwizzleTile& tile, const TileAccess& access, int number, int lane) {
  const int rows = std::min(access.matrices * ldmatrix_rows, 2 * ldmatrix_rows), across = access.matrices == 4 ? 2 : 1;
  const int down = tile.rows / rows;
  return {number % down * rows + lane % rows, number / down * across + lane / rows};
}

Spot spot_of(const SwizzleTile& tile, const TileAccess& access, const Division& division, int number, int lane) {
  if (access.matrices > 0) return matrix_spot(tile, access, number, lane);
  const int index = number * warp_size + lane;
  return access.column ? Spot{index % tile.rows, index / tile.rows} : Spot{index / division.chunks, index % division.chunks};
}

void check_fits(const SwizzleTile& tile, const TileAccess& access) {
  const int across = access.matrices == 4 ? 2 : 1, rows = std::min(access.matrices * ldmatrix_rows, 2 * ldmatrix_rows);
  const auto bytes = static_cast<int>(access.bytes);
  const bool whole = tile.row_bytes() % (bytes * across) == 0 &&
                     (access.matrices == 0 ? tile.rows * tile.row_bytes() % (warp_size * bytes) == 0 : tile.rows % rows == 0);
  if (!whole)
    throw std::runtime_error(fmt::format("{} does not divide a tile of {} rows of {} bytes: an instruction takes {} bytes of {}",
                                         access.name, tile.rows, tile.row_bytes(), bytes * across,
                                         access.matrices == 0 ? "each of 32 lanes" : fmt::format("{} rows", rows)));
}

}  // namespace

SwizzleTile parse_tile(const std::string& text) {
  constexpr int most = 4096;
  WordReader words(text, "tile", "write ROWSxCOLUMNS:FORMAT, each 1 to 4096, as in 64x64:f16");
  const int rows = words.number(words.before('x'), 1, most, "number of rows");
  const int columns = words.number(words.before(':'), 1, most, "number of columns");
  const std::string format(words.rest());
  const SwizzleTile tile{rows, columns, find_element_type(format).bits, format};
  if (const int bits = tile.columns * tile.element_bits; bits % (8 * static_cast<int>(chunk)) != 0)
    words.refuse(text, fmt::format("a row has {} bits, no multiple of 16 bytes", bits));
  return tile;
}

std::vector<TileAccess> tile_accesses(bool stores) {
  std::vector<TileAccess> accesses;
  if (stores)
    for (const std::uint32_t bytes : {4u, 8u, 16u}) accesses.push_back({fmt::format("cp.async.{}", bytes), BankAccess::copy, bytes});
  for (const int matrices : {1, 2, 4})
    for (const char* const trans : {"", ".trans"})
      accesses.push_back({fmt::format("{}matrix.x{}{}", stores ? "st" : "ld", matrices, trans), BankAccess::matrix, chunk, matrices});
  for (const char* const column : {"", ".column"})
    for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u})
      accesses.push_back({fmt::format("{}.{}{}", stores ? "st" : "ld", 8 * bytes, column), stores ? BankAccess::store : BankAccess::load,
                          bytes, 0, *column != '\0'});
  return accesses;
}

TileAccess parse_access(const std::string& name, bool stores) {
  std::vector<TileAccess> accesses = tile_accesses(stores);
  if (const auto found = std::ranges::find(accesses, name, &TileAccess::name); found != accesses.end()) return *found;
  throw std::runtime_error(
      fmt::format("'{}' is no {}: there are {}", name, stores ? "store" : "load",
                  stores ? "cp.async.4 .8 .16, stmatrix.x1 .x2 .x4 with or without .trans, and st.8 to st.128, also .column"
                         : "ldmatrix.x1 .x2 .x4 with or without .trans, and ld.8 to ld.128, also .column"));
}

std::vector<SwizzleCandidate> swizzle_candidates(const SwizzleTile& tile, const std::vector<TileAccess>& accesses) {
  std::uint32_t widest = 1;
  for (const TileAccess& access : accesses) widest = std::max(widest, access.bytes);
  const auto row_bytes = static_cast<std::size_t>(tile.row_bytes()), rows = static_cast<std::size_t>(tile.rows);
  std::vector<SwizzleCandidate> found{{"rows", MemoryLayout(), rows * row_bytes}};
  const int base = std::countr_zero(widest), last_bit = static_cast<int>(std::bit_width(rows * row_bytes - 1));
  const auto add = [&](int bits, int shift) {
    if (base + shift + bits > last_bit || (rows * row_bytes) % (std::size_t{1} << (base + bits)) != 0) return;
    const std::string name = fmt::format("swizzle<{},{},{}>", bits, base, shift);
    found.push_back({name, MemoryLayout::swizzled(bits, base, shift), rows * row_bytes, bits, base, shift});
  };
  constexpr int max_bits = 5, tma_bits = 3, tma_shift = 3;  // swizzles of tensor maps and matrix descriptors come first
  for (int bits = 1; bits <= tma_bits; ++bits) add(bits, tma_shift);
  for (int bits = 1; bits <= max_bits; ++bits)
    for (int shift = bits; shift <= last_bit; ++shift)
      if (shift != tma_shift) add(bits, shift);
  for (std::size_t pad = widest; pad <= 64; pad *= 2) {
    const std::size_t padded = row_bytes + pad;
    found.push_back({fmt::format("padded<{}>", padded), MemoryLayout::padded(padded), rows * padded, 0, 0, 0, static_cast<int>(pad)});
  }
  return found;
}

TileWavefronts tile_wavefronts(const SwizzleTile& tile, const TileAccess& access, const MemoryLayout& layout) {
  check_fits(tile, access);
  const Division division = division_of(tile, access);
  const int addressing = access.matrices > 0 ? access.matrices * ldmatrix_rows : warp_size;
  const LaneMask mask = addressing == warp_size ? all_lanes : lane_bit(addressing) - 1;
  TileWavefronts sum;
  for (int number = 0; number < division.instructions; ++number) {
    std::vector<std::uint64_t> addresses(warp_size);
    for (int lane = 0; lane < addressing; ++lane) {
      const Spot spot = spot_of(tile, access, division, number, lane);
      const int column = spot.chunk * static_cast<int>(access.bytes) * 8 / tile.element_bits;
      addresses[static_cast<std::size_t>(lane)] = layout.bit(spot.row, column, tile.columns, tile.element_bits) / 8;
    }
    const auto phases = checks::bank_phases(access.access, access.bytes, addresses, mask);
    sum.taken += static_cast<std::uint64_t>(checks::wavefronts(phases));
    sum.least += phases.size();
  }
  return sum;
}

std::string address_formula(const SwizzleTile& tile, const SwizzleCandidate& candidate) {
  const int row_bytes = tile.row_bytes() + candidate.pad;
  const std::string column =
      tile.element_bits % 8 == 0 ? fmt::format("column * {}", tile.element_bits / 8) : fmt::format("column * {} / 8", tile.element_bits);
  std::string text = fmt::format("offset = row * {} + {};", row_bytes, column);
  if (candidate.bits > 0)
    text += fmt::format(" offset ^= (offset >> {}) & {:#x};", candidate.shift, ((1 << candidate.bits) - 1) << candidate.base);
  return text;
}

std::optional<std::string_view> tma_mode(const SwizzleTile& tile, const SwizzleCandidate& candidate) {
  constexpr std::string_view modes[] = {"CU_TENSOR_MAP_SWIZZLE_NONE", "CU_TENSOR_MAP_SWIZZLE_32B", "CU_TENSOR_MAP_SWIZZLE_64B",
                                        "CU_TENSOR_MAP_SWIZZLE_128B"};
  if (candidate.pad != 0) return std::nullopt;
  if (candidate.bits == 0) return modes[0];
  const bool of_tma = candidate.base == 4 && candidate.shift == 3 && candidate.bits <= 3 && tile.row_bytes() == 16 << candidate.bits;
  return of_tma ? std::optional(modes[candidate.bits]) : std::nullopt;
}

std::optional<std::string> cute_swizzle(const SwizzleTile& tile, const SwizzleCandidate& candidate) {
  const int elements = candidate.base - std::countr_zero(static_cast<unsigned>(tile.element_bits)) + 3;  // base counts bytes
  if (candidate.pad != 0 || !std::has_single_bit(static_cast<unsigned>(tile.element_bits)) || elements < 0) return std::nullopt;
  return fmt::format("Swizzle<{},{},{}>", candidate.bits, candidate.bits == 0 ? 4 : elements, candidate.bits == 0 ? 3 : candidate.shift);
}

}  // namespace warpmat
