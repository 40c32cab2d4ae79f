#include <warpmat/scalar/small_float.h>

#include <warpmat/formats.h>

namespace warpmat::scalar {

SmallFloat small_float(Format format, int stride) {
  const FormatRow& f = row(format);
  const auto kept = [&](std::uint64_t code) { return static_cast<std::uint32_t>(code >> f.ignored_low_bits); };
  const auto largest = kept(largest_finite(format, false));
  const bool has_infinity = f.specials == Specials::ieee;
  return {.stride = stride,
          .fraction_bits = f.fraction_bits,
          .min_exponent = min_exponent(f),
          .largest = largest,
          .overflow = has_infinity ? kept(infinity(format, false)) : largest,
          .nan = f.specials == Specials::none ? largest : kept(canonical_nan(format)),
          .sign = f.is_signed ? std::uint32_t{1} << (f.exponent_bits + f.fraction_bits) : 0,
          .unused_low_bits = f.ignored_low_bits};
}

}  // namespace warpmat::scalar
