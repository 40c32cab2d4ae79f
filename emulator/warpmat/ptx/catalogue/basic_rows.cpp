// Moves, and logic on predicates. Compiled once for each instruction set.

#include <array>

#include <warpmat/numeric/kernels_target.h>
#include <warpmat/ptx/catalogue/rows.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/ptx/catalogue/basic_rows.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/ptx/catalogue/lane_loop-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

template <typename T>
T move(T a) {
  return a;
}

/// A bit of each lane: a predicate masked by them is vectors, where a shift by the lane's number is 32 shifts.
constexpr auto lane_bits = [] {
  std::array<LaneMask, warp_size> bits{};
  for (int lane = 0; lane < warp_size; ++lane) bits[static_cast<std::size_t>(lane)] = lane_bit(lane);
  return bits;
}();

template <typename T>
void select(void* const* results, const void* const* sources) {
  using Bits = typename LaneWord<sizeof(T)>::Bits;
  using Element = typename LaneWord<sizeof(T)>::Element;
  const LaneMask chosen = *static_cast<const LaneMask*>(sources[2]);
  const auto* const a = static_cast<const Element*>(sources[0]);
  const auto* const b = static_cast<const Element*>(sources[1]);
  auto* const result = static_cast<Element*>(results[0]);
  WARPMAT_INDEPENDENT_LANES
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    result[lane] = static_cast<Bits>((chosen & lane_bits[lane]) != 0 ? a[lane] : b[lane]);
}

void copy_128(void* const* results, const void* const* sources) {
  for (int i = 0; i < 2 * warp_size; ++i) static_cast<std::uint64_t*>(results[0])[i] = static_cast<const std::uint64_t*>(sources[0])[i];
}

/// Predicates are masks, so their logic needs no loop.
template <LaneMask (*f)(LaneMask, LaneMask)>
void logic(void* const* results, const void* const* sources) {
  *static_cast<LaneMask*>(results[0]) = f(*static_cast<const LaneMask*>(sources[0]), *static_cast<const LaneMask*>(sources[1]));
}

template <LaneMask (*f)(LaneMask)>
void unary_logic(void* const* results, const void* const* sources) {
  *static_cast<LaneMask*>(results[0]) = f(*static_cast<const LaneMask*>(sources[0]));
}

/// Splits or assembles n parts, the first one in the low bits.
template <typename Whole, typename Part, int n>
void pack(void* const* results, const void* const* sources) {
  for (int lane = 0; lane < warp_size; ++lane) {
    Whole whole = 0;
    for (int i = 0; i < n; ++i)
      whole = static_cast<Whole>(whole | static_cast<Whole>(read_lane<Part>(sources[i], lane)) << (8 * static_cast<int>(sizeof(Part)) * i));
    LaneMask none = 0;
    write_lane<Whole>(results[0], none, lane, whole);
  }
}

template <typename Whole, typename Part, int n>
void unpack(void* const* results, const void* const* sources) {
  for (int lane = 0; lane < warp_size; ++lane) {
    const Whole whole = read_lane<Whole>(sources[0], lane);
    LaneMask none = 0;
    for (int i = 0; i < n; ++i)
      write_lane<Part>(results[i], none, lane, static_cast<Part>(whole >> (8 * static_cast<int>(sizeof(Part)) * i)));
  }
}

/// 128 bits are two arrays of 64.
template <typename Part>
void pack_128(void* const* results, const void* const* sources) {
  constexpr int n = 8 / sizeof(Part);
  auto* const whole = static_cast<std::uint64_t*>(results[0]);
  for (int half = 0; half < 2; ++half) {
    void* const to[] = {whole + half * warp_size};
    pack<std::uint64_t, Part, n>(to, sources + half * n);
  }
}

