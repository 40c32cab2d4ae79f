#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warpmat/version.h>

namespace warpmat {

// ---- Fragments: which lane and register holds which element ----

// Which lane and register holds which element.
//
// A fragment is a matrix spread over the registers of 32 lanes. It is a permutation of index bits. Write a place as one number, from low to
// high:
//
//     element inside the register | lane (5 bits) | register
//
// Each of its bits is one bit of the row, of the column, or of the matrix number. So a fragment is a list of names, for instance
//
//     A of m16n8k16, 16-bit      k0    | k1 k2 m0 m1 m2 | m3 k3
//     A of m16n8k32, 8-bit       k0 k1 | k2 k3 m0 m1 m2 | m3 k4
//     B of m16n8k16, 16-bit      k0    | k1 k2 n0 n1 n2 | k3
//     C, D, 32-bit               -     | n1 n2 m0 m1 m2 | n0 m3
//     C, D, 16-bit               n0    | n1 n2 m0 m1 m2 | m3
//     m8n8 .b16 matrices         c0    | c1 c2 r0 r1 r2 | matrix        (.trans exchanges r and c)
//
// Both directions follow by moving bits. In A the element inside the register takes the lowest k bits, the lane the next two k bits and
// three m bits, the registers m3 and the remaining k bits. B is the same without m, with n in the lane. Elements of 32 and 64 bits leave no
// bit inside. Sparse A is the dense fragment of the stored m x k/2 matrix.
//
// A bit may also select one of several copies of an element. The f16 fragments of wmma.load have a fixed number of registers; a smaller
// matrix fills them with two or four copies.
//
//     wmma A of m16n16k16, f16      k0    | k1 k2 m0 m1 m2 | m3 k3 copy
//
// Sparse metadata and block scales follow the same rule. A selector that chooses lanes or bytes is an index bit too: the "matrix" of such a
// fragment is the selector's value.
//
// Sources: PTX ISA 9.1 sections 9.7.14.3, 9.7.14.5.1 to 9.7.14.5.17 and 9.7.14.6; CUTLASS's MMA traits. layout_label (forms.h)
// says how the layout of a form is known.

/// Rows, columns and depth of a matrix product: A is m x k, B is k x n, C and D are m x n.
struct Shape {
  int m = 0, n = 0, k = 0;
  friend constexpr bool operator==(const Shape&, const Shape&) = default;
};

/// `copy`: a bit that changes the place of an element but not its index.
enum class Axis : std::uint8_t { row, column, matrix, copy };

/// One element of a fragment's matrix. `matrix` is the index of an ldmatrix matrix, of an m8n8k4 product, or the value of a selector; else
/// 0.
struct Element {
  int row = 0, column = 0, matrix = 0;
  friend constexpr bool operator==(const Element&, const Element&) = default;
};

/// The place of an element: `bit` is its lowest bit inside register `reg` (of Fragment::register_bits bits) of `lane`.
struct Place {
  int lane = 0, reg = 0, bit = 0;
  friend constexpr bool operator==(const Place&, const Place&) = default;
};

class FragmentBuilder;
class LinearLayout;

/// A view of a LinearLayout in which element and place are found without a search, known to the compiler where the layout is: its columns,
/// and those of its inverse. Index bits are those of row, column, matrix and copy, from low to high in this order; a place is the number
/// above. of() makes one from a LinearLayout; those of instructions are Operand::fragment (forms.h).
class Fragment {
 public:
  WARPMAT_LOCAL static constexpr int lane_bits = 5;
  WARPMAT_LOCAL static constexpr std::size_t most_bits = 16;  ///< of a place

  /// What an operand without a fragment has: nothing may be asked of it but the bits of its element and register.
  constexpr Fragment() = default;
  /// A layout from row, column and matrix, as far as it has these, to bit, lane and reg; elements of `element_bits` bits begin at multiples
  /// of them. Throws std::invalid_argument unless it is such a one and every place has an element.
  [[nodiscard]] WARPMAT_API static Fragment of(const LinearLayout& layout, int element_bits);

