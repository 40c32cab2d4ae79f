#include <warpmat/forms.h>
#include <warpmat/layout.h>

#include "test.h"

namespace warpmat::linear_layout_test {
namespace {

using enum LayoutAxis;
using Axes = std::vector<AxisBits>;

Point point_of(LayoutAxis axis, std::uint32_t coordinate) {
  Point point;
  point[axis] = coordinate;
  return point;
}

/// A random matrix over GF(2) of `bits` rows and columns; with `invertible`, a product of elementary ones.
LinearLayout random_layout(const Axes& from, const Axes& to, int bits, bool invertible, std::mt19937_64& random) {
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

Point random_point(const Axes& space, std::mt19937_64& random) {
  Point point;
  for (const AxisBits& axis : space) point[axis.axis] = static_cast<std::uint32_t>(random() & ((std::uint64_t{1} << axis.bits) - 1));
  return point;
}

Point exclusive_or(Point a, const Point& b) {
  for (std::size_t i = 0; i < layout_axes; ++i) a.coordinates[i] ^= b.coordinates[i];
  return a;
}

TEST_CASE("laws of linear layouts", "[layout]") {
  std::mt19937_64 random(11);
  const Axes a{{LayoutAxis::row, 5}, {column, 7}}, b{{lane, 5}, {reg, 3}, {bit, 4}}, c{{address, 12}};
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
  const Axes from{{LayoutAxis::row, 3}, {column, 3}}, to{{lane, 4}, {reg, 2}};
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
      const LinearLayout layout = fragment.layout();
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

/// All points of a space of few bits.
std::vector<Point> all_points(const Axes& space) {
  std::vector<Point> points{Point{}};
  for (const AxisBits& axis : space) {
    const std::vector<Point> before = std::exchange(points, {});
    for (const Point& point : before)
      for (std::uint32_t x = 0; x < 1u << axis.bits; ++x) {
        points.push_back(point);
        points.back()[axis.axis] = x;
      }
  }
  return points;
}

int bits_on(const Axes& space, LayoutAxis axis) {
  int bits = 0;
  for (const AxisBits& a : space) bits += a.axis == axis ? a.bits : 0;
  return bits;
}

/// The coordinates' low bits, those of `space`, or the bits above them.
Point part(Point point, const Axes& space, bool low) {
  for (std::size_t i = 0; i < layout_axes; ++i) {
    const int bits = bits_on(space, static_cast<LayoutAxis>(i));
    point.coordinates[i] = low ? point.coordinates[i] & ((1u << bits) - 1) : point.coordinates[i] >> bits;
  }
  return point;
}

Point joined(const Point& low, Point high, const Axes& low_space) {
  for (std::size_t i = 0; i < layout_axes; ++i)
    high.coordinates[i] = high.coordinates[i] << bits_on(low_space, static_cast<LayoutAxis>(i)) | low.coordinates[i];
  return high;
}

bool same_map(const LinearLayout& f, const LinearLayout& g) {
  return std::ranges::all_of(all_points(f.from()), [&](const Point& x) { return f(x) == g(x); });
}

LinearLayout any_layout(const Axes& from, const Axes& to, std::mt19937_64& random) {
  int from_bits = 0, to_bits = 0;
  for (const AxisBits& axis : from) from_bits += axis.bits;
  for (const AxisBits& axis : to) to_bits += axis.bits;
  std::vector<std::uint64_t> columns;
  for (int i = 0; i < from_bits; ++i) columns.push_back(random() & ((std::uint64_t{1} << to_bits) - 1));
  return {from, to, columns};
}

TEST_CASE("a product maps low bits by its first factor and the others by its second, and can be divided by both", "[layout]") {
  std::mt19937_64 random(13);
  const Axes low_from{{LayoutAxis::row, 2}, {column, 1}}, high_from{{column, 2}, {matrix, 1}, {LayoutAxis::row, 1}};
  const Axes low_to{{lane, 3}, {bit, 2}}, high_to{{reg, 2}, {lane, 2}};
  for (int round = 0; round < 60; ++round) {
    const LinearLayout low = any_layout(low_from, low_to, random), high = any_layout(high_from, high_to, random);
    const LinearLayout whole = low * high;
    for (const Point& x : all_points(whole.from()))
      REQUIRE(whole(x) == joined(low(part(x, low_from, true)), high(part(x, low_from, false)), low_to));
    const auto right = whole.divide_left(low), left = whole.divide_right(high);
    REQUIRE((right && left));
    CHECK(same_map(low * *right, whole));
    CHECK(same_map(*left * high, whole));
    std::vector<std::uint64_t> columns = low.columns();
    columns[random() % columns.size()] ^= std::uint64_t{1} << random() % 5;
    CHECK_FALSE(whole.divide_left(LinearLayout(low_from, low_to, columns)));
    columns = high.columns();
    columns[random() % columns.size()] ^= std::uint64_t{1} << random() % 4;
    CHECK_FALSE(whole.divide_right(LinearLayout(high_from, high_to, columns)));
  }
  const LinearLayout tall({{LayoutAxis::row, 9}}, {{lane, 9}}, std::vector<std::uint64_t>(9, 1));
  CHECK_FALSE(LinearLayout::identity({{LayoutAxis::row, 2}}, {{lane, 2}}).divide_left(tall));
  CHECK_FALSE(LinearLayout::identity({{LayoutAxis::row, 2}}, {{lane, 2}}).divide_right(tall));
  const LinearLayout wide({{LayoutAxis::row, 20}, {column, 20}}, {{lane, 1}}, std::vector<std::uint64_t>(40, 1));
  CHECK_THROWS_AS(wide * wide, std::invalid_argument);
}

TEST_CASE("free bits are redundant: without them a layout is injective and reaches the same places", "[layout]") {
  std::mt19937_64 random(14);
  const Axes from{{lane, 3}, {reg, 3}}, to{{LayoutAxis::row, 2}, {column, 2}};
  for (int round = 0; round < 100; ++round) {
    const LinearLayout f = any_layout(from, to, random);
    const std::uint32_t free_lanes = f.free_bits(lane), free_registers = f.free_bits(reg);
    std::multiset<std::vector<std::uint32_t>> chosen;
    std::set<std::vector<std::uint32_t>> all;
    for (const Point& x : all_points(from)) {
      const Point y = f(x);
      all.insert({y[LayoutAxis::row], y[column]});
      if ((x[lane] & free_lanes) == 0 && (x[reg] & free_registers) == 0) chosen.insert({y[LayoutAxis::row], y[column]});
    }
    CHECK(chosen.size() == all.size());
    CHECK(std::set<std::vector<std::uint32_t>>(chosen.begin(), chosen.end()) == all);
    CHECK(f.free_bits(address) == 0);
  }
}

TEST_CASE("a conversion between two layouts: this, then the inverse of the other", "[layout]") {
  std::mt19937_64 random(15);
  const Axes registers{{lane, 2}, {reg, 3}}, memory{{address, 3}}, matrix_space{{LayoutAxis::row, 2}, {column, 2}};
  std::size_t possible = 0;
  for (int round = 0; round < 200; ++round) {
    const LinearLayout f = any_layout(memory, matrix_space, random), g = any_layout(registers, matrix_space, random);
    std::set<std::vector<std::uint32_t>> reached;
    for (const Point& x : all_points(registers)) reached.insert({g(x)[LayoutAxis::row], g(x)[column]});
    bool all = true;
    for (const Point& x : all_points(memory)) all = all && reached.count({f(x)[LayoutAxis::row], f(x)[column]}) != 0;
    if (!all) {
      CHECK_THROWS_AS(f.invert_and_compose(g), std::invalid_argument);
      continue;
    }
    ++possible;
    const LinearLayout h = f.invert_and_compose(g);
    for (const Point& x : all_points(memory)) {
      REQUIRE(g(h(x)) == f(x));
      REQUIRE((h(x)[lane] & g.free_bits(lane)) == 0);
      REQUIRE((h(x)[reg] & g.free_bits(reg)) == 0);
    }
  }
  CHECK(possible > 20);
  CHECK(possible < 200);
  const LinearLayout f = LinearLayout::identity(memory, {{LayoutAxis::row, 3}}), g = LinearLayout::identity(memory, {{column, 3}});
  CHECK_THROWS_AS(f.invert_and_compose(g), std::invalid_argument);
}

TEST_CASE("a part of a layout's axes", "[layout]") {
  std::mt19937_64 random(16);
  const LinearLayout f = any_layout({{LayoutAxis::row, 3}, {column, 2}}, {{lane, 2}, {reg, 2}, {bit, 1}}, random);
  const LinearLayout part_of_f = f.sublayout({column}, {bit, lane});
  for (std::uint32_t j = 0; j < 4; ++j) {
    const Point whole = f(point_of(column, j)), y = part_of_f(point_of(column, j));
    CHECK(y[lane] == whole[lane]);
    CHECK(y[bit] == whole[bit]);
    CHECK(y[reg] == 0);
  }
  CHECK_THROWS_AS(f.sublayout({matrix}, {lane}), std::invalid_argument);
  CHECK_THROWS_AS(f.sublayout({column}, {address}), std::invalid_argument);
}

TEST_CASE("the layout of a fragment's registers: elements, and free bits where bits or copies share one", "[layout]") {
  std::size_t with_copies = 0;
  for (const Form& form : forms())
    for (const Operand& operand : form.operands) {
      if (operand.kind != OperandKind::fragment) continue;
      const Fragment& fragment = operand.fragment;
      const LinearLayout elements = fragment.elements(), places = fragment.layout();
      CAPTURE(form.opcode, name(operand.name));
      CHECK(places.then(elements) == LinearLayout::identity(places.from(), places.from()));
      CHECK(elements.free_bits(bit) == static_cast<std::uint32_t>(fragment.element_bits() - 1));
      CHECK(elements.free_bits(lane) == 0);
      CHECK(1 << std::popcount(elements.free_bits(reg)) == fragment.copies());
      with_copies += fragment.copies() > 1;
      for (int r = 0; r < fragment.registers(); ++r)
        for (int l = 0; l < 32; l += 7) {
          Point x = point_of(lane, static_cast<std::uint32_t>(l));
          x[reg] = static_cast<std::uint32_t>(r);
          x[bit] = static_cast<std::uint32_t>(fragment.register_bits() - 1);
          const Element e = fragment.element({l, r, fragment.register_bits() - 1});
          const Point y = elements(x);
          if (y[LayoutAxis::row] != static_cast<std::uint32_t>(e.row) || y[column] != static_cast<std::uint32_t>(e.column) ||
              y[matrix] != static_cast<std::uint32_t>(e.matrix))
            FAIL("lane " << l << ", register " << r);
        }
    }
  CHECK(with_copies > 10);
}

TEST_CASE("a fragment is a view of its layout: made of it, it is the same", "[layout]") {
  for (const Form& form : forms())
    for (const Operand& operand : form.operands) {
      if (operand.kind != OperandKind::fragment || operand.fragment.copies() > 1) continue;
      const Fragment& fragment = operand.fragment;
      CAPTURE(form.opcode, name(operand.name));
      const Fragment again = Fragment::of(fragment.layout(), fragment.element_bits());
      CHECK(again.with_payload(fragment.payload_bits(), fragment.payload_shift()) == fragment);
      CHECK(again.transposed().transposed() == again);
      CHECK(again.transposed().rows() == again.columns());
    }
  // Not only permutations: a lane's bit that two index bits flip.
  LinearLayout skewed({{LayoutAxis::row, 3}, {column, 2}}, {{bit, 5}, {lane, 5}, {reg, 0}},
                      {1 << 5, 1 << 6, 1 << 7, 1 << 8 | 1 << 5, 1 << 9});
  const Fragment f = Fragment::of(skewed, 32);
  for (int row = 0; row < 8; ++row)
    for (int c = 0; c < 4; ++c) {
      CHECK(f.place({row, c, 0}) == Place{(row | c << 3) ^ (c & 1), 0, 0});
      CHECK(f.element(f.place({row, c, 0})) == Element{row, c, 0});
      CHECK(f.transposed().place({c, row, 0}) == f.place({row, c, 0}));
    }
  CHECK(f.layout().then(f.elements()) == LinearLayout::identity(f.layout().from(), f.layout().from()));

  for (const int bits : {-1, 0, 24, 64, 256}) CHECK_THROWS_AS(Fragment::of(skewed, bits), std::invalid_argument);
  CHECK_THROWS_AS(Fragment::of(skewed, 16), std::invalid_argument);  // half of the places would have no element
  const LinearLayout twice({{LayoutAxis::row, 5}}, {{bit, 5}, {lane, 5}}, {1 << 5, 1 << 5, 1 << 7, 1 << 8, 1 << 9});
  CHECK_THROWS_AS(Fragment::of(twice, 32), std::invalid_argument);
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
        }
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
  const Axes one{{LayoutAxis::row, 2}}, other{{lane, 3}};
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

}  // namespace
}  // namespace warpmat::linear_layout_test
