#include <warpmat/numeric/kernels_target.h>

namespace warpmat {

constinit hwy::ChosenTarget chosen_kernels_target;

void choose_kernels_target() {
  chosen_kernels_target.Update(hwy::SupportedTargets());
}

}  // namespace warpmat