  /// From row, column and matrix to bit, lane and reg. `bit` is the lowest bit of the element's container; of several copies it is the
  /// first.
  [[nodiscard]] WARPMAT_API LinearLayout layout() const;
  /// The inverse direction, of every bit of the registers: from bit, lane and reg to row, column and matrix. Bits inside an element, and
  /// those that number its copies, are free.
  [[nodiscard]] WARPMAT_API LinearLayout elements() const;

  constexpr int element_bits() const { return element_bits_; }    ///< of an element's container in the register
  constexpr int register_bits() const { return register_bits_; }  ///< 64 for f64, else 32
  constexpr int payload_bits() const { return payload_bits_; }    ///< of the element itself: fewer for a 6- or 4-bit number in a byte
  constexpr int payload_shift() const { return payload_shift_; }  ///< its first bit in the container

  constexpr int rows() const { return 1 << axis_bits_[0]; }
  constexpr int columns() const { return 1 << axis_bits_[1]; }
  constexpr int matrices() const { return 1 << axis_bits_[2]; }
  constexpr int copies() const { return 1 << axis_bits_[3]; }
  constexpr int registers() const { return 1 << (bits() - inside_ - lane_bits); }
  constexpr int elements_per_register() const { return 1 << inside_; }
  /// Index bits of the elements inside a register.
  constexpr int inside_bits() const { return inside_; }

  /// The element that contains the bit `place`. Precondition: the place is inside the fragment.
  constexpr Element element(const Place& place) const {
    const unsigned inside = static_cast<unsigned>(place.bit) / static_cast<unsigned>(element_bits_);
    const unsigned number =
        inside | static_cast<unsigned>(place.lane) << inside_ | static_cast<unsigned>(place.reg) << (inside_ + lane_bits);
    unsigned index = sum(elements_, number);
    const auto take = [&index](int bits) {
      const unsigned low = index & low_bits(bits);
      index >>= bits;
      return static_cast<int>(low);
    };
    const int row = take(axis_bits_[0]), column = take(axis_bits_[1]);
    return {row, column, take(axis_bits_[2])};
  }

  /// The place of `element`, the inverse of element(). `copy` selects one of its copies.
  constexpr Place place(const Element& element, int copy = 0) const {
    unsigned index = 0;
    int position = 0;
    const auto put = [&](int coordinate, int bits) {
      index |= (static_cast<unsigned>(coordinate) & low_bits(bits)) << position;
      position += bits;
    };
    put(element.row, axis_bits_[0]);
    put(element.column, axis_bits_[1]);
    put(element.matrix, axis_bits_[2]);
    put(copy, axis_bits_[3]);
    const unsigned number = sum(places_, index);
    return {static_cast<int>(number >> inside_ & low_bits(lane_bits)), static_cast<int>(number >> (inside_ + lane_bits)),
            static_cast<int>(number & low_bits(inside_)) * element_bits_};
  }

  /// The same places for numbers of `bits` bits that begin at bit `shift` of each container.
  [[nodiscard]] constexpr Fragment with_payload(int bits, int shift) const {
    Fragment f = *this;
    f.payload_bits_ = static_cast<std::uint8_t>(bits);
    f.payload_shift_ = static_cast<std::uint8_t>(shift);
    return f;
  }

  /// The same places for the transposed matrix.
  [[nodiscard]] constexpr Fragment transposed() const {
    const int rows = axis_bits_[0], columns = axis_bits_[1], both = rows + columns;
    Fragment f = *this;
    f.axis_bits_[0] = axis_bits_[1];
    f.axis_bits_[1] = axis_bits_[0];
    for (int i = 0; i < both; ++i) f.places_[unsigned_of(i)] = places_[unsigned_of(i < columns ? rows + i : i - columns)];
    for (std::uint16_t& index : f.elements_) {
      const unsigned bits = index, row = bits & low_bits(rows), column = bits >> rows & low_bits(columns);
      index = static_cast<std::uint16_t>((bits & ~low_bits(both)) | column | row << columns);
    }
    return f;
  }

  friend constexpr bool operator==(const Fragment&, const Fragment&) = default;

