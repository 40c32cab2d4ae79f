#include <warpmat/execute/tcgen05.h>

#include "test.h"

// tcgen05.mma.sp of every width of elements, in every data path layout, against products of the expanded A. The metadata is placed by
// CuTe's tmem_e_frg (mma_traits_sm100_frag.hpp), written here as its strides: the offset of (row, expanded k) counts lanes modulo 128, and
// above that elements of the metadata of `bits_per_k` bits. What a code means is PTX ISA 9.1 section 9.7.16.10.8: two indices of two bits,
// of single elements, or for 4-bit types of pairs; for tf32 of halves, so that 0x4 is the first element and 0xe the second.

namespace warpmat::tcgen05_sparse_test {
namespace {

/// A kind with elements that are small whole numbers.
struct Type {
  const char* kind;
  std::uint32_t descriptor;  ///< of the types
  int bits;                  ///< of an element
  int k;                     ///< of the expanded A
  int group, kept;           ///< elements of a group, and stored ones of it
  double bits_per_k;         ///< of metadata
  int row_bit_3, k_half;     ///< strides of tmem_e_frg: of bit 3 of the row; elements of k in one lane, the others lie 8 lanes on; 0: all
  std::vector<std::uint32_t> codes;
  std::vector<std::pair<std::uint32_t, double>> numbers;
};

const std::vector<std::uint32_t> pairs{0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
const std::vector<Type> types{
    {"kind::tf32", 1 << 4 | 2 << 7 | 2 << 10, 32, 16, 2, 1, 2, 1024, 8, {0x4, 0xe}, {{0x3f800000, 1}, {0xc0000000, -2}, {0x40400000, 3}}},
    {"kind::f16", 1 << 4, 16, 32, 4, 2, 1, 2048, 16, pairs, {{0x3c00, 1}, {0xc000, -2}, {0x4200, 3}}},
    {"kind::f8f6f4", 1 << 4, 8, 64, 4, 2, 1, 8, 0, pairs, {{0x38, 1}, {0xc0, -2}, {0x44, 3}}},
    {"kind::i8", 2 << 4 | 1 << 7 | 1 << 10, 8, 64, 4, 2, 1, 8, 0, pairs, {{1, 1}, {0xfe, -2}, {3, 3}}},
    {"kind::mxf4", 1 << 7 | 1 << 10 | 1 << 23, 4, 128, 8, 4, 0.5, 8, 0, pairs, {{0x2, 1}, {0xc, -2}, {0x5, 3}}},
};

struct Variant {
  int group;
  bool weights;
  int m, first_lane, selector;
};

/// The index of stored element `i` of a group in the group.
int index_in_group(const Type& type, std::uint32_t code, int i) {
  const int per_index = type.group / 4;  // 2 for pairs of 4-bit elements
  if (type.group == 2) return code == 0x4 ? 0 : 1;
  return static_cast<int>(code >> 2 * (i / per_index) & 3) * per_index + i % per_index;
}

/// Bits of a row or column of K, from bit `bit` on, without a swizzle.
void store(std::vector<std::uint8_t>& memory, std::uint32_t start, int lines, int line, int bit, std::uint32_t bits) {
  const int byte = bit / 8;
  const auto at = start + static_cast<std::uint32_t>(byte / 16 * lines * 16 + line * 16 + byte % 16);
  std::uint32_t word = 0;
  std::memcpy(&word, &memory[at], 4);
  word |= bits << bit % 8;
  std::memcpy(&memory[at], &word, 4);
}

TensorDescriptor plain(std::uint32_t start, int lines) {
  TensorDescriptor descriptor;
  descriptor.matrix = MatrixDescriptor(
      {.start = start, .leading = static_cast<std::uint32_t>(lines * 16), .stride = 128, .base_offset = 0, .swizzle = Swizzle::none});
  return descriptor;
}

/// The lane of a row of the block, from the first lane of its part on.
int lane_of(const Variant& v, int row) {
  const int rows = v.m / v.group;
  return rows == 64 && !v.weights ? v.first_lane + row % 16 + row / 16 * 32 : row;  // layouts F and C, else one lane a row
}

/// Computes one block's part and counts wrong elements of D.
int wrong_elements(const Type& type, const Variant& v) {
  constexpr int d_column = 0, e_column = 400, scale_column = 300;
  const int n = 64, rows = v.m / v.group, stored = type.k / type.group * type.kept, parts = v.weights ? 128 / v.m : 1;
  const std::uint32_t bits = type.descriptor | 4u | static_cast<std::uint32_t>(v.selector) | static_cast<std::uint32_t>(n / 8) << 17 |
                             static_cast<std::uint32_t>(v.m / 16) << 24;
  const bool scaled = type.bits == 4;
  const auto decoded = decode_tensor_product(
      *find_tensor_kind(type.kind), {.group = v.group, .sparse = true, .weights = v.weights, .scale_vector = scaled ? 2 : 0}, bits);
  INFO(decoded.problem.value_or(""));
  REQUIRE_FALSE(decoded.problem);
  const TensorProduct& product = decoded.product;
  std::mt19937 random(static_cast<unsigned>(v.m + type.bits));
  SharedMemory shared(std::vector<std::uint8_t>(32768 + 4), 0);
  std::vector<std::uint8_t> bytes(shared.size());
  TensorMemory memory;
  std::vector<double> a(static_cast<std::size_t>(rows * type.k)), b(static_cast<std::size_t>(n * type.k));
  for (int row = 0; row < rows; ++row)
    for (int group = 0; group < type.k / type.group; ++group) {
      const std::uint32_t code = type.codes[random() % type.codes.size()];
      for (int i = 0; i < type.kept; ++i) {
        const auto& [element, number] = type.numbers[random() % type.numbers.size()];
        a[static_cast<std::size_t>(row * type.k + group * type.group + index_in_group(type, code, i))] = number;
        store(bytes, 0, rows, row, (group * type.kept + i) * type.bits, element);
      }
      const int k = group * type.group, inside = type.k_half == 0 ? k : k % type.k_half;
      const bool exchanged = type.k_half != 0;  // bit 3 of the row and the half of k
      const int row_of_lane = exchanged ? row / 16 * 16 + row % 8 + (k / type.k_half) * 8 : row;
      const int unit = inside + (exchanged ? row / 8 % 2 * (type.row_bit_3 / 128) : 0);
      const int bit = static_cast<int>(unit * type.bits_per_k);
      for (int part = 0; part < parts; ++part)
        memory.word(lane_of(v, row_of_lane) + part * v.m, e_column + v.selector + bit / 32) |= code << bit % 32;
    }
  for (int column = 0; column < n; ++column)
    for (int k = 0; k < type.k; ++k) {
      const auto& [element, number] = type.numbers[random() % type.numbers.size()];
      b[static_cast<std::size_t>(column * type.k + k)] = number;
      store(bytes, 16384, n, column, k * type.bits, element);
    }
  std::memcpy(shared.bytes().data(), bytes.data(), bytes.size());
  for (int lane = 0; scaled && lane < tensor_lanes; ++lane)
    for (int column = 0; column < 8; ++column) memory.word(lane, scale_column + column) = 0x7f7f7f7f;
  ProductOperands operands{.a = read_a(product, plain(0, rows), shared),
                           .b = read_b(product, plain(16384, n), shared),
                           .metadata = read_metadata(product, {v.first_lane, e_column}, memory),
                           .scales_a = {},
                           .scales_b = {}};
  if (v.group == 2) {
    const ProductWords second = read_b(product, plain(16384, n), shared, n / 2);
    operands.b.insert(operands.b.end(), second.begin(), second.end());
  }
  if (scaled) {
    operands.scales_a = read_scales(product, OperandName::scale_a, {0, scale_column}, memory);
    operands.scales_b = read_scales(product, OperandName::scale_b, {0, scale_column}, memory);
  }
  CHECK(static_cast<int>(operands.a.size()) == rows * stored * type.bits / 32);
  int wrong = 0;
  for (const Path path : {Path::fast, Path::reference}) {
    multiply(product, operands, memory, {v.first_lane, d_column}, {}, {.path = path});
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = 0;
        for (int k = 0; k < type.k; ++k)
          sum += a[static_cast<std::size_t>(row * type.k + k)] * b[static_cast<std::size_t>(column * type.k + k)];
        const int width = n / parts;
        const std::uint32_t word = memory.word(lane_of(v, row) + column / width * v.m * (v.weights ? 1 : 0), d_column + column % width);
        const bool integer = type.kind == std::string("kind::i8");
        const double got = integer ? static_cast<double>(static_cast<std::int32_t>(word)) : static_cast<double>(std::bit_cast<float>(word));
        wrong += got != sum;
      }
  }
  return wrong;
}

TEST_CASE("tcgen05.mma.sp: metadata of every width, in every data path layout, selects as the ISA says", "[execute][tcgen05]") {
  const std::vector<Variant> variants{{1, false, 128, 0, 0}, {1, false, 64, 0, 0},  {1, false, 64, 16, 0},
                                      {1, true, 128, 0, 0},  {1, true, 64, 0, 0},   {1, true, 32, 0, 0},
                                      {2, false, 256, 0, 0}, {2, false, 128, 0, 0}, {2, false, 128, 16, 0}};
  for (const Type& type : types)
    for (const Variant& variant : variants) {
      const bool scaled = type.bits == 4;
      if (scaled && (variant.weights || variant.m / variant.group != 128)) continue;  // block scales have 128 rows a block, and no .ws
      CAPTURE(type.kind, variant.group, variant.weights, variant.m, variant.first_lane);
      CHECK(wrong_elements(type, variant) == 0);
      if (type.bits < 16) continue;  // which have no selector
      Variant second = variant;
      second.selector = 1;
      CHECK(wrong_elements(type, second) == 0);
    }
}

}  // namespace
}  // namespace warpmat::tcgen05_sparse_test
