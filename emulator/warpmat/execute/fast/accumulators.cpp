// C and D of wmma.mma if one is f16 and the other f32. Compiled once for each instruction set.

#include <warpmat/execute/fast/accumulators.h>
#include <warpmat/numeric/canonical_nan.h>
#include <warpmat/numeric/kernels_target.h>
#include <warpmat/numeric/rounding_mode.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/execute/fast/accumulators.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/execute/fast/elements-inl.h>
#include <warpmat/formats.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

std::uint32_t converted(Format from, Format to, std::uint32_t bits) {
  return static_cast<std::uint32_t>(encode(to, decode(from, bits)));
}

void widen(const std::uint32_t* c, std::uint32_t* low, std::uint32_t* high) {
  for (int lane = 0; lane < warp_size; ++lane) {
    low[lane] = converted(Format::f16, Format::f32, c[lane] & 0xffff);
    high[lane] = converted(Format::f16, Format::f32, c[lane] >> 16);
  }
}

void narrow(const std::uint32_t* low, const std::uint32_t* high, std::uint32_t* d) {
  for (int lane = 0; lane < warp_size; ++lane)
    d[lane] = converted(Format::f32, Format::f16, low[lane]) | converted(Format::f32, Format::f16, high[lane]) << 16;
}

#else

void widen(const std::uint32_t* c, std::uint32_t* low, std::uint32_t* high) {
  const U32 d;
  for (int lane = 0; lane < warp_size; lane += vector_rows) {
    const Word both = hn::LoadU(d, c + lane);
    hn::Store(hn::BitCast(d, f16_to_f32(hn::And(both, hn::Set(d, 0xffffu)))), d, low + lane);
    hn::Store(hn::BitCast(d, f16_to_f32(hn::ShiftRight<16>(both))), d, high + lane);
  }
}

/// A zero keeps its sign.
HWY_INLINE Word narrowed(Word bits) {
  const U32 d;
  const Word number = hn::Or(f32_to_f16(hn::BitCast(F32(), bits)), hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 0x8000u)));
  const auto is_nan = hn::Gt(hn::And(bits, hn::Set(d, 0x7fffffffu)), hn::Set(d, 0x7f800000u));
  return hn::IfThenElse(is_nan, hn::Set(d, canonical_half_nan), number);
}

void narrow(const std::uint32_t* low, const std::uint32_t* high, std::uint32_t* d) {
  const U32 words;
  for (int lane = 0; lane < warp_size; lane += vector_rows) {
    const Word upper = hn::ShiftLeft<16>(narrowed(hn::Load(words, high + lane)));
    hn::StoreU(hn::Or(narrowed(hn::Load(words, low + lane)), upper), words, d + lane);
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {

HWY_EXPORT(widen);
HWY_EXPORT(narrow);

// A host may have floating-point exceptions that trap: conversions of NaNs and inexact numbers must not raise one.

void fast_widen(ConstRegisterList c, std::span<Register> wide) {
  const RoundingMode mode(RoundingMode::nearest);
  for (std::size_t i = 0; i < c.size(); ++i) WARPMAT_KERNEL(widen)(c[i], wide[2 * i].data(), wide[2 * i + 1].data());
}

void fast_narrow(std::span<const Register> wide, RegisterList d) {
  const RoundingMode mode(RoundingMode::nearest);
  for (std::size_t i = 0; i < d.size(); ++i) WARPMAT_KERNEL(narrow)(wide[2 * i].data(), wide[2 * i + 1].data(), d[i]);
}

}  // namespace warpmat
#endif
