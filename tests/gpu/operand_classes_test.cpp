#include "gpu/cases/operand_classes.h"

#include <warpmat/formats.h>

#include "test.h"

namespace warpmat::operand_classes_test {

namespace {

struct NamedProduct {
  std::string name;
  ProductFormats formats;
};

NamedProduct product(Format a, Format b, Format accumulator) {
  return {std::string(name(a)) + " x " + std::string(name(b)) + " + " + std::string(name(accumulator)),
          {&row(a), &row(b), &row(accumulator)}};
}

/// Every multiplicand with an accumulator that it can have.
std::vector<NamedProduct> products() {
  std::vector<NamedProduct> all;
  for (const Format f : {Format::tf32, Format::bf16, Format::f16, Format::e4m3, Format::e5m2, Format::e3m2, Format::e2m3, Format::e2m1})
    all.push_back(product(f, f, Format::f32));
  all.push_back(product(Format::f16, Format::f16, Format::f16));
  all.push_back(product(Format::e4m3, Format::e5m2, Format::f16));
  all.push_back(product(Format::f64, Format::f64, Format::f64));
  for (const Format f : {Format::s8, Format::u8, Format::s4, Format::u4, Format::b1}) all.push_back(product(f, f, Format::s32));
  all.push_back(product(Format::u8, Format::s8, Format::s32));
  return all;
}

std::vector<NamedProduct> products_of(const OperandClass& operand_class) {
  std::vector<NamedProduct> found;
  for (const NamedProduct& p : products())
    if (operand_class.applies(p.formats)) found.push_back(p);
  return found;
}

const OperandClass& named(const char* name) {
  const OperandClass* found = find_operand_class(name);
  REQUIRE(found != nullptr);
  return *found;
}

const FormatRow& format_of(const ProductFormats& p, Role role) {
  return role == Role::multiplicand_a ? *p.a : role == Role::multiplicand_b ? *p.b : *p.accumulator;
}

/// `count` elements of a warp as make_case draws them, neighbours side by side.
std::vector<std::uint64_t> draw(const OperandClass& operand_class, const ProductFormats& p, Role role, std::uint64_t warp,
                                std::size_t count, int neighbours = 2) {
  constexpr int parts = 16;
  const auto group = static_cast<std::size_t>(neighbours);
  const std::uint64_t warp_key = combine(7, warp);
  const std::uint64_t operand_key = combine(warp_key, static_cast<std::uint64_t>(role));
  std::vector<std::uint64_t> codes;
  for (std::size_t i = 0; i < count; ++i) {
    const int line = static_cast<int>(i) / parts, k = static_cast<int>(i) % parts;
    codes.push_back(operand_class.element({.product = &p,
                                           .format = &format_of(p, role),
                                           .role = role,
                                           .warp_key = warp_key,
                                           .key = combine(operand_key, i),
                                           .neighbours_key = combine(operand_key, i / group * group),
                                           .neighbour = static_cast<int>(i % group),
                                           .neighbours = neighbours,
                                           .row = role == Role::multiplicand_b ? k : line,
                                           .column = role == Role::multiplicand_a ? k : line,
                                           .part = k,
                                           .parts = parts,
                                           .in_part = 0,
                                           .part_size = 1}));
  }
  return codes;
}

std::vector<Value> decode_all(const FormatRow& f, const std::vector<std::uint64_t>& codes) {
  std::vector<Value> values;
  for (const std::uint64_t code : codes) values.push_back(decode(f.format, code));
  return values;
}

bool is_special(const Value& v) {
  return v.kind == Value::Kind::nan || v.kind == Value::Kind::infinity;
}
bool is_subnormal(const Value& v) {
  return v.kind == Value::Kind::finite && v.significand >> v.fraction_bits == 0;
}

constexpr Role roles[] = {Role::multiplicand_a, Role::multiplicand_b, Role::accumulator};
constexpr std::size_t warps = 400;
constexpr std::size_t elements = 64;

/// Calls `visit` with the decoded elements of each role in each warp.
template <typename Visit>
void for_each_warp(const OperandClass& operand_class, const ProductFormats& p, Visit visit) {
  for (std::size_t warp = 0; warp < warps; ++warp)
    for (const Role role : roles) visit(warp, role, decode_all(format_of(p, role), draw(operand_class, p, role, warp, elements)));
}

}  // namespace

TEST_CASE("operand classes have names, and every product has several", "[gpu]") {
  std::set<std::string_view> names;
  for (const OperandClass& c : operand_classes()) {
    CHECK(names.insert(c.name).second);
    CHECK(find_operand_class(c.name) == &c);
    CHECK_FALSE(c.summary.empty());
    CHECK_FALSE(products_of(c).empty());
  }
  CHECK(find_operand_class("none") == nullptr);
  CHECK(operand_classes().front().name == "random");
  for (const NamedProduct& p : products()) {
    CAPTURE(p.name);
    CHECK(std::ranges::count_if(operand_classes(), [&](const OperandClass& c) { return c.applies(p.formats); }) >= 3);
  }
}

TEST_CASE("elements have no bits beyond their format", "[gpu]") {
  for (const OperandClass& c : operand_classes())
    for (const NamedProduct& p : products_of(c))
      for (const Role role : roles) {
        CAPTURE(c.name, p.name, static_cast<int>(role));
        const int bits = format_of(p.formats, role).bits;
        std::uint64_t seen = 0;
        for (std::size_t warp = 0; warp < warps; ++warp)
          for (const std::uint64_t code : draw(c, p.formats, role, warp, elements)) seen |= code;
        CHECK((bits == 64 || seen >> bits == 0));
      }
}

TEST_CASE("an element depends on its keys alone", "[gpu]") {
  for (const OperandClass& c : operand_classes())
    for (const NamedProduct& p : products_of(c))
      for (const Role role : roles) CHECK(draw(c, p.formats, role, 5, 32) == draw(c, p.formats, role, 5, 32));
  CHECK(mix(1) == 0x5692161d100b05e5);  // splitmix64's finalizer; its stream from 0 begins with the second value
  CHECK(Random(0).next() == 0xe220a8397b1dcdaf);
  CHECK(hash_name("a") == 0xaf63dc4c8601ec8c);
}

TEST_CASE("class random: every bit of an element is set as often as not", "[gpu]") {
  for (const NamedProduct& p : products_of(named("random"))) {
    CAPTURE(p.name);
    std::vector<std::size_t> set(64);
    for (std::size_t warp = 0; warp < warps; ++warp)
      for (const std::uint64_t code : draw(named("random"), p.formats, Role::multiplicand_a, warp, elements))
        for (std::size_t bit = 0; bit < 64; ++bit) set[bit] += code >> bit & 1;
    for (int bit = 0; bit < p.formats.a->bits; ++bit)
      CHECK(std::abs(static_cast<double>(set[static_cast<std::size_t>(bit)]) / (warps * elements) - 0.5) < 0.02);
  }
}

TEST_CASE("class finite: every exponent, no NaN and no infinity", "[gpu]") {
  for (const NamedProduct& p : products_of(named("finite"))) {
    CAPTURE(p.name);
    std::set<int> exponents;
    bool special = false;
    for_each_warp(named("finite"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
      special = special || std::ranges::any_of(values, is_special);
      if (role == Role::multiplicand_a)
        for (const Value& v : values) exponents.insert(v.exponent);
    });
    CHECK_FALSE(special);
    const auto range = static_cast<std::size_t>(max_exponent(*p.formats.a) - min_exponent(*p.formats.a) + 1);
    CHECK(exponents.size() >= range * 99 / 100);
  }
}

TEST_CASE("class close: normal numbers whose exponents are within 8 binades, or fewer", "[gpu]") {
  for (const NamedProduct& p : products_of(named("close"))) {
    CAPTURE(p.name);
    std::set<int> spreads;
    bool normal = true;
    for_each_warp(named("close"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
      int least = 1000, most = -1000;
      for (const Value& v : values) {
        normal = normal && v.kind == Value::Kind::finite && !is_subnormal(v);
        least = std::min(least, v.exponent);
        most = std::max(most, v.exponent);
      }
      if (role == Role::multiplicand_a) spreads.insert(most - least);
    });
    CHECK(normal);
    CHECK(*spreads.begin() == 0);
    CHECK(*spreads.rbegin() <= 7);
    CHECK(spreads.size() >= 3);
  }
}

TEST_CASE("class wide: every exponent, and mostly products that the accumulator holds", "[gpu]") {
  for (const NamedProduct& p : products_of(named("wide"))) {
    CAPTURE(p.name);
    if (is_integer(*p.formats.a)) {
      std::set<std::uint64_t> magnitudes;
      for_each_warp(named("wide"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
        if (role == Role::accumulator)
          for (const Value& v : values) magnitudes.insert(static_cast<std::uint64_t>(std::bit_width(v.significand)));
      });
      CHECK(magnitudes.size() >= 32);
      continue;
    }
    std::set<int> exponents;
    std::size_t held = 0;
    std::map<Role, int> largest;
    for_each_warp(named("wide"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
      CHECK_FALSE(std::ranges::any_of(values, is_special));
      largest[role] = std::ranges::max(values, {}, &Value::exponent).exponent;
      if (role == Role::multiplicand_a)
        for (const Value& v : values) exponents.insert(v.exponent);
      if (role == Role::accumulator)
        held += largest[Role::multiplicand_a] + largest[Role::multiplicand_b] < max_exponent(*p.formats.accumulator);
    });
    const auto range = static_cast<std::size_t>(max_exponent(*p.formats.a) - min_exponent(*p.formats.a) + 1);
    CHECK(exponents.size() >= range * 98 / 100);
    CHECK(held >= warps / 2);
  }
}

TEST_CASE("class subnormal: most elements are subnormal or zero, some are not", "[gpu]") {
  for (const NamedProduct& p : products_of(named("subnormal")))
    for (const Role role : roles) {
      CAPTURE(p.name, static_cast<int>(role));
      std::size_t small = 0, subnormal = 0;
      for_each_warp(named("subnormal"), p.formats, [&](std::size_t, Role r, const std::vector<Value>& values) {
        if (r != role) return;
        subnormal += static_cast<std::size_t>(std::ranges::count_if(values, is_subnormal));
        small += static_cast<std::size_t>(
            std::ranges::count_if(values, [](const Value& v) { return is_subnormal(v) || v.kind == Value::Kind::zero; }));
      });
      CHECK(subnormal * 4 > warps * elements);
      CHECK(small * 10 > warps * elements * 6);
      CHECK(small * 10 < warps * elements * 9);
    }
}

TEST_CASE("class tiny: products around the smallest number of the accumulator, beside a C that is zero or subnormal", "[gpu]") {
  for (const NamedProduct& p : products_of(named("tiny"))) {
    CAPTURE(p.name);
    const int smallest = min_exponent(*p.formats.accumulator);
    std::size_t zeros = 0, powers_of_two = 0;
    std::map<Role, std::set<int>> exponents;
    for_each_warp(named("tiny"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
      for (const Value& v : values) {
        if (role == Role::accumulator) {
          CHECK((v.kind == Value::Kind::zero || is_subnormal(v)));
          zeros += v.kind == Value::Kind::zero;
        } else if (role != Role::other) {
          exponents[role].insert(v.exponent);
          powers_of_two += v.significand == std::uint64_t{1} << v.fraction_bits;
        }
      }
    });
    const auto largest = *exponents[Role::multiplicand_a].rbegin() + *exponents[Role::multiplicand_b].rbegin();
    CHECK(largest <= smallest + 6);
    CHECK(*exponents[Role::multiplicand_a].begin() + *exponents[Role::multiplicand_b].begin() <= smallest - 50);
    CHECK(zeros * 2 > warps * elements);
    CHECK(powers_of_two > warps * elements);
  }
}

TEST_CASE("class special: all special numbers, and half of the warps without NaN and infinity", "[gpu]") {
  for (const NamedProduct& p : products_of(named("special"))) {
    if (is_integer(*p.formats.a)) continue;
    CAPTURE(p.name);
    const FormatRow& f = *p.formats.a;
    std::set<std::uint64_t> codes;
    std::set<std::uint64_t> payloads;
    std::size_t free_warps = 0;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      bool special = false;
      for (const Role role : roles)
        for (const std::uint64_t code : draw(named("special"), p.formats, role, warp, elements)) {
          const Value v = decode(format_of(p.formats, role).format, code);
          special = special || is_special(v);
          if (role != Role::multiplicand_a) continue;
          codes.insert(code >> f.ignored_low_bits << f.ignored_low_bits);
          if (v.kind == Value::Kind::nan) payloads.insert(v.significand);
        }
      free_warps += !special;
    }
    const std::uint64_t unit = std::uint64_t{1} << f.ignored_low_bits;
    const std::uint64_t normal = std::uint64_t{1} << (f.fraction_bits + f.ignored_low_bits);
    for (const bool negative : {false, true}) {
      const std::uint64_t sign = negative ? std::uint64_t{1} << (f.bits - 1) : 0;
      for (const std::uint64_t code : {std::uint64_t{0}, unit, normal - unit, normal}) CHECK(codes.contains(code | sign));
      CHECK(codes.contains(largest_finite(f.format, negative)));
      if (f.specials == Specials::ieee) CHECK(codes.contains(infinity(f.format, negative)));
    }
    if (f.specials == Specials::ieee) CHECK(payloads.size() >= 3);
    if (f.specials == Specials::one_nan) CHECK(payloads.size() == 1);
    CHECK(free_warps >= warps * 45 / 100);
    if (f.specials != Specials::none) CHECK(free_warps <= warps * 65 / 100);
  }
}

