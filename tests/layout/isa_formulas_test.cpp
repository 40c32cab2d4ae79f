#include <warpmat/layout.h>
#include <warpmat/layout/fragments.h>

#include "oracle/oracle.h"
#include "test.h"

namespace warpmat::isa_formulas_test {
namespace {

/// Compares `fragment` with `position_of(lane, i)` for all `count` elements i of every lane, both ways.
template <typename PositionOf>
void compare(Tally& tally, const std::string& what, const Fragment& fragment, int count, PositionOf position_of) {
  const int bits = fragment.element_bits();
  tally.expect(fragment.registers() * fragment.register_bits() == count * bits, [&] { return what + ": wrong number of registers"; });
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < count; ++i) {
      const oracle::Position position = position_of(lane, i);
      const Element element{position.row, position.column};
      const Place place{lane, i * bits / fragment.register_bits(), i * bits % fragment.register_bits()};
      tally.expect(fragment.element(place) == element && fragment.place(element) == place,
                   [&] { return fmt::format("{}: element {} of lane {} is ({}, {})", what, i, lane, position.row, position.column); });
    }
}

TEST_CASE("fragments of A agree with the formulas of the PTX ISA for every dense shape") {
  struct Row {
    int m, k, bits;
  };
  constexpr Row rows[] = {{8, 4, 64},  {16, 4, 64},  {16, 8, 64}, {16, 16, 64}, {16, 4, 32}, {16, 8, 32},
                          {16, 8, 16}, {16, 16, 16}, {8, 16, 8},  {16, 16, 8},  {16, 32, 8}, {8, 32, 4},
                          {16, 32, 4}, {16, 64, 4},  {8, 128, 1}, {16, 128, 1}, {16, 256, 1}};
  Tally tally;
  std::size_t elements = 0;
  for (const Row& r : rows) {
    compare(tally, fmt::format("A {}x{} of {} bits", r.m, r.k, r.bits), fragment_a({r.m, 8, r.k}, r.bits), r.m * r.k / 32,
            [&](int lane, int i) { return oracle::a_position(r.m, r.k, r.bits, lane, i); });
    elements += static_cast<std::size_t>(r.m * r.k);
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == elements + std::size(rows));
}

TEST_CASE("fragments of B agree with the formulas of the PTX ISA for every dense shape") {
  struct Row {
    int k, bits;
  };
  constexpr Row rows[] = {{4, 64}, {8, 64}, {16, 64}, {4, 32}, {8, 32},  {8, 16}, {16, 16},
                          {16, 8}, {32, 8}, {32, 4},  {64, 4}, {128, 1}, {256, 1}};
  Tally tally;
  std::size_t elements = 0;
  for (const Row& r : rows) {
    compare(tally, fmt::format("B {}x8 of {} bits", r.k, r.bits), fragment_b({16, 8, r.k}, r.bits), r.k * 8 / 32,
            [&](int lane, int i) { return oracle::b_position(r.k, 8, r.bits, lane, i); });
    elements += static_cast<std::size_t>(r.k * 8);
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == elements + std::size(rows));
}

TEST_CASE("fragments of C and D agree with the formulas of the PTX ISA for every dense shape") {
  struct Row {
    int m, bits;
  };
  constexpr Row rows[] = {{8, 32}, {8, 64}, {16, 16}, {16, 32}, {16, 64}};
  Tally tally;
  for (const Row& r : rows)
    compare(tally, fmt::format("C {}x8 of {} bits", r.m, r.bits), fragment_c({r.m, 8, 16}, r.bits), r.m * 8 / 32,
            [&](int lane, int i) { return oracle::c_position(r.m, lane, i); });
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() == 2 * 64 + 3 * 128 + std::size(rows));
}

TEST_CASE("8x8 matrices have the layout of PTX ISA 9.7.14.5.15, plain and transposed") {
  for (const int number : {1, 2, 4})
    for (const bool transposed : {false, true}) {
      const Fragment fragment = fragment_m8n8(number, transposed);
      CHECK(fragment.registers() == number);
      CHECK(fragment.matrices() == number);
      CHECK((fragment.rows() == 8 && fragment.columns() == 8));
      for (int lane = 0; lane < 32; ++lane)
        for (int reg = 0; reg < number; ++reg)
          for (int half = 0; half < 2; ++half) {
            // Register q of lane l: row l / 4 of matrix q, elements 2 (l mod 4) and the next; of the transposed matrix that is a column.
            const int along = 2 * (lane % 4) + half, across = lane / 4;
            const Element element = transposed ? Element{along, across, reg} : Element{across, along, reg};
            const Place place{lane, reg, 16 * half};
            if (fragment.element(place) == element && fragment.place(element) == place) continue;
            FAIL_CHECK(fmt::format("x{}{}: lane {}, register {}, half {}", number, transposed ? " .trans" : "", lane, reg, half));
          }
    }
}

}  // namespace
}  // namespace warpmat::isa_formulas_test
