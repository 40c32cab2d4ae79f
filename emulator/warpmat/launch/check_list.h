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

/// A row of WARPMAT_EACH_CHECK.
struct CheckRow {
  const char* name;
  bool Checks::*check;
  bool Checks::*also;
  bool usual;
  const char* finds;
};
inline constexpr std::array check_rows{
#define WARPMAT_CHECK(name, usual, also, finds) CheckRow{#name, &Checks::name, &Checks::also, usual, finds},
    WARPMAT_EACH_CHECK(WARPMAT_CHECK)
#undef WARPMAT_CHECK
};

/// Another word of `--check` and of WARPMAT_CUDA_CHECK, and what it turns on; null for less than two.
struct CheckWord {
  const char* name;
  std::array<bool Checks::*, 2> checks;
};
inline constexpr std::array check_words{
    CheckWord{"uses", {&Checks::uninitialised, nullptr}},
    // The tools of compute-sanitizer. What memcheck finds in memory is always looked for; of programs it tells calls that fail, too.
    CheckWord{"memcheck", {nullptr, nullptr}},
    CheckWord{"racecheck", {&Checks::races, &Checks::copies}},
    CheckWord{"initcheck", {&Checks::uninitialised, &Checks::global}},
    CheckWord{"synccheck", {&Checks::lanes, &Checks::fences}},
};

/// "uninitialised, copies, races, lanes, fences, stores, global, ... and synccheck".
inline std::string all_check_names() {
  std::string text;
  for (const CheckRow& row : check_rows) text += fmt::format("{}, ", row.name);
  for (const CheckWord& word : check_words)
    text += fmt::format("{}{}", &word == &check_words.front() ? "" : &word == &check_words.back() ? " and " : ", ", word.name);
  return text;
}

/// Whether a list of checks has this one.
inline bool has_check(std::string_view list, std::string_view check) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view name) { return name == check || name == "all"; });
}

/// Parses a list of checks: "all", "none", or names separated by commas. Throws std::runtime_error.
inline Checks parse_checks(std::string_view text) {
  Checks checks;
  for (const CheckRow& row : check_rows) checks.*row.check = false;
  for (const std::string_view item : split(text, ',')) {
    bool known = item == "none";
    const auto turn_on = [&](const char* name, bool Checks::*one, bool Checks::*other) {
      if (item != name && item != "all") return;
      for (bool Checks::*const check : {one, other})
        if (check != nullptr) checks.*check = true;
      known = true;
    };
    for (const CheckRow& row : check_rows) turn_on(row.name, row.check, row.also);
    for (const CheckWord& word : check_words) turn_on(word.name, word.checks[0], word.checks[1]);
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
