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
  /// The cell of half `half` (0 if not `halves`) of register `reg` of `thread`, from the address on.
  TensorCell place(int thread, int reg, int half = 0) const;
};

inline constexpr int max_transfer_registers = 128;

}  // namespace warpmat
