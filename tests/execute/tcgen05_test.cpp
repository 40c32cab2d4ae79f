#include <warpmat/execute/tcgen05.h>

#include "test.h"

// Products in tensor memory against an oracle of its own: formats by their bits, one sum of all K products and D, cut 25 bits below the
// largest term (MMA-Sim's TCGen05MMA), in double, which holds all of it exactly.

namespace warpmat::tcgen05_test {
namespace {

/// A format by its exponent and fraction bits; 0 exponent bits: an integer.
struct Code {
  Format format;
  std::uint32_t code;
  int bits, exponent, fraction;
  bool infinities;
};
constexpr Code f16{Format::f16, 0, 16, 5, 10, true}, bf16{Format::bf16, 1, 16, 8, 7, true}, tf32{Format::tf32, 2, 32, 8, 10, true},
    e4m3{Format::e4m3, 0, 8, 4, 3, false}, e5m2{Format::e5m2, 1, 8, 5, 2, true}, e2m3{Format::e2m3, 3, 6, 2, 3, false},
    e3m2{Format::e3m2, 4, 6, 3, 2, false}, e2m1{Format::e2m1, 5, 4, 2, 1, false}, u8{Format::u8, 0, 8, 0, 0, false},
    s8{Format::s8, 1, 8, 0, 0, false};

/// A number and the exponent that the unit aligns it by.
struct Number {
  double value = 0;
  int exponent = 0;
};

Number number_of(const Code& format, std::uint32_t bits) {
  if (format.exponent == 0) return {format.code == 1 ? static_cast<double>(static_cast<std::int8_t>(bits)) : static_cast<double>(bits), 0};
  if (format.bits == 32) bits >>= 13;  // tf32 has 19 bits
  const int width = 1 + format.exponent + format.fraction, bias = (1 << (format.exponent - 1)) - 1;
  const int stored = static_cast<int>(bits >> format.fraction & ((1u << format.exponent) - 1));
  const auto fraction = static_cast<double>(bits & ((1u << format.fraction) - 1));
  const int exponent = std::max(stored, 1) - bias;
  const double magnitude = std::ldexp(fraction + (stored != 0 ? std::ldexp(1.0, format.fraction) : 0), exponent - format.fraction);
  return {(bits >> (width - 1) & 1) != 0 ? -magnitude : magnitude, exponent};
}

float toward_zero(double value) {
  const auto nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafterf(nearest, 0.0f) : nearest;
}

/// The bits of an f16, to nearest even.
std::uint32_t half_bits(double value) {
  const double magnitude = std::fabs(value);
  const std::uint32_t sign = value < 0 ? 0x8000 : 0;
  if (magnitude >= 65520) return sign | 0x7c00;
  const int exponent = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14);
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  if (units == 0) return 0;
  return sign | ((static_cast<std::uint32_t>(exponent + 14) << 10) + units);  // a subnormal has no implicit bit
}

struct Case {
  const char* kind;
  Code a, b;
  std::uint32_t d_code;  ///< 0 f16, 1 f32, 2 s32
  int m, n;
  bool transposes_a = false, transposes_b = false, negates_a = false, negates_b = false, a_in_tensor_memory = false, saturates = false;
  bool accumulates = true;
  int first_lane = 0;
  bool weights = false;   ///< .ws
  bool shifts_a = false;  ///< .ashift
  int scale_d = 0;
};

/// Matrices of random elements without NaN and infinity, and where they lie.
class Setup {
 public:
  Setup(const Case& c, unsigned seed)
      : c_(c), k_(256 / std::max(c.a.bits, 8)), random_(seed), shared_(std::vector<std::uint8_t>(65536), 1024) {
    const std::uint32_t bits = c.d_code << 4 | c.a.code << 7 | c.b.code << 10 | std::uint32_t{c.saturates} << 3 |
                               std::uint32_t{c.negates_a} << 13 | std::uint32_t{c.negates_b} << 14 | std::uint32_t{c.transposes_a} << 15 |
                               std::uint32_t{c.transposes_b} << 16 | static_cast<std::uint32_t>(c.n / 8) << 17 |
                               static_cast<std::uint32_t>(c.m / 16) << 24;
    const DecodedTensorProduct decoded = decode_tensor_product(*find_tensor_kind(c.kind), {.weights = c.weights}, bits);
    INFO(decoded.problem.value_or(""));
    REQUIRE_FALSE(decoded.problem);
    product_ = decoded.product;
    fill(a_, c.a, c.m);
    fill(b_, c.b, c.n);
    for (int i = 0; i < c.m * c.n; ++i) d_.push_back(random_d());
  }

