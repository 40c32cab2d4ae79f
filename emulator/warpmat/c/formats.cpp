#include <warpmat/c.h>

#include <bit>
#include <type_traits>

#include <warpmat/c/entry.h>
#include <warpmat/formats.h>

using namespace warpmat;
using namespace warpmat::c;

// Enumerators of C have the numbers of C++.
static_assert(static_cast<int>(Specials::one_nan) == WARPMAT_ONE_NAN && static_cast<int>(Specials::none) == WARPMAT_NO_SPECIALS);
static_assert(static_cast<int>(Value::Kind::infinity) == WARPMAT_INFINITY && static_cast<int>(Value::Kind::nan) == WARPMAT_NAN);
static_assert(static_cast<int>(Rounding::toward_zero) == WARPMAT_TOWARD_ZERO && static_cast<int>(Rounding::up) == WARPMAT_UP);
static_assert(static_cast<int>(Overflow::infinity) == WARPMAT_OVERFLOW_INFINITY);
static_assert(static_cast<int>(Overflow::saturate) == WARPMAT_OVERFLOW_SATURATE);

namespace {

bool is_format(int format) {
  return format >= 0 && format < warpmat_format_count();
}

/// Whether encode() takes it.
bool is_value(const warpmat_value& value) {
  if (!is_enumerator(value.kind, WARPMAT_ZERO, WARPMAT_NAN)) return false;
  if (value.fraction_bits < 0 || value.fraction_bits > 63) return false;
  constexpr int most_exponent = 10'000;
  if (value.exponent < -most_exponent || value.exponent > most_exponent) return false;
  if (value.kind == WARPMAT_FINITE) return value.significand != 0;
  return value.kind != WARPMAT_NAN || static_cast<int>(std::bit_width(value.significand)) <= value.fraction_bits;
}

}  // namespace

warpmat_status warpmat_format_describe(int format, warpmat_format_info* info) {
  if (!is_format(format) || info == nullptr || !WARPMAT_HAS_SIZE(info, has_zero)) return WARPMAT_BAD_ARGUMENT;
  const FormatRow& of = row(static_cast<Format>(format));
  const warpmat_format_info all{info->size,
                                of.name.data(),
                                of.bits,
                                of.is_signed,
                                of.exponent_bits,
                                of.fraction_bits,
                                of.ignored_low_bits,
                                static_cast<warpmat_specials>(of.specials),
                                of.has_zero};
  copy_out(all, info);
  return WARPMAT_OK;
}

warpmat_status warpmat_decode(int format, uint64_t bits, warpmat_value* value) {
  if (!is_format(format) || value == nullptr) return WARPMAT_BAD_ARGUMENT;
  const Value decoded = decode(static_cast<Format>(format), bits);
  *value = {static_cast<warpmat_value_kind>(decoded.kind), decoded.negative, decoded.exponent, decoded.fraction_bits, decoded.significand};
  return WARPMAT_OK;
}

warpmat_status warpmat_encode(int format, const warpmat_value* value, warpmat_rounding rounding, warpmat_overflow overflow,
                              uint64_t* bits) {
  if (!is_format(format) || value == nullptr || bits == nullptr || !is_value(*value)) return WARPMAT_BAD_ARGUMENT;
  if (!is_enumerator(rounding, WARPMAT_NEAREST_EVEN, WARPMAT_UP)) return WARPMAT_BAD_ARGUMENT;
  if (!is_enumerator(overflow, WARPMAT_OVERFLOW_IEEE, WARPMAT_OVERFLOW_SATURATE)) return WARPMAT_BAD_ARGUMENT;
  const Value given{static_cast<Value::Kind>(value->kind), value->negative != 0, value->exponent, value->fraction_bits, value->significand};
  *bits = encode(static_cast<Format>(format), given, static_cast<Rounding>(rounding), static_cast<Overflow>(overflow));
  return WARPMAT_OK;
}
