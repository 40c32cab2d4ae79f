#include <warpmat/layout/linear_layout.h>
#include <warpmat/tables/form.h>

#include <random>
#include <set>
#include <vector>

#include "catch.h"

using namespace warpmat;

namespace {

using enum LayoutAxis;
using Space = std::vector<AxisBits>;

Point point_of(LayoutAxis axis, std::uint32_t coordinate) {
  Point point;
  point[axis] = coordinate;
  return point;
}

/// A random matrix over GF(2) of `bits` rows and columns; with `invertible`, a product of elementary ones.
LinearLayout random_layout(const Space& from, const Space& to, int bits, bool invertible, std::mt19937_64& random) {
  std::vector<std::uint64_t> columns = LinearLayout::identity(from, to).columns();
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  for (std::uint64_t& column : columns)
    if (!invertible) column = random() & mask;
  for (int step = 0; invertible && step < 200; ++step) {
    const std::size_t i = random() % columns.size(), j = random() % columns.size();
    if (i != j) columns[i] ^= columns[j];
  }
  return {from, to, columns};
}

Point random_point(const Space& space, std::mt19937_64& random) {
  Point point;
  for (const AxisBits& axis : space) point[axis.axis] = static_cast<std::uint32_t>(random() & ((std::uint64_t{1} << axis.bits) - 1));
  return point;
}

Point exclusive_or(Point a, const Point& b) {
  for (std::size_t i = 0; i < layout_axes; ++i) a.coordinates[i] ^= b.coordinates[i];
  return a;
}

}  // namespace

TEST_CASE("laws of linear layouts", "[layout]") {
  std::mt19937_64 random(11);
  const Space a{{LayoutAxis::row, 5}, {column, 7}}, b{{lane, 5}, {reg, 3}, {bit, 4}}, c{{address, 12}};
  for (int round = 0; round < 200; ++round) {
    const bool invertible = round % 2 == 0;
    const LinearLayout f = random_layout(a, b, 12, invertible, random), g = random_layout(b, c, 12, invertible, random),
                       h = random_layout(c, a, 12, invertible, random);
    for (int i = 0; i < 20; ++i) {
      const Point x = random_point(a, random), y = random_point(a, random);
      CHECK(f(exclusive_or(x, y)) == exclusive_or(f(x), f(y)));
      CHECK(f.then(g)(x) == g(f(x)));
      if (invertible) CHECK(f.inverse()(f(x)) == x);
    }
    CHECK(f.then(g).then(h) == f.then(g.then(h)));
    if (!invertible) continue;
    CHECK(f.injective());
    CHECK(f.then(f.inverse()) == LinearLayout::identity(a, a));
    CHECK(f.inverse().then(f) == LinearLayout::identity(b, b));
    CHECK(f.inverse().inverse() == f);
    CHECK(f.then(g).inverse() == g.inverse().then(f.inverse()));
  }
}

TEST_CASE("a layout is injective just where no two points share a place", "[layout]") {
  std::mt19937_64 random(12);
  const Space from{{LayoutAxis::row, 3}, {column, 3}}, to{{lane, 4}, {reg, 2}};
  std::size_t injective = 0;
  for (int round = 0; round < 300; ++round) {
    const LinearLayout f = random_layout(from, to, 6, false, random);
    std::set<std::vector<std::uint32_t>> places;
    for (std::uint32_t i = 0; i < 8; ++i)
      for (std::uint32_t j = 0; j < 8; ++j) {
        Point x = point_of(LayoutAxis::row, i);
        x[column] = j;
        const Point place = f(x);
        places.insert({place[lane], place[reg]});
      }
    CHECK(f.injective() == (places.size() == 64));
    injective += f.injective();
    if (!f.injective()) CHECK_THROWS_AS(f.inverse(), std::invalid_argument);
  }
  CHECK(injective > 30);
  CHECK(injective < 270);
}

