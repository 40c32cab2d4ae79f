#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include <warpmat/layout.h>

namespace warpmat {

// The fragments of the instructions' operands. The comment on fragments in layout.h explains them.

/// Lists a fragment's index bits from low to high: inside the register, lane, register.
class FragmentBuilder {
 public:
  /// For elements of `element_bits` bits, 1 to 64.
  explicit constexpr FragmentBuilder(int element_bits) : FragmentBuilder(element_bits, element_bits == 64 ? 64 : 32) {}
  constexpr FragmentBuilder(int element_bits, int register_bits) {
    made_.element_bits_ = made_.payload_bits_ = static_cast<std::uint8_t>(element_bits);
    made_.register_bits_ = static_cast<std::uint8_t>(register_bits);
    while (element_bits << (made_.inside_ + 1) <= register_bits) ++made_.inside_;
  }

  /// Appends the next index bit.
  constexpr FragmentBuilder& add(Axis axis, int bit) {
    assert(size_ < list_.size());
    list_[size_++] = {axis, bit};
    ++made_.axis_bits_[static_cast<std::size_t>(axis)];
    return *this;
  }
  /// Appends bits `first` to `last - 1` of `axis`.
  constexpr FragmentBuilder& add(Axis axis, int first, int last) {
    for (int bit = first; bit < last; ++bit) add(axis, bit);
    return *this;
  }

  constexpr int inside_bits() const { return made_.inside_; }
  constexpr int registers() const { return made_.registers(); }

  // NOLINTNEXTLINE(google-explicit-constructor): functions below end with the last bit
  constexpr operator Fragment() const {
    Fragment f = made_;
    for (std::size_t place = 0; place < size_; ++place) {
      int index = list_[place].bit;
      for (std::size_t axis = 0; axis < static_cast<std::size_t>(list_[place].axis); ++axis) index += f.axis_bits_[axis];
      f.places_[static_cast<std::size_t>(index)] = static_cast<std::uint16_t>(1u << place);
      f.elements_[place] = static_cast<std::uint16_t>(1u << index);
    }
    return f;
  }

 private:
  struct IndexBit {
    Axis axis = Axis::row;
    int bit = 0;
  };

