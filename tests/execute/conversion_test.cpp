// Every code of the formats of 16 bits and less, decoded by a kernel: a sum with one nonzero product shows the decoded value.
// All codes pass the common case and the fallback of the kernels of every instruction set, and the reference.

#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include "execute/registers.h"
#include "numeric/oracle_format.h"
#include "oracle/oracle.h"
#include "test.h"

namespace warpmat::conversion_test {
namespace {

constexpr int rows = 16, columns = 8;

/// Where an element lies among the registers of an operand.
struct Site {
  std::size_t reg = 0, lane = 0;
  int bit = 0;
};

/// Of an operand with `width` columns and `bits` an element, row by row; `position(lane, i)` is where element i of a lane belongs.
template <typename Position>
std::vector<Site> sites_of(int height, int width, int bits, Position position) {
  std::vector<Site> sites(static_cast<std::size_t>(height * width));
  for (int lane = 0; lane < warp_size; ++lane)
    for (int i = 0; i < height * width / warp_size; ++i) {
      const auto [row, column] = position(lane, i);
      sites[static_cast<std::size_t>(row * width + column)] = {static_cast<std::size_t>(i * bits / 32), static_cast<std::size_t>(lane),
                                                               i * bits % 32};
    }
  return sites;
}

/// One mma whose elements are zeros but for those that are put there.
class Product {
 public:
  explicit Product(const Instruction& mma) : mma_(mma), registers_(mma.form()) {
    const auto bits = [&](OperandName name) { return mma.form().operand(name).fragment.element_bits(); };
    const int k = mma.form().shape.k, bits_a = bits(OperandName::a), bits_b = bits(OperandName::b);
    c_bits_ = bits(OperandName::c);
    a_ = sites_of(rows, k, bits_a, [&](int lane, int i) { return oracle::a_position(rows, k, bits_a, lane, i); });
    b_ = sites_of(k, columns, bits_b, [&](int lane, int i) { return oracle::b_position(k, columns, bits_b, lane, i); });
    c_ = sites_of(rows, columns, c_bits_, [&](int lane, int i) { return oracle::c_position(rows, lane, i); });
  }

  int k() const { return mma_.form().shape.k; }
  void put_a(int row, int column, std::uint64_t code) { put(OperandName::a, a_, row * k() + column, code); }
  void put_b(int row, int column, std::uint64_t code) { put(OperandName::b, b_, row * columns + column, code); }
  void put_c(int row, int column, std::uint64_t code) { put(OperandName::c, c_, row * columns + column, code); }

  void execute(Path path) { warpmat::execute(mma_, registers_.batch(), 1, {.path = path}); }

  std::uint32_t d(int row, int column) {
    const Site& site = c_[static_cast<std::size_t>(row * columns + column)];
    const std::uint32_t word = registers_[OperandName::d][site.reg][site.lane] >> site.bit;
    return c_bits_ == 32 ? word : word & 0xFFFFu;
  }

 private:
  /// Replaces an element. PTX ISA 9.7.14.5.14: e2m1 lies in the middle of its byte.
  void put(OperandName name, const std::vector<Site>& sites, int index, std::uint64_t code) {
    const Operand& operand = mma_.form().operand(name);
    const Site& site = sites[static_cast<std::size_t>(index)];
    const std::uint32_t all = static_cast<std::uint32_t>((std::uint64_t{1} << operand.fragment.element_bits()) - 1) << site.bit;
    const bool middle = operand.format == Format::e2m1 && operand.fragment.element_bits() == 8;
    std::uint32_t& word = registers_[name][site.reg][site.lane];
    word = (word & ~all) | static_cast<std::uint32_t>(code) << (site.bit + (middle ? 2 : 0));
  }

  const Instruction& mma_;
  FormRegisters registers_;
  int c_bits_;
  std::vector<Site> a_, b_, c_;
};

/// Which path executes, and an element of C that is a NaN there: with one, kernels take their general case.
struct Way {
  Path path;
  int nan_row = -1, nan_column = -1;
};
constexpr Way ways[] = {{Path::fast}, {Path::fast, 15, 7}, {Path::fast, 0, 0}};
constexpr Way reference{Path::reference};

/// Executes `product` and compares D with expected(row, column); `nan` is that of the format of D, and `c_nan` one of C.
template <typename Expected>
void compare(Tally& tally, Product& product, const Way& way, std::uint32_t nan, std::string_view what, Expected expected) {
  if (way.nan_row >= 0) product.put_c(way.nan_row, way.nan_column, nan);
  product.execute(way.path);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      const std::uint32_t wanted = row == way.nan_row && column == way.nan_column ? nan : expected(row, column);
      const std::uint32_t got = product.d(row, column);
      tally.expect(got == wanted, [&] { return fmt::format("{}: D[{}][{}] is {:#x}, expected {:#x}", what, row, column, got, wanted); });
    }
  if (way.nan_row >= 0) product.put_c(way.nan_row, way.nan_column, 0);
}

/// Every code of `format` as a float: all of these formats' numbers are.
std::vector<float> floats_of(Format format) {
  const oracle::FloatFormat f = *oracle_format(format);
  std::vector<float> out;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << f.bits; ++code) {
    std::uint32_t bits = static_cast<std::uint32_t>(oracle::toward_zero(oracle::f32, oracle::value(f, code)));
    if (oracle::is_nan(f, code)) bits = 0x7FC00000;
    if (oracle::is_inf(f, code)) bits = oracle::is_negative(f, code) ? 0xFF800000 : 0x7F800000;
    out.push_back(std::bit_cast<float>(bits));
  }
  return out;
}