TEST_CASE("class special of integers: zero, one, largest and smallest", "[gpu]") {
  const NamedProduct p = product(Format::s8, Format::u8, Format::s32);
  std::map<Role, std::set<std::uint64_t>> codes;
  for (std::size_t warp = 0; warp < warps; ++warp)
    for (const Role role : roles)
      for (const std::uint64_t code : draw(named("special"), p.formats, role, warp, elements)) codes[role].insert(code);
  for (const std::uint64_t code : {0x00u, 0x01u, 0x7fu, 0x80u, 0x81u, 0xffu}) CHECK(codes[Role::multiplicand_a].contains(code));
  for (const std::uint64_t code : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) CHECK(codes[Role::accumulator].contains(code));
}

TEST_CASE("class cancel: neighbouring products are opposite, but for a few low bits", "[gpu]") {
  for (const NamedProduct& p : products_of(named("cancel")))
    for (const int neighbours : {2, 4}) {
      CAPTURE(p.name, neighbours);
      std::size_t pairs = 0, exact = 0, near = 0;
      for (std::size_t warp = 0; warp < warps; ++warp) {
        const auto a = draw(named("cancel"), p.formats, Role::multiplicand_a, warp, elements);
        const auto group = static_cast<std::size_t>(neighbours);
        const auto b = draw(named("cancel"), p.formats, Role::multiplicand_b, warp, elements * group / 2, neighbours);
        const auto product_at = [&](std::size_t i, std::size_t j) {
          return to_double(p.formats.a->format, a[i]) * to_double(p.formats.b->format, b[j]);
        };
        for (std::size_t i = 0; i < elements; i += 2, ++pairs) {
          const std::size_t j = i / 2 * group;
          const double first = product_at(i, j), second = product_at(i + 1, j + group - 1);
          exact += first + second == 0;
          near += std::abs(first + second) <= 0.75 * std::abs(first - second);
        }
      }
      CHECK(exact * 5 > pairs * (neighbours == 2 ? 3 : 1));
      if (!is_integer(*p.formats.a)) {
        CHECK(exact < pairs);
        CHECK(near * 10 >= pairs * (neighbours == 2 ? 8 : 4));
      }
    }
}

