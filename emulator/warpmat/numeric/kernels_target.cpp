#include <warpmat/numeric/kernels_target.h>

#include <bit>
#include <cstddef>

#include <warpmat/numeric/kernels_reach.h>

namespace warpmat {

constinit hwy::ChosenTarget chosen_kernels_target;

void choose_kernels_target() {
  chosen_kernels_target.Update(hwy::SupportedTargets());
}

bool kernels_reach(std::int64_t highway_target) {
  const auto own = static_cast<std::uint64_t>(HWY_CHOSEN_TARGET_SHIFT(highway_target));
  return kernels_target().GetIndex() <= static_cast<std::size_t>(std::countr_zero(own));
}

}  // namespace warpmat
