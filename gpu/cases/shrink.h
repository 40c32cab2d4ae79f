#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace warpmat {

// How a random program that fails is shortened, of whatever kind: it has a list `units`, and a unit may have lists of units inside,
// `blocks`.

/// Removes every run of `count` units that it can, the last first; single units also from the lists inside of those that stay. Returns
/// whether there was one.
template <typename Program, typename Units>
bool leave_out(Program& program, std::size_t count, const std::function<Units&(Program&)>& list,
               const std::function<bool(const Program&)>& fails) {
  bool shortened = false;
  for (std::size_t end = list(program).size(); end >= count; --end) {
    if (end > list(program).size()) continue;
    Program shorter = program;
    const auto last = list(shorter).begin() + static_cast<std::ptrdiff_t>(end);
    list(shorter).erase(last - static_cast<std::ptrdiff_t>(count), last);
    if (fails(shorter)) {
      program = std::move(shorter);
      shortened = true;
      continue;
    }
    if constexpr (requires(Program & p) { list(p)[0].blocks; })
      for (std::size_t b = 0; count == 1 && b < list(program)[end - 1].blocks.size(); ++b)
        shortened |= leave_out<Program, Units>(
            program, 1, [&](Program& p) -> Units& { return list(p)[end - 1].blocks[b]; }, fails);
  }
  return shortened;
}

/// The shortest program found for which `fails` holds: no single unit can be removed from it. Precondition: `fails` holds for `program`.
template <typename Program>
Program shrunk(Program program, const std::function<bool(const Program&)>& fails) {
  using Units = decltype(program.units);
  const auto list = [](Program& p) -> Units& { return p.units; };
  for (std::size_t count = std::max<std::size_t>(program.units.size() / 2, 1); count > 0;) {
    const bool shortened = leave_out<Program, Units>(program, count, list, fails);
    if (count > 1)
      count /= 2;
    else if (!shortened)  // one may depend on another's removal
      count = 0;
  }
  return program;
}

}  // namespace warpmat
