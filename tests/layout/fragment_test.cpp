#include <warpmat/forms.h>
#include <warpmat/layout.h>
#include <warpmat/layout/fragments.h>
#include <warpmat/tables/form_row.h>

#include "test.h"

namespace warpmat::fragment_test {
namespace {

// Where elements lie is known to the compiler.
constexpr Fragment a = fragment_a({16, 8, 16}, 16);
static_assert(a.rows() == 16 && a.columns() == 16 && a.registers() == 4);
static_assert(a.element({0, 0, 0}) == Element{0, 0});
static_assert(a.element({5, 1, 16}) == Element{9, 3});
static_assert(a.place({9, 3}) == Place{5, 1, 16});
static_assert(a.place({15, 15}) == Place{31, 3, 16});

constexpr Fragment b = fragment_b({16, 8, 32}, 8);
static_assert(b.rows() == 32 && b.columns() == 8 && b.registers() == 2);
static_assert(b.place({18, 7}) == Place{28, 1, 16});
static_assert(b.element({28, 1, 23}) == Element{18, 7});

constexpr Fragment c = fragment_c({16, 8, 16}, 32);
static_assert(c.element({14, 1, 0}) == Element{3, 5});
static_assert(c.place({11, 5}) == Place{14, 3, 0});

constexpr Fragment transposed = fragment_m8n8(4, true);
static_assert(transposed.matrices() == 4 && transposed.registers() == 4);
static_assert(transposed.element({1, 2, 16}) == Element{3, 0, 2});

TEST_CASE("64-bit elements fill 64-bit registers, of which an operand has two words each") {
  constexpr Fragment f = fragment_a({16, 8, 8}, 64);
  CHECK(f.registers() == 4);
  CHECK(f.register_bits() == 64);
  CHECK(f.elements_per_register() == 1);
  CHECK(OperandRow{.name = OperandName::a, .format = Format::f64, .fragment = f}.operand().words() == 8);
}

}  // namespace
}  // namespace warpmat::fragment_test
