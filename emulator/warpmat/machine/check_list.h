#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/launch.h>

namespace warpmat::inline v0_1 {

/// Parses a list of checks: "all", "none", or names separated by commas. Throws std::runtime_error.
inline Checks parse_checks(std::string_view text) {
  constexpr struct {
    const char* name;
    std::array<bool Checks::*, 2> checks;  ///< that the name turns on
  } names[] = {{"uninitialised", {&Checks::uninitialised, &Checks::stores}},
               {"uses", {&Checks::uninitialised, &Checks::uninitialised}},
               {"copies", {&Checks::copies, &Checks::copies}},
               {"races", {&Checks::races, &Checks::races}},
               {"lanes", {&Checks::lanes, &Checks::lanes}},
               {"fences", {&Checks::fences, &Checks::fences}}};
  Checks checks{.uninitialised = false, .copies = false, .races = false, .lanes = false, .fences = false, .stores = false};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view item = text.substr(begin, std::min(text.find(',', begin), text.size()) - begin);
    begin += item.size() + 1;
    bool known = item == "none";
    for (const auto& each : names)
      if (item == each.name || item == "all")
        for (bool Checks::*const check : each.checks) checks.*check = known = true;
    if (!known)
      throw std::runtime_error(
          fmt::format("'{}' is no check: there are uninitialised, uses, copies, races, lanes and fences, all and none", item));
  }
  return checks;
}

/// The checks of a launch where nobody says which.
inline constexpr const char* usual_checks = "uninitialised,copies";

/// Those of a program's launches. Kernels that are right store values that nothing uses: sums of a tile's rows beyond the matrix, for
/// example.
inline constexpr const char* usual_program_checks = "uses,copies";

}  // namespace warpmat::inline v0_1
