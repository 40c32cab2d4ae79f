#include "gpu/lab/kernels/absent_lanes.h"

#include <array>

#include <fmt/format.h>

namespace warpmat {

EarlyExit early_exit(Random& random, const std::string& word, std::uint32_t warps_of_block, std::uint32_t threads_of_grid) {
  EarlyExit made;
  std::string condition;
  switch (random.below(3)) {
    case 0:
      condition = fmt::format("and.b32 %who, {}, {};\nsetp.ne.u32 %gone, %who, 0;", word, 1u << random.below(32));
      made.parts_warps = true;
      break;
    case 1:
      condition = fmt::format("setp.ge.u32 %gone, %i, {};", random.below(threads_of_grid));
      made.parts_warps = true;
      break;
    default: condition = fmt::format("shr.u32 %who, %thread, 5;\nsetp.eq.u32 %gone, %who, {};", random.below(warps_of_block)); break;
  }
  const std::array<std::string, 3> ways{"exit", "ret", fmt::format("bra {}", exit_label)};
  made.text = fmt::format("{{\n.reg .pred %gone;\n.reg .b32 %who;\n{}\n@%gone {};\n}}", condition, ways[random.below(ways.size())]);
  return made;
}

std::string absent_shuffle(Random& random, int depth, const std::string& result, const std::string& in_range, const std::string& value,
                           const std::string& lane) {
  const char* const mode = std::array{"up", "down", "bfly", "idx"}[random.below(4)];
  const std::uint64_t segments = std::array<std::uint64_t, 3>{0, 0, 16}[random.below(3)];
  return fmt::format("shfl.sync.{}.b32 {}|{}, {}, {}, {}, %m{};", mode, result, in_range, value, lane,
                     segments << 8 | (mode[0] == 'u' ? 0u : 31u), depth);
}

}  // namespace warpmat
