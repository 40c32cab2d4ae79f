// Comparisons of whole matrices through the C interface.

#include <warpmat/c_program.h>

#include "c/calls.h"
#include "test.h"

namespace warpmat::matrix_difference_test {

using warpmat::contains;

TEST_CASE("C: matrices are compared in a few lines, and misuse is an error", "[c]") {
  std::vector<float> expected(16 * 8), held(16 * 8);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < held.size(); ++i) held[i] = expected[i ^ 16];
  const int f32 = warpmat_find_format("f32");
  auto difference = sized<warpmat_matrix_difference>();
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, expected.data(), expected.data(), 0, 0, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.wrong == 0);
  CHECK(difference.elements == 128);
  CHECK(std::string(difference.text).empty());
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.wrong == 128);
  CHECK(contains(difference.text, "row r holds what belongs in row r xor 2"));
  held = expected;
  held[9] += 0.001f;
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.row == 1);
  CHECK(difference.column == 1);
  REQUIRE(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0.001, &difference, nullptr) == WARPMAT_OK);
  CHECK(difference.wrong == 0);

  auto error = sized<warpmat_error>();
  CHECK(warpmat_compare_matrix(-1, 16, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 0, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, UINT64_MAX, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 16, 8, nullptr, expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), -1, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, nullptr, &error) == WARPMAT_BAD_ARGUMENT);
  difference.size = 8;
  CHECK(warpmat_compare_matrix(f32, 16, 8, held.data(), expected.data(), 0, 0, &difference, &error) == WARPMAT_BAD_ARGUMENT);
  CHECK(contains(error.message, "size"));
}

}  // namespace warpmat::matrix_difference_test
