#pragma once

#include <algorithm>
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
    bool Checks::*check;
  } names[] = {{"uninitialised", &Checks::uninitialised},
               {"copies", &Checks::copies},
               {"races", &Checks::races},
               {"lanes", &Checks::lanes},
               {"fences", &Checks::fences}};
  Checks checks{.uninitialised = false, .copies = false, .races = false, .lanes = false, .fences = false};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view item = text.substr(begin, std::min(text.find(',', begin), text.size()) - begin);
    begin += item.size() + 1;
    bool known = item == "none";
    for (const auto& each : names)
      if (item == each.name || item == "all") checks.*each.check = known = true;
    if (!known)
      throw std::runtime_error(
          fmt::format("'{}' is no check: there are uninitialised, copies, races, lanes and fences, all and none", item));
  }
  return checks;
}

/// The checks that are made where nobody says which.
inline constexpr const char* usual_checks = "uninitialised,copies";

}  // namespace warpmat::inline v0_1