template <typename Part>
void unpack_128(void* const* results, const void* const* sources) {
  constexpr int n = 8 / sizeof(Part);
  const auto* const whole = static_cast<const std::uint64_t*>(sources[0]);
  for (int half = 0; half < 2; ++half) {
    const void* const from[] = {whole + half * warp_size};
    unpack<std::uint64_t, Part, n>(results + half * n, from);
  }
}

template <typename Whole, typename Part>
Whole extend(Part a) {
  return static_cast<Whole>(static_cast<std::make_signed_t<Whole>>(a));
}

std::uint32_t low(std::uint64_t a) {
  return static_cast<std::uint32_t>(a);
}
std::uint64_t add_64(std::uint64_t a, std::uint64_t b) {
  return a + b;
}
std::uint64_t subtract_64(std::uint64_t a, std::uint64_t b) {
  return a - b;
}
bool within(std::uint64_t a, std::uint64_t start, std::uint64_t size) {
  return a - start < size;
}

/// Cache policies are opaque numbers without effect here.
void make_policy(void* const* results, const void* const*) {
  for (int lane = 0; lane < warp_size; ++lane) static_cast<std::uint64_t*>(results[0])[lane] = 0;
}

LaneMask and_masks(LaneMask a, LaneMask b) {
  return a & b;
}
LaneMask or_masks(LaneMask a, LaneMask b) {
  return a | b;
}
LaneMask xor_masks(LaneMask a, LaneMask b) {
  return a ^ b;
}
LaneMask not_mask(LaneMask a) {
  return ~a;
}
LaneMask same_mask(LaneMask a) {
  return a;
}

void add_rows(std::vector<catalogue::Row>& rows) {
  rows.push_back({"mov(.b16|.u16|.s16)", "d:T = a:T", each_lane<move<std::uint16_t>>});
  rows.push_back({"mov(.b32|.u32|.s32|.f32)", "d:T = a:T", each_lane<move<std::uint32_t>>});
  rows.push_back({"mov(.b64|.u64|.s64|.f64)", "d:T = a:T", each_lane<move<std::uint64_t>>});
  rows.push_back({"mov.b128", "d:b128 = a:b128", copy_128});
  const Requirement policies{.baseline = 80, .ptx = {7, 4}};
  rows.push_back(
      {"createpolicy.fractional(.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged)"
       "(.L2::evict_first|.L2::evict_unchanged)?.b64",
       "d:b64 = [fraction:f32]", make_policy, catalogue::Semantics::compute, policies});
  rows.push_back(
      {"createpolicy.range(.global)?(.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged)"
       "(.L2::evict_first|.L2::evict_unchanged)?.b64",
       "d:b64 = address:u64, primary:u32, total:u32", make_policy, catalogue::Semantics::compute, policies});
  rows.push_back({"createpolicy.cvt.L2.b64", "d:b64 = a:b64", make_policy, catalogue::Semantics::compute, policies});
  rows.push_back({"mov.pred", "p = a", unary_logic<same_mask>});
  rows.push_back({"not.pred", "p = a", unary_logic<not_mask>});
  rows.push_back({"and.pred", "p = a, b", logic<and_masks>});
  rows.push_back({"or.pred", "p = a, b", logic<or_masks>});
  rows.push_back({"xor.pred", "p = a, b", logic<xor_masks>});
  rows.push_back({"selp(.b16|.u16|.s16)", "d:T = a:T, b:T, p", select<std::uint16_t>, catalogue::Semantics::select});
  rows.push_back({"selp(.b32|.u32|.s32|.f32)", "d:T = a:T, b:T, p", select<std::uint32_t>, catalogue::Semantics::select});
  rows.push_back({"selp(.b64|.u64|.s64|.f64)", "d:T = a:T, b:T, p", select<std::uint64_t>, catalogue::Semantics::select});
}

