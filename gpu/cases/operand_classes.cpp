#include "gpu/cases/operand_classes.h"

#include <algorithm>

#include "gpu/cases/directed_classes.h"
#include "gpu/cases/element_codes.h"

namespace warpmat {
namespace {

using std::uint64_t;

// ---- Fields of a floating-point element ---------------------------------------------------------------------------------------------

/// A normal number of the given exponent, or the nearest one of the format.
uint64_t with_exponent(const FormatRow& f, int exponent, Random& random) {
  return with_field(f, std::clamp(exponent + bias(f), f.has_zero ? 1 : 0, largest_field(f)), random.next());
}

uint64_t any_finite(const FormatRow& f, Random& random) {
  const int field = random.between(0, largest_field(f));
  return with_field(f, field, random.next());
}

// ---- Integers -----------------------------------------------------------------------------------------------------------------------

/// A number whose magnitude has a random count of bits, uniformly distributed.
uint64_t any_magnitude(const FormatRow& f, Random& random) {
  const int bits = random.between(0, f.bits - (f.is_signed ? 1 : 0));
  const uint64_t magnitude = random.next() & low_mask(bits);
  return (f.is_signed && random.one_in(2) ? ~magnitude : magnitude) & low_mask(f.bits);
}

uint64_t special_integer(const FormatRow& f, Random& random) {
  const uint64_t codes[] = {0, 1, low_mask(f.bits), largest_integer(f), smallest_integer(f), smallest_integer(f) + 1};
  return codes[random.below(std::size(codes))] & low_mask(f.bits);
}

// ---- The products that a class applies to --------------------------------------------------------------------------------------------

bool floating(const ProductFormats& p) {
  return !is_integer(*p.accumulator);
}
bool integers(const ProductFormats& p) {
  return !floating(p);
}
bool everything(const ProductFormats&) {
  return true;
}
bool more_than_one_bit(const ProductFormats& p) {
  return p.a->bits > 1 && p.b->bits > 1;
}
bool either_signed(const ProductFormats& p) {
  return p.a->is_signed || p.b->is_signed;
}

/// The multiplicands have so wide a range that products can be smaller than any number of the accumulator.
bool small_products(const ProductFormats& p) {
  return floating(p) && p.a->exponent_bits >= 8;
}

// ---- The classes --------------------------------------------------------------------------------------------------------------------

uint64_t random_bits(const ElementSite& s) {
  return Random(s.key).next() & low_mask(s.format->bits);
}

uint64_t finite(const ElementSite& s) {
  Random random(s.key);
  return any_finite(*s.format, random);
}

/// All exponents of a warp are in a window of 1 to 8 binades around 1, C's in a window of a sum.
uint64_t close(const ElementSite& s) {
  const int spread = Random(s.warp_key).between(0, 7);
  Random random(s.key);
  const int lowest = -spread / 2;
  if (s.role == Role::accumulator) return with_exponent(*s.format, random.between(2 * lowest, spread + 4), random);
  return with_exponent(*s.format, random.between(lowest, lowest + spread), random);
}

/// One of four warps uses every exponent. In the others the largest exponents of A and B add up to the accumulator's limit.
uint64_t wide_floating(const ElementSite& s) {
  Random warp(s.warp_key);
  Random random(s.key);
  const bool unlimited = warp.one_in(4);
  if (unlimited || s.role == Role::other) return any_finite(*s.format, random);
  constexpr int sum_bits = 8;  // margin for adding up many products
  const FormatRow &a = *s.product->a, &b = *s.product->b, &c = *s.product->accumulator;
  const int largest_a = warp.between(min_exponent(a), max_exponent(a));
  const int largest_b = std::clamp(max_exponent(c) - sum_bits - largest_a, min_exponent(b), max_exponent(b));
  const int largest = s.role == Role::multiplicand_a ? largest_a : s.role == Role::multiplicand_b ? largest_b : max_exponent(c) - 1;
  const int field = random.between(0, std::max(largest + bias(*s.format), 0));
  return with_field(*s.format, field, random.next());
}

uint64_t wide(const ElementSite& s) {
  if (!is_integer(*s.format)) return wide_floating(s);
  Random random(s.key);
  return any_magnitude(*s.format, random);
}

/// Two of three elements are subnormal or zero, the others any finite number, so that some products outweigh them.
uint64_t subnormal(const ElementSite& s) {
  Random random(s.key);
  return random.below(3) != 0 ? with_field(*s.format, 0, random.next()) : any_finite(*s.format, random);
}

/// Products around the accumulator's smallest number and far below it, most of them powers of two, so that small losses in a sum are
/// visible; C is mostly zero, else subnormal.
uint64_t tiny(const ElementSite& s) {
  Random random(s.key);
  const FormatRow& f = *s.format;
  if (s.role == Role::accumulator) return random.below(3) != 0 ? random.next() & sign_bit(f) : with_field(f, 0, random.next());
  const uint64_t code = with_exponent(f, min_exponent(*s.product->accumulator) / 2 + random.between(-27, 3), random);
  return random.one_in(4) ? code : code & ~low_mask(exponent_position(f));
}

uint64_t infinity_or_largest(const FormatRow& f) {
  const uint64_t top = low_mask(f.exponent_bits) << exponent_position(f);
  return f.specials == Specials::ieee ? top : with_field(f, largest_field(f), ~sign_bit(f));
}

/// A NaN with any payload, the format's only NaN, or its largest number if it has no NaN.
uint64_t nan_or_largest(const FormatRow& f, Random& random) {
  if (f.specials == Specials::none) return infinity_or_largest(f);
  const uint64_t top = low_mask(f.exponent_bits) << exponent_position(f);
  if (f.specials == Specials::one_nan) return top | low_mask(exponent_position(f));
  const uint64_t payload = random.next() >> random.below(64) & low_mask(exponent_position(f));  // including small ones
  return top | payload | uint64_t{payload == 0} << f.ignored_low_bits;
}

uint64_t special_floating(const FormatRow& f, bool nan_and_infinity, Random& random) {
  const int position = exponent_position(f);
  const uint64_t unit = uint64_t{1} << f.ignored_low_bits;
  const uint64_t smallest_normal = uint64_t{1} << position;
  uint64_t code = 0;
  switch (random.below(nan_and_infinity ? 9 : 6)) {
    case 0: code = 0; break;
    case 1: code = unit; break;
    case 2: code = smallest_normal - unit; break;
    case 3: code = smallest_normal; break;
    case 4: code = low_mask(f.exponent_bits - 1) << position; break;  // 1
    case 5: code = with_field(f, largest_field(f), low_mask(position)); break;
    case 6: code = infinity_or_largest(f); break;
    default: code = nan_or_largest(f, random);
  }
  if (random.one_in(2)) code |= random.next() & (unit - 1);  // bits that the hardware ignores
  return code | (random.next() & sign_bit(f));
}

/// Half of the warps have no NaN or infinity. In the others, one element in two to one in 128 is special; the rest are about 1.
uint64_t special(const ElementSite& s) {
  Random warp(s.warp_key), random(s.key);
  const bool nan_and_infinity = warp.one_in(2);
  const uint64_t rarity = uint64_t{2} << 2 * warp.below(4);
  if (is_integer(*s.format)) return random.one_in(rarity) ? special_integer(*s.format, random) : random.next() & low_mask(s.format->bits);
  return random.one_in(rarity) ? special_floating(*s.format, nan_and_infinity, random)
                               : with_exponent(*s.format, random.between(-2, 2), random);
}

/// Flips some of the lowest fraction bits, in no, few or many elements of a warp.
uint64_t disturbed(const ElementSite& s, uint64_t code) {
  const uint64_t rate = Random(s.warp_key).below(3);  // of eight
  Random random(s.key);
  if (random.below(8) >= rate) return code;
  const bool integer = is_integer(*s.format);
  const int bits = integer ? 1 : std::min(2, s.format->fraction_bits);
  return code ^ (1 + random.below(low_mask(bits))) << (integer ? 0 : s.format->ignored_low_bits);
}

/// C of a cancelling sum: zero of either sign, tiny, or as large as a product.
uint64_t small_accumulator(const ElementSite& s) {
  Random random(s.key);
  const uint64_t choice = random.below(4);
  if (is_integer(*s.format)) return choice < 2 ? 0 : any_magnitude(*s.format, random);
  if (choice < 2) return random.next() & sign_bit(*s.format);
  return with_exponent(*s.format, choice == 2 ? random.between(-26, -8) : random.between(-3, 3), random);
}

uint64_t negated(const FormatRow& f, uint64_t code) {
  return is_integer(f) ? (~code + 1) & low_mask(f.bits) : code ^ sign_bit(f);
}

/// Whether the multiplicand of this role carries the alternating sign: B, unless only A has signs.
bool alternates(const ElementSite& s) {
  return s.role == (s.product->b->is_signed ? Role::multiplicand_b : Role::multiplicand_a);
}

/// Neighbours along K are equal in A and opposite in B. In larger groups, of which a sparse A selects two elements, B's signs are random.
uint64_t cancel(const ElementSite& s) {
  if (s.role == Role::accumulator) return small_accumulator(s);
  Random random(s.role == Role::other ? s.key : s.neighbours_key);
  uint64_t code =
      is_integer(*s.format) ? random.next() & low_mask(s.format->bits) : with_exponent(*s.format, random.between(-3, 3), random);
  if (s.role == Role::other) return code;
  const bool opposite = s.neighbours == 2 ? s.neighbour == 1 : Random(combine(s.key, 1)).one_in(2);
  if (opposite && alternates(s)) code = negated(*s.format, code);
  return disturbed(s, code);
}

enum class Distance : std::uint8_t { above, below, equal };
Distance distance_of(const ElementSite& s) {
  return static_cast<Distance>(Random(s.warp_key).below(3));
}

uint64_t far_integer(const ElementSite& s) {
  Random random(s.key);
  if (s.role != Role::accumulator) return random.next() & low_mask(s.format->bits);
  const int product_bits = s.product->a->bits + s.product->b->bits;
  uint64_t magnitude = 0;
  switch (distance_of(s)) {
    case Distance::above: magnitude = uint64_t{1} << random.between(s.format->bits - 3, s.format->bits - 2); break;
    case Distance::below: magnitude = 0; break;
    case Distance::equal: magnitude = uint64_t{1} << (product_bits - 1); break;
  }
  magnitude |= random.next() & (magnitude == 0 ? 3 : magnitude - 1);
  return (random.one_in(2) ? ~magnitude : magnitude) & low_mask(s.format->bits);
}

/// The exponent of A's or B's numbers, one of two: low if C is to be above them, high if below.
int far_exponent(const FormatRow& f, Distance distance) {
  const int wanted = distance == Distance::above ? -5 : distance == Distance::below ? 4 : 0;
  return std::clamp(wanted, min_exponent(f), max_exponent(f) - 1);
}

uint64_t far_accumulator(const ElementSite& s, Distance distance, Random& random) {
  constexpr int gap = 6;    // beyond the spread of the products and their significands
  constexpr int most = 30;  // more than any unit keeps
  const int products = far_exponent(*s.product->a, distance) + far_exponent(*s.product->b, distance);
  int exponent = products + random.between(0, 3);
  if (distance == Distance::above) exponent = products + gap + random.between(0, most);
  if (distance == Distance::below) exponent = products - gap - random.between(0, most);
  return with_exponent(*s.format, std::min(exponent, max_exponent(*s.format) - 1), random);
}

/// C is far above all products of its warp, far below, or among them.
uint64_t far(const ElementSite& s) {
  if (is_integer(*s.format)) return far_integer(s);
  Random random(s.key);
  const Distance distance = distance_of(s);
  if (s.role == Role::accumulator) return far_accumulator(s, distance, random);
  const int exponent = s.role == Role::other ? 0 : far_exponent(*s.format, distance);
  return with_exponent(*s.format, exponent + random.between(0, 1), random);
}

/// C within range of the products, near the accumulator's largest and smallest number.
uint64_t limits(const ElementSite& s) {
  Random random(s.key);
  const FormatRow& f = *s.format;
  if (s.role != Role::accumulator) return random.one_in(4) ? special_integer(f, random) : random.next() & low_mask(f.bits);
  constexpr int sum_bits = 8;  // for up to 256 products
  const int reach = s.product->a->bits + s.product->b->bits + sum_bits;
  const uint64_t distance = random.next() & low_mask(random.between(0, reach));
  return random.one_in(2) ? largest_integer(f) - distance : smallest_integer(f) + distance;
}

/// One element in two to one in 256 is nonzero, so that whole rows and columns are zero. In one of four warps the zeros of A are positive
/// and those of B negative: whole sums of -0. C may be subnormal and the only nonzero term.
uint64_t zeros(const ElementSite& s) {
  Random warp(s.warp_key), random(s.key);
  const uint64_t rarity = uint64_t{2} << warp.below(8);
  const bool negative_products = warp.one_in(4);
  if (s.role == Role::accumulator) return random.one_in(4) ? with_field(*s.format, 0, random.next()) : small_accumulator(s);
  if (s.role == Role::other || random.one_in(rarity)) return any_finite(*s.format, random);
  return (negative_products ? (s.role == Role::multiplicand_b ? ~uint64_t{0} : 0) : random.next()) & sign_bit(*s.format);
}

constexpr OperandClass classes[] = {
    {"random", "all bits random", everything, random_bits},
    {"finite", "random bits without NaNs and infinities", floating, finite},
    {"close", "exponents within a few binades of each other", floating, close},
    {"wide", "the full range of exponents; integers of every magnitude", more_than_one_bit, wide},
    {"subnormal", "subnormal numbers among others", floating, subnormal},
    {"special", "signed zeros, infinities, NaNs with payloads, largest and smallest numbers among others", more_than_one_bit, special},
    {"cancel", "sums that cancel: neighbours along K equal in A and opposite in B, some with low bits flipped", either_signed, cancel},
    {"far", "C far above, far below, and as large as the products", everything, far},
    {"limits", "C at the limits of the integer accumulator", integers, limits},
    {"tiny", "products about as small as the accumulator's smallest number, C zero or subnormal", small_products, tiny},
    {"zeros", "most elements zero of either sign, whole rows and columns too; C zero, subnormal, tiny, or about 1", floating, zeros},
    {"powers", "powers of two and zeros over the whole range of the formats, C mostly zero", more_than_one_bit, powers, true},
    {"ladder", "few products at chosen distances, on boundaries of the rounding and one unit beside; integers at their limits", everything,
     ladder, true},
};

}  // namespace

std::span<const OperandClass> operand_classes() {
  return classes;
}

const OperandClass* find_operand_class(std::string_view name) {
  const auto* found = std::ranges::find(classes, name, &OperandClass::name);
  return found == std::end(classes) ? nullptr : found;
}

}  // namespace warpmat
