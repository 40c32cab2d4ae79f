// Kernels of logic, shifts and bit fields, compiled once for each instruction set.

#include <warpmat/scalar/bits.h>
#include <warpmat/scalar/kernel.h>
#include <warpmat/scalar/kernels.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/bits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

using std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t;

/// The table is an immediate, the same in all lanes.
void look_up_lanes(void* const* results, const void* const* sources, const Modifiers&) {
  const auto table = load<uint32_t>(sources[3], 0);
  WARPMAT_EACH_LANE store(
      results[0], lane,
      look_up(load<uint32_t>(sources[0], lane), load<uint32_t>(sources[1], lane), load<uint32_t>(sources[2], lane), table));
}

/// lop3.BoolOp: the second result is whether the first differs from 0, combined with the last source.
void look_up_predicate(void* const* results, const void* const* sources, const Modifiers& modifiers) {
  const bool conjunction = modifiers.combine == Combine::conjunction;
  const std::uint32_t condition = *static_cast<const uint32_t*>(sources[4]);
  look_up_lanes(results, sources, modifiers);
  const uint32_t differs = mask_of([&](int lane) HWY_ATTR { return load<uint32_t>(results[0], lane) != 0; });
  *static_cast<uint32_t*>(results[1]) = conjunction ? differs & condition : differs | condition;
}

#if HWY_TARGET == HWY_SCALAR

constexpr Function permute_lanes = each_lane<permute>;
template <std::uint16_t c0, std::uint16_t c1, std::uint16_t c2, std::uint16_t c3>
constexpr Function permute_mode_lanes = each_lane<permute_mode<c0, c1, c2, c3>>;

#else

// prmt by byte look-ups; bits.h defines permute() and permute_mode().

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<uint32_t>;
using Word = hn::Vec<Words>;

/// permute() in every lane.
HWY_INLINE Word permute_words(Word a, Word b, Word selector) {
  const Words d;
  const hn::Repartition<std::uint8_t, Words> bytes;
  const hn::Repartition<std::int8_t, Words> signed_bytes;
  alignas(16) static constexpr std::uint8_t first_of_word[] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  const Word four = hn::And(selector, hn::Set(d, 0xffff)), pairs = hn::And(hn::Or(four, hn::ShiftLeft<8>(four)), hn::Set(d, 0x00ff00ff));
  const auto nibbles = hn::BitCast(bytes, hn::And(hn::Or(pairs, hn::ShiftLeft<4>(pairs)), hn::Set(d, 0x0f0f0f0f)));
  const auto place = hn::Or(hn::And(nibbles, hn::Set(bytes, 3)), hn::LoadDup128(bytes, first_of_word));
  const auto of_a = hn::TableLookupBytes(hn::BitCast(bytes, a), place), of_b = hn::TableLookupBytes(hn::BitCast(bytes, b), place);
  const auto byte = hn::IfThenElse(hn::TestBit(nibbles, hn::Set(bytes, 4)), of_b, of_a);
  const auto sign = hn::BitCast(bytes, hn::BroadcastSignBit(hn::BitCast(signed_bytes, byte)));
  return hn::BitCast(d, hn::IfThenElse(hn::TestBit(nibbles, hn::Set(bytes, 8)), sign, byte));
}

HWY_INLINE Word load_words(const void* source, std::size_t first) {
  return hn::LoadU(Words(), static_cast<const uint32_t*>(source) + first);
}

void permute_lanes(void* const* results, const void* const* sources, const Modifiers&) {
  const Words d;
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d))
    hn::StoreU(permute_words(load_words(sources[0], i), load_words(sources[1], i), load_words(sources[2], i)), d,
               static_cast<uint32_t*>(results[0]) + i);
}

/// The selectors of a mode, indexed by the two low bits of c.
template <std::uint16_t c0, std::uint16_t c1, std::uint16_t c2, std::uint16_t c3>
void permute_mode_lanes(void* const* results, const void* const* sources, const Modifiers&) {
  const Words d;
  for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
    const Word c = load_words(sources[2], i);
    const auto odd = hn::TestBit(c, hn::Set(d, 1));
    const Word low = hn::IfThenElse(odd, hn::Set(d, c1), hn::Set(d, c0)), high = hn::IfThenElse(odd, hn::Set(d, c3), hn::Set(d, c2));
    const Word selector = hn::IfThenElse(hn::TestBit(c, hn::Set(d, 2)), high, low);
    hn::StoreU(permute_words(load_words(sources[0], i), load_words(sources[1], i), selector), d, static_cast<uint32_t*>(results[0]) + i);
  }
}

#endif

