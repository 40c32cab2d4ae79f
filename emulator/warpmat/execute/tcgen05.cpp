#include <warpmat/execute/tcgen05.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <warpmat/dot.h>
#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/operands/batch.h>
#include <warpmat/execute/tile_products.h>
#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

constexpr std::uint32_t chunk_bytes = 16;  // contiguous in every layout
constexpr std::size_t tile_rows = 16, tile_columns = 8;

/// Bytes of K of one row of A or column of B in registers: 32 of the stored A, twice that of B if A is sparse; 48 of 96 4-bit elements.
std::uint32_t depth_bytes(const TensorProduct& product, OperandName operand) {
  if (product.k96()) return 48;
  return operand == OperandName::b && product.sparse() ? 64 : 32;
}

/// Of the words of an operand whose lines have `depth` bytes: the first of eight lines, of the sixteen bytes of K from 16 * `chunk` on.
std::size_t first_word(OperandName operand, std::size_t depth, std::size_t eight_lines, std::size_t chunk) {
  const std::size_t chunks = depth / chunk_bytes, a_register = (eight_lines / 2 * chunks + chunk) * 2 + eight_lines % 2;
  return (operand == OperandName::b ? eight_lines * chunks + chunk : a_register) * warp_size;
}

/// The index of the word with byte `byte` of K, of row or column `line`.
std::size_t word_index(OperandName operand, std::size_t depth, std::size_t line, std::size_t byte) {
  return first_word(operand, depth, line / 8, byte / chunk_bytes) + line % 8 * 4 + byte % chunk_bytes / 4;
}

/// Lines of an operand that one block has.
int line_count(const TensorProduct& product, OperandName operand) {
  return operand == OperandName::a ? product.path->rows : product.b_columns();
}

/// Whether elements of less than 8 bits have bytes in registers and 16 bytes for sixteen of them in shared memory, the rest of which is
/// padding (PTX ISA 9.1 section 9.7.16.10.4.4, written of kind::mxf8f6f4).
bool has_containers(const TensorProduct& product, OperandName operand) {
  const int bits = row(product.tile->format(operand)).bits;
  return bits < 8 && product.tile->operand(operand).fragment.element_bits() == 8;
}

/// What goes together: PTX ISA 9.1 table 54. Table 55 has no K-major layout of 32-byte atoms.
void check_layout(OperandName operand, Format format, const TensorDescriptor& descriptor, Major major) {
  const bool transposed_words = major == Major::mn && row(format).bits == 32;
  if (descriptor.wide_atoms == transposed_words) return;
  throw Trap(Trap::Kind::undefined, operand, 0, std::nullopt,
             format_text("the descriptor of operand {} has {}", name(operand),
                         transposed_words ? "another layout than swizzles of 128 bytes by 32-byte atoms, the only one of a "
                                            "transposed matrix of 32-bit elements"
                                          : "a swizzle of 32-byte atoms, which only transposed matrices of 32-bit elements have"));
}

/// Elements along K that an operand has in shared memory: of A the stored ones.
int stored_depth(const TensorProduct& product, OperandName operand) {
  return operand == OperandName::a ? product.tile->stored_k() : product.shape.k;
}

class SharedReader {
 public:
  SharedReader(const TensorProduct& product, OperandName operand, const TensorDescriptor& descriptor, const SharedMemory& memory,
               int first_line)
      : operand_(operand),
        format_(product.tile->format(operand)),
        lines_(static_cast<std::uint32_t>(line_count(product, operand))),
        first_line_(static_cast<std::uint32_t>(first_line)),
        depth_(static_cast<std::uint32_t>(stored_depth(product, operand))),
        bytes_(depth_bytes(product, operand)),
        containers_(has_containers(product, operand)),
        descriptor_(descriptor),
        memory_(memory),
        words_(std::size_t{lines_} * bytes_ / 4) {}

  ProductWords read(Major major) {
    check_layout(operand_, format_, descriptor_, major);
    if (major == Major::k)
      read_lines();
    else
      read_transposed();
    return std::move(words_);
  }

