#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include <warpmat/launch.h>
#include <warpmat/words/words.h>

namespace warpmat {

/// A member of Checks and its name, which is also that of a field of Python's Checks.
struct CheckMember {
  const char* name;
  bool Checks::*check;
};
inline constexpr std::array each_check{CheckMember{"uninitialised", &Checks::uninitialised},
                                       CheckMember{"copies", &Checks::copies},
                                       CheckMember{"races", &Checks::races},
                                       CheckMember{"lanes", &Checks::lanes},
                                       CheckMember{"fences", &Checks::fences},
                                       CheckMember{"stores", &Checks::stores},
                                       CheckMember{"global", &Checks::global}};
static_assert(sizeof(Checks) == each_check.size(), "a check has no name");

/// A word of `--check` and of WARPMAT_CUDA_CHECK, and what it turns on; null for less than two.
struct CheckOption {
  const char* name;
  std::array<bool Checks::*, 2> checks;

  void turn_on(Checks& all) const {
    for (bool Checks::*const check : checks)
      if (check != nullptr) all.*check = true;
  }
};
/// The word that turns on one check by its name.
constexpr CheckOption option_of(bool Checks::*check) {
  const auto* const one = std::ranges::find(each_check, check, &CheckMember::check);
  return {one->name, {check, nullptr}};
}

inline constexpr std::array check_names{
    CheckOption{"uninitialised", {&Checks::uninitialised, &Checks::stores}},
    CheckOption{"uses", {&Checks::uninitialised, nullptr}},
    option_of(&Checks::copies),
    option_of(&Checks::races),
    option_of(&Checks::lanes),
    option_of(&Checks::fences),
    CheckOption{"global", {&Checks::uninitialised, &Checks::global}},
    // The tools of compute-sanitizer. What memcheck finds in memory is always looked for; of programs it tells calls that fail, too.
    CheckOption{"memcheck", {nullptr, nullptr}},
    CheckOption{"racecheck", {&Checks::races, &Checks::copies}},
    CheckOption{"initcheck", {&Checks::uninitialised, &Checks::global}},
    CheckOption{"synccheck", {&Checks::lanes, &Checks::fences}},
};

/// "uninitialised, uses, copies, races, lanes, fences, ... and synccheck".
inline std::string all_check_names() {
  std::string text;
  for (const CheckOption& each : check_names)
    text += fmt::format("{}{}", &each == &check_names.front() ? "" : &each == &check_names.back() ? " and " : ", ", each.name);
  return text;
}

/// Whether a list of checks has this one.
inline bool has_check(std::string_view list, std::string_view check) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view name) { return name == check || name == "all"; });
}

/// Parses a list of checks: "all", "none", or names separated by commas. Throws std::runtime_error.
inline Checks parse_checks(std::string_view text) {
  Checks checks;
  for (const CheckMember& each : each_check) checks.*each.check = false;
  for (const std::string_view item : split(text, ',')) {
    bool known = item == "none";
    for (const CheckOption& each : check_names)
      if (item == each.name || item == "all") {
        each.turn_on(checks);
        known = true;
      }
    if (!known) throw std::runtime_error(fmt::format("'{}' is no check: there are {}, all and none", item, all_check_names()));
  }
  return checks;
}

/// The checks of a launch that does not say which.
inline constexpr const char* usual_checks = "uninitialised,copies";

/// Those of a program's launches. Kernels that are right store values that nothing uses: sums of a tile's rows beyond the matrix, for
/// example.
inline constexpr const char* usual_program_checks = "uses,copies";

}  // namespace warpmat
