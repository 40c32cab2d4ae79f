#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpmat {

// Tensor memory: 128 lanes of 512 columns, each cell of 32 bits (PTX ISA 9.1 section 9.7.16.1). An address has the lane in bits 16 to 31
// and the column in bits 0 to 15.
//
// A warp moves rectangles of it from and to registers by tcgen05.ld and .st. Which thread and register holds which cell is in figures 183
// to 187 and 193 of section 9.7.16.2.3.1, whose text has no words for it. The table below follows CuTe's layouts of the same instructions
// (copy_traits_sm100.hpp of CUTLASS). Evidence: published.

inline constexpr int tensor_lanes = 128, tensor_columns = 512;
inline constexpr int tensor_quarter = 32;  ///< lanes that a warp reaches by ld and st: those of its number modulo 4

/// A cell, or its distance from the first one of a rectangle.
struct TensorCell {
  int lane = 0, column = 0;
  friend constexpr bool operator==(const TensorCell&, const TensorCell&) = default;
};

/// The cell that an address of 32 bits names; it may lie outside of tensor memory.
constexpr TensorCell tensor_place(std::uint32_t address) {
  return {static_cast<int>(address >> 16), static_cast<int>(address & 0xffff)};
}

/// The shape of one repetition of tcgen05.ld and .st. It is linear over bits: each bit of the thread's and of the register's number that is
/// set adds its place.
struct TransferShape {
  std::string_view name;  ///< "16x64b"
  int lanes;              ///< of the rectangle
  int columns;            ///< of one repetition; the next one begins there
  int registers;          ///< of one repetition
  std::array<TensorCell, 5> thread_bits;
  std::array<TensorCell, 2> register_bits;
  bool has_second;  ///< thread bit 4 selects a second rectangle, whose first column the statement names by an offset
};

/// "16x64b", "16x128b", "16x256b", "32x32b", "16x32bx2".
std::span<const TransferShape> transfer_shapes();
const TransferShape* find_transfer_shape(std::string_view name);

/// One tcgen05.ld or .st with its qualifiers.
struct Transfer {
  const TransferShape* shape = nullptr;
  int repeats = 1;                  ///< .x1 to .x128
  bool halves = false;              ///< .pack::16b, .unpack::16b: a register's halves are the low halves of neighbouring columns
  std::int64_t second_columns = 0;  ///< immHalfSplitoff: columns from the first rectangle to the second

  int registers() const { return repeats * shape->registers; }
  /// Of one rectangle.
  int columns() const { return repeats * shape->columns * (halves ? 2 : 1); }
  /// The cell of half `half` (0 if not `halves`) of register `reg` of `thread`, from the address on.
  TensorCell place(int thread, int reg, int half = 0) const;
};

inline constexpr int max_transfer_registers = 128;

// How the matrices of a product lie in the lanes of one block: data path layouts A to G (PTX ISA 9.1 section 9.7.16.10.5). Figures 205 to
// 218 have no words; the rows below are CuTe's `tmem_frg` and `tmem_frg_ws` (mma_traits_sm100_frag.hpp). Evidence: published.
struct DataPath {
  char name;    ///< 'A' to 'G'
  int rows;     ///< of A and D in one block
  int parts;    ///< of D's columns: each is in 128 / parts lanes. A, its metadata and its scale factors are repeated for each part
  bool halves;  ///< 16 rows take half of a warp's lanes: the lower half, or the upper half if the address has lane 16

  /// The lane of row `row`, from the first lane of a part on.
  constexpr int lane(int row) const { return halves ? row % 16 + row / 16 * tensor_quarter : row; }
  constexpr int first_lane(int part) const { return tensor_lanes / parts * part; }

  friend bool operator==(const DataPath&, const DataPath&) = default;
};

/// Precondition: 'A' to 'G'.
const DataPath& data_path(char name);

/// The word and the byte of a scale factor. Each quarter of the lanes has its own copy, for the part of D that lies there (figures 231 to
/// 242 of PTX ISA 9.1 section 9.7.16.10.7, by CuTe's `tmem_sf_frg`).
struct ScalePlace {
  TensorCell cell;
  int byte = 0;
};
/// Columns of words with the factors of `lines` lines: of 128 at least, so that further factors begin there.
constexpr int scale_group_columns(int lines) {
  return (lines + tensor_lanes - 1) / tensor_lanes * (tensor_lanes / tensor_quarter);
}
/// Factor `factor` of line `line` of `lines` (rows of A, columns of B) that belong to one part, in quarter `quarter`; the first factor is
/// in byte `first_byte`. Factors of K = 96 go on in the words of the next columns (figures 234 to 258, by the fragments of CUTLASS's
/// sm103_blockscaled_mma_warpspecialized.hpp).
constexpr ScalePlace scale_place(int line, int lines, int factor, int first_byte, int quarter) {
  const int byte = first_byte + factor;
  return {{quarter * tensor_quarter + line % tensor_quarter, line / tensor_quarter + byte / 4 * scale_group_columns(lines)}, byte % 4};
}

/// The cell and the first bit of the 4-bit code of sparse metadata for group `group` of row `row`, from the first lane of a part on.
/// With elements of 8 and 4 bits, row i's 16 codes fill two columns of its lane. With elements of 16 and 32 bits, row i's 8 codes fill
/// halves of two words: codes 0 to 3 are in the lane of the row without its bit 3, codes 4 to 7 in that with it; that bit selects the half
/// (figures 262 to 267 of PTX ISA 9.1 section 9.7.16.10.8.4, by CuTe's `tmem_e_frg`; a fork of Triton measured this on an sm_110).
struct MetadataPlace {
  TensorCell cell;
  int bit = 0;
};
constexpr MetadataPlace metadata_place(const DataPath& path, bool wide_elements, int row, int group) {
  if (!wide_elements) return {{path.lane(row), group / 8}, group % 8 * 4};
  const int from = (row & ~8) | group / 4 << 3;
  return {{path.lane(from), 0}, (row >> 3 & 1) * 16 + group % 4 * 4};
}

/// The shape of tcgen05.cp: `rows` lines of shared memory, each of `columns` words, to lanes of tensor memory (section 9.7.16.9.2; which
/// lanes: CuTe's Copy_Traits, copy_traits_sm100.hpp).
struct CopyShape {
  std::string_view name;  ///< "32x128b.warpx4": the shape and its multicast
  int rows, columns;
  std::array<int, 7> row_bits;  ///< the lane that each bit of the row's number adds
  std::array<int, 2> copies;    ///< lanes from a row's first place to others: one for each bit of the copy's number, 0: none

  int copy_count() const { return (copies[0] != 0 ? 2 : 1) * (copies[1] != 0 ? 2 : 1); }
  int lane(int row, int copy) const;
};

std::span<const CopyShape> copy_shapes();

}  // namespace warpmat
