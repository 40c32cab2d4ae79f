#include <warpmat/version.h>

namespace warpmat {

std::string_view version() {
  return WARPMAT_VERSION;
}

}  // namespace warpmat
