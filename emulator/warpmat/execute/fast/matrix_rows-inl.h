// 8x8 matrices of 16-bit elements, a row a vector; included once for each instruction set, as vectors-inl.h is.

#if defined(WARPMAT_FAST_MATRIX_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_MATRIX_ROWS_INL_H_
#undef WARPMAT_FAST_MATRIX_ROWS_INL_H_
#else
#define WARPMAT_FAST_MATRIX_ROWS_INL_H_
#endif

#include <cstdint>

#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

constexpr int matrix_rows = 8;

using D16 = hn::Full128<std::uint16_t>;
using D32 = hn::Full128<std::uint32_t>;
using D64 = hn::Full128<std::uint64_t>;
using Row = hn::Vec<D16>;

HWY_INLINE void transpose(Row* m) {
  Row pairs[8], fours[8];
  for (int i = 0; i < 4; ++i) {  // interleave the elements of rows i and i + 4
    pairs[2 * i] = hn::InterleaveLower(m[i], m[i + 4]);
    pairs[2 * i + 1] = hn::InterleaveUpper(D16(), m[i], m[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    fours[2 * i] = hn::InterleaveLower(pairs[i], pairs[i + 4]);
    fours[2 * i + 1] = hn::InterleaveUpper(D16(), pairs[i], pairs[i + 4]);
  }
  for (int i = 0; i < 4; ++i) {
    m[2 * i] = hn::InterleaveLower(fours[i], fours[i + 4]);
    m[2 * i + 1] = hn::InterleaveUpper(D16(), fours[i], fours[i + 4]);
  }
}

HWY_INLINE Row load_row(const std::uint8_t* bytes) {
  return hn::BitCast(D16(), hn::LoadU(hn::Full128<std::uint8_t>(), bytes));
}
HWY_INLINE void store_row(Row row, std::uint8_t* bytes) {
  hn::StoreU(hn::BitCast(hn::Full128<std::uint8_t>(), row), hn::Full128<std::uint8_t>(), bytes);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