 private:
  /// Eight lines of a chunk are a register.
  void read_lines() {
    const int packed_bits = containers_ ? row(format_).bits : 0;
    const TensorDescriptor descriptor = descriptor_;  // a copy, which words do not change
    for (std::uint32_t eight = 0; eight < lines_ / 8; ++eight)
      for (std::uint32_t chunk = 0; chunk < bytes_ / chunk_bytes; ++chunk) {
        std::uint32_t* const to = words_.data() + first_word(operand_, bytes_, eight, chunk);
        for (std::uint32_t i = 0; i < 8; ++i) {
          const std::uint8_t* const from = at(descriptor.address(Major::k, first_line_ + eight * 8 + i, chunk * chunk_bytes));
          if (packed_bits == 0)
            std::memcpy(to + i * 4, from, chunk_bytes);
          else
            std::memcpy(to + i * 4, unpacked(from, packed_bits).data(), chunk_bytes);
        }
      }
  }

  void read_transposed() {
    switch (containers_ ? 8 : row(format_).bits) {
      case 8: return read_transposed_elements<1>();
      case 16: return read_transposed_elements<2>();
      default: return read_transposed_elements<4>();
    }
  }

  /// A chunk has several rows or columns of one k. The lines begin within a chunk if the first is no multiple of its number.
  template <std::uint32_t bytes>
  void read_transposed_elements() {
    constexpr std::uint32_t in_chunk = chunk_bytes / bytes;
    const TensorDescriptor descriptor = descriptor_;
    auto* const words = reinterpret_cast<std::uint8_t*>(words_.data());
    for (std::uint32_t k = 0; k < depth_; ++k)
      for (std::uint32_t line = 0; line < lines_;) {
        const std::uint32_t inside = (first_line_ + line) % in_chunk, count = std::min(in_chunk - inside, lines_ - line);
        const std::uint8_t* chunk = at(descriptor.address(Major::mn, k, (first_line_ + line - inside) * bytes));
        std::array<std::uint8_t, chunk_bytes> wide;
        if (containers_) {
          wide = unpacked(chunk, row(format_).bits);
          chunk = wide.data();
        }
        for (std::uint32_t i = 0; i < count; ++i)
          std::memcpy(words + 4 * word_index(operand_, bytes_, line + i, k * bytes) + k * bytes % 4, chunk + (inside + i) * bytes, bytes);
        line += count;
      }
  }

  const std::uint8_t* at(std::uint32_t address) const {
    const std::uint32_t offset = address - memory_.base();
    if (address >= memory_.base() && offset + chunk_bytes <= memory_.size()) return memory_.bytes().data() + offset;
    leave(address);
  }

  [[noreturn]] void leave(std::uint32_t address) const {
    throw Trap(Trap::Kind::out_of_range, operand_, 0, address,
               format_text("the matrix that the descriptor of operand {} names leaves shared memory, which has {} bytes from {:#x} on "
                           "(start {:#x}, leading byte offset {}, stride byte offset {})",
                           name(operand_), memory_.size(), memory_.base(), descriptor_.matrix.start(), descriptor_.matrix.leading(),
                           descriptor_.matrix.stride()));
  }

  OperandName operand_;
  Format format_;
  std::uint32_t lines_, first_line_, depth_, bytes_;
  bool containers_;
  const TensorDescriptor& descriptor_;
  const SharedMemory& memory_;
  ProductWords words_;
};

/// Rows of A or columns of B of one part that have scale factors.
int scaled_lines(const TensorProduct& product, bool of_a) {
  return of_a ? product.path->rows : product.shape.n / product.path->parts;
}

[[noreturn]] void trap_of_copies(OperandName operand, const char* what, int line, std::uint32_t first, int part, std::uint32_t other) {
  throw Trap(Trap::Kind::undefined, operand, 0, std::nullopt,
             format_text("{} of line {} is {:#x} in its first lanes and {:#x} in those of copy {}; all copies must be equal", what, line,
                         first, other, part));
}

/// Bits of one word of tensor memory.
std::uint32_t bits_at(const TensorMemory& memory, TensorCell cell, int first, int count) {
  return memory.word(cell.lane, cell.column) >> first & static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
}

