#include <warpmat/c_explain.h>
#include <warpmat/c_observer.h>

#include "c/calls.h"
#include "c/launched.h"
#include "machine/kernel.h"
#include "test.h"

namespace warpmat::c_test {
namespace {

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
  auto found = sized<warpmat_bank_conflicts>();
  CHECK(conflicts(WARPMAT_BANK_LOAD, 4, addresses.data(), 1, nullptr, &found, nullptr) == WARPMAT_OK);
  for (const int number : {-1, 4, 33, INT_MAX, INT_MIN})
    CHECK(conflicts(number, 4, addresses.data(), 1, nullptr, &found, nullptr) == WARPMAT_BAD_ARGUMENT);
}

constexpr std::array numbers{-1, WARPMAT_NAMED + 1, 31, 32, 255, INT_MAX, INT_MIN};  ///< of no operand

/// The function with numbers in the place of operands.
template <typename To, typename From>
To with_number(From* function) {
  return reinterpret_cast<To>(function);
}

TEST_CASE("numbers that are no operands name none", "[c]") {
  const warpmat_instruction* const mma = warpmat_find("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_90a", nullptr);
  REQUIRE(mma != nullptr);
  const auto element_at =
      with_number<warpmat_status (*)(const warpmat_instruction*, int, warpmat_place, warpmat_element*)>(&warpmat_element_at);
  const auto place_of =
      with_number<warpmat_status (*)(const warpmat_instruction*, int, warpmat_element, warpmat_place*)>(&warpmat_place_of);
  const auto scatter = with_number<warpmat_status (*)(const warpmat_instruction*, int, int, int, const double*, size_t,
                                                      const warpmat_registers*, size_t, warpmat_error*)>(&warpmat_scatter);
  const auto gather = with_number<warpmat_status (*)(const warpmat_instruction*, int, int, int, double*, size_t, const warpmat_registers*,
                                                     size_t, warpmat_error*)>(&warpmat_gather);
  const auto compare = with_number<warpmat_status (*)(const warpmat_instruction*, int, int, const double*, size_t, const warpmat_registers*,
                                                      size_t, warpmat_operand_difference*, warpmat_error*)>(&warpmat_compare_operand);
  const auto scale_matrix =
      with_number<warpmat_status (*)(const warpmat_instruction*, int, uint32_t, uint32_t, int*, warpmat_error*)>(&warpmat_scale_matrix);
  const auto chunks = with_number<size_t (*)(const warpmat_async_product*, int, uint32_t*, size_t)>(&warpmat_async_product_chunks);
  warpmat_element element{};
  warpmat_place place{};
  std::array<double, 256> values{};
  auto difference = sized<warpmat_operand_difference>();
  const auto product = sized<warpmat_async_product>();
  int matrix = 0;
  for (const int number : numbers) {
    INFO(number);
    CHECK(element_at(mma, number, {}, &element) == WARPMAT_BAD_ARGUMENT);
    CHECK(place_of(mma, number, {}, &place) == WARPMAT_BAD_ARGUMENT);
    CHECK(scatter(mma, number, -1, -1, values.data(), values.size(), nullptr, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
    CHECK(gather(mma, number, -1, -1, values.data(), values.size(), nullptr, 0, nullptr) == WARPMAT_BAD_ARGUMENT);
    CHECK(compare(mma, number, -1, values.data(), values.size(), nullptr, 0, &difference, nullptr) == WARPMAT_BAD_ARGUMENT);
    CHECK(scale_matrix(mma, number, 0, 0, &matrix, nullptr) == WARPMAT_BAD_ARGUMENT);
    CHECK(chunks(&product, number, nullptr, 0) == 0);
  }
}

TEST_CASE("an observer that ends a launch with a number that is no status stops it", "[c]") {
  const auto end = [](void* number, const warpmat_access* access) {
    return with_number<int (*)(const warpmat_event*, int, int, const uint64_t*, const char*)>(&warpmat_event_end)(
        access->event, *static_cast<const int*>(number), 0, nullptr, "odd");
  };
  Launched launched(word_kernel_text(""), 128);
  for (int number : {-1, WARPMAT_MISPAIRED + 1, 33, INT_MAX, INT_MIN}) {
    auto observer = sized<warpmat_observer>();
    observer.user = &number;
    observer.access = end;
    launched.observe(observer);
    CHECK(launched.run() == WARPMAT_STOPPED);
  }
}

}  // namespace
}  // namespace warpmat::c_test
