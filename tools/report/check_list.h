#pragma once

#include <warpmat/machine/launch.h>

#include <stdexcept>
#include <string>

#include <fmt/core.h>

#include "tools/report/split.h"

namespace warpmat {

/// Parses --check: "all", "none", or names separated by commas. Throws std::runtime_error.
inline Checks parse_checks(const std::string& text) {
  constexpr struct {
    const char* name;
    bool Checks::*check;
  } names[] = {{"uninitialised", &Checks::uninitialised},
               {"copies", &Checks::copies},
               {"races", &Checks::races},
               {"lanes", &Checks::lanes},
               {"fences", &Checks::fences}};
  Checks checks{.uninitialised = false, .copies = false, .races = false, .lanes = false, .fences = false};
  for (const std::string& item : split(text, ',')) {
    bool known = item == "none";
    for (const auto& [name, check] : names)
      if (item == name || item == "all") checks.*check = known = true;
    if (!known)
      throw std::runtime_error(
          fmt::format("'{}' is no check: there are uninitialised, copies, races, lanes and fences, all and none", item));
  }
  return checks;
}

}  // namespace warpmat
