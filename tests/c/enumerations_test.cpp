#include <warpmat/c_explain.h>

#include <array>
#include <climits>
#include <cstring>
#include <string>

#include "catch.h"

namespace warpmat::c_test {

// C passes any number as an enumeration. The casts do the same, as C++ has no such value.

TEST_CASE("numbers that are no enumerators are refused", "[c]") {
  const auto name = reinterpret_cast<const char* (*)(int)>(&warpmat_status_name);
  CHECK(name(WARPMAT_OK) == std::string("WARPMAT_OK"));
  CHECK(name(WARPMAT_MISPAIRED) == std::string("WARPMAT_MISPAIRED"));
  for (const int number : {-1, WARPMAT_MISPAIRED + 1, 33, 255, INT_MAX, INT_MIN}) CHECK(name(number) == std::string("unknown status"));

  const auto encode = reinterpret_cast<warpmat_status (*)(int, const warpmat_value*, int, int, uint64_t*)>(&warpmat_encode);
  warpmat_value one{WARPMAT_FINITE, 0, 0, 0, 1};
  uint64_t bits = 0;
  CHECK(encode(0, &one, WARPMAT_UP, WARPMAT_OVERFLOW_SATURATE, &bits) == WARPMAT_OK);
  for (const int number : {-1, 4, 33, INT_MAX, INT_MIN}) {
    CHECK(encode(0, &one, number, WARPMAT_OVERFLOW_IEEE, &bits) == WARPMAT_BAD_ARGUMENT);
    CHECK(encode(0, &one, WARPMAT_UP, number, &bits) == WARPMAT_BAD_ARGUMENT);
    warpmat_value wrong = one;
    std::memcpy(&wrong.kind, &number, sizeof number);
    CHECK(encode(0, &wrong, WARPMAT_UP, WARPMAT_OVERFLOW_IEEE, &bits) == WARPMAT_BAD_ARGUMENT);
  }

  const auto conflicts =
      reinterpret_cast<warpmat_status (*)(int, uint32_t, const uint64_t*, uint32_t, const char*, warpmat_bank_conflicts*, warpmat_error*)>(
          &warpmat_find_bank_conflicts);
  const std::array<uint64_t, 32> addresses{};
  warpmat_bank_conflicts found{};
  found.size = sizeof found;
  CHECK(conflicts(WARPMAT_BANK_LOAD, 4, addresses.data(), 1, nullptr, &found, nullptr) == WARPMAT_OK);
  for (const int number : {-1, 4, 33, INT_MAX, INT_MIN})
    CHECK(conflicts(number, 4, addresses.data(), 1, nullptr, &found, nullptr) == WARPMAT_BAD_ARGUMENT);
}

}  // namespace warpmat::c_test