  Fragment made_;
  std::array<IndexBit, Fragment::most_bits> list_{};
  std::size_t size_ = 0;
};

/// A (rows m, columns k) of an mma; `element_bits` is the width of the element's container in the register.
constexpr Fragment fragment_a(Shape shape, int element_bits) {
  FragmentBuilder f(element_bits);
  const int k = f.inside_bits();
  return f.add(Axis::column, 0, k + 2).add(Axis::row, 0, log2_exact(shape.m)).add(Axis::column, k + 2, log2_exact(shape.k));
}

/// B (rows k, columns n) of an mma.
constexpr Fragment fragment_b(Shape shape, int element_bits) {
  FragmentBuilder f(element_bits);
  const int k = f.inside_bits();
  return f.add(Axis::row, 0, k + 2).add(Axis::column, 0, log2_exact(shape.n)).add(Axis::row, k + 2, log2_exact(shape.k));
}

/// C and D (rows m, columns n, at least 8) of an mma. Column bit 0 is inside the register for 16-bit elements, else it selects the
/// register. Column bits 3 and up select the register too: a lane's two columns repeat every eight columns.
constexpr Fragment fragment_c(Shape shape, int element_bits) {
  assert(shape.n >= 8);
  FragmentBuilder f(element_bits);
  const int inside = f.inside_bits();
  return f.add(Axis::column, 0, inside)
      .add(Axis::column, 1, 3)
      .add(Axis::row, 0, 3)
      .add(Axis::column, inside, 1)
      .add(Axis::row, 3, log2_exact(shape.m))
      .add(Axis::column, 3, log2_exact(shape.n));
}

/// `number` 8x8 matrices of 16-bit elements, one a register: what ldmatrix, stmatrix and movmatrix hold. With `transposed`, a register
/// holds elements of a column instead of a row.
constexpr Fragment fragment_m8n8(int number, bool transposed) {
  const Axis across = transposed ? Axis::row : Axis::column;
  const Axis down = transposed ? Axis::column : Axis::row;
  return FragmentBuilder(16).add(across, 0, 3).add(down, 0, 3).add(Axis::matrix, 0, log2_exact(number));
}

/// `number` 16x16 matrices of bytes, two registers each: ldmatrix .m16n16.trans. Rows are those of the memory.
constexpr Fragment fragment_m16n16(int number) {
  return FragmentBuilder(8).add(Axis::row, 0, 4).add(Axis::column, 0, 4).add(Axis::matrix, 0, log2_exact(number));
}

/// `number` 8x16 matrices of bytes, one register each: ldmatrix .m8n16.
constexpr Fragment fragment_m8n16(int number) {
  return FragmentBuilder(8).add(Axis::column, 0, 4).add(Axis::row, 0, 3).add(Axis::matrix, 0, log2_exact(number));
}

/// `number` matrices of 8 rows of 16 bytes in memory, one register each: stmatrix .m16n8.trans.
constexpr Fragment fragment_m16n8(int number) {
  return FragmentBuilder(8)
      .add(Axis::row, 0)
      .add(Axis::column, 3)
      .add(Axis::row, 1, 3)
      .add(Axis::column, 0, 3)
      .add(Axis::matrix, 0, log2_exact(number));
}

// m8n8k4: four products of 8x4 by 4x8, product q in the lanes 4q to 4q+3 and 16+4q to 16+4q+3 (PTX ISA 9.1 section 9.7.14.5.1).

/// A or B of m8n8k4. A lane holds one index of axis `line` (rows of A, columns of B) and all k along `other`, if the matrix is stored along
/// k (A .row, B .col); else the two axes are exchanged.
constexpr Fragment fragment_m8n8k4(Axis line, Axis other, bool along_k) {
  const Axis lane = along_k ? line : other;
  const Axis inside = along_k ? other : line;
  return FragmentBuilder(16).add(inside, 0).add(lane, 0, 2).add(Axis::matrix, 0, 2).add(line, 2).add(inside, 1);
}

/// C or D of m8n8k4.
constexpr Fragment fragment_m8n8k4_c(int element_bits) {
  if (element_bits == 16)
    return FragmentBuilder(16).add(Axis::column, 0).add(Axis::row, 0, 2).add(Axis::matrix, 0, 2).add(Axis::row, 2).add(Axis::column, 1, 3);
  return FragmentBuilder(32)
      .add(Axis::row, 0)
      .add(Axis::column, 1)
      .add(Axis::matrix, 0, 2)
      .add(Axis::row, 2)
      .add(Axis::column, 0)
      .add(Axis::row, 1)
      .add(Axis::column, 2);
}

// wmma: what an H200 loads and stores, the same for .row and .col and for every state space [H200]. A matrix unit multiplies 16 lines by 8
// at a time. So a fragment is that of mma for 16 or 8 lines, and its registers repeat for further lines.

/// A or B of wmma: `lines` rows of A or columns of B along `line`, K along `other`. Each `tile` lines (16 or 8) are placed as in A or B of
/// mma. Copies fill `registers` registers; 0 means as many as the elements need.
constexpr Fragment fragment_wmma_multiplicand(Axis line, Axis other, int lines, int k, int tile, int element_bits, int registers = 0) {
  FragmentBuilder f(element_bits);
  const int inside = f.inside_bits();
  f.add(other, 0, inside + 2).add(line, 0, 3).add(line, 3, log2_exact(tile)).add(other, inside + 2, log2_exact(k));
  f.add(line, log2_exact(tile), log2_exact(lines));
  for (int bit = 0; f.registers() < registers; ++bit) f.add(Axis::copy, bit);
  return f;
}

/// C and D of wmma: those of mma. For n = 32 the unit multiplies the transposed matrices, so rows and columns are exchanged.
constexpr Fragment fragment_wmma_c(Shape shape, int element_bits) {
  if (shape.n != 32) return fragment_c(shape, element_bits);
  return fragment_c({shape.n, shape.m, shape.k}, element_bits).transposed();
}

// wmma on Volta, whose unit executes m8n8k4 in octets: octet o is the lanes 4o to 4o+3 and 16+4o to 16+4o+3, and computes 8x8 of D with its
// own copies of A and B. So a fragment is that of m8n8k4 for all k, and depends on .row and .col. For m16n16k16 lane bit 2 is row bit 3 of
// D and lane bit 3 column bit 3: GPGPU-Sim's instructions.cc (of a Titan V, arXiv 1811.08309) and wmma_extension's sm_70.hpp (of a V100)
// say so for A, C and D. For B they differ; GPGPU-Sim's and the paper's figure 7 exchange the two bits, against their own octets.

/// Appends lane bits 2 and 3: the bits of D's rows and columns beyond 8x8, in m16n16k16's order. Bits of an axis that is not the operand's
/// choose copies.
constexpr FragmentBuilder& add_octets(FragmentBuilder& f, Shape shape, bool has_rows, bool has_columns) {
  int copies = 0;
  const auto add = [&](bool has, Axis axis, int first, int extent) {
    for (int bit = first; bit < log2_exact(extent); ++bit) {
      if (has)
        f.add(axis, bit);
      else
        f.add(Axis::copy, copies++);
    }
  };
  add(has_rows, Axis::row, 3, shape.m);
  add(has_columns, Axis::column, 3, shape.n);
  return f;
}

/// A (line: row) or B (line: column) of f16, K along `other`. `along_k`: A .row, B .col.
constexpr Fragment fragment_volta_wmma_multiplicand(Shape shape, Axis line, Axis other, bool along_k) {
  const Axis lane = along_k ? line : other, inside = along_k ? other : line;
  FragmentBuilder f(16);
  f.add(inside, 0).add(lane, 0, 2);
  add_octets(f, shape, line == Axis::row, line == Axis::column);
  return f.add(line, 2).add(inside, 1).add(other, 2, log2_exact(shape.k));
}

/// C or D, the same for .row and .col.
constexpr Fragment fragment_volta_wmma_c(Shape shape, int element_bits) {
  FragmentBuilder f(element_bits);
  if (element_bits == 16) {
    f.add(Axis::column, 0).add(Axis::row, 0, 2);
    return add_octets(f, shape, true, true).add(Axis::row, 2).add(Axis::column, 1, 3);
  }
  f.add(Axis::row, 0).add(Axis::column, 1);
  return add_octets(f, shape, true, true).add(Axis::row, 2).add(Axis::column, 0).add(Axis::row, 1).add(Axis::column, 2);
}

/// The metadata of a sparse A. Row i, column c is the 4-bit code of group c of A's row i, for the selector `matrix`. `groups`, 4 to 16,
/// counts the groups of a row: k / 4; k / 2 for tf32; k / 8 for 4-bit elements. `element_bits` is the width of A's elements. Lanes that the
/// selector does not address hold nothing.
constexpr Fragment fragment_metadata(int groups, int element_bits) {
  FragmentBuilder f(4);
  const int columns = log2_exact(groups);
  if (element_bits >= 16)
    f.add(Axis::column, 0, 2).add(Axis::row, 3).add(Axis::column, 2, columns).add(Axis::matrix, 0, 4 - columns);
  else
    f.add(Axis::column, 0, 3).add(Axis::row, 3).add(Axis::column, 3, columns).add(Axis::matrix, 0, 4 - columns);
  return f.add(Axis::row, 0, 3);
}

/// The scale factors of A: row i, column j is factor j of the `vector` (1, 2 or 4) factors of A's row i. The matrix number is byte-id /
/// vector + thread-id * 4 / vector.
constexpr Fragment fragment_scale_a(int vector) {
  const int columns = log2_exact(vector);
  return FragmentBuilder(8)
      .add(Axis::column, 0, columns)
      .add(Axis::matrix, 0, 2 - columns)
      .add(Axis::row, 3)
      .add(Axis::matrix, 2 - columns)
      .add(Axis::row, 0, 3);
}

/// The scale factors of B: row j, column n is factor j of the `vector` factors of B's column n; matrix number as in fragment_scale_a.
constexpr Fragment fragment_scale_b(int vector) {
  const int rows = log2_exact(vector);
  return FragmentBuilder(8)
      .add(Axis::row, 0, rows)
      .add(Axis::matrix, 0, 2 - rows)
      .add(Axis::matrix, 2 - rows, 4 - rows)
      .add(Axis::column, 0, 3);
}

}  // namespace warpmat