  void check() {
    constexpr int d_column = 64, a_column = 16;
    std::vector<std::uint32_t> rows;
    for (int i = 0; i < c_.m; ++i)
      rows.push_back(static_cast<std::uint32_t>(c_.m == 128 || c_.weights ? i : c_.first_lane + i % 16 + i / 16 * 32));
    // With .ws, parts of the columns lie in the lanes behind the rows: the first half in lanes 0 to 63, the second in 64 to 127 (M = 64).
    const int parts = c_.weights ? 128 / c_.m : 1;
    const auto lane_of = [&](int i, int j) {
      return rows[static_cast<std::size_t>(i)] + static_cast<std::uint32_t>(j / (c_.n / parts) * c_.m);
    };
    const auto column_of = [&](int j) { return d_column + j % (c_.n / parts); };
    for (int i = 0; i < c_.m; ++i)
      for (int j = 0; j < c_.n; ++j) memory_.word(static_cast<int>(lane_of(i, j)), column_of(j)) = d_[at(i, j)];
    DisabledLanes disabled{};
    for (std::uint32_t& word : disabled) word = static_cast<std::uint32_t>(random_()) & static_cast<std::uint32_t>(random_());
    const TensorDescriptor of_a = store(a_, c_.a, c_.m, c_.transposes_a, 2048), of_b = store(b_, c_.b, c_.n, c_.transposes_b, 32768);
    ProductWords a;
    if (c_.a_in_tensor_memory) {
      for (int i = 0; i < c_.m; ++i)
        for (int k = 0; k < k_; ++k) {
          const int bits = std::max(c_.a.bits, 8), bit = k * bits;
          for (int part = 0; part < parts; ++part)
            memory_.word(static_cast<int>(rows[static_cast<std::size_t>(i)]) + part * c_.m, a_column + bit / 32) |=
                a_[static_cast<std::size_t>(i * k_ + k)] << (c_.a.bits == 4 ? 2 : 0) << bit % 32;
        }
      a = read_a(product_, {c_.first_lane, a_column}, memory_, c_.shifts_a);
    } else {
      a = read_a(product_, of_a, shared_);
    }
    const ProductWords b = read_b(product_, of_b, shared_);
    const ProductOperands operands{
        .a = a, .b = b, .metadata = {}, .scales_a = {}, .scales_b = {}, .accumulates = c_.accumulates, .scale_d = c_.scale_d};
    for (const Path path : {Path::fast, Path::reference}) {
      TensorMemory memory = memory_;
      multiply(product_, operands, memory, {c_.first_lane, d_column}, disabled, {.path = path});
      int wrong = 0;
      for (int i = 0; i < c_.m; ++i)
        for (int j = 0; j < c_.n; ++j) {
          const std::uint32_t lane = lane_of(i, j);
          const bool kept = (disabled[lane / 32] >> lane % 32 & 1) != 0;
          const std::uint32_t got = memory.word(static_cast<int>(lane), column_of(j));
          const std::uint32_t expected = kept ? d_[at(i, j)] : result(i, j);
          if (got != expected && ++wrong < 4) FAIL_CHECK(fmt::format("row {}, column {}: {:#x}, expected {:#x}", i, j, got, expected));
        }
      CHECK(wrong == 0);
    }
  }

 private:
  std::size_t at(int i, int j) const { return static_cast<std::size_t>(i * c_.n + j); }

  void fill(std::vector<std::uint32_t>& matrix, const Code& code, int lines) {
    const int fraction = code.fraction, exponent = code.exponent;
    while (static_cast<int>(matrix.size()) < lines * k_) {
      auto bits = static_cast<std::uint32_t>(random_()) & static_cast<std::uint32_t>((std::uint64_t{1} << code.bits) - 1);
      if (exponent == 8)
        bits = (bits & ~(0xffu << (code.bits - 9))) | (0x7cu + static_cast<std::uint32_t>(random_() % 6)) << (code.bits - 9);  // about 1
      const std::uint32_t of_exponent = bits >> (code.bits == 32 ? 23 : fraction) & ((1u << exponent) - 1);
      if (code.infinities && exponent != 8 && of_exponent == (1u << exponent) - 1) continue;
      if (code.format == Format::e4m3 && (bits & 0x7f) == 0x7f) continue;
      matrix.push_back(random_() % 16 == 0 ? 0 : bits);
    }
  }

  std::uint32_t random_d() {
    const double value = (static_cast<double>(random_() % 4096) - 2048) / 16;
    if (c_.d_code == 2) return static_cast<std::uint32_t>(random_() % 2 != 0 ? random_() : 0x7ffffff0 + random_() % 16);
    return c_.d_code == 0 ? half_bits(value) : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }

