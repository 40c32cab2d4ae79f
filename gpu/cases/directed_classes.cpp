#include "gpu/cases/directed_classes.h"

#include <algorithm>

#include "gpu/cases/element_codes.h"

namespace warpmat {
namespace {

using std::uint64_t;

/// The key shared by all elements of a row of A, or of a column of B.
uint64_t line_key(const ElementSite& s, Role role) {
  const int line = role == Role::multiplicand_a ? s.row : s.column;
  return combine(combine(s.warp_key, role == Role::multiplicand_a ? 1 : 2), static_cast<uint64_t>(line));
}

uint64_t random_sign(const FormatRow& f, Random& random) {
  return random.next() & sign_bit(f);
}

// ---- powers -------------------------------------------------------------------------------------------------------------------------

uint64_t power_of_integers(const FormatRow& f, Random& random) {
  const uint64_t power = uint64_t{1} << random.between(0, f.bits - (f.is_signed ? 2 : 1));
  const uint64_t codes[] = {0, power, power, f.is_signed ? ~power + 1 : power, largest_integer(f), smallest_integer(f)};
  return codes[random.below(std::size(codes))] & low_mask(f.bits);
}

uint64_t any_power(const FormatRow& f, Random& random) {
  return power_of_two(f, random.between(min_power(f), largest_power(f))) | random_sign(f, random);
}

}  // namespace

uint64_t powers(const ElementSite& s) {
  const FormatRow& f = *s.format;
  Random random(s.key);
  if (is_integer(f)) return power_of_integers(f, random);
  if (s.role == Role::other) return any_power(f, random);
  if (s.role == Role::accumulator) return random.below(4) != 0 ? random_sign(f, random) : any_power(f, random);
  if (random.one_in(4)) return random_sign(f, random);
  const int largest = Random(line_key(s, s.role)).between(min_power(f), largest_power(f));
  return power_of_two(f, random.between(min_power(f), largest)) | random_sign(f, random);
}

// ---- ladder of floating-point numbers -----------------------------------------------------------------------------------------------

namespace {

constexpr int max_distance = 64;  // binades: more than any unit keeps

/// The role of a part of K in the sum. The first four have a part in every form.
enum class Rung : std::uint8_t { largest, second, remainder, fourth, fifth, rest };

/// Values common to all elements of a warp, and the elements derived from them.
class Ladder {
 public:
  explicit Ladder(const ElementSite& s) : s_(s), c_(*s.product->accumulator) {
    Random random(combine(s.warp_key, 3));
    first_part_ = random.next();
    part_stride_ = random.next() | 1;
    in_part_ = random.next();
    split_ = random.next();
    cancels_ = random.one_in(2);
    constexpr End ends[] = {End::subnormal, End::largest, End::bottom, End::bottom, End::neither, End::neither, End::neither, End::neither};
    end_ = ends[random.below(std::size(ends))];
    fractions_ = random.one_in(4);
    small_rest_ = random.one_in(4);
    beyond_last_bit_ = random.between(0, 2);
    second_ = random.one_in(4) ? c_.fraction_bits : random.between(0, max_distance);
    remainder_ = random.one_in(2) ? c_.fraction_bits + random.between(0, 16) : random.between(0, max_distance);
    c_choice_ = random.below(8);
    infinite_ = random.one_in(8);
  }

  uint64_t multiplicand() const {
    const FormatRow& f = *s_.format;
    Random random(combine(line_key(s_, s_.role), static_cast<uint64_t>(s_.part)));
    const uint64_t sign = random_sign(f, random);
    // One of A's stored elements in a part counts. B's elements of that part are all equal, so any of them may be multiplied by it.
    const bool counts =
        s_.role == Role::multiplicand_b || static_cast<uint64_t>(s_.in_part) == in_part_ % static_cast<uint64_t>(s_.part_size);
    const Rung rung = rung_of(s_.part);
    if (!counts || (rung == Rung::rest && !small_rest_) || is_zero_line()) return sign;
    if (end_ == End::bottom) return sign | factor_at_bottom(rung);
    if (rung == canceller()) return opposite_of_largest();
    if (rung == boundary() && end_ != End::neither) return sign | power_of_two(f, factor_at_end());
    if (infinite_ && f.specials == Specials::ieee && random.one_in(3)) return sign | (random.one_in(4) ? 0 : infinity_code(f));
    const uint64_t code = power_of_two(f, exponent(s_.role, rung));
    const bool normal = f.has_zero && code >> exponent_position(f) != 0;
    if (!fractions_ || !normal || rung == Rung::largest) return sign | code;
    return with_field(f, static_cast<int>(code >> exponent_position(f)), random.next());
  }

