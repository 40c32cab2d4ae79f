#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/launch.h>

namespace warpmat::inline v0_1 {

/// A check by its own name, which Python's keyword has behind `check_`.
struct NamedCheck {
  const char* name;
  bool Checks::*check;
};
inline constexpr std::array each_check{NamedCheck{"uninitialised", &Checks::uninitialised},
                                       NamedCheck{"copies", &Checks::copies},
                                       NamedCheck{"races", &Checks::races},
                                       NamedCheck{"lanes", &Checks::lanes},
                                       NamedCheck{"fences", &Checks::fences},
                                       NamedCheck{"stores", &Checks::stores}};
static_assert(sizeof(Checks) == each_check.size(), "a check has no name");

/// A name of `--check` and of WARPMAT_CUDA_CHECK, and what it turns on.
struct CheckName {
  const char* name;
  std::array<bool Checks::*, 2> checks;
};
inline constexpr std::array check_names{CheckName{"uninitialised", {&Checks::uninitialised, &Checks::stores}},
                                        CheckName{"uses", {&Checks::uninitialised, &Checks::uninitialised}},
                                        CheckName{"copies", {&Checks::copies, &Checks::copies}},
                                        CheckName{"races", {&Checks::races, &Checks::races}},
                                        CheckName{"lanes", {&Checks::lanes, &Checks::lanes}},
                                        CheckName{"fences", {&Checks::fences, &Checks::fences}}};

/// "uninitialised, uses, copies, races, lanes and fences".
inline std::string all_check_names() {
  std::string text;
  for (const CheckName& each : check_names)
    text += fmt::format("{}{}", &each == &check_names.front() ? "" : &each == &check_names.back() ? " and " : ", ", each.name);
  return text;
}

/// Parses a list of checks: "all", "none", or names separated by commas. Throws std::runtime_error.
inline Checks parse_checks(std::string_view text) {
  Checks checks;
  for (const CheckName& each : check_names)
    for (bool Checks::*const check : each.checks) checks.*check = false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string_view item = text.substr(begin, std::min(text.find(',', begin), text.size()) - begin);
    begin += item.size() + 1;
    bool known = item == "none";
    for (const CheckName& each : check_names)
      if (item == each.name || item == "all")
        for (bool Checks::*const check : each.checks) checks.*check = known = true;
    if (!known) throw std::runtime_error(fmt::format("'{}' is no check: there are {}, all and none", item, all_check_names()));
  }
  return checks;
}

/// The checks of a launch where nobody says which.
inline constexpr const char* usual_checks = "uninitialised,copies";

/// Those of a program's launches. Kernels that are right store values that nothing uses: sums of a tile's rows beyond the matrix, for
/// example.
inline constexpr const char* usual_program_checks = "uses,copies";

}  // namespace warpmat::inline v0_1