/// The bits of a word's signs, each above its element.
std::uint32_t signs_of(const Form& tile) {
  const Fragment& fragment = tile.operand(OperandName::a).fragment;
  const int container = fragment.element_bits(), sign = fragment.payload_shift() + fragment.payload_bits() - 1;
  std::uint32_t signs = 0;
  for (int at = sign; at < 32; at += container) signs |= std::uint32_t{1} << at;
  return signs;
}

/// Bits of a number times 2^-exponent, toward zero where that is below the normal numbers.
std::uint32_t scaled_down(std::uint32_t bits, Format format, int exponent) {
  const int fraction = format == Format::f16 ? 10 : 23, width = format == Format::f16 ? 16 : 32;
  const std::uint32_t sign = bits & std::uint32_t{1} << (width - 1), magnitude = bits ^ sign,
                      infinity = ((1u << (width - 1 - fraction)) - 1) << fraction;
  if (exponent == 0 || magnitude >= infinity) return bits;
  const auto stored = static_cast<int>(magnitude >> fraction);
  if (stored > exponent) return sign | (magnitude - (static_cast<std::uint32_t>(exponent) << fraction));
  const std::uint32_t significand = stored == 0 ? magnitude : (magnitude & ((1u << fraction) - 1)) | 1u << fraction;
  return sign | significand >> (exponent - std::max(stored, 1) + 1);
}

/// The registers of D of 16 rows, of a part's columns: those of tensor memory itself, or a copy where it must change before the product, or
/// in some lanes alone.
class SumsOfRows {
 public:
  /// D of the rows begins at `first`.
  SumsOfRows(const TensorProduct& product, const ProductOperands& operands, TensorMemory& memory, TensorCell first,
             const DisabledLanes& disabled)
      : memory_(memory),
        first_(first),
        columns_(product.d_columns()),
        format_(product.tile->format(OperandName::d)),
        disabled_(disabled[static_cast<std::size_t>(first.lane / tensor_quarter)] >> first.lane % tensor_quarter) {
    constexpr std::uint32_t of_rows = (1u << tile_rows) - 1;
    const bool changes = operands.accumulates && operands.scale_d != 0;
    if (!narrow() && !changes && (disabled_ & of_rows) == 0 && first.column % static_cast<int>(tile_columns) == 0) return;
    copy_.resize(static_cast<std::size_t>(columns_) / tile_columns * tile_registers());
    if (!operands.accumulates) return;
    for_each([&](std::uint32_t& word, Register& copy, std::size_t place, int bit) {
      copy[place] |= scaled_down(narrow() ? word & 0xffff : word, format_, operands.scale_d) << bit;
    });
  }

  /// The registers of tile `tile`; those of the next tiles follow.
  std::uint32_t* tile(std::size_t tile) {
    if (copy_.empty()) return memory_.tile(first_.lane, first_.column + static_cast<int>(tile * tile_columns))->data();
    return copy_[tile * tile_registers()].data();
  }

  /// Writes a copy back.
  void store() {
    if (copy_.empty()) return;
    for_each([&](std::uint32_t& word, const Register& copy, std::size_t place, int bit) {
      word = narrow() ? copy[place] >> bit & 0xffff : copy[place];
    });
  }

 private:
  bool narrow() const { return row(format_).bits == 16; }
  std::size_t tile_registers() const { return narrow() ? 2 : 4; }

  /// Calls visit(word of tensor memory, register, its lane, bit) for each element, but of disabled lanes.
  template <typename Visit>
  void for_each(Visit visit) {
    for (std::size_t r = 0; r < tile_rows; ++r)
      for (int i = 0; (disabled_ >> r & 1) == 0 && i < columns_; ++i) {
        const auto column = static_cast<std::size_t>(i);
        const std::size_t in_pair = column % 2, in_tile = narrow() ? r / 8 : r / 8 * 2 + in_pair;
        visit(memory_.word(first_.lane + static_cast<int>(r), first_.column + i), copy_[column / tile_columns * tile_registers() + in_tile],
              r % 8 * 4 + column % tile_columns / 2, narrow() ? static_cast<int>(in_pair) * 16 : 0);
      }
  }

  TensorMemory& memory_;
  TensorCell first_;
  int columns_;
  Format format_;
  std::uint32_t disabled_;  ///< bit by row
  std::vector<Register> copy_;
};