  uint64_t accumulator() const {
    Random random(s_.key);
    const uint64_t sign = random_sign(c_, random);
    if (infinite_ && random.one_in(4)) return sign | infinity_code(c_);
    if (end_ == End::largest && random.one_in(2)) return sign | largest_number(c_);
    const int largest = exponent(Role::multiplicand_a, Rung::largest) + exponent(Role::multiplicand_b, Rung::largest);
    uint64_t code = 0;
    if (end_ == End::bottom && c_choice_ != 0) return sign;
    switch (c_choice_) {
      case 0: code = power_of_two(c_, random.between(min_power(c_), min_exponent(c_))); break;
      case 1: code = power_of_two(c_, largest); break;
      case 2: code = power_of_two(c_, largest + random.between(1, max_distance)); break;
      case 3: code = power_of_two(c_, largest - random.between(0, max_distance)); break;
      case 4: code = power_of_two(c_, largest - last_bit()); break;
      default: return sign;
    }
    if (random.one_in(4)) code |= uint64_t{1} << random.below(static_cast<uint64_t>(c_.fraction_bits));  // a second bit
    return sign | code;
  }

 private:
  /// The position of the boundary in the range of results: near the largest product, or at an end of the range.
  enum class End : std::uint8_t { subnormal, largest, bottom, neither };

  Rung boundary() const { return cancels_ ? Rung::fifth : Rung::fourth; }
  Rung canceller() const { return cancels_ ? Rung::fourth : Rung::rest; }

  /// The distance of the result's last bit, or of the next two bits, below a sum of a single binade.
  int last_bit() const { return c_.fraction_bits + beyond_last_bit_; }

  int part_of(Rung rung) const {
    // parts are a power of two: an odd stride visits each
    const uint64_t number = first_part_ + static_cast<uint64_t>(rung) * part_stride_;
    return static_cast<int>(number % static_cast<uint64_t>(s_.parts));
  }

  Rung rung_of(int part) const {
    for (const Rung rung : {Rung::largest, Rung::second, Rung::remainder, Rung::fourth, Rung::fifth})
      if (part_of(rung) == part) return rung;
    return Rung::rest;
  }

  /// The distance of a rung below the largest product.
  int distance(Rung rung) const {
    if (rung == Rung::second) return second_;
    if (rung == boundary()) return (cancels_ ? second_ : 0) + last_bit();
    return rung == Rung::largest ? 0 : remainder_;
  }

  /// The contribution of A or B to a rung's distance.
  int share(Role role, Rung rung) const {
    const int whole = distance(rung);
    const int of_a = Random(combine(split_, static_cast<uint64_t>(rung))).between(0, whole);
    return role == Role::multiplicand_a ? of_a : whole - of_a;
  }

  /// The exponent of this row's or column's factor in a rung's product. In one of two lines, all rungs are in range below the largest.
  int exponent(Role role, Rung rung) const {
    const FormatRow& f = role == Role::multiplicand_a ? *s_.product->a : *s_.product->b;
    Random random(line_key(s_, role));
    int least = min_power(f);
    if (random.one_in(2)) least += std::max({share(role, Rung::second), share(role, Rung::remainder), share(role, boundary())});
    return random.between(std::min(least, largest_power(f)), largest_power(f)) - share(role, rung);
  }

  /// The last bit of the smallest result, or one of the next two bits, as a sum that a remainder at any distance below it disturbs: nothing
  /// else is as large. The factors share the exponent, so that they are normal numbers if possible.
  uint64_t factor_at_bottom(Rung rung) const {
    constexpr int max_share = 14;
    const int product = min_power(c_) - beyond_last_bit_, of_a = product / 2 + static_cast<int>(split_ % 3) - 1;
    int exponent = s_.role == Role::multiplicand_a ? of_a : product - of_a;
    switch (rung) {
      case Rung::largest: break;
      case Rung::second:
        if (second_ % 2 == 0) return 0;
        exponent += s_.role == Role::multiplicand_a ? 1 : 0;
        break;
      case Rung::remainder: exponent -= Random(combine(line_key(s_, s_.role), 98)).between(0, max_share); break;
      default: return 0;
    }
    return power_of_two(*s_.format, exponent);
  }

  /// One row of A of eight, and one column of B, are zero.
  bool is_zero_line() const { return Random(combine(line_key(s_, s_.role), 99)).one_in(8); }