TEST_CASE("class far: C above, below and as large as the products", "[gpu]") {
  for (const NamedProduct& p : products_of(named("far"))) {
    if (is_integer(*p.formats.a)) continue;
    CAPTURE(p.name);
    std::map<std::string, std::size_t> seen;
    std::set<int> distances;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      const auto exponents = [&](Role role) {
        std::set<int> found;
        for (const Value& v : decode_all(format_of(p.formats, role), draw(named("far"), p.formats, role, warp, elements)))
          found.insert(v.exponent);
        return found;
      };
      const auto a = exponents(Role::multiplicand_a), b = exponents(Role::multiplicand_b), c = exponents(Role::accumulator);
      const int lowest = *a.begin() + *b.begin(), highest = *a.rbegin() + *b.rbegin();
      if (*c.begin() >= highest + 3) ++seen["above"];
      if (*c.rbegin() <= lowest - 3) ++seen["below"];
      if (*c.begin() <= highest + 1 && *c.rbegin() >= lowest - 1) ++seen["equal"];
      for (const int exponent : c) distances.insert(exponent - highest);
    }
    for (const char* distance : {"above", "below", "equal"}) {
      CAPTURE(distance);
      CHECK(seen[distance] * 4 >= warps);
    }
    CHECK(distances.size() >= 15);
  }
}

