#include <warpmat/version.h>

namespace warpmat::inline v0_1 {

std::string_view version() {
  return WARPMAT_VERSION;
}

}  // namespace warpmat::inline v0_1