 private:
  friend class FragmentBuilder;
  using Columns = std::array<std::uint16_t, most_bits>;

  static constexpr unsigned low_bits(int bits) { return (1u << bits) - 1; }
  static constexpr std::size_t unsigned_of(int i) { return static_cast<std::size_t>(i); }
  constexpr int bits() const { return axis_bits_[0] + axis_bits_[1] + axis_bits_[2] + axis_bits_[3]; }

  /// The exclusive or of the columns of the bits that are set in `index`, as of LinearLayout. Bits beyond the space count nothing.
  constexpr unsigned sum(const Columns& columns, unsigned index) const {
    unsigned out = 0;
    for (index &= low_bits(bits()); index != 0; index &= index - 1) out ^= columns[unsigned_of(std::countr_zero(index))];
    return out;
  }

  Columns places_{};                         ///< of each index bit, from row bit 0 on: the place that has it alone
  Columns elements_{};                       ///< of each bit of a place: the index
  std::array<std::uint8_t, 4> axis_bits_{};  ///< of row, column, matrix, copy
  std::uint8_t inside_ = 0;
  std::uint8_t element_bits_ = 32, register_bits_ = 32, payload_bits_ = 32, payload_shift_ = 0;
};

/// The number of index bits of a power of two.
constexpr int log2_exact(int x) {
  int bits = 0;
  while (1 << bits < x) ++bits;
  return bits;
}

// ---- Padding of elements ----

/// The bits of a register that belong to no element of `fragment`: the padding of its containers.
constexpr std::uint32_t padding_bits(const Fragment& fragment) {
  if (fragment.payload_bits() == fragment.element_bits()) return 0;
  const std::uint32_t element = ((1u << fragment.payload_bits()) - 1) << fragment.payload_shift();
  std::uint32_t elements = 0;
  for (int bit = 0; bit < fragment.register_bits(); bit += fragment.element_bits()) elements |= element << bit;
  return ~elements;
}

// ---- Swizzles of shared memory ----

/// The swizzle of shared memory: exchanges the 16-byte chunks of a row of `bytes` bytes depending on the number of the row, in rows of 128
/// bytes (PTX ISA 9.1 sections 5.5.7 and 9.7.15.5.1.2). An enumerator's value is B of CuTe's Swizzle<B, 4, 3>.
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// CuTe's Swizzle<bits, base, shift> of an address in bytes: bits base + shift to base + shift + bits - 1 are added, modulo 2, to the
/// `bits` bits from `base` on.
constexpr std::uint64_t swizzled(std::uint64_t address, int bits, int base, int shift) {
  const std::uint64_t chosen = ((std::uint64_t{1} << bits) - 1) << (base + shift);
  return address ^ (address & chosen) >> shift;
}

/// The physical address of byte `address` of shared memory. The swizzle's 0 to 3 bits from bit 4 on are combined with the bits from bit 7
/// on.
constexpr std::uint32_t swizzled(Swizzle swizzle, std::uint32_t address) {
  return static_cast<std::uint32_t>(swizzled(std::uint64_t{address}, static_cast<int>(swizzle), 4, 3));
}

// ---- Linear layouts ----

// Layouts are linear over bits.
//
// A layout maps an element's index to a place. Number the bits of both. Each index bit that is set flips some bits of the place; the place
// is the exclusive or of all those flips. So a layout is a matrix over GF(2) with one column for each index bit. Registers need
// permutations only: each index bit flips one bit of its own (layout.h). Swizzled shared memory needs more: one index bit flips
// several. Linear maps compose, and their inverse can be computed (PTX ISA 9.1 sections 9.7.14.5 and 9.7.15.5; the idea is also that of
// Triton's LinearLayout, arXiv 2505.23819).

/// The axes of index spaces and of places.
enum class LayoutAxis : std::uint8_t { row, column, matrix, bit, lane, reg, warp, address };
WARPMAT_LOCAL inline constexpr std::size_t layout_axes = 8;

/// "row", "column", ..., "address".
[[nodiscard]] WARPMAT_API std::string_view name(LayoutAxis axis);

/// An axis and the number of bits of its coordinates.
struct AxisBits {
  LayoutAxis axis;
  int bits;
  friend constexpr bool operator==(const AxisBits&, const AxisBits&) = default;
};

/// A coordinate for each axis; 0 on the axes that a space lacks.
struct Point {
  std::array<std::uint32_t, layout_axes> coordinates{};