TEST_CASE("class far of integers: C of 2^29 and more, of at most 3, and as large as a product", "[gpu]") {
  const NamedProduct p = product(Format::s8, Format::s8, Format::s32);
  std::size_t above = 0, below = 0, equal = 0;
  for_each_warp(named("far"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
    if (role != Role::accumulator) return;
    const auto all_between = [&](std::uint64_t least, std::uint64_t most) {
      return std::ranges::all_of(values, [&](const Value& v) { return v.significand >= least && v.significand <= most; });
    };
    above += all_between(1u << 29, 1u << 31);
    below += all_between(0, 4);
    equal += all_between(1u << 15, 1u << 16);
  });
  CHECK(above * 4 >= warps);
  CHECK(below * 4 >= warps);
  CHECK(equal * 4 >= warps);
}

TEST_CASE("class limits: C so near to a limit that products reach beyond", "[gpu]") {
  for (const NamedProduct& p : products_of(named("limits"))) {
    CAPTURE(p.name);
    std::set<std::int64_t> distances;
    bool low = false, high = false;
    for (std::size_t warp = 0; warp < warps; ++warp)
      for (const std::uint64_t code : draw(named("limits"), p.formats, Role::accumulator, warp, elements)) {
        const bool negative = (code & 0x80000000) != 0;
        (negative ? low : high) = true;
        distances.insert(static_cast<std::int64_t>(negative ? code - 0x80000000 : 0x7fffffff - code));
      }
    CHECK(low);
    CHECK(high);
    CHECK(*distances.begin() == 0);
    CHECK(*distances.rbegin() < std::int64_t{1} << (p.formats.a->bits + p.formats.b->bits + 8));
    CHECK(distances.size() > 100);
  }
}