  /// The exponent of a factor whose product is the last bit of a subnormal or of the largest result, or one of the next two bits.
  int factor_at_end() const {
    const FormatRow &a = *s_.product->a, &b = *s_.product->b;
    const int last_bit_there = end_ == End::subnormal ? min_power(c_) : largest_power(c_) - c_.fraction_bits;
    const int product = last_bit_there - beyond_last_bit_;
    const int least = std::max(min_power(a), product - largest_power(b)), most = std::min(largest_power(a), product - min_power(b));
    if (least > most) return min_power(*s_.format);  // unreachable
    const int of_a = Random(combine(split_, 7)).between(least, most);
    return s_.role == Role::multiplicand_a ? of_a : product - of_a;
  }

  uint64_t opposite_of_largest() const {
    const FormatRow& f = *s_.format;
    Random random(combine(line_key(s_, s_.role), static_cast<uint64_t>(part_of(Rung::largest))));
    const uint64_t sign = random_sign(f, random) ^ (s_.role == Role::multiplicand_b ? sign_bit(f) : 0);
    return sign | power_of_two(f, exponent(s_.role, Rung::largest));
  }

  const ElementSite& s_;
  const FormatRow& c_;
  uint64_t first_part_, part_stride_, in_part_, split_, c_choice_;
  End end_;
  bool cancels_, fractions_, small_rest_, infinite_;
  int beyond_last_bit_, second_, remainder_;
};

/// A scale factor: 1 in half of the warps, else any power of two.
uint64_t scale_factor(const ElementSite& s) {
  Random random(s.key);
  return Random(combine(s.warp_key, 4)).one_in(2) ? power_of_two(*s.format, 0) : any_power(*s.format, random);
}

// ---- ladder of integers -------------------------------------------------------------------------------------------------------------

/// The four products of a row and a column: one alone, two equal, or two and their opposites later along K, so that a sum that does not
/// begin at zero leaves the range and returns.
class IntegerLadder {
 public:
  explicit IntegerLadder(const ElementSite& s) : s_(s) {
    Random random(combine(s.warp_key, 3));
    const bool has_signs = s.product->a->is_signed || s.product->b->is_signed;
    products_ = static_cast<int>(std::uint64_t{1} << random.below(has_signs ? 3 : 2));
    offset_ = random.next();
    in_part_ = random.next();
  }

  uint64_t multiplicand() const {
    const int quarter = s_.parts / 4, number = s_.part / quarter;
    const bool counts =
        s_.role == Role::multiplicand_b || static_cast<uint64_t>(s_.in_part) == in_part_ % static_cast<uint64_t>(s_.part_size);
    if (!counts || number >= products_ || static_cast<uint64_t>(s_.part % quarter) != offset_ % static_cast<uint64_t>(quarter)) return 0;
    const Role with_sign = s_.product->b->is_signed ? Role::multiplicand_b : Role::multiplicand_a;
    const std::int64_t v = value(s_.role);
    return static_cast<uint64_t>(number >= 2 && s_.role == with_sign ? -v : v) & low_mask(s_.format->bits);
  }

  uint64_t accumulator() const {
    Random random(s_.key);
    const FormatRow& c = *s_.format;
    const std::int64_t highest = static_cast<std::int64_t>(largest_integer(c)), lowest = -highest - 1;
    const std::int64_t sum = value(Role::multiplicand_a) * value(Role::multiplicand_b) * (products_ == 4 ? 0 : products_);
    const std::int64_t wanted = (random.one_in(2) ? highest : lowest) + random.between(-1, 1) - sum;
    return static_cast<uint64_t>(std::clamp(wanted, lowest, highest)) & low_mask(c.bits);
  }

 private:
  /// The factor of this row or column. The format also has its opposite if it has signs.
  std::int64_t value(Role role) const {
    const FormatRow& f = role == Role::multiplicand_a ? *s_.product->a : *s_.product->b;
    Random random(line_key(s_, role));
    const auto largest = static_cast<std::int64_t>(largest_integer(f));
    const std::int64_t power = std::int64_t{1} << random.between(0, f.bits - (f.is_signed ? 2 : 1));
    const std::int64_t magnitude = random.one_in(8) ? 0 : random.one_in(2) ? largest : power;
    if (!f.is_signed || random.one_in(2)) return magnitude;
    return products_ < 4 && random.one_in(4) ? -largest - 1 : -magnitude;
  }

  const ElementSite& s_;
  int products_;
  uint64_t offset_, in_part_;
};

template <typename AnyLadder>
uint64_t rung(const ElementSite& s) {
  const AnyLadder ladder(s);
  return s.role == Role::accumulator ? ladder.accumulator() : ladder.multiplicand();
}

}  // namespace

uint64_t ladder(const ElementSite& s) {
  if (is_integer(*s.format)) return rung<IntegerLadder>(s);
  return s.role == Role::other ? scale_factor(s) : rung<Ladder>(s);
}

}  // namespace warpmat