/// The metadata, with a defined code for groups whose code is 0 and whose stored elements are zeros: CUTLASS's compressor writes them for
/// groups of zeros alone. Which elements of B they multiply then matters to infinities and NaN alone (assumed: the first two of the group).
ProductBytes defined_metadata(const TensorProduct& product, const ProductOperands& operands) {
  constexpr std::uint8_t first_two = 0x4;
  ProductBytes codes = operands.metadata;
  const std::size_t rows = static_cast<std::size_t>(product.path->rows), depth = depth_bytes(product, OperandName::a);
  const std::size_t groups = codes.size() / rows, group_bytes = depth / std::max<std::size_t>(groups, 1);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(operands.a.data());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    bool zeros = codes[i] == 0;
    for (std::size_t j = 0; zeros && j < group_bytes; ++j) {
      const std::size_t byte = i % groups * group_bytes + j;
      zeros = bytes[4 * word_index(OperandName::a, depth, i / groups, byte) + byte % 4] == 0;
    }
    if (zeros) codes[i] = first_two;
  }
  return codes;
}

/// Products of K = 96, by the functions of the reference: no mma has this K.
class LongProducts {
 public:
  /// `a`: the words of A, its signs as they count.
  LongProducts(const TensorProduct& product, const ProductOperands& operands, const ProductWords& a)
      : product_(product),
        a_(decoded(OperandName::a, a, product.path->rows)),
        b_(decoded(OperandName::b, operands.b, product.shape.n)),
        scales_a_(scales(operands.scales_a, OperandName::scale_a)),
        scales_b_(scales(operands.scales_b, OperandName::scale_b)) {}

  /// Adds the products of 16 rows and 8 columns to the registers `d`, or replaces them.
  void multiply(int first_row, int first_column, bool accumulates, std::uint32_t* d) const {
    const Fragment& fragment = product_.tile->operand(OperandName::d).fragment;
    for (int row = 0; row < static_cast<int>(tile_rows); ++row)
      for (int column = 0; column < static_cast<int>(tile_columns); ++column) {
        const Place place = fragment.place({row, column, 0});
        std::uint32_t& sum = d[static_cast<std::size_t>(place.reg * warp_size + place.lane)];
        sum = static_cast<std::uint32_t>(grouped_dot(*product_.lowering->model, Format::f32, part(a_, first_row + row, k),
                                                     part(b_, first_column + column, k), part(scales_a_, first_row + row, groups),
                                                     part(scales_b_, first_column + column, groups), accumulates ? sum : 0));
      }
  }

 private:
  static constexpr int k = 96, groups = k / static_cast<int>(group_elements);
  using Values = std::vector<Value>;

  static std::span<const Value> part(const Values& values, int line, int count) {
    return std::span(values).subspan(static_cast<std::size_t>(line * count), static_cast<std::size_t>(count));
  }

  /// [line * k + element], two elements in a byte.
  Values decoded(OperandName operand, const ProductWords& words, int lines) const {
    Values values;
    for (int line = 0; line < lines; ++line)
      for (std::size_t i = 0; i < k; ++i) {
        const std::uint32_t word = words[word_index(operand, k / 2, static_cast<std::size_t>(line), i / 2)];
        values.push_back(decode(product_.tile->format(operand), word >> i % 8 * 4 & 0xf));
      }
    return values;
  }

  /// [line * groups + group]; blocks of 32 elements are two groups.
  Values scales(const ProductBytes& bytes, OperandName operand) const {
    Values values;
    const int repeats = groups / product_.scale_vector;
    for (const std::uint8_t byte : bytes)
      values.insert(values.end(), static_cast<std::size_t>(repeats), decode(product_.tile->format(operand), byte));
    return values;
  }

  const TensorProduct& product_;
  Values a_, b_, scales_a_, scales_b_;
};

