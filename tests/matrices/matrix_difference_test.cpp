// How two matrices differ, in a few lines: counts, patterns of places, rules by which elements stand elsewhere.

#include <warpmat/formats.h>
#include <warpmat/matrices.h>

#include "test.h"

namespace warpmat::matrix_difference_test {
namespace {

using Floats = std::vector<float>;

std::span<const std::uint8_t> bytes_of(const Floats& values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(float)};
}

MatrixDifference compared(const Floats& held, const Floats& expected, std::size_t rows, std::size_t columns,
                          const Tolerance& tolerance = {}, const Floats& before = {}) {
  return difference({bytes_of(held), bytes_of(expected), {rows, columns}, Format::f32, 0, bytes_of(before)}, tolerance);
}

/// Numbers of a product of random matrices: most are different.
Floats random_floats(std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

/// held[r,c] = expected[from(r, c)].
Floats moved(const Floats& expected, std::size_t rows, std::size_t columns,
             const std::function<std::pair<std::size_t, std::size_t>(std::size_t, std::size_t)>& from) {
  Floats held(expected.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const auto [row, column] = from(r, c);
      held[r * columns + c] = expected[row * columns + column];
    }
  return held;
}

/// The line of a text that begins so, without its beginning.
std::string line_after(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n" + begin);
  if (at == std::string::npos) return "";
  return text.substr(at + 1 + begin.size(), text.find('\n', at + 1) - at - 1 - begin.size());
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_CASE("equal matrices have no difference, and all NaNs are equal") {
  Floats one = random_floats(64), other = one;
  CHECK(compared(one, other, 8, 8).text.empty());
  one[3] = std::nanf("1");
  other[3] = -std::nanf("2");
  CHECK(compared(one, other, 8, 8).wrong == 0);
  one[4] = 0.0f;
  other[4] = -0.0f;
  const MatrixDifference difference = compared(one, other, 8, 8);
  CHECK(difference.wrong == 1);
  CHECK(difference.first == std::vector<std::size_t>{0, 4});
  CHECK(contains(difference.text, "C[0,4] is 0, expected -0: equal numbers, other bits"));
}

TEST_CASE("the places of wrong elements are said as a pattern") {
  constexpr std::size_t rows = 64, columns = 32;
  const Floats expected = random_floats(rows * columns);
  const auto where = [&](const std::function<bool(std::size_t, std::size_t)>& wrong) {
    Floats held = expected;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (wrong(r, c)) held[r * columns + c] = std::sin(static_cast<float>(r * columns + c)) * 100 + 500;
    const MatrixDifference difference = compared(held, expected, rows, columns);
    CHECK(lines(difference.text) <= 10);
    CHECK(difference.text.size() < 1000);
    return line_after(difference.text, "where: ");
  };
  CHECK(where([](auto, auto) { return true; }) == "every element");
  CHECK(where([](auto r, auto) { return r % 16 >= 8; }) == "all of rows 8 to 15 of each 16");
  CHECK(where([](auto r, auto) { return r >= 40 && r < 48; }) == "all of rows 40 to 47");
  CHECK(where([](auto r, auto) { return r == 5; }) == "all of row 5");
  CHECK(where([](auto r, auto) { return r % 2 == 1; }) == "all of row 1 of each 2");
  CHECK(where([](auto, auto c) { return c >= 16; }) == "all of columns 16 to 31");
  CHECK(where([](auto, auto c) { return c % 8 == 2 || c % 8 == 3; }) == "all of columns 2 to 3 of each 8");
  CHECK(where([](auto, auto c) { return c % 8 == 2 || c % 8 == 5; }) == "all of columns 2 and 5 of each 8");
  CHECK(where([](auto r, auto c) { return r >= 32 && c < 16; }) == "rows 32 to 63: columns 0 to 15");
  CHECK(where([](auto r, auto c) { return (r / 16 + c / 16) % 2 == 1; }) ==
        "rows 0 to 15 of each 32: columns 16 to 31; rows 16 to 31 of each 32: columns 0 to 15");
  CHECK(where([](auto r, auto c) { return c > r; }) == "above the diagonal");
  CHECK(where([](auto r, auto c) { return c < r; }) == "below the diagonal");
  CHECK(where([](auto r, auto c) {
          return r >= 8 && r < 24 && (r * 7 + c) % 40 != 0;
        }).starts_with("nearly all (97.5 %) of the elements in:"));
  CHECK(contains(where([](auto r, auto c) { return (r * 13 + c * 7) % 11 == 0; }), "% of the elements in: every element"));
}

TEST_CASE("a vector has elements, not rows") {
  const Floats expected = random_floats(64);
  Floats held = expected;
  for (std::size_t i = 32; i < 64; ++i) held[i] = 7;
  const MatrixDifference difference = warpmat::difference({bytes_of(held), bytes_of(expected), {64}, Format::f32, 0, {}, "y"});
  CHECK(contains(difference.text,
                 "32 of 64 elements of y differ (f32, 64; compared bit for bit)\nwhere: elements 32 to 63\nwhat: they hold 7\n"));
  CHECK(contains(difference.text, "\ny[32] is 7, expected "));
}

TEST_CASE("a matrix of more dimensions names its elements by all of them") {
  const Floats expected = random_floats(4 * 8 * 8);
  Floats held = expected;
  held[2 * 64 + 3 * 8 + 1] = 9;
  const MatrixDifference difference = warpmat::difference({bytes_of(held), bytes_of(expected), {4, 8, 8}, Format::f32, 0, {}});
  CHECK(difference.first == std::vector<std::size_t>{2, 3, 1});
  CHECK(contains(difference.text, "C[2,3,1] is 9"));
}

TEST_CASE("elements that stand elsewhere are told by the rule of their places") {
  constexpr std::size_t n = 64, columns = 32;
  const Floats square = random_floats(n * n), wide = random_floats(n * columns);
  const auto of = [&](auto from) { return line_after(compared(moved(wide, n, columns, from), wide, n, columns).text, "what: "); };
  using At = std::pair<std::size_t, std::size_t>;
  CHECK(line_after(compared(moved(square, n, n,
                                  [](auto r, auto c) {
                                    return At{c, r};
                                  }),
                            square, n, n)
                       .text,
                   "what: ") == "C is transposed: C[r,c] holds what belongs at C[c,r]");
  CHECK(of([](auto r, auto c) { return At{r ^ 4, c}; }) == "row r holds what belongs in row r xor 4");
  CHECK(of([](auto r, auto c) { return At{r, c ^ 16}; }) == "column c holds what belongs in column c xor 16");
  CHECK(of([](auto r, auto c) {
          return At{r / 8 * 8 + (r * 3 + 1) % 8, c};
        }) == "the rows are permuted in groups of 8: rows 0 to 7 of each hold what belongs in rows 1 4 7 2 5 0 3 6");
  CHECK(of([](auto r, auto c) {
          return At{r, c / 4 * 4 + (c % 4 == 1 ? 2 : c % 4 == 2 ? 1 : c % 4)};
        }) == "the columns are permuted in groups of 4: columns 0 to 3 of each hold what belongs in columns 0 2 1 3");
  CHECK(of([](auto r, auto c) { return At{r, c ^ r % 8 * 4}; }) == "C[r,c] holds what belongs at C[r, c xor 4*(r mod 8)]");
  CHECK(of([](auto r, auto c) { return At{r, c ^ r / 2 % 4 * 8}; }) == "C[r,c] holds what belongs at C[r, c xor 8*(r/2 mod 4)]");
  CHECK(of([](auto r, auto c) { return At{std::min(r + 1, n - 1), c}; }) == "row r holds what belongs in row r + 1");
  CHECK(of([](auto r, auto c) { return At{r, c == 0 ? c : c - 1}; }) == "column c holds what belongs in column c - 1");
  CHECK(of([](auto r, auto c) { return At{r, (c + 5) % columns}; }) == "column c holds what belongs in column c + 5");
  CHECK(of([](auto r, auto c) { return At{std::min(r + 2, n - 1), c < 3 ? c : c - 3}; }) == "C[r,c] holds what belongs at C[r + 2, c - 3]");
  CHECK(of([](auto r, auto c) {
          return At{r == 3 ? 40 : r == 40 ? 3 : r, c};
        }) == "whole rows are exchanged: row 3 holds 40, 40 holds 3, ...");
}

TEST_CASE("a wrong leading dimension is a distance of rows") {
  constexpr std::size_t n = 64, columns = 32, leading = 36;
  const Floats expected = random_floats(n * columns);
  Floats held(n * columns);  // rows of 36, up to the end
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      if (r * leading + c < held.size()) held[r * leading + c] = expected[r * columns + c];
  CHECK(line_after(compared(held, expected, n, columns).text, "what: ") == "the rows are 36 elements apart, not 32: the leading dimension");
}

TEST_CASE("a rule is found among numbers that repeat, that are only close, and beside wrong ones") {
  constexpr std::size_t n = 64;
  using At = std::pair<std::size_t, std::size_t>;
  std::mt19937 random(3);
  Floats small(n * n);
  for (float& value : small) value = static_cast<float>(random() % 5);
  CHECK(line_after(compared(moved(small, n, n,
                                  [](auto r, auto c) {
                                    return At{r ^ 8, c};
                                  }),
                            small, n, n)
                       .text,
                   "what: ") == "row r holds what belongs in row r xor 8");
  CHECK(line_after(compared(moved(small, n, n,
                                  [](auto r, auto c) {
                                    return At{r, c ^ r % 4 * 8};
                                  }),
                            small, n, n)
                       .text,
                   "what: ") == "C[r,c] holds what belongs at C[r, c xor 8*(r mod 4)]");
  const Floats expected = random_floats(n * n);
  Floats held = moved(expected, n, n, [](auto r, auto c) { return At{r, c ^ r % 8 * 8}; });
  for (float& value : held) value *= 1 + 1e-6f * static_cast<float>(static_cast<int>(random() % 3) - 1);
  CHECK(line_after(compared(held, expected, n, n, {.relative = 1e-5}).text, "what: ") ==
        "C[r,c] holds what belongs at C[r, c xor 8*(r mod 8)]");
  for (std::size_t i = 0; i < held.size(); i += 30) held[i] = 99;
  CHECK(line_after(compared(held, expected, n, n, {.relative = 1e-5}).text, "what: ") ==
        "C[r,c] holds what belongs at C[r, c xor 8*(r mod 8)]");
}

TEST_CASE("no rule is claimed of numbers that are another product") {
  const Floats expected = random_floats(4096, 1);
  const std::string text = compared(random_floats(4096, 2), expected, 64, 64).text;
  CHECK(line_after(text, "where: ") == "every element");
  CHECK(!contains(text, "what: "));
  CHECK(lines(text) == 6);
}

TEST_CASE("zeros, what was there before, factors and roundings are said") {
  const Floats expected = random_floats(256), before = random_floats(256, 9);
  Floats held(256);
  CHECK(line_after(compared(held, expected, 16, 16).text, "what: ") == "they hold 0");
  CHECK(line_after(compared(held, expected, 16, 16, {}, held).text, "what: ") ==
        "they hold 0, as before the launch: nothing, or the same, was written there");
  CHECK(line_after(compared(before, expected, 16, 16, {}, before).text, "what: ") ==
        "they hold what the buffer held before the launch: nothing was written there");
  std::ranges::transform(expected, held.begin(), [](float x) { return 2 * x; });
  CHECK(line_after(compared(held, expected, 16, 16).text, "what: ") == "they are 2 times what is expected");
  std::ranges::transform(expected, held.begin(), [](float x) { return -x; });
  CHECK(line_after(compared(held, expected, 16, 16).text, "what: ") == "they are -1 times what is expected");
  std::ranges::transform(expected, held.begin(), [](float x) { return x * 1.00001f; });
  CHECK(contains(line_after(compared(held, expected, 16, 16).text, "what: "), "all are close"));
  std::ranges::fill(held, std::nanf(""));
  CHECK(line_after(compared(held, expected, 16, 16).text, "what: ") == "they hold NaN");
}

TEST_CASE("distances are steps of the format, and tolerances allow them") {
  CHECK(units_between(Format::f32, 0x3f800000, 0x3f800002) == 2);
  CHECK(units_between(Format::f32, 0x80000001, 0x00000001) == 2);
  CHECK(units_between(Format::f16, 0x0000, 0x8000) == 0);
  CHECK(units_between(Format::tf32, 0x3f800000, 0x3f802000) == 1);
  CHECK(units_between(Format::s8, 0x80, 0x7f) == 255);
  CHECK(units_between(Format::f64, 0x3ff0000000000000, 0x3ff0000000000001) == 1);
  CHECK(units_between(Format::f64, 0xffefffffffffffff, 0x7fefffffffffffff) == std::ldexp(1.0, 64) - std::ldexp(1.0, 53));
  CHECK(std::isinf(units_between(Format::f32, 0x7fc00000, 0)));
  const Floats expected{1, 2, 4, 8}, held{std::nextafter(1.0f, 2.0f), 2.02f, 4, 8.5f};
  CHECK(compared(held, expected, 2, 2).wrong == 3);
  CHECK(compared(held, expected, 2, 2, {.units = 1}).wrong == 2);
  CHECK(compared(held, expected, 2, 2, {.relative = 0.02}).wrong == 1);
  CHECK(compared(held, expected, 2, 2, {.absolute = 0.5}).wrong == 0);
  CHECK(contains(compared(held, expected, 2, 2).text, "C[0,0] is 1.0000001, expected 1: 1 unit in the last place apart\n"));
  CHECK(contains(compared(held, expected, 2, 2, {.units = 1}).text, "(f32, 2 x 2; allowed: 1 units in the last place)"));
  CHECK(compared({INFINITY}, {INFINITY}, 1, 1, {.relative = 1}).wrong == 0);
  CHECK(compared({1}, {INFINITY}, 1, 1, {.relative = 1}).wrong == 1);
}

TEST_CASE("elements of fewer than eight bits are packed, plain bits have no numbers") {
  const std::vector<std::uint8_t> held{0x21, 0x43}, expected{0x21, 0x53};
  const MatrixDifference e2m1 = difference({held, expected, {2, 2}, Format::e2m1, 0, {}});
  CHECK(e2m1.wrong == 1);
  CHECK(contains(e2m1.text, "C[1,1] is 2, expected 3: 1 unit in the last place apart"));
  const MatrixDifference bits = difference({held, expected, {2}, std::nullopt, 8, {}});
  CHECK(contains(bits.text, "C[1] is 0x43, expected 0x53: bits 0x10 differ"));
  CHECK_THROWS_AS((void)difference({held, expected, {2}, std::nullopt, 8, {}}, {.units = 1}), std::invalid_argument);
  CHECK_THROWS_AS((void)difference({held, expected, {3}, std::nullopt, 8, {}}), std::invalid_argument);
}

TEST_CASE("a matrix in Eigen is compared after rounding, and a large one in a moment") {
  Eigen::MatrixXd expected = Eigen::MatrixXd::Random(8, 16);
  std::vector<std::uint8_t> held = numbers::row_bytes(Format::bf16, from_eigen(expected));
  CHECK(difference(held, Format::bf16, expected).text.empty());
  std::swap_ranges(held.begin(), held.begin() + 32, held.begin() + 32);
  CHECK(contains(difference(held, Format::bf16, expected, {}, "D").text, "whole rows are exchanged: row 0 holds 1, 1 holds 0, ..."));
  constexpr std::size_t n = 2048;
  const Floats large = random_floats(n * n);
  const Floats other = moved(large, n, n, [](auto r, auto c) { return std::pair(r, c ^ r % 8 * 8); });
  CHECK(contains(compared(other, large, n, n).text, "what: C[r,c] holds what belongs at C[r, c xor 8*(r mod 8)]"));
}

}  // namespace
}  // namespace warpmat::matrix_difference_test
