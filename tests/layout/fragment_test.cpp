#include <warpmat/forms.h>
#include <warpmat/layout.h>
#include <warpmat/layout/fragments.h>
#include <warpmat/tables/form_row.h>

#include "test.h"

namespace warpmat::fragment_test {

namespace {

std::string shown(const Element& e) {
  return fmt::format("matrix {} ({}, {})", e.matrix, e.row, e.column);
}
std::string shown(const Place& p) {
  return fmt::format("lane {} register {} bit {}", p.lane, p.reg, p.bit);
}

/// Calls `visit(place)` for the place of every element of `f`.
template <typename Visit>
void for_each_place(const Fragment& f, Visit visit) {
  for (int lane = 0; lane < 32; ++lane)
    for (int reg = 0; reg < f.registers(); ++reg)
      for (int bit = 0; bit + f.element_bits() <= f.register_bits(); bit += f.element_bits()) visit(Place{lane, reg, bit});
}

/// Every element has one place, or one for each copy, and every place one element, found both ways.
void expect_bijection(Tally& tally, const std::string& what, const Fragment& f) {
  std::set<std::tuple<int, int, int, int>> seen;
  for_each_place(f, [&](const Place& place) {
    const Element e = f.element(place);
    const bool inside =
        0 <= e.row && e.row < f.rows() && 0 <= e.column && e.column < f.columns() && 0 <= e.matrix && e.matrix < f.matrices();
    int copy = 0;
    while (copy + 1 < f.copies() && f.place(e, copy) != place) ++copy;
    tally.expect(inside && seen.emplace(e.matrix, e.row, e.column, copy).second && f.place(e, copy) == place,
                 [&] { return fmt::format("{}: {} holds {}, which lies at {}", what, shown(place), shown(e), shown(f.place(e))); });
    tally.expect(f.element({place.lane, place.reg, place.bit + f.element_bits() - 1}) == e,
                 [&] { return fmt::format("{}: the last bit of the element at {} belongs to another", what, shown(place)); });
  });
  const auto elements = static_cast<std::size_t>(f.rows() * f.columns() * f.matrices() * f.copies());
  tally.expect(seen.size() == elements, [&] { return fmt::format("{}: {} of {} elements have a place", what, seen.size(), elements); });
}

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

}  // namespace

TEST_CASE("every fragment of every form is a bijection between elements and places") {
  Tally tally;
  std::size_t fragments = 0;
  for (const Form& form : forms())
    for (const Operand& operand : form.operands)
      if (operand.kind == OperandKind::fragment) {
        expect_bijection(tally, fmt::format("{} {}", form.opcode, name(operand.name)), operand.fragment);
        ++fragments;
      }
  CHECK(tally.failures() == "");
  CHECK(fragments > 4 * 30);
}

TEST_CASE("fragments of shapes that are not forms yet are bijections too") {
  struct Row {
    Shape shape;
    int bits;
  };
  constexpr Row rows[] = {{{8, 8, 4}, 64},   {{16, 8, 4}, 64},  {{16, 8, 8}, 64}, {{16, 8, 16}, 64}, {{16, 8, 32}, 4},
                          {{16, 8, 64}, 4},  {{8, 8, 32}, 4},   {{8, 8, 128}, 1}, {{16, 8, 128}, 1}, {{16, 8, 256}, 1},
                          {{16, 8, 32}, 16}, {{16, 8, 16}, 32}, {{16, 8, 64}, 8}, {{16, 8, 128}, 4}, {{16, 8, 16}, 8}};
  Tally tally;
  for (const Row& r : rows) {
    const std::string what = fmt::format("m{}n{}k{} of {} bits", r.shape.m, r.shape.n, r.shape.k, r.bits);
    expect_bijection(tally, what + ", A", fragment_a(r.shape, r.bits));
    expect_bijection(tally, what + ", B", fragment_b(r.shape, r.bits));
    expect_bijection(tally, what + ", C", fragment_c(r.shape, r.bits == 64 ? 64 : 32));
  }
  CHECK(tally.failures() == "");
  CHECK(tally.comparisons() > 10'000);
}

namespace {

/// The sizes that the fragment of one operand must have.
struct Sizes {
  int rows, columns, matrices, container_bits, payload_bits, payload_shift = 0;
};

Sizes sizes_of(const Form& form, const Operand& operand) {
  const auto [m, n, k] = form.shape;
  if (form.mnemonic == Mnemonic::wmma_mma || moves_matrix(form)) {
    const OperandName matrix = moves_matrix(form) ? form.matrix : operand.name;
    const int bits = row(*operand.format).bits;
    return {matrix == OperandName::b ? k : m, matrix == OperandName::a ? k : n, 1, bits, bits};
  }
  if (form.mnemonic != Mnemonic::mma) {
    const int bits = form.opcode.ends_with(".b16") ? 16 : 8;
    return {m, n, form.number, bits, bits};
  }
  const int a_bits = row(form.format(OperandName::a)).bits;
  const bool in_bytes = form.kind == Kind::f8f6f4 || form.kind == Kind::mxf8f6f4;
  const int products = form.shape == Shape{8, 8, 4} && a_bits == 16 ? 4 : 1;
  const int stored_k = form.sparsity == Sparsity::dense ? k : k / 2;
  const int bits = operand.format ? row(*operand.format).bits : 4;
  const int container = in_bytes ? 8 : bits;
  const int shift = in_bytes && operand.format == Format::e2m1 ? 2 : 0;
  switch (operand.name) {
    case OperandName::a: return {m, stored_k, products, container, bits, shift};
    case OperandName::b: return {k, n, products, container, bits, shift};
    case OperandName::e: {
      const int columns = k / (a_bits == 32 ? 2 : a_bits == 4 && !in_bytes ? 8 : 4);  // of 16 codes a row that one register can hold
      return {m, columns, 16 / columns, 4, 4};
    }
    case OperandName::scale_a: return {m, form.scale_vector, 8 / form.scale_vector, 8, 8};
    case OperandName::scale_b: return {form.scale_vector, n, 16 / form.scale_vector, 8, 8};
    default: return {m, n, products, bits, bits};
  }
}

}  // namespace

TEST_CASE("sizes of an operand's matrix and its registers follow from the form's shape") {
  for (const Form& form : forms()) {
    CAPTURE(form.opcode);
    for (const Operand& operand : form.operands) {
      CAPTURE(name(operand.name));
      if (operand.kind != OperandKind::fragment) {
        CHECK(operand.registers() == (operand.kind == OperandKind::ids ? 2 : 1));
        CHECK(operand.words() == operand.registers());
        continue;
      }
      const Sizes sizes = sizes_of(form, operand);
      const Fragment& f = operand.fragment;
      CHECK(f.rows() == sizes.rows);
      CHECK(f.columns() == sizes.columns);
      CHECK(f.matrices() == sizes.matrices);
      CHECK(f.element_bits() == sizes.container_bits);
      CHECK(f.payload_bits() == sizes.payload_bits);
      CHECK(f.payload_shift() == sizes.payload_shift);
      CHECK(operand.words() * 32 * 32 == sizes.rows * sizes.columns * sizes.matrices * sizes.container_bits * f.copies());
      CHECK(operand.registers() * f.register_bits() == operand.words() * 32);
      CHECK(f.elements_per_register() * sizes.container_bits == f.register_bits());
    }
  }
}

TEST_CASE("64-bit elements fill 64-bit registers, of which an operand has two words each") {
  constexpr Fragment f = fragment_a({16, 8, 8}, 64);
  CHECK(f.registers() == 4);
  CHECK(f.register_bits() == 64);
  CHECK(f.elements_per_register() == 1);
  CHECK(OperandRow{.name = OperandName::a, .format = Format::f64, .fragment = f}.operand().words() == 8);
}

TEST_CASE("accumulators of more than eight columns: further registers, no column twice") {
  for (const int bits : {16, 32, 64})
    for (const int n : {8, 16, 64, 256}) {
      const Fragment accumulators = fragment_c({16, n, 16}, bits);
      CAPTURE(bits, n);
      CHECK(accumulators.rows() == 16);
      CHECK(accumulators.columns() == n);
      CHECK(accumulators.registers() * accumulators.elements_per_register() * 32 == 16 * n);
      std::set<std::tuple<int, int, int>> places;
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < n; ++column) {
          const Place place = accumulators.place({row, column});
          CHECK(places.emplace(place.lane, place.reg, place.bit).second);
          CHECK(accumulators.element(place) == Element{row, column});
        }
    }
}

}  // namespace warpmat::fragment_test
