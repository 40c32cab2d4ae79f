// Look-up of scale factors; included once for each instruction set, as vectors-inl.h is.

#if defined(WARPMAT_FAST_SCALES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WARPMAT_FAST_SCALES_INL_H_
#undef WARPMAT_FAST_SCALES_INL_H_
#else
#define WARPMAT_FAST_SCALES_INL_H_
#endif

#include <warpmat/forms.h>

#include <warpmat/execute/fast/vectors-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::HWY_NAMESPACE {
namespace {

#if HWY_TARGET != HWY_SCALAR

/// Whether a register holds the same word in all lanes.
HWY_INLINE bool is_uniform(const std::uint32_t* words) {
  const U32 d;
  Word different = hn::Zero(d);
  for (int lane = 0; lane < warp_size; lane += vector_rows)
    different = hn::Or(different, hn::Xor(hn::LoadU(d, words + lane), hn::Set(d, words[0])));
  return hn::AllTrue(d, hn::Eq(different, hn::Zero(d)));
}

/// The matrix of scale factors that ids in two registers select; -1 for ids that are undefined or differ between lanes.
HWY_INLINE int selected_matrix(const Form& form, OperandName ids_name, const std::uint32_t* bytes, const std::uint32_t* threads) {
  const ScaleIds ids{bytes[0], threads[0]};
  if (!is_uniform(bytes) || !is_uniform(threads) || undefined_ids(form, ids_name, ids)) return -1;
  return scale_matrix(form, ids_name, ids);
}

/// The code of the factor of a row or column for a group of products; `words` is the register of a matrix that ids select.
HWY_INLINE std::uint32_t scale_factor(const ScalePlan& plan, const std::uint32_t* words, int matrix, int line, int group) {
  const BitPlace& m = plan.matrices[static_cast<std::size_t>(matrix)];
  const BitPlace& l = plan.lines[static_cast<std::size_t>(line)];
  const BitPlace& g = plan.groups[static_cast<std::size_t>(group)];
  return words[m.lane + l.lane + g.lane] >> (m.bit + l.bit + g.bit) & 0xff;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace
}  // namespace warpmat::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