/// What a matrix unit returns for a sum that is this float.
std::uint32_t result_bits(float sum) {
  if (sum != sum) return 0x7FFFFFFF;
  return sum == 0 ? 0 : std::bit_cast<std::uint32_t>(sum);
}

/// Calls `visit` with every way that an instruction can be executed, and its name.
template <typename Visit>
void for_each_way(Visit visit) {
  struct BestAgain {
    ~BestAgain() { use_best_instruction_set(); }
  } at_the_end;
  for (const std::string_view set : instruction_sets()) {
    use_instruction_set(set);
    for (const Way& way : ways) visit(way, fmt::format("{}{}", set, way.nan_row < 0 ? "" : ", general case"));
  }
  visit(reference, "reference");
}

/// All codes in the place of one element of each row of A, then of each column of B, times 1.
void try_all_codes(Tally& tally, Product& product, const Way& way, std::string_view what, std::uint64_t one,
                   const std::vector<std::uint32_t>& expected) {
  const int codes = static_cast<int>(expected.size());
  const auto at = [&](int code) { return expected[static_cast<std::size_t>(code)]; };
  for (int first = 0; first < codes; first += rows) {
    const int k = first / rows % product.k();
    for (int i = 0; i < rows; ++i) product.put_a(i, k, static_cast<std::uint64_t>(first + i));
    for (int j = 0; j < columns; ++j) product.put_b(k, j, one);
    compare(tally, product, way, 0x7FFFFFFF, what, [&](int i, int) { return at(first + i); });
    for (int i = 0; i < rows; ++i) product.put_a(i, k, 0);
    for (int j = 0; j < columns; ++j) product.put_b(k, j, 0);
  }
  for (int first = 0; first < codes; first += columns) {
    const int k = first / columns % product.k();
    for (int i = 0; i < rows; ++i) product.put_a(i, k, one);
    for (int j = 0; j < columns; ++j) product.put_b(k, j, static_cast<std::uint64_t>(first + j));
    compare(tally, product, way, 0x7FFFFFFF, what, [&](int, int j) { return at(first + j); });
    for (int i = 0; i < rows; ++i) product.put_a(i, k, 0);
    for (int j = 0; j < columns; ++j) product.put_b(k, j, 0);
  }
}

/// All pairs of a code of A and one of B, as the only product of a result that is not zero. The product of two such numbers is a float.
void try_all_pairs(Tally& tally, Product& product, const Way& way, std::string_view what, const std::vector<float>& a,
                   const std::vector<float>& b) {
  const int codes_a = static_cast<int>(a.size()), codes_b = static_cast<int>(b.size());
  for (int first_a = 0; first_a < codes_a; first_a += rows)
    for (int first_b = 0; first_b < codes_b; first_b += columns) {
      const int k = (first_a / rows + first_b / columns) % product.k();
      for (int i = 0; i < rows; ++i) product.put_a(i, k, static_cast<std::uint64_t>(first_a + i));
      for (int j = 0; j < columns; ++j) product.put_b(k, j, static_cast<std::uint64_t>(first_b + j));
      compare(tally, product, way, 0x7FFFFFFF, what, [&](int i, int j) {
        return result_bits(a[static_cast<std::size_t>(first_a + i)] * b[static_cast<std::size_t>(first_b + j)]);
      });
      for (int i = 0; i < rows; ++i) product.put_a(i, k, 0);
      for (int j = 0; j < columns; ++j) product.put_b(k, j, 0);
    }
}

/// The targets that execute `form` in different ways, the oldest of each.
std::vector<const Target*> ways_of(const Form& form) {
  std::vector<const Target*> out;
  std::vector<std::pair<Semantics, const DotModel*>> seen;
  for (const Target& target : targets()) {
    if (unavailable(form, target)) continue;
    const Lowering& lowering = *find_lowering(form, target.hardware);
    const std::pair<Semantics, const DotModel*> way{lowering.semantics, lowering.model};
    if (std::ranges::find(seen, way) != seen.end()) continue;
    seen.push_back(way);
    out.push_back(&target);
  }
  return out;
}