TEST_CASE("class powers: powers of two and zeros over the whole range, C mostly zero", "[gpu]") {
  for (const NamedProduct& p : products_of(named("powers"))) {
    if (is_integer(*p.formats.a)) continue;
    CAPTURE(p.name);
    std::set<int> exponents;
    std::size_t zeros = 0, zero_c = 0;
    bool powers_only = true;
    for_each_warp(named("powers"), p.formats, [&](std::size_t, Role role, const std::vector<Value>& values) {
      for (const Value& v : values) {
        powers_only = powers_only && (v.kind == Value::Kind::zero || (v.kind == Value::Kind::finite && std::has_single_bit(v.significand)));
        if (role == Role::accumulator) zero_c += v.kind == Value::Kind::zero;
        if (role != Role::multiplicand_a) continue;
        zeros += v.kind == Value::Kind::zero;
        if (v.kind == Value::Kind::finite)
          exponents.insert(v.exponent - v.fraction_bits + static_cast<int>(std::bit_width(v.significand)) - 1);
      }
    });
    CHECK(powers_only);
    const FormatRow& a = *p.formats.a;
    const auto range = static_cast<std::size_t>(max_exponent(a) - min_exponent(a) + a.fraction_bits + 1);
    CHECK(exponents.size() >= range * 7 / 8);  // the upper end of a range is drawn less often; f64 has two thousand exponents
    CHECK(*exponents.begin() <= min_exponent(a) - a.fraction_bits + static_cast<int>(range / 100));
    CHECK(zeros * 8 > warps * elements);
    CHECK(zero_c * 2 > warps * elements);
  }
}