  constexpr std::uint32_t& operator[](LayoutAxis axis) { return coordinates[static_cast<std::size_t>(axis)]; }
  constexpr std::uint32_t operator[](LayoutAxis axis) const { return coordinates[static_cast<std::size_t>(axis)]; }
  friend constexpr bool operator==(const Point&, const Point&) = default;
};

/// A linear map from the points of one space to those of another. A space is a list of axes. A point is packed into a number with the first
/// axis in the lowest bits.
class WARPMAT_API LinearLayout {
 public:
  /// `columns[i]` is the packed place of the index that has bit i alone. Throws std::invalid_argument unless there is one column for each
  /// bit of `from`, each column fits in `to`, no space names an axis twice, and no space has more than 64 bits.
  LinearLayout(std::vector<AxisBits> from, std::vector<AxisBits> to, std::vector<std::uint64_t> columns);

  /// Maps bit i of `from` to bit i of `to`. Both must have the same number of bits.
  [[nodiscard]] static LinearLayout identity(const std::vector<AxisBits>& from, const std::vector<AxisBits>& to);

  const std::vector<AxisBits>& from() const { return from_; }
  const std::vector<AxisBits>& to() const { return to_; }
  const std::vector<std::uint64_t>& columns() const { return columns_; }

  /// The place of `point`. Throws std::invalid_argument for a coordinate with more bits than its axis.
  Point operator()(const Point& point) const;

  /// This layout, then `next`: next(this(point)). Throws std::invalid_argument unless next.from() is to().
  [[nodiscard]] LinearLayout then(const LinearLayout& next) const;

  /// Whether no two points share a place.
  [[nodiscard]] bool injective() const;

  /// The inverse. Throws std::invalid_argument unless this layout is injective and both spaces have the same number of bits.
  [[nodiscard]] LinearLayout inverse() const;

  /// Two layouts side by side: `low` maps the low bits of each axis, `high` the bits above. Axes stand in the order of `low`, then the
  /// other ones of `high`. A tile times a layout of tiles is the layout of the whole. Throws std::invalid_argument for spaces of over 64
  /// bits.
  [[nodiscard]] LinearLayout operator*(const LinearLayout& high) const;

  /// The quotient with which divisor * quotient, or quotient * divisor, is the map of this layout, whatever the order of its axes. Nothing
  /// if there is none.
  [[nodiscard]] std::optional<LinearLayout> divide_left(const LinearLayout& divisor) const;
  [[nodiscard]] std::optional<LinearLayout> divide_right(const LinearLayout& divisor) const;

  /// From the indices of this layout to those of `other` that have the same place: other(result(point)) is this(point). Free bits of
  /// `other` are 0. Throws std::invalid_argument unless other.to() is to() and `other` reaches every place of this layout.
  [[nodiscard]] LinearLayout invert_and_compose(const LinearLayout& other) const;

  /// The index bits of `axis` that the bits before them make redundant, as a mask. Where all free bits are 0, the layout is injective, and
  /// reaches the same places. In the layout of a fragment's registers they number the copies of an element.
  [[nodiscard]] std::uint32_t free_bits(LayoutAxis axis) const;

  /// The coordinates on axes `to` of the places of points whose other axes than `from` are 0. Throws std::invalid_argument for an axis that
  /// this layout lacks.
  [[nodiscard]] LinearLayout sublayout(const std::vector<LayoutAxis>& from, const std::vector<LayoutAxis>& to) const;

  friend bool operator==(const LinearLayout&, const LinearLayout&) = default;

