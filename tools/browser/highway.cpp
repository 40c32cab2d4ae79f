// Highway's library asks the CPU which vectors it has. Here there is one kind, and only its headers are used.

#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() {
  return HWY_SCALAR;
}

}  // namespace hwy