TEST_CASE("class ladder: at most five products that are not zero, and terms at every distance from the largest", "[gpu]") {
  for (const NamedProduct& p : products_of(named("ladder"))) {
    if (is_integer(*p.formats.a)) continue;
    CAPTURE(p.name);
    std::set<int> distances, largest;
    std::size_t cancelling = 0, few = 0;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      const auto a = decode_all(*p.formats.a, draw(named("ladder"), p.formats, Role::multiplicand_a, warp, 16));
      const auto b = decode_all(*p.formats.b, draw(named("ladder"), p.formats, Role::multiplicand_b, warp, 16));
      std::vector<Value> terms;
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].kind == Value::Kind::zero || b[k].kind == Value::Kind::zero) continue;
        terms.push_back({Value::Kind::finite, a[k].negative != b[k].negative, a[k].exponent + b[k].exponent,
                         a[k].fraction_bits + b[k].fraction_bits, a[k].significand * b[k].significand});
      }
      int highest = -10'000;
      for (const Value& term : terms) highest = std::max(highest, term.exponent);
      double sum = 0, size = 0;  // in units of the largest term's
      for (const Value& term : terms) {
        const double magnitude =
            std::ldexp(static_cast<double>(term.significand), std::max(-900, term.exponent - term.fraction_bits - highest));
        sum += term.negative ? -magnitude : magnitude;
        size = std::max(size, magnitude);
      }
      few += terms.size() <= 5;
      cancelling += std::abs(sum) < size / 2;
      for (const Value& term : terms) distances.insert(highest - term.exponent);
      if (!terms.empty()) largest.insert(highest);
    }
    CHECK(few * 2 > warps);
    if (p.formats.a->bits < 64) CHECK(cancelling * 8 > warps);  // f64 adds one product after the other: nothing cancels among products
    const int reach = max_exponent(*p.formats.a) - min_exponent(*p.formats.a) + max_exponent(*p.formats.b) - min_exponent(*p.formats.b);
    CHECK(distances.size() >= static_cast<std::size_t>(std::min(64, reach)) * 3 / 4);
    CHECK(largest.size() >= static_cast<std::size_t>(std::min(100, reach)) / 2);
  }
}

TEST_CASE("class ladder of integers: sums on both limits of s32, one beside, and beyond", "[gpu]") {
  const auto whole = [](const Value& v) { return static_cast<std::int64_t>(v.significand) * (v.negative ? -1 : 1); };
  for (const NamedProduct& p : products_of(named("ladder"))) {
    if (!is_integer(*p.formats.a)) continue;
    CAPTURE(p.name);
    std::set<std::int64_t> beside_highest, beside_lowest;
    std::size_t returning = 0;
    for (std::size_t warp = 0; warp < warps; ++warp) {
      const auto a = decode_all(*p.formats.a, draw(named("ladder"), p.formats, Role::multiplicand_a, warp, 16));
      const auto b = decode_all(*p.formats.b, draw(named("ladder"), p.formats, Role::multiplicand_b, warp, 16));
      const auto c = decode_all(*p.formats.accumulator, draw(named("ladder"), p.formats, Role::accumulator, warp, 1));
      constexpr std::int64_t highest = 0x7fffffff, lowest = -highest - 1;
      std::int64_t sum = whole(c[0]), most = sum, least = sum;
      for (std::size_t k = 0; k < a.size(); ++k) {
        sum += whole(a[k]) * whole(b[k]);
        most = std::max(most, sum);
        least = std::min(least, sum);
      }
      if (std::abs(sum - highest) <= 1) beside_highest.insert(sum - highest);
      if (std::abs(sum - lowest) <= 1) beside_lowest.insert(sum - lowest);
      returning += sum <= highest && sum >= lowest && (most > highest || least < lowest);
    }
    CHECK(beside_highest == std::set<std::int64_t>{-1, 0, 1});
    const bool has_signs = p.formats.a->is_signed || p.formats.b->is_signed;
    CHECK(beside_lowest == (has_signs ? std::set<std::int64_t>{-1, 0, 1} : std::set<std::int64_t>{0, 1}));
    CHECK((returning > 0) == has_signs);
  }
}

}  // namespace warpmat::operand_classes_test