  /// Without a swizzle: 8 lines of 16 bytes follow each other; 16 bytes further along K after 8 kB, the next eight lines after 128. Of
  /// transposed 32-bit matrices atoms of four lines of 128 bytes.
  TensorDescriptor store(const std::vector<std::uint32_t>& matrix, const Code& code, int lines, bool transposed, std::uint32_t start) {
    TensorDescriptor descriptor;
    descriptor.matrix = MatrixDescriptor({.start = start, .leading = 8192, .stride = 128, .base_offset = 0, .swizzle = Swizzle::none});
    const bool atoms = transposed && code.bits == 32;
    if (atoms) {
      descriptor.wide_atoms = true;
      descriptor.matrix =
          MatrixDescriptor({.start = start, .leading = 2048, .stride = 512, .base_offset = 0, .swizzle = Swizzle::bytes_128});
    }
    for (int line = 0; line < lines; ++line)
      for (int k = 0; k < k_; ++k) {
        const std::uint32_t element = matrix[static_cast<std::size_t>(line * k_ + k)];
        const int x = transposed ? line : k, y = transposed ? k : line;  // along and across the contiguous axis
        const int along = transposed ? 128 : 8192, next = transposed ? 8192 : 128;
        if (code.bits < 8) {  // 16 elements packed at the beginning of 16 bytes
          const int bit = x % 16 * code.bits;
          const std::uint32_t chunk = start + static_cast<std::uint32_t>(x / 16 * along + y / 8 * next + y % 8 * 16);
          for (int i = 0; i < code.bits; ++i)
            if ((element >> i & 1) != 0)
              byte(chunk + static_cast<std::uint32_t>(bit + i) / 8) |= static_cast<std::uint8_t>(1 << (bit + i) % 8);
          continue;
        }
        const auto of = static_cast<std::uint32_t>(x * code.bits / 8), across = static_cast<std::uint32_t>(y);
        std::uint32_t address = 0;
        if (atoms) {
          address = start + of / 128 * 2048 + across / 4 * 512 + across % 4 * 128 + of % 128;
          address ^= (address >> 7 & 3) << 5;
        } else {
          address = start + of / 16 * static_cast<std::uint32_t>(along) + across / 8 * static_cast<std::uint32_t>(next) + across % 8 * 16 +
                    of % 16;
        }
        std::memcpy(&byte(address), &element, static_cast<std::size_t>(code.bits / 8));
      }
    return descriptor;
  }

  std::uint8_t& byte(std::uint32_t address) { return shared_.bytes()[address - shared_.base()]; }

  std::uint32_t result(int i, int j) const {
    const std::uint32_t c = d_[at(i, j)];
    if (c_.shifts_a) i = std::min(i + 1, c_.m - 1);  // each row but the last is the next one
    if (c_.d_code == 2) {
      std::int64_t sum = c_.accumulates ? static_cast<std::int32_t>(c) : 0;
      for (int k = 0; k < k_; ++k) sum += static_cast<std::int64_t>(factor(a_, c_.a, i, k).value * factor(b_, c_.b, j, k).value);
      if (c_.saturates) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
      return static_cast<std::uint32_t>(sum);
    }
    std::vector<Number> terms;
    for (int k = 0; k < k_; ++k) {
      const Number x = factor(a_, c_.a, i, k), y = factor(b_, c_.b, j, k);
      terms.push_back({x.value * y.value * (c_.negates_a != c_.negates_b ? -1 : 1), x.exponent + y.exponent});
    }
    if (c_.accumulates) {
      const double value = c_.d_code == 1 ? static_cast<double>(std::bit_cast<float>(c)) : number_of(f16, c).value;
      const double scaled = std::ldexp(value, -c_.scale_d);
      terms.push_back({scaled, scaled == 0 ? 0 : std::max(std::ilogb(scaled), c_.d_code == 1 ? -126 : -14)});
    }
    int largest = c_.d_code == 1 ? -133 : -21;
    for (const Number& term : terms)
      if (term.value != 0) largest = std::max(largest, term.exponent);
    double sum = 0;
    for (const Number& term : terms) sum += std::trunc(std::ldexp(term.value, 25 - largest));
    sum = std::ldexp(sum, largest - 25);
    if (c_.d_code == 0) return half_bits(sum);
    const float rounded = toward_zero(sum);
    return rounded == 0 ? 0 : std::bit_cast<std::uint32_t>(rounded);
  }

  Number factor(const std::vector<std::uint32_t>& matrix, const Code& code, int line, int k) const {
    return number_of(code, matrix[static_cast<std::size_t>(line * k_ + k)]);
  }

