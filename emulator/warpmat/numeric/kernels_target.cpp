#include <warpmat/numeric/kernels_target.h>

namespace warpmat::inline v0_1 {

hwy::ChosenTarget& kernels_target() {
  static constinit hwy::ChosenTarget target;
  if (!target.IsInitialized()) target.Update(hwy::SupportedTargets());
  return target;
}

}  // namespace warpmat::inline v0_1