/// The registers of one tile besides those of A, B, C and D: metadata, selector, scale factors and their ids.
class OtherOperands {
 public:
  /// `metadata` instead of that of `operands`.
  OtherOperands(const TensorProduct& product, const ProductOperands& operands, const ProductBytes& metadata)
      : form_(*product.tile), operands_(operands), metadata_(metadata) {
    for (std::size_t i = 0; i < registers_.size(); ++i) {
      pointers_[i] = registers_[i].data();
      writable_[i] = registers_[i].data();
    }
    const std::span<const std::uint32_t* const> all(pointers_);
    if (!metadata.empty()) {
      batch_.source(OperandName::e) = all.subspan(0, 1);
      batch_.source(OperandName::selector) = all.subspan(3, 1);
    }
    if (operands.scales_a.empty()) return;
    batch_.source(OperandName::scale_a) = all.subspan(1, 1);
    batch_.source(OperandName::scale_b) = all.subspan(2, 1);
    batch_.source(OperandName::ids_a) = batch_.source(OperandName::ids_b) = all.subspan(3, 2);
  }

  Batch& batch() { return batch_; }

  void set_rows(int first_row) {
    if (!metadata_.empty()) set(OperandName::e, 0, metadata_, first_row, static_cast<int>(tile_rows));
    if (!operands_.scales_a.empty()) set(OperandName::scale_a, 1, operands_.scales_a, first_row, static_cast<int>(tile_rows));
  }
  void set_columns(int first_column) { set(OperandName::scale_b, 2, operands_.scales_b, first_column, static_cast<int>(tile_columns)); }

 private:
  void set(OperandName name, std::size_t at, const ProductBytes& values, int first_line, int lines) {
    const Fragment& fragment = form_.operand(name).fragment;
    const int count = name == OperandName::scale_b ? fragment.rows() : fragment.columns();
    registers_[at].fill(0);
    for (int line = 0; line < lines; ++line)
      for (int i = 0; i < count; ++i) {
        const Element element = name == OperandName::scale_b ? Element{i, line, 0} : Element{line, i, 0};
        write_element(fragment, std::span(&writable_[at], 1), element, values[static_cast<std::size_t>((first_line + line) * count + i)]);
      }
  }

  const Form& form_;
  const ProductOperands& operands_;
  const ProductBytes& metadata_;
  std::array<Register, 5> registers_{};  ///< e, scale-a, scale-b, and zeros
  std::array<const std::uint32_t*, 5> pointers_{};
  std::array<std::uint32_t*, 5> writable_{};
  Batch batch_;
};

}  // namespace

std::array<std::uint8_t, chunk_bytes> unpacked(const std::uint8_t* chunk, int bits) {
  std::array<std::uint8_t, chunk_bytes> bytes{};
  for (std::size_t i = 0; i < chunk_bytes; ++i) {
    std::uint8_t element = 0;
    for (int bit = 0; bit < bits; ++bit) {
      const std::size_t at = i * static_cast<std::size_t>(bits) + static_cast<std::size_t>(bit);
      element = static_cast<std::uint8_t>(element | (chunk[at / 8] >> at % 8 & 1) << bit);
    }
    bytes[i] = static_cast<std::uint8_t>(element << (bits == 4 ? container_shift(Format::e2m1) : 0));
  }
  return bytes;
}

ProductWords read_a(const TensorProduct& product, const TensorDescriptor& descriptor, const SharedMemory& memory) {
  return SharedReader(product, OperandName::a, descriptor, memory, 0).read(product.major_a);
}

ProductWords read_b(const TensorProduct& product, const TensorDescriptor& descriptor, const SharedMemory& memory, int first_column) {
  return SharedReader(product, OperandName::b, descriptor, memory, first_column).read(product.major_b);
}

