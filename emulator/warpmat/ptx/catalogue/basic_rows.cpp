// Moves and logic on predicates: what other statements are made of. Compiled once for each instruction set.

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

template <typename T>
T select(T a, T b, bool p) {
  return p ? a : b;
}

void copy_128(void* const* results, const void* const* sources) {
  for (int i = 0; i < 2 * lanes; ++i) static_cast<std::uint64_t*>(results[0])[i] = static_cast<const std::uint64_t*>(sources[0])[i];
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
  rows.push_back({"mov(.b16|.u16|.s16|.f16|.bf16)", "d:T = a:T", each_lane<move<std::uint16_t>>});
  rows.push_back({"mov(.b32|.u32|.s32|.f32|.f16x2|.bf16x2)", "d:T = a:T", each_lane<move<std::uint32_t>>});
  rows.push_back({"mov(.b64|.u64|.s64|.f64)", "d:T = a:T", each_lane<move<std::uint64_t>>});
  rows.push_back({"mov.b128", "d:b128 = a:b128", copy_128});
  rows.push_back({"mov.pred", "p = a", unary_logic<same_mask>});
  rows.push_back({"not.pred", "p = a", unary_logic<not_mask>});
  rows.push_back({"and.pred", "p = a, b", logic<and_masks>});
  rows.push_back({"or.pred", "p = a, b", logic<or_masks>});
  rows.push_back({"xor.pred", "p = a, b", logic<xor_masks>});
  rows.push_back({"selp(.b16|.u16|.s16|.f16|.bf16)", "d:T = a:T, b:T, p", each_lane<select<std::uint16_t>>});
  rows.push_back({"selp(.b32|.u32|.s32|.f32)", "d:T = a:T, b:T, p", each_lane<select<std::uint32_t>>});
  rows.push_back({"selp(.b64|.u64|.s64|.f64)", "d:T = a:T, b:T, p", each_lane<select<std::uint64_t>>});
}

}  // namespace

void export_basic_rows(std::vector<catalogue::Row>& rows) {
  add_rows(rows);
}

}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat {
HWY_EXPORT(export_basic_rows);
}

namespace warpmat::catalogue {
void add_basic_rows(std::vector<Row>& rows) {
  HWY_DYNAMIC_DISPATCH(export_basic_rows)(rows);
}
}  // namespace warpmat::catalogue
#endif