/// Dense, with f32 results and elements of 8, 6 or 4 bits in bytes, without scale factors.
bool multiplies_bytes(const Form& form) {
  if (form.mnemonic != Mnemonic::mma || form.sparsity != Sparsity::dense || form.scale_vector != 0 || form.shape.k != 32) return false;
  const auto small = [&](OperandName name) { return form.operand(name).fragment.element_bits() == 8 && oracle_format(form.format(name)); };
  return small(OperandName::a) && small(OperandName::b) && form.format(OperandName::d) == Format::f32;
}

TEST_CASE("every f16 and every bf16, as an element of A and of B, is read as the number that it is") {
  for (const auto& [format, one] : {std::pair{Format::f16, 0x3C00u}, {Format::bf16, 0x3F80u}}) {
    const Instruction mma(fmt::format("mma.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32", row(format).name), "sm_90");
    Product product(mma);
    std::vector<std::uint32_t> expected;
    for (const float number : floats_of(format)) expected.push_back(result_bits(number));
    for_each_way([&, one = one](const Way& way, const std::string& what) {
      CAPTURE(mma.form().opcode);
      Tally tally;
      try_all_codes(tally, product, way, what, one, expected);
      CHECK(tally.failures() == "");
      CHECK(tally.comparisons() == 0x10000 * (rows + columns));
    });
  }
}

TEST_CASE("every f16 is read as C, and f16 results are rounded to the nearest, also where they are subnormal or too large") {
  struct Row {
    std::string_view what;
    std::uint32_t factor;  ///< of f16
    int exponent;          ///< of the factor
  };
  constexpr Row factors[] = {{"times 2^-12", 0x0C00, -12}, {"times 16", 0x4C00, 4}};
  const Instruction mma("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "sm_90");
  Product product(mma);
  const auto result = [](std::uint64_t code) {
    return static_cast<std::uint32_t>(code & 0x7FFF) == 0 ? 0 : static_cast<std::uint32_t>(code);
  };
  const auto is_nan = [](int code) { return oracle::is_nan(oracle::f16, static_cast<std::uint64_t>(code)); };
  std::vector<std::uint32_t> expected[std::size(factors)];
  for (std::size_t f = 0; f < std::size(factors); ++f)
    for (int code = 0; code < 0x10000; ++code) {
      const auto bits = static_cast<std::uint64_t>(code);
      const std::uint64_t scaled =
          oracle::is_inf(oracle::f16, bits)
              ? bits
              : oracle::nearest(oracle::f16, oracle::value(oracle::f16, bits) * oracle::Dyadic(1, factors[f].exponent));
      expected[f].push_back(is_nan(code) ? 0x7FFF : result(scaled));
    }
  for_each_way([&](const Way& way, const std::string& what) {
    Tally tally;
    for (int first = 0; first < 0x10000; first += rows * columns) {
      const auto code = [&](int i, int j) { return first + i * columns + j; };
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) product.put_c(i, j, static_cast<std::uint64_t>(code(i, j)));
      compare(tally, product, way, 0x7FFF, what,
              [&](int i, int j) { return is_nan(code(i, j)) ? 0x7FFF : result(static_cast<std::uint64_t>(code(i, j))); });
    }
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) product.put_c(i, j, 0);
    for (std::size_t f = 0; f < std::size(factors); ++f) {
      for (int j = 0; j < columns; ++j) product.put_b(5, j, factors[f].factor);
      for (int first = 0; first < 0x10000; first += rows) {
        for (int i = 0; i < rows; ++i) product.put_a(i, 5, static_cast<std::uint64_t>(first + i));
        compare(tally, product, way, 0x7FFF, factors[f].what, [&](int i, int) { return expected[f][static_cast<std::size_t>(first + i)]; });
      }
      for (int i = 0; i < rows; ++i) product.put_a(i, 5, 0);
    }
    CAPTURE(what);
    CHECK(tally.failures() == "");
    CHECK(tally.comparisons() == 0x10000 * (1 + columns * std::size(factors)));
  });
}

TEST_CASE("every pair of codes of 8, 6 and 4 bits is multiplied exactly") {
  std::size_t compared_forms = 0;
  for (const Form& form : forms()) {
    if (!multiplies_bytes(form)) continue;
    const std::vector<float> a = floats_of(form.format(OperandName::a)), b = floats_of(form.format(OperandName::b));
    for (const Target* target : ways_of(form)) {
      ++compared_forms;
      const Instruction mma(form, *target);
      Product product(mma);
      for_each_way([&](const Way& way, const std::string& what) {
        CAPTURE(form.opcode, std::string(target->name));
        Tally tally;
        try_all_pairs(tally, product, way, what, a, b);
        CHECK(tally.failures() == "");
        CHECK(tally.comparisons() == a.size() * b.size());
      });
    }
  }
  // Of fp8 without a kind: sm_89, sm_90, sm_120. Of kind::f8f6f4: all on sm_120a, fp8 alone on sm_100a.
  CHECK(compared_forms == 4 * 3 + 25 + 4);
}

}  // namespace
}  // namespace warpmat::conversion_test