  Case c_;
  int k_;
  std::mt19937 random_;
  SharedMemory shared_;
  TensorMemory memory_;
  TensorProduct product_;
  std::vector<std::uint32_t> a_, b_, d_;
};

TEST_CASE("tcgen05.mma: types, shapes and layouts against the oracle", "[execute][tcgen05]") {
  const std::vector<Case> cases{
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 1, .m = 128, .n = 64},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 0, .m = 128, .n = 24, .negates_a = true},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 1, .m = 64, .n = 8, .transposes_a = true, .transposes_b = true, .first_lane = 16},
      {.kind = "kind::f16", .a = bf16, .b = bf16, .d_code = 1, .m = 128, .n = 256, .transposes_b = true, .negates_b = true},
      {.kind = "kind::f16", .a = bf16, .b = bf16, .d_code = 1, .m = 64, .n = 40, .a_in_tensor_memory = true, .accumulates = false},
      {.kind = "kind::tf32", .a = tf32, .b = tf32, .d_code = 1, .m = 128, .n = 32},
      {.kind = "kind::tf32", .a = tf32, .b = tf32, .d_code = 1, .m = 64, .n = 64, .transposes_a = true, .transposes_b = true},
      {.kind = "kind::tf32",
       .a = tf32,
       .b = tf32,
       .d_code = 1,
       .m = 128,
       .n = 16,
       .negates_a = true,
       .negates_b = true,
       .a_in_tensor_memory = true},
      {.kind = "kind::i8", .a = s8, .b = u8, .d_code = 2, .m = 128, .n = 48, .transposes_a = true, .transposes_b = true},
      {.kind = "kind::i8", .a = u8, .b = s8, .d_code = 2, .m = 64, .n = 16, .saturates = true, .first_lane = 16},
      {.kind = "kind::i8", .a = s8, .b = s8, .d_code = 2, .m = 128, .n = 8, .a_in_tensor_memory = true, .accumulates = false},
      {.kind = "kind::f8f6f4", .a = e2m1, .b = e2m3, .d_code = 1, .m = 128, .n = 48, .transposes_a = true, .transposes_b = true},
      {.kind = "kind::f8f6f4", .a = e3m2, .b = e4m3, .d_code = 1, .m = 64, .n = 32, .transposes_a = true, .negates_b = true},
      {.kind = "kind::f8f6f4", .a = e5m2, .b = e2m1, .d_code = 0, .m = 128, .n = 16, .transposes_b = true},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 1, .m = 32, .n = 64, .weights = true},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 0, .m = 64, .n = 128, .transposes_b = true, .weights = true},
      {.kind = "kind::f16", .a = bf16, .b = bf16, .d_code = 1, .m = 128, .n = 64, .a_in_tensor_memory = true, .weights = true},
      {.kind = "kind::tf32", .a = tf32, .b = tf32, .d_code = 1, .m = 64, .n = 64, .a_in_tensor_memory = true, .weights = true},
      {.kind = "kind::f8f6f4", .a = e4m3, .b = e2m1, .d_code = 1, .m = 32, .n = 256, .a_in_tensor_memory = true, .weights = true},
      {.kind = "kind::i8", .a = s8, .b = u8, .d_code = 2, .m = 64, .n = 256, .weights = true},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 1, .m = 128, .n = 32, .a_in_tensor_memory = true, .shifts_a = true},
      {.kind = "kind::f8f6f4", .a = e5m2, .b = e4m3, .d_code = 1, .m = 128, .n = 16, .a_in_tensor_memory = true, .shifts_a = true},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 1, .m = 128, .n = 32, .scale_d = 3},
      {.kind = "kind::f16", .a = f16, .b = f16, .d_code = 0, .m = 64, .n = 32, .scale_d = 15},
      {.kind = "kind::tf32", .a = tf32, .b = tf32, .d_code = 1, .m = 64, .n = 16, .scale_d = 9},
  };
  unsigned seed = 0;
  REQUIRE(cases.size() > 20);
  for (const Case& c : cases) {
    ++seed;
    INFO(c.kind << " case " << seed);
    Setup(c, seed).check();
  }
}

TEST_CASE("tcgen05.mma kind::f8f6f4: every pair of types against the oracle", "[execute][tcgen05]") {
  unsigned seed = 100;
  for (const Code& a : {e4m3, e5m2, e2m3, e3m2, e2m1})
    for (const Code& b : {e4m3, e5m2, e2m3, e3m2, e2m1})
      for (const std::uint32_t d : {0u, 1u}) {
        INFO(name(a.format) << " " << name(b.format) << " " << d);
        ++seed;
        Setup({.kind = "kind::f8f6f4",
               .a = a,
               .b = b,
               .d_code = d,
               .m = d == 0 ? 64 : 128,
               .n = 16,
               .transposes_a = a.bits == 8 && seed % 2 == 0 && seed % 3 != 0,
               .transposes_b = b.bits == 8 && seed % 5 < 2,
               .negates_a = seed % 7 < 3,
               .a_in_tensor_memory = seed % 3 == 0},
              seed)
            .check();
      }
}

}  // namespace
}  // namespace warpmat::tcgen05_test