 private:
  std::vector<AxisBits> from_, to_;
  std::vector<std::uint64_t> columns_;
};

/// Repetition of a tile. Coordinates of axis `from` beyond the tile number its copies; each copy begins on axis `to` where the previous one
/// ends. `count` is the number of copies, not necessarily a power of two.
struct Repeat {
  LayoutAxis from, to;
  std::uint32_t count;
  friend constexpr bool operator==(const Repeat&, const Repeat&) = default;
};

/// A linear tile, repeated along some axes: the register layout of a product whose width n is not a power of two.
class WARPMAT_API TiledLayout {
 public:
  /// Throws std::invalid_argument if a repeat names an axis that the tile's spaces lack or that another repeat has named, or if an axis
  /// would exceed 2^32 coordinates.
  TiledLayout(LinearLayout tile, std::vector<Repeat> repeats);

  const LinearLayout& tile() const { return tile_; }
  const std::vector<Repeat>& repeats() const { return repeats_; }

  /// The number of coordinates of `axis` in the index space, and in the space of places: 1 to 2^32.
  [[nodiscard]] std::uint64_t size_from(LayoutAxis axis) const;
  [[nodiscard]] std::uint64_t size_to(LayoutAxis axis) const;

  friend bool operator==(const TiledLayout&, const TiledLayout&) = default;

  /// The place of `point`. Throws std::invalid_argument for a point outside.
  Point operator()(const Point& point) const;

  /// The inverse. The tile must be invertible.
  [[nodiscard]] TiledLayout inverse() const;

 private:
  LinearLayout tile_;
  std::vector<Repeat> repeats_;
};

/// The swizzle as a map of addresses of `address_bits` bits, 10 to 32, relative to a base aligned to 1,024 bytes. Throws
/// std::invalid_argument for other numbers.
[[nodiscard]] WARPMAT_API LinearLayout swizzle_layout(Swizzle swizzle, int address_bits = 10);

// ---- Matrix descriptors ----

// The addresses at which wgmma reads a matrix in shared memory.
//
// A matrix consists of lines. In K-major operands a line is a row of A or a column of B, along k. In MN-major operands a line is one k,
// along m or n. Eight consecutive lines of W bytes follow each other; W is 16 without a swizzle, else the swizzle's 32, 64 or 128. Two byte
// offsets lead to the next eight lines and to the next W bytes of a line. The stride byte offset is the first and the leading byte offset
// the second, except for MN-major matrices without a swizzle, which exchange them.
//
// The swizzle exchanges the 16-byte chunks of the resulting address. Bits 4 and up are combined by exclusive or with the address's number
// of 128-byte blocks, less the base offset.
//
// PTX ISA 9.1 section 9.7.15.5.1.2; all of it compared with an H200 for 2,240 random descriptors of f16, bf16, tf32, s8 and e4m3, dense and
// sparse, A and B: the byte of every element [H200]. Beyond the ISA's text it showed: swizzles use the bits of the absolute address,
// wherever the matrix begins; the sum of start and offsets does not wrap at 2^18; the leading byte offset counts also where a K-major line
// is longer than the swizzle (64 bytes of B beside a sparse A, 32-byte swizzle); bits 14, 15, 30, 31, 46 to 48 and 52 to 61 are ignored.

/// The axis along which a line's bytes run: k of A and B ("K-major"), or m of A and n of B ("MN-major", the transposed operands).
enum class Major : std::uint8_t { k, mn };

/// A matrix descriptor of wgmma, one that 64 bits can hold.
class MatrixDescriptor {
 public:
  /// The fields of a descriptor, right or wrong. Offsets and addresses in bytes, multiples of 16 from 0 to 2^18 - 16.
  struct Fields {
    std::uint32_t start = 0;    ///< address of the first line in shared memory
    std::uint32_t leading = 0;  ///< leading (dimension) byte offset
    std::uint32_t stride = 0;   ///< stride (dimension) byte offset
    int base_offset = 0;        ///< 0 to 7: offset into the swizzle's pattern
    Swizzle swizzle = Swizzle::none;
    friend constexpr bool operator==(const Fields&, const Fields&) = default;
  };

  /// All fields are 0.
  MatrixDescriptor() : fields_{} {}
  /// Throws std::invalid_argument, which says what would be right, if a field cannot hold its value.
  WARPMAT_API explicit MatrixDescriptor(const Fields& fields);

