#include <warpmat/execute/tcgen05.h>

#include "test.h"

// Products with block scales, and of sparse A, against sums in double that hold every term exactly: operands are chosen so that no bit is
// cut. So these tests are of layouts (scale factors and metadata in tensor memory, data path layouts), not of rounding.

namespace warpmat::tcgen05_test {
namespace {

constexpr double e2m1_values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

double e2m1_value(std::uint32_t bits) {
  return (bits & 8) != 0 ? -e2m1_values[bits & 7] : e2m1_values[bits & 7];
}

/// 16 bytes further along K after `leading` bytes, the next eight lines after 128 (no swizzle, K-major).
TensorDescriptor plain(std::uint32_t start, std::uint32_t leading) {
  TensorDescriptor descriptor;
  descriptor.matrix = MatrixDescriptor({.start = start, .leading = leading, .stride = 128, .base_offset = 0, .swizzle = Swizzle::none});
  return descriptor;
}

std::uint32_t chunk_at(std::uint32_t start, std::uint32_t leading, int line, int byte) {
  return start + static_cast<std::uint32_t>(byte / 16) * leading + static_cast<std::uint32_t>(line / 8 * 128 + line % 8 * 16 + byte % 16);
}

float d_at(const TensorMemory& memory, int lane, int column) {
  return std::bit_cast<float>(memory.word(lane, column));
}

TEST_CASE("tcgen05.mma kind::mxf4 and mxf4nvf4: scale factors come from their words and bytes of tensor memory", "[execute][tcgen05]") {
  // With K = 96, a row begins 96 bytes into lines of 128 with a swizzle, so 32 of its bytes are there and 16 at the absolute address.
  struct Case {
    const char* kind;
    int k, vector, factors, first_byte_a, first_byte_b, n;
    bool ue8m0, in_tensor_memory;
  };
  constexpr int row_start = 96;
  constexpr std::uint32_t a_start = 1024, a_next = 1024 + 16384, b_start = 1024 + 32768, b_next = 1024 + 65536;
  const auto byte_address = [](int k, std::uint32_t start, std::uint32_t next, int line, int byte) {
    if (k == 64) return chunk_at(start, next - start, line, byte);
    const int inside = row_start + byte;
    const std::uint32_t linear = (inside < 128 ? start : next) + static_cast<std::uint32_t>(line * 128 + inside % 128);
    return linear ^ (linear >> 7 & 7) << 4;
  };
  const auto descriptor = [](int k, std::uint32_t start, std::uint32_t next) {
    if (k == 64) return plain(start, next - start);
    const std::uint64_t bits =
        (start + row_start) >> 4 | std::uint64_t{next >> 4} << 16 | 64ull << 32 | 1ull << 46 | 1ull << 52 | 2ull << 61;  // 52: absolute
    const DecodedTensorDescriptor decoded = decode_tensor_descriptor(bits, true);
    REQUIRE_FALSE(decoded.problem);
    CHECK(decode_tensor_descriptor(bits).problem);
    return decoded.descriptor;
  };
  for (const Case& c : {Case{"kind::mxf4", 64, 2, 2, 0, 2, 64, true, false}, Case{"kind::mxf4", 64, 2, 2, 2, 0, 136, true, false},
                        Case{"kind::mxf4nvf4", 64, 2, 2, 2, 2, 8, true, false}, Case{"kind::mxf4nvf4", 64, 4, 4, 0, 0, 256, false, false},
                        Case{"kind::mxf4nvf4", 64, 4, 4, 0, 0, 72, true, false}, Case{"kind::mxf4", 96, 2, 3, 0, 3, 64, true, false},
                        Case{"kind::mxf4", 96, 2, 3, 2, 1, 136, true, true}, Case{"kind::mxf4nvf4", 96, 4, 6, 2, 0, 24, false, false},
                        Case{"kind::mxf4nvf4", 96, 4, 6, 0, 2, 256, true, false}}) {
    INFO(c.kind << " " << c.factors << " " << c.n);
    const int k = c.k;
    const std::uint32_t bits = 1u << 7 | 1u << 10 | std::uint32_t{c.ue8m0} << 23 | static_cast<std::uint32_t>(c.n / 8) << 17 | 8u << 24 |
                               static_cast<std::uint32_t>(c.first_byte_b) << 4 | static_cast<std::uint32_t>(c.first_byte_a) << 29 |
                               std::uint32_t{k == 96} << 31;
    CHECK(decode_tensor_product(*find_tensor_kind(c.kind), {.scale_vector = c.vector}, bits).problem.has_value() == (k == 96));
    const auto decoded = decode_tensor_product(*find_tensor_kind(c.kind), {.scale_vector = c.vector, .has_k96 = k == 96}, bits);
    INFO(decoded.problem.value_or(""));
    REQUIRE_FALSE(decoded.problem);
    REQUIRE(decoded.product.shape.k == k);
    std::mt19937 random(static_cast<unsigned>(c.n + c.factors));
    SharedMemory shared(std::vector<std::uint8_t>(131072), 1024);
    TensorMemory memory;
    const auto fill = [&](std::uint32_t start, std::uint32_t next, int lines) {
      std::vector<std::uint32_t> all;
      for (int line = 0; line < lines; ++line)
        for (int i = 0; i < k; ++i) {
          all.push_back(static_cast<std::uint32_t>(random() & 15));
          shared.bytes()[byte_address(k, start, next, line, i / 2) - shared.base()] |= static_cast<std::uint8_t>(all.back() << i % 2 * 4);
        }
      return all;
    };
    const auto a = fill(a_start, a_next, 128), b = fill(b_start, b_next, c.n);
    if (c.in_tensor_memory)
      for (std::size_t i = 0; i < a.size(); ++i)
        memory.word(static_cast<int>(i) / k, 400 + static_cast<int>(i) % k / 8) |= a[i] << i % 8 * 4;
    // Factor f is byte (first + f) % 4 of the words that begin (first + f) / 4 times four columns on, or eight for more than 128 lines.
    const auto scales = [&](int lines, int column, int first_byte) {
      std::vector<int> all;
      for (int line = 0; line < lines; ++line)
        for (int i = 0; i < c.factors; ++i) {
          all.push_back(static_cast<int>(random() % 3) - 1);
          const auto byte = static_cast<std::uint32_t>(c.ue8m0 ? 127 + all.back() : 0x38 + 8 * all.back());
          const int at = first_byte + i, group = at / 4 * (lines > 128 ? 8 : 4);
          for (int quarter = 0; quarter < 4; ++quarter)
            memory.word(quarter * 32 + line % 32, column + group + line / 32) |= byte << at % 4 * 8;
        }
      return all;
    };
    const auto of_a = scales(128, 300, c.first_byte_a), of_b = scales(c.n, 320, c.first_byte_b);
    ProductOperands operands{.a = c.in_tensor_memory ? read_a(decoded.product, TensorCell{0, 400}, memory)
                                                     : read_a(decoded.product, descriptor(k, a_start, a_next), shared),
                             .b = read_b(decoded.product, descriptor(k, b_start, b_next), shared),
                             .metadata = {},
                             .scales_a = read_scales(decoded.product, OperandName::scale_a, {0, 300}, memory),
                             .scales_b = read_scales(decoded.product, OperandName::scale_b, {0, 320}, memory),
                             .accumulates = true};
    for (const Path path : {Path::fast, Path::reference}) {
      for (int i = 0; i < 128; ++i)
        for (int j = 0; j < c.n; ++j) memory.word(i, j) = std::bit_cast<std::uint32_t>(static_cast<float>(i - j));
      multiply(decoded.product, operands, memory, {0, 0}, {}, {.path = path});
      int wrong = 0;
      for (int i = 0; i < 128; ++i)
        for (int j = 0; j < c.n; ++j) {
          double sum = i - j;
          for (int e = 0; e < k; ++e) {
            const auto factor = static_cast<std::size_t>(e * c.factors / k);
            const int exponent =
                of_a[static_cast<std::size_t>(i * c.factors) + factor] + of_b[static_cast<std::size_t>(j * c.factors) + factor];
            sum += std::ldexp(e2m1_value(a[static_cast<std::size_t>(i * k + e)]) * e2m1_value(b[static_cast<std::size_t>(j * k + e)]),
                              exponent);
          }
          wrong += static_cast<double>(d_at(memory, i, j)) != sum;
        }
      CHECK(wrong == 0);
    }
    memory.word(64, 300) ^= 1u << c.first_byte_a * 8;  // a copy that differs
    CHECK_THROWS_AS(read_scales(decoded.product, OperandName::scale_a, {0, 300}, memory), Trap);
  }
}

TEST_CASE("tcgen05.mma kind::mxf8f6f4: scaled products are cut 25 bits below the largest term", "[execute][tcgen05]") {
  // Random e4m3, whose scaled products need rounding: the exponents of the scale factors count in the alignment.
  struct Number {
    double value;
    int exponent;
  };
  const auto e4m3 = [](std::uint32_t bits) {
    const int stored = static_cast<int>(bits >> 3 & 15), exponent = std::max(stored, 1) - 7;
    const double magnitude = std::ldexp((bits & 7) + (stored != 0 ? 8 : 0), exponent - 3);
    return Number{(bits & 0x80) != 0 ? -magnitude : magnitude, exponent};
  };
  constexpr int m = 128, n = 40, k = 32, d_column = 64, a_scales = 200, b_scales = 208, first_byte_a = 1, first_byte_b = 3;
  const std::uint32_t bits = 1u << 23 | n / 8 << 17 | m / 16u << 24 | first_byte_b << 4 | first_byte_a << 29;
  const auto decoded = decode_tensor_product(*find_tensor_kind("kind::mxf8f6f4"), {.scale_vector = 1}, bits);
  INFO(decoded.problem.value_or(""));
  REQUIRE_FALSE(decoded.problem);
  std::mt19937 random(33);
  SharedMemory shared(std::vector<std::uint8_t>(32768), 1024);
  TensorMemory memory;
  const auto fill = [&](std::uint32_t start, int lines, int scale_column, int byte, std::vector<int>& scales) {
    std::vector<std::uint32_t> all;
    for (int line = 0; line < lines; ++line) {
      for (int i = 0; i < k; ++i) {
        std::uint32_t element = static_cast<std::uint32_t>(random()) & 0xff;
        if ((element & 0x7f) == 0x7f) element ^= 1;
        shared.bytes()[chunk_at(start, 8192, line, i) - shared.base()] = static_cast<std::uint8_t>(element);
        all.push_back(element);
      }
      scales.push_back(120 + static_cast<int>(random() % 14));
      for (int quarter = 0; quarter < 4; ++quarter)
        memory.word(quarter * 32 + line % 32, scale_column + line / 32) |= static_cast<std::uint32_t>(scales.back()) << 8 * byte;
    }
    return all;
  };
  std::vector<int> scales_a, scales_b;
  const std::vector<std::uint32_t> a = fill(2048, m, a_scales, first_byte_a, scales_a),
                                   b = fill(20480, n, b_scales, first_byte_b, scales_b);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      memory.word(i, d_column + j) = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(random() % 4096) - 2048) / 16);
  const TensorProduct& product = decoded.product;
  const ProductOperands operands{.a = read_a(product, plain(2048, 8192), shared),
                                 .b = read_b(product, plain(20480, 8192), shared),
                                 .metadata = {},
                                 .scales_a = read_scales(product, OperandName::scale_a, {0, a_scales}, memory),
                                 .scales_b = read_scales(product, OperandName::scale_b, {0, b_scales}, memory),
                                 .accumulates = true};
  for (const Path path : {Path::fast, Path::reference}) {
    TensorMemory result = memory;
    multiply(product, operands, result, {0, d_column}, {}, {.path = path});
    int inexact = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const double d = d_at(memory, i, d_column + j);
        std::vector<Number> terms{{d, d == 0 ? -126 : std::ilogb(d)}};
        for (int e = 0; e < k; ++e) {
          const Number x = e4m3(a[static_cast<std::size_t>(i * k + e)]), y = e4m3(b[static_cast<std::size_t>(j * k + e)]);
          const int scale = scales_a[static_cast<std::size_t>(i)] + scales_b[static_cast<std::size_t>(j)] - 2 * 127;
          terms.push_back({std::ldexp(x.value * y.value, scale), x.exponent + y.exponent + scale});
        }
        int largest = -133;
        for (const Number& term : terms)
          if (term.value != 0) largest = std::max(largest, term.exponent);
        double sum = 0, exact = 0;
        for (const Number& term : terms) {
          sum += std::trunc(std::ldexp(term.value, 25 - largest));
          exact += term.value;
        }
        sum = std::ldexp(sum, largest - 25);
        auto expected = static_cast<float>(sum);
        if (std::fabs(static_cast<double>(expected)) > std::fabs(sum)) expected = std::nextafterf(expected, 0.0f);
        inexact += static_cast<double>(expected) != exact ? 1 : 0;
        REQUIRE(d_at(result, i, d_column + j) == expected);
      }
    CHECK(inexact > 100);
  }
}