constexpr Kernel bits_table[] = {
    {"and.b16", each_lane<bitwise_and<uint16_t>>},
    {"and.b32", each_lane<bitwise_and<uint32_t>>},
    {"and.b64", each_lane<bitwise_and<uint64_t>>},
    {"or.b16", each_lane<bitwise_or<uint16_t>>},
    {"or.b32", each_lane<bitwise_or<uint32_t>>},
    {"or.b64", each_lane<bitwise_or<uint64_t>>},
    {"xor.b16", each_lane<bitwise_xor<uint16_t>>},
    {"xor.b32", each_lane<bitwise_xor<uint32_t>>},
    {"xor.b64", each_lane<bitwise_xor<uint64_t>>},
    {"not.b16", each_lane<bitwise_not<uint16_t>>},
    {"not.b32", each_lane<bitwise_not<uint32_t>>},
    {"not.b64", each_lane<bitwise_not<uint64_t>>},
    {"cnot.b16", each_lane<logical_not<uint16_t>>},
    {"cnot.b32", each_lane<logical_not<uint32_t>>},
    {"cnot.b64", each_lane<logical_not<uint64_t>>},
    {"lop3.b32", look_up_lanes},
    {"lop3.predicate.b32", look_up_predicate},
    {"shl.b16", each_lane<shift_left<uint16_t>>},
    {"shl.b32", each_lane<shift_left<uint32_t>>},
    {"shl.b64", each_lane<shift_left<uint64_t>>},
    {"shr.b16", each_lane<shift_right<uint16_t>>},
    {"shr.b32", each_lane<shift_right<uint32_t>>},
    {"shr.b64", each_lane<shift_right<uint64_t>>},
    {"shr.s16", each_lane<shift_right<std::int16_t>>},
    {"shr.s32", each_lane<shift_right<int32_t>>},
    {"shr.s64", each_lane<shift_right<int64_t>>},
    {"shf.l.b32", each_lane<funnel_left>},
    {"shf.r.b32", each_lane<funnel_right>},
    {"popc.b32", each_lane<count_ones<uint32_t>>},
    {"popc.b64", each_lane<count_ones<uint64_t>>},
    {"clz.b32", each_lane<count_leading_zeros<uint32_t>>},
    {"clz.b64", each_lane<count_leading_zeros<uint64_t>>},
    {"brev.b32", each_lane<reverse_bits<uint32_t>>},
    {"brev.b64", each_lane<reverse_bits<uint64_t>>},
    {"bfind.u32", each_lane<find_leading<uint32_t>>},
    {"bfind.s32", each_lane<find_leading<int32_t>>},
    {"bfind.u64", each_lane<find_leading<uint64_t>>},
    {"bfind.s64", each_lane<find_leading<int64_t>>},
    {"bfind.shiftamt.u32", each_lane<find_leading_shift<uint32_t>>},
    {"bfind.shiftamt.s32", each_lane<find_leading_shift<int32_t>>},
    {"bfind.shiftamt.u64", each_lane<find_leading_shift<uint64_t>>},
    {"bfind.shiftamt.s64", each_lane<find_leading_shift<int64_t>>},
    {"bfe.u32", each_lane<extract_bits<uint32_t>>},
    {"bfe.s32", each_lane<extract_bits<int32_t>>},
    {"bfe.u64", each_lane<extract_bits<uint64_t>>},
    {"bfe.s64", each_lane<extract_bits<int64_t>>},
    {"bfi.b32", each_lane<insert_bits<uint32_t>>},
    {"bfi.b64", each_lane<insert_bits<uint64_t>>},
    {"bmsk.b32", each_lane<bit_mask>},
    {"szext.u32", each_lane<extend_bits<uint32_t>>},
    {"szext.s32", each_lane<extend_bits<int32_t>>},
    {"fns.b32", each_lane<find_nth_set>},
    {"prmt.b32", permute_lanes},
    {"prmt.b32.f4e", permute_mode_lanes<0x3210, 0x4321, 0x5432, 0x6543>},
    {"prmt.b32.b4e", permute_mode_lanes<0x5670, 0x6701, 0x7012, 0x0123>},
    {"prmt.b32.rc8", permute_mode_lanes<0x0000, 0x1111, 0x2222, 0x3333>},
    {"prmt.b32.ecl", permute_mode_lanes<0x3210, 0x3211, 0x3222, 0x3333>},
    {"prmt.b32.ecr", permute_mode_lanes<0x0000, 0x1110, 0x2210, 0x3210>},
    {"prmt.b32.rc16", permute_mode_lanes<0x1010, 0x3232, 0x1010, 0x3232>},
};

std::span<const Kernel> bit_kernels_here() {
  return bits_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(bit_kernels_here);

std::span<const Kernel> bit_kernels() {
  return WARPMAT_KERNEL(bit_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