namespace {

/// The accesses of SharedReader.
std::vector<MemoryAccess> matrix_accesses(const TensorProduct& product, OperandName operand, const TensorDescriptor& descriptor,
                                          int first_line) {
  const Format format = product.tile->format(operand);
  const Major major = operand == OperandName::a ? product.major_a : product.major_b;
  check_layout(operand, format, descriptor, major);
  std::vector<MemoryAccess> all;
  const auto add = [&](std::uint32_t address, int line, int k) {
    const Element element = operand == OperandName::a ? Element{line, k, 0} : Element{k, line, 0};
    all.push_back({.bytes = chunk_bytes, .address = address, .lane = -1, .operand = operand, .element = element});
  };
  const int bits = row(format).bits, end = first_line + line_count(product, operand);
  if (major == Major::mn) {
    const int in_chunk = static_cast<int>(chunk_bytes) * 8 / bits;
    for (int k = 0; k < stored_depth(product, operand); ++k)
      for (int line = first_line - first_line % in_chunk; line < end; line += in_chunk)
        add(descriptor.address(Major::mn, static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(line * bits / 8)), line, k);
    return all;
  }
  constexpr int eight = 8;
  const int in_chunk = has_containers(product, operand) ? static_cast<int>(chunk_bytes) : static_cast<int>(chunk_bytes) * 8 / bits;
  const int chunks = static_cast<int>(depth_bytes(product, operand) / chunk_bytes);
  for (int first = first_line; first < end; first += eight)
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int line = first; line < first + eight; ++line)
        add(descriptor.address(Major::k, static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(chunk) * chunk_bytes), line,
            chunk * in_chunk);
  return all;
}

}  // namespace

std::vector<MemoryAccess> a_accesses(const TensorProduct& product, const TensorDescriptor& descriptor) {
  return matrix_accesses(product, OperandName::a, descriptor, 0);
}

std::vector<MemoryAccess> b_accesses(const TensorProduct& product, const TensorDescriptor& descriptor, int first_column) {
  return matrix_accesses(product, OperandName::b, descriptor, first_column);
}

ProductWords read_a(const TensorProduct& product, TensorCell at, const TensorMemory& memory, bool shifted) {
  const DataPath& path = *product.path;
  const std::uint32_t depth = depth_bytes(product, OperandName::a);
  ProductWords words(static_cast<std::size_t>(path.rows) * depth / 4);
  for (int part = 0; part < path.parts; ++part)
    for (int line = 0; line < path.rows; ++line)
      for (int column = 0; column < a_columns(product); ++column) {
        const int from = shifted && line + 1 < path.rows ? line + 1 : line;
        const std::uint32_t word = memory.word(at.lane + path.first_lane(part) + path.lane(from), at.column + column);
        std::uint32_t& to = words[word_index(OperandName::a, depth, static_cast<std::size_t>(line), static_cast<std::size_t>(column) * 4)];
        if (part != 0 && to != word) trap_of_copies(OperandName::a, "a word of A", line, to, part, word);
        to = word;
      }
  return words;
}

int a_columns(const TensorProduct& product) {
  return static_cast<int>(depth_bytes(product, OperandName::a) / 4);
}

int scale_columns(const TensorProduct& product, OperandName operand) {
  const bool of_a = operand == OperandName::scale_a;
  const int lines = scaled_lines(product, of_a);
  return scale_place(lines - 1, lines, product.scale_vector - 1, of_a ? product.scale_a_byte : product.scale_b_byte, 0).cell.column + 1;
}

ProductBytes read_scales(const TensorProduct& product, OperandName operand, TensorCell at, const TensorMemory& memory) {
  const bool of_a = operand == OperandName::scale_a;
  const int vector = product.scale_vector, parts = of_a ? 1 : product.path->parts, lines = scaled_lines(product, of_a);
  constexpr int quarters = tensor_lanes / tensor_quarter;
  ProductBytes scales(static_cast<std::size_t>(lines * parts * vector));
  for (int quarter = 0; quarter < quarters; ++quarter) {
    const int part = quarter * parts / quarters;
    for (int line = 0; line < lines; ++line)
      for (int factor = 0; factor < vector; ++factor) {
        const ScalePlace place = scale_place(line, lines, factor, of_a ? product.scale_a_byte : product.scale_b_byte, quarter);
        const auto scale =
            static_cast<std::uint8_t>(bits_at(memory, {at.lane + place.cell.lane, at.column + place.cell.column}, place.byte * 8, 8));
        std::uint8_t& to = scales[static_cast<std::size_t>((part * lines + line) * vector + factor)];
        const bool first = quarter % (quarters / parts) == 0;
        if (!first && to != scale) trap_of_copies(operand, "a scale factor", part * lines + line, to, quarter, scale);
        to = scale;
      }
  }
  return scales;
}

