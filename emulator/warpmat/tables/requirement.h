#pragma once

#include <warpmat/forms.h>

namespace warpmat {

/// sm_`baseline` and every later target.
constexpr Requirement since(int baseline, PtxVersion ptx) {
  return {.baseline = baseline, .ptx = ptx};
}

}  // namespace warpmat
