// Kernels of the video instructions, compiled once for each instruction set.

#include <warpmat/scalar/kernels.h>
#include <warpmat/scalar/video.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "warpmat/scalar/video.cpp"
#include <hwy/foreach_target.h>

#include <warpmat/scalar/lanes-inl.h>

HWY_BEFORE_NAMESPACE();
namespace warpmat::scalar::HWY_NAMESPACE {
namespace {

/// A scalar video instruction has a third source only if it merges or combines.
template <VideoOperation operation>
void scalar_video(void* const* results, const void* const* sources, const Modifiers& m) {
  alignas(64) static constexpr std::uint32_t none[32] = {};
  const bool third = m.video.needs_third_source();
  const void* const three[] = {sources[0], sources[1], third ? sources[2] : none};
  each_lane<video<operation>>(results, three, m);
}

constexpr Kernel video_table[] = {
    {"vadd", scalar_video<video_add>},
    {"vsub", scalar_video<video_subtract>},
    {"vabsdiff", scalar_video<video_difference>},
    {"vmin", scalar_video<video_minimum>},
    {"vmax", scalar_video<video_maximum>},
    {"vshl", scalar_video<video_shift_left>},
    {"vshr", scalar_video<video_shift_right>},
    {"vset", scalar_video<video_compare>},
    {"vmad", each_lane<video_multiply_add>},
    {"vadd2", each_lane<video_simd<video_add, 2>>},
    {"vsub2", each_lane<video_simd<video_subtract, 2>>},
    {"vavrg2", each_lane<video_simd<video_average, 2>>},
    {"vabsdiff2", each_lane<video_simd<video_difference, 2>>},
    {"vmin2", each_lane<video_simd<video_minimum, 2>>},
    {"vmax2", each_lane<video_simd<video_maximum, 2>>},
    {"vset2", each_lane<video_simd<video_compare, 2>>},
    {"vadd4", each_lane<video_simd<video_add, 4>>},
    {"vsub4", each_lane<video_simd<video_subtract, 4>>},
    {"vavrg4", each_lane<video_simd<video_average, 4>>},
    {"vabsdiff4", each_lane<video_simd<video_difference, 4>>},
    {"vmin4", each_lane<video_simd<video_minimum, 4>>},
    {"vmax4", each_lane<video_simd<video_maximum, 4>>},
    {"vset4", each_lane<video_simd<video_compare, 4>>},
};

std::span<const Kernel> video_kernels_here() {
  return video_table;
}

}  // namespace
}  // namespace warpmat::scalar::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace warpmat::scalar {

HWY_EXPORT(video_kernels_here);

std::span<const Kernel> video_kernels() {
  return WARPMAT_KERNEL(video_kernels_here)();
}

}  // namespace warpmat::scalar
#endif
