#include <warpmat/warp/trap_kind.h>

#include <array>
#include <cstddef>

namespace warpmat {

std::string_view name(Trap::Kind kind) {
  static constexpr std::array<std::string_view, 11> names{"misuse",   "undefined", "misaligned", "out_of_range", "unwritten", "unordered",
                                                          "deadlock", "limit",     "stopped",    "mispaired",    "refused"};
  static_assert(static_cast<std::size_t>(Trap::Kind::refused) + 1 == names.size());
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace warpmat