TEST_CASE("tcgen05.mma.sp kind::f16: codes of metadata come from their lanes and bits, in every data path layout", "[execute][tcgen05]") {
  // Data path layouts by CuTe's tmem_frg, metadata by its tmem_e_frg: written here as formulas of their own.
  struct Case {
    TensorVariant variant;
    int m, first_lane, selector;
  };
  for (const Case& c : {Case{{.sparse = true}, 128, 0, 0}, Case{{.sparse = true}, 128, 0, 1}, Case{{.sparse = true}, 64, 16, 1},
                        Case{{.sparse = true, .weights = true}, 64, 0, 0}, Case{{.sparse = true, .weights = true}, 32, 0, 1}}) {
    INFO(c.m << " " << c.variant.weights);
    constexpr int n = 64, k = 32;
    const std::uint32_t bits =
        1u << 4 | 4 | static_cast<std::uint32_t>(c.selector) | std::uint32_t{n / 8} << 17 | static_cast<std::uint32_t>(c.m / 16) << 24;
    const auto decoded = decode_tensor_product(*find_tensor_kind("kind::f16"), c.variant, bits);
    REQUIRE_FALSE(decoded.problem);
    std::mt19937 random(static_cast<unsigned>(c.m));
    SharedMemory shared(std::vector<std::uint8_t>(32768), 1024);
    TensorMemory memory;
    constexpr std::uint16_t numbers[] = {0x3c00, 0x4000, 0xbc00, 0x4200};  // 1, 2, -1, 3
    constexpr double values[] = {1, 2, -1, 3};
    const int parts = c.variant.weights ? 128 / c.m : 1;
    std::vector<double> a(static_cast<std::size_t>(c.m * k)), b;
    for (int row = 0; row < c.m; ++row)
      for (int group = 0; group < 8; ++group) {
        std::uint32_t first = static_cast<std::uint32_t>(random() % 3),
                      second = first + 1 + static_cast<std::uint32_t>(random() % (3 - first));
        for (const std::uint32_t stored : {0u, 1u}) {
          const std::size_t number = random() % 4;
          a[static_cast<std::size_t>(row * k + group * 4) + (stored == 0 ? first : second)] = values[number];
          std::uint8_t* const to = &shared.bytes()[chunk_at(1024, 4096, row, (group * 2 + static_cast<int>(stored)) * 2) - shared.base()];
          to[0] = static_cast<std::uint8_t>(numbers[number]);
          to[1] = static_cast<std::uint8_t>(numbers[number] >> 8);
        }
        const int exchanged = row / 16 * 16 + group / 4 * 8 + row % 8;  // bit 3 of the row and of the group's k
        const int lane = c.m == 64 && !c.variant.weights ? c.first_lane + exchanged % 16 + exchanged / 16 * 32 : exchanged;
        for (int part = 0; part < parts; ++part)
          memory.word(lane + part * c.m, 400 + c.selector) |= (first | second << 2) << (row / 8 % 2 * 16 + group % 4 * 4);
      }
    for (int column = 0; column < n; ++column)
      for (int i = 0; i < k; ++i) {
        const std::size_t number = random() % 4;
        b.push_back(values[number]);
        std::uint8_t* const to = &shared.bytes()[chunk_at(12288, 1024, column, i * 2) - shared.base()];
        to[0] = static_cast<std::uint8_t>(numbers[number]);
        to[1] = static_cast<std::uint8_t>(numbers[number] >> 8);
      }
    const ProductOperands operands{.a = read_a(decoded.product, plain(1024, 4096), shared),
                                   .b = read_b(decoded.product, plain(12288, 1024), shared),
                                   .metadata = read_metadata(decoded.product, {c.first_lane, 400}, memory),
                                   .scales_a = {},
                                   .scales_b = {}};
    for (const Path path : {Path::fast, Path::reference}) {
      multiply(decoded.product, operands, memory, {c.first_lane, 0}, {}, {.path = path});
      int wrong = 0;
      for (int row = 0; row < c.m; ++row)
        for (int column = 0; column < n; ++column) {
          double sum = 0;
          for (int i = 0; i < k; ++i) sum += a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(column * k + i)];
          const int width = n / parts;
          const int lane = c.m == 64 && !c.variant.weights ? c.first_lane + row % 16 + row / 16 * 32 : row + column / width * c.m;
          wrong += static_cast<double>(d_at(memory, lane, column % width)) != sum;
        }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("zero-column masks are those of the ISA's examples", "[layout][tcgen05]") {
  // PTX ISA 9.1 section 9.7.16.4.3: masks from column 0 on; skip span 2, use span 3.
  const auto mask = [](std::uint64_t starts, std::uint64_t spans, std::uint64_t nonzero, std::uint64_t shift, int m, int n) {
    const ZeroColumns columns = decode_zero_columns(starts | spans << 32 | nonzero << 39 | 2ull << 40 | 3ull << 48 | shift << 56, m, n);
    std::string text = std::to_string(columns.shift) + ":";
    for (const bool zero : columns.zero) text += zero ? '1' : '0';
    return text;
  };
  CHECK(mask(0, 0, 0, 0, 128, 16) == "0:0000000000000000");
  CHECK(mask(0, 0, 1, 0, 128, 16) == "0:0000111000011100");
  CHECK(mask(0, 1, 1, 0, 64, 32) == "0:11100001110000110000111000011100");
  CHECK(mask(0x01020100, 3, 1, 2, 32, 64) == "2:1110000111000011110000111000011100111000011100000001110000111000");
}

}  // namespace
}  // namespace warpmat::tcgen05_test