/// Rows that only the resolver uses. No statement can spell these names: they begin with %.
void add_hidden_rows(std::vector<catalogue::Row>& rows) {
  using std::int16_t, std::int32_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
  rows.push_back({"%low.b64", "d:b32 = a:b64", each_lane<low>});
  rows.push_back({"%add.b64", "d:b64 = a:b64, b:b64", each_lane<add_64>});
  rows.push_back({"%subtract.b64", "d:b64 = a:b64, b:b64", each_lane<subtract_64>});
  rows.push_back({"%within.b64", "p = a:b64, start:b64, size:b64", each_lane<within>});
  rows.push_back({"%extend.s8.b16", "d:b16 = a:s8", each_lane<extend<uint16_t, int8_t>>});
  rows.push_back({"%extend.s8.b32", "d:b32 = a:s8", each_lane<extend<uint32_t, int8_t>>});
  rows.push_back({"%extend.s8.b64", "d:b64 = a:s8", each_lane<extend<uint64_t, int8_t>>});
  rows.push_back({"%extend.s16.b32", "d:b32 = a:s16", each_lane<extend<uint32_t, int16_t>>});
  rows.push_back({"%extend.s16.b64", "d:b64 = a:s16", each_lane<extend<uint64_t, int16_t>>});
  rows.push_back({"%extend.s32.b64", "d:b64 = a:s32", each_lane<extend<uint64_t, int32_t>>});
  rows.push_back({"%extend.u8.b64", "d:b64 = a:u8", each_lane<extend<uint64_t, uint8_t>>});
  rows.push_back({"%extend.u16.b64", "d:b64 = a:u16", each_lane<extend<uint64_t, uint16_t>>});
  rows.push_back({"%extend.u32.b64", "d:b64 = a:u32", each_lane<extend<uint64_t, uint32_t>>});
  rows.push_back({"%pack.b16.b8", "d:b16 = a:b8*2", pack<uint16_t, uint8_t, 2>});
  rows.push_back({"%pack.b32.b8", "d:b32 = a:b8*4", pack<uint32_t, uint8_t, 4>});
  rows.push_back({"%pack.b32.b16", "d:b32 = a:b16*2", pack<uint32_t, uint16_t, 2>});
  rows.push_back({"%pack.b64.b16", "d:b64 = a:b16*4", pack<uint64_t, uint16_t, 4>});
  rows.push_back({"%pack.b64.b32", "d:b64 = a:b32*2", pack<uint64_t, uint32_t, 2>});
  rows.push_back({"%pack.b128.b32", "d:b128 = a:b32*4", pack_128<uint32_t>});
  rows.push_back({"%pack.b128.b64", "d:b128 = a:b64*2", pack_128<uint64_t>});
  rows.push_back({"%unpack.b16.b8", "d:b8*2 = a:b16", unpack<uint16_t, uint8_t, 2>});
  rows.push_back({"%unpack.b32.b8", "d:b8*4 = a:b32", unpack<uint32_t, uint8_t, 4>});
  rows.push_back({"%unpack.b32.b16", "d:b16*2 = a:b32", unpack<uint32_t, uint16_t, 2>});
  rows.push_back({"%unpack.b64.b16", "d:b16*4 = a:b64", unpack<uint64_t, uint16_t, 4>});
  rows.push_back({"%unpack.b64.b32", "d:b32*2 = a:b64", unpack<uint64_t, uint32_t, 2>});
  rows.push_back({"%unpack.b128.b32", "d:b32*4 = a:b128", unpack_128<uint32_t>});
  rows.push_back({"%unpack.b128.b64", "d:b64*2 = a:b128", unpack_128<uint64_t>});
}

}  // namespace

void export_basic_rows(std::vector<catalogue::Row>& rows) {
  add_rows(rows);
  add_hidden_rows(rows);
}

}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {
HWY_EXPORT(export_basic_rows);
}

namespace warpmat::catalogue {
void add_basic_rows(std::vector<Row>& rows) {
  WARPMAT_KERNEL(export_basic_rows)(rows);
}
}  // namespace warpmat::catalogue
#endif
