#pragma once

// Random operands, made on the card: the classes of gpu/cases/operand_classes.h with simpler rules. CUDA C++17.

#include <warpmat/device/number.h>

namespace warpmat::device {

/// A counter-based generator: its numbers depend only on the key.
struct Draw {
  u64 state;

  WARPMAT_DEVICE_INLINE u32 next() {
    state += 0x9e3779b97f4a7c15ull;
    u64 z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<u32>(z >> 32);
  }
  /// 0 to count - 1.
  WARPMAT_DEVICE_INLINE u32 below(u32 count) { return static_cast<u32>(static_cast<u64>(next()) * count >> 32); }
  WARPMAT_DEVICE_INLINE i32 between(i32 first, i32 last) { return first + static_cast<i32>(below(static_cast<u32>(last - first + 1))); }
};

enum class OperandClass : unsigned char { random, finite, close, wide, subnormal, tiny, special, powers, ladder };
inline constexpr int operand_class_count = 9;
inline constexpr const char* operand_class_names[] = {"random", "finite",  "close",  "wide",  "subnormal",
                                                      "tiny",   "special", "powers", "ladder"};

/// What all elements of a warp's operands share.
struct WarpDraw {
  i32 spread, center_a, center_b, distance;

  WARPMAT_DEVICE_INLINE explicit WarpDraw(Draw& draw) {
    spread = draw.between(0, 7);
    center_a = draw.between(-140, 140);
    center_b = draw.between(-140, 140);
    distance = draw.between(10, 28);
  }
};

/// A number of `format` with the nearest exponent that it has, a random sign, and the fraction `fraction`.
template <Format format>
WARPMAT_DEVICE_INLINE u32 with_exponent(i32 exponent, u32 sign, u32 fraction) {
  constexpr FormatRow f = RowOf<format>::row;
  constexpr i32 most = (1 << f.exponent_bits) - (f.specials == Specials::ieee ? 2 : 1);
  i32 field = exponent + f.bias();
  field = field < (f.has_zero ? 1 : 0) ? (f.has_zero ? 1 : 0) : field > most ? most : field;
  constexpr u32 all = (1u << f.fraction_bits) - 1;
  fraction &= all;
  if (f.specials == Specials::one_nan && field == most && fraction == all) fraction = all - (f.fraction_bits > 0);
  const u32 magnitude = ((static_cast<u32>(field) << f.fraction_bits) | fraction) << f.ignored_low_bits;
  return magnitude | (f.is_signed ? (sign & 1) << (f.bits - 1) : 0);
}

/// An element of a floating-point format; `b` says whether it is of B, `accumulator` whether of C.
template <Format format>
WARPMAT_DEVICE_INLINE u32 draw_float(OperandClass which, Draw& draw, const WarpDraw& warp, bool b, bool accumulator) {
  constexpr FormatRow f = RowOf<format>::row;
  constexpr u32 mask = f.bits == 32 ? ~0u : (1u << (f.bits & 31)) - 1;
  constexpr i32 least = f.min_exponent(), most = f.max_exponent();
  const u32 bits = draw.next();
  const u32 sign = bits >> 31;
  const auto any_finite = [&] { return with_exponent<format>(draw.between(least, most), sign, bits); };
  const auto small = [&] {
    return (bits & ((1u << (f.fraction_bits + f.ignored_low_bits)) - 1)) | (f.is_signed ? sign << (f.bits - 1) : 0);
  };
  switch (which) {
    case OperandClass::random: return bits & mask;
    case OperandClass::finite: return draw.below(16) == 0 ? small() : any_finite();
    case OperandClass::close: {
      const i32 lowest = -warp.spread / 2;
      return accumulator ? with_exponent<format>(draw.between(2 * lowest, warp.spread + 4), sign, bits)
                         : with_exponent<format>(draw.between(lowest, lowest + warp.spread), sign, bits);
    }
    case OperandClass::wide: {
      const i32 center = accumulator ? warp.center_a + warp.center_b : b ? warp.center_b : warp.center_a;
      return with_exponent<format>(center % (most + 1) + draw.between(-20, 4), sign, bits);
    }
    case OperandClass::subnormal: return draw.below(3) != 0 ? small() : any_finite();
    case OperandClass::tiny:
      if (accumulator) return draw.below(3) != 0 ? (f.is_signed ? sign << (f.bits - 1) : 0) : small();
      return with_exponent<format>((f.exponent_bits >= 8 ? -63 : least / 2) + draw.between(-27, 3), sign, draw.below(4) == 0 ? bits : 0);
    case OperandClass::special:
      switch (draw.below(24)) {
        case 0: return ~0u & mask & ~(bits & 1u << (f.bits - 1));
        case 1: return with_exponent<format>(most, sign, ~0u) + (f.specials == Specials::ieee ? 1u << f.ignored_low_bits : 0);
        case 2: return f.is_signed ? sign << (f.bits - 1) : 0;
        case 3: return with_exponent<format>(most, sign, ~0u);
        case 4: return small();
        default: return any_finite();
      }
    case OperandClass::powers:
      return draw.below(4) == 0 ? 0 : with_exponent<format>(draw.between(-warp.distance, 2), sign, draw.below(4) == 0 ? bits : 0);
    case OperandClass::ladder: {
      const i32 below = draw.below(3) == 0 ? 0 : warp.distance + draw.between(-3, 3);
      const i32 half = b ? below / 2 : below - below / 2;
      return with_exponent<format>(accumulator ? -below : -half, sign, draw.below(2) == 0 ? bits : draw.below(2) == 0 ? 0 : ~0u);
    }
  }
  return 0;
}

/// An element of an integer format.
WARPMAT_DEVICE_INLINE u32 draw_integer(OperandClass which, int bits, Draw& draw) {
  const u32 mask = bits == 32 ? ~0u : (1u << (bits & 31)) - 1, word = draw.next();
  switch (which) {
    case OperandClass::wide: {
      const u32 magnitude = word & (bits == 1 ? 1u : mask >> draw.below(static_cast<u32>(bits)));
      return (draw.below(2) == 0 ? magnitude : ~magnitude) & mask;
    }
    case OperandClass::special: {
      const u32 codes[] = {0, 1, mask, mask >> 1, (mask >> 1) + 1, word & mask};
      return codes[draw.below(6)];
    }
    default: return word & mask;
  }
}

}  // namespace warpmat::device