TEST_CASE("every fragment of every form is a linear layout, both ways", "[layout]") {
  std::size_t places = 0;
  for (const Form& form : forms())
    for (const Operand& operand : form.operands) {
      if (operand.kind != OperandKind::fragment) continue;
      const Fragment& fragment = operand.fragment;
      const LinearLayout layout = linear_layout(fragment);
      CAPTURE(form.opcode, name(operand.name));
      CHECK(layout.injective());
      for (int i = 0; i < fragment.rows(); ++i)
        for (int j = 0; j < fragment.columns(); ++j)
          for (int m = 0; m < fragment.matrices(); ++m) {
            Point x = point_of(LayoutAxis::row, static_cast<std::uint32_t>(i));
            x[column] = static_cast<std::uint32_t>(j);
            x[matrix] = static_cast<std::uint32_t>(m);
            const Point y = layout(x);
            const Place place = fragment.place({i, j, m});
            if (y[lane] != static_cast<std::uint32_t>(place.lane) || y[reg] != static_cast<std::uint32_t>(place.reg) ||
                y[bit] != static_cast<std::uint32_t>(place.bit))
              FAIL("row " << i << ", column " << j << ", matrix " << m);
            ++places;
          }
    }
  CHECK(places > 100'000);
}

TEST_CASE("a tile is repeated any number of times: the accumulators of wgmma", "[layout]") {
  // PTX ISA 9.1 section 9.7.15.5.1.1: D of m64nN holds row 16 w + l/4 + 8 (r/2 mod 2) and column 8 (r/4) + 2 (l mod 4) + r mod 2 in
  // register r of lane l of warp w; measured on an H200 too.
  const LinearLayout tile({{lane, 5}, {reg, 2}, {warp, 2}}, {{column, 3}, {LayoutAxis::row, 6}},
                          {2, 4, 8 << 0, 8 << 1, 8 << 2, 1, 8 << 3, 8 << 4, 8 << 5});
  for (const std::uint32_t n : {8u, 24u, 96u, 256u}) {
    CAPTURE(n);
    const TiledLayout layout(tile, {{reg, column, n / 8}});
    const TiledLayout back = layout.inverse();
    CHECK(back.inverse() == layout);
    CHECK(layout.size_from(reg) == n / 2);
    CHECK(layout.size_to(column) == n);
    std::set<std::vector<std::uint32_t>> elements;
    for (std::uint32_t w = 0; w < 4; ++w)
      for (std::uint32_t l = 0; l < 32; ++l)
        for (std::uint32_t r = 0; r < n / 2; ++r) {
          Point x = point_of(lane, l);
          x[reg] = r;
          x[warp] = w;
          const Point element = layout(x);
          REQUIRE(element[LayoutAxis::row] == 16 * w + l / 4 + 8 * (r / 2 % 2));
          REQUIRE(element[column] == 8 * (r / 4) + 2 * (l % 4) + r % 2);
          REQUIRE(back(element) == x);
          elements.insert({element[LayoutAxis::row], element[column]});
        }
    CHECK(elements.size() == 64 * n);
    CHECK_THROWS_AS(layout(point_of(reg, n / 2)), std::invalid_argument);
  }
}

TEST_CASE("swizzles of 32, 64 and 128 bytes", "[layout]") {
  // CuTe's Swizzle<B, M, S>: bits M + S .. M + S + B - 1 are added, without carry, to bits M .. M + B - 1.
  const auto cute = [](std::uint32_t b, std::uint32_t address) { return address ^ ((address >> 7 & ((1u << b) - 1)) << 4); };
  const Swizzle swizzles[] = {Swizzle::none, Swizzle::bytes_32, Swizzle::bytes_64, Swizzle::bytes_128};
  for (std::uint32_t b = 0; b < 4; ++b) {
    const LinearLayout layout = swizzle_layout(swizzles[b], 12);
    for (std::uint32_t byte = 0; byte < 4096; ++byte) REQUIRE(layout(point_of(address, byte))[address] == cute(b, byte));
    CHECK(layout.inverse() == layout);
  }
  // Its purpose: the same 16-byte chunk of eight rows of 128 bytes uses eight different groups of four banks.
  const LinearLayout layout = swizzle_layout(Swizzle::bytes_128);
  for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
    std::set<std::uint32_t> banks;
    for (std::uint32_t i = 0; i < 8; ++i) banks.insert(layout(point_of(address, 128 * i + 16 * chunk))[address] % 128);
    CHECK(banks.size() == 8);
  }
}

TEST_CASE("layouts that cannot be are refused", "[layout]") {
  const Space one{{LayoutAxis::row, 2}}, other{{lane, 3}};
  CHECK_THROWS_AS(LinearLayout(one, other, {1}), std::invalid_argument);
  CHECK_THROWS_AS(LinearLayout(one, other, {1, 8}), std::invalid_argument);
  CHECK_THROWS_AS(LinearLayout({{LayoutAxis::row, 1}, {LayoutAxis::row, 1}}, other, {1, 2}), std::invalid_argument);
  CHECK_THROWS_AS(LinearLayout::identity(one, other), std::invalid_argument);
  const LinearLayout layout(one, other, {1, 2});
  CHECK_THROWS_AS(layout(point_of(LayoutAxis::row, 4)), std::invalid_argument);
  CHECK_THROWS_AS(layout.inverse(), std::invalid_argument);
  CHECK_THROWS_AS(layout.then(layout), std::invalid_argument);
  CHECK_THROWS_AS(TiledLayout(layout, {{column, lane, 3}}), std::invalid_argument);
  CHECK_THROWS_AS(TiledLayout(layout, {{LayoutAxis::row, lane, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(swizzle_layout(Swizzle::bytes_32, 9), std::invalid_argument);
  CHECK_THROWS_AS(swizzle_layout(Swizzle::bytes_32, 33), std::invalid_argument);
}

TEST_CASE("an axis has up to 2^32 coordinates", "[layout]") {
  constexpr std::uint64_t all = std::uint64_t{1} << 32;
  const LinearLayout whole = swizzle_layout(Swizzle::bytes_128, 32);
  CHECK(whole(point_of(address, 0xffffffff))[address] == 0xffffff8f);
  const TiledLayout once(whole, {{address, address, 1}});
  CHECK(once.size_from(address) == all);
  CHECK(once(point_of(address, 0xffffffff)) == whole(point_of(address, 0xffffffff)));
  CHECK_THROWS_AS(TiledLayout(whole, {{address, address, 2}}), std::invalid_argument);

  const LinearLayout quarter = swizzle_layout(Swizzle::none, 30);
  const TiledLayout four(quarter, {{address, address, 4}});
  CHECK(four.size_to(address) == all);
  CHECK(four(point_of(address, 0xc0000001)) == point_of(address, 0xc0000001));
  CHECK_THROWS_AS(TiledLayout(quarter, {{address, address, 5}}), std::invalid_argument);
  const TiledLayout three(quarter, {{address, address, 3}});
  CHECK_THROWS_AS(three(point_of(address, 0xc0000000)), std::invalid_argument);
}