TensorCell metadata_cell(const TensorProduct& product, TensorCell at) {
  if (metadata_columns(product) != 1) return at;
  return {at.lane, (at.column & ~1) | product.selector};
}

int metadata_columns(const TensorProduct& product) {
  return row(product.tile->format(OperandName::a)).bits >= 16 ? 1 : 2;
}

ProductBytes read_metadata(const TensorProduct& product, TensorCell at, const TensorMemory& memory) {
  const DataPath& path = *product.path;
  const bool wide = metadata_columns(product) == 1;
  const int groups = wide ? 8 : 16;
  const TensorCell from = metadata_cell(product, at);
  ProductBytes codes(static_cast<std::size_t>(path.rows * groups));
  for (int part = 0; part < path.parts; ++part)
    for (int line = 0; line < path.rows; ++line)
      for (int group = 0; group < groups; ++group) {
        const MetadataPlace place = metadata_place(path, wide, line, group);
        const auto code = static_cast<std::uint8_t>(
            bits_at(memory, {from.lane + path.first_lane(part) + place.cell.lane, from.column + place.cell.column}, place.bit, 4));
        std::uint8_t& to = codes[static_cast<std::size_t>(line * groups + group)];
        if (part != 0 && to != code) trap_of_copies(OperandName::e, "a code of metadata", line, to, part, code);
        to = code;
      }
  return codes;
}

void clear_columns(const TensorProduct& product, const ZeroColumns& columns, ProductWords& b) {
  const std::uint32_t depth = depth_bytes(product, OperandName::b);
  for (std::size_t column = 0; column < columns.zero.size(); ++column)
    for (std::uint32_t byte = 0; columns.zero[column] && byte < depth; byte += 4) b[word_index(OperandName::b, depth, column, byte)] = 0;
}

void multiply(const TensorProduct& product, const ProductOperands& operands, TensorMemory& memory, TensorCell at,
              const DisabledLanes& disabled, const ExecutionOptions& options) {
  const Form& tile = *product.tile;
  const DataPath& path = *product.path;
  const ProductWords* a = &operands.a;
  ProductWords negated;
  if (product.negates_a != product.negates_b) {  // only products count, and their signs are exact
    const std::uint32_t signs = signs_of(tile);
    std::ranges::transform(operands.a, std::back_inserter(negated), [&](std::uint32_t word) { return word ^ signs; });
    a = &negated;
  }
  const bool scaled = tile.scale_vector != 0;  // then each tile has its own scale factors of B
  const std::size_t columns = static_cast<std::size_t>(product.d_columns()) / tile_columns;  // of tiles, in a part
  const TileProducts products{tile, *product.lowering, find_fast_path(tile, *product.lowering), scaled ? 1 : static_cast<int>(columns)};
  const std::size_t a_words = a->size() / static_cast<std::size_t>(product.row_tiles());
  const std::size_t b_words = operands.b.size() / static_cast<std::size_t>(product.column_tiles());
  const ProductBytes metadata = defined_metadata(product, operands);
  OtherOperands others(product, operands, metadata);
  const std::unique_ptr<LongProducts> long_products = product.k96() ? std::make_unique<LongProducts>(product, operands, *a) : nullptr;
  for (int i = 0; i < product.row_tiles(); ++i) {
    const int first_row = i * static_cast<int>(tile_rows);
    if (!long_products) others.set_rows(first_row);
    for (int part = 0; part < path.parts; ++part) {
      SumsOfRows sums(product, operands, memory, {at.lane + path.first_lane(part) + path.lane(first_row), at.column}, disabled);
      for (std::size_t column = 0; column < columns; column += static_cast<std::size_t>(products.count)) {
        const std::size_t number = static_cast<std::size_t>(part) * columns + column;
        if (long_products) {
          long_products->multiply(first_row, static_cast<int>(number * tile_columns), operands.accumulates, sums.tile(column));
          continue;
        }
        if (scaled) others.set_columns(static_cast<int>(number * tile_columns));
        multiply_tiles(products, sums.tile(column), a->data() + static_cast<std::size_t>(i) * a_words, operands.b.data() + number * b_words,
                       others.batch(), operands.accumulates, options);
      }
      sums.store();
    }
  }
}

}  // namespace warpmat