  /// Decodes a 64-bit register. Bits outside all fields are ignored.
  [[nodiscard]] WARPMAT_API static MatrixDescriptor decode(std::uint64_t bits);

  /// The 64 bits.
  [[nodiscard]] WARPMAT_API std::uint64_t encode() const;

  const Fields& fields() const { return fields_; }
  std::uint32_t start() const { return fields_.start; }
  std::uint32_t leading() const { return fields_.leading; }
  std::uint32_t stride() const { return fields_.stride; }
  int base_offset() const { return fields_.base_offset; }
  Swizzle swizzle() const { return fields_.swizzle; }

  /// The address from which the matrix unit reads byte `byte` of line `line`.
  std::uint32_t address(Major major, std::uint32_t line, std::uint32_t byte) const {
    const std::uint32_t width = line_bytes();
    const bool exchanged = major == Major::mn && swizzle() == Swizzle::none;
    const std::uint32_t lines_on = exchanged ? leading() : stride(), bytes_on = exchanged ? stride() : leading();
    const std::uint32_t linear =
        start() + line / 8 * lines_on + line % 8 * width + (byte >> width_bits(swizzle())) * bytes_on + (byte & (width - 1));
    const std::uint32_t pattern = (linear >> 7) - static_cast<std::uint32_t>(base_offset());
    return linear ^ (pattern & (width / 16 - 1)) << 4;
  }

  /// Consecutive bytes of a line: 16, 32, 64 or 128.
  std::uint32_t line_bytes() const { return line_bytes(swizzle()); }
  static constexpr std::uint32_t line_bytes(Swizzle swizzle) { return 1u << width_bits(swizzle); }

  friend constexpr bool operator==(const MatrixDescriptor&, const MatrixDescriptor&) = default;

 private:
  static constexpr unsigned width_bits(Swizzle swizzle) { return 4 + static_cast<unsigned>(swizzle); }

  Fields fields_;
};

// ---- Matrices in memory ----

/// The places of a matrix's elements in memory, relative to its first byte: consecutive rows, with or without padding, optionally with an
/// XOR swizzle; or any other function of row and column.
class WARPMAT_API MemoryLayout {
 public:
  using BitOf = std::function<std::uint64_t(int row, int column)>;

  /// Consecutive rows without gaps.
  MemoryLayout() = default;

  /// `row_bytes` bytes from one row to the next.
  [[nodiscard]] static MemoryLayout padded(std::size_t row_bytes);

  /// CuTe's Swizzle<bits, base, shift> on byte addresses: bits base+shift to base+shift+bits-1 of a byte's offset are added, modulo 2, to
  /// the `bits` bits from `base` on. swizzled(3, 4, 3) exchanges the 16-byte chunks of rows of 128 bytes. Rows are `row_bytes` bytes apart;
  /// 0 means without gaps. Throws std::invalid_argument unless 0 <= bits <= shift, 0 <= base and base+shift+bits <= 32.
  [[nodiscard]] static MemoryLayout swizzled(int bits, int base, int shift, std::size_t row_bytes = 0);

  /// `bit_of(row, column)` is the number of the element's lowest bit.
  [[nodiscard]] static MemoryLayout function(BitOf bit_of);

  /// "rows", "padded<80>", "swizzle<3,4,3>" or "swizzle<3,4,3,256>", whose last number is the bytes of a row. Throws std::invalid_argument.
  [[nodiscard]] static MemoryLayout parse(std::string_view text);

  /// The number of the lowest bit of element (row, column) of a matrix with `columns` columns.
  [[nodiscard]] std::uint64_t bit(int row, int column, int columns, int element_bits) const;

 private:
  std::size_t row_bytes_ = 0;
  int bits_ = 0, base_ = 0, shift_ = 0;
  BitOf function_;
};

/// A matrix in memory: enough to tell which element an address holds.
struct MemoryMatrix {
  int rows = 0, columns = 0, element_bits = 0;
  MemoryLayout layout = {};
};

}  // namespace warpmat
