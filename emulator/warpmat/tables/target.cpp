#include <warpmat/forms.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <warpmat/tables/cards.h>
#include <warpmat/tables/unknown_target.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

using enum Target::Features;

// Names: PTX ISA 9.1 section 11.1.2. First versions: release notes of that section, confirmed with ptxas 13.0 (which already accepts sm_88
// under 7.3, though the ISA introduces it in 9.0). Families: PTX ISA 9.1 section 5.1.2 and the table of .target in section 11.1.2.
constexpr std::array table{
    Target{"sm_70", 70, 0, Hardware::sm_70, baseline, {6, 0}},
    Target{"sm_75", 75, 0, Hardware::sm_75, baseline, {6, 3}},
    Target{"sm_80", 80, 0, Hardware::sm_80, baseline, {7, 0}},
    Target{"sm_86", 86, 0, Hardware::sm_86, baseline, {7, 1}},
    Target{"sm_87", 87, 0, Hardware::sm_87, baseline, {7, 4}},
    Target{"sm_88", 88, 0, Hardware::sm_88, baseline, {7, 3}},
    Target{"sm_89", 89, 0, Hardware::sm_89, baseline, {7, 8}},
    Target{"sm_90", 90, 0, Hardware::sm_90, baseline, {7, 8}},
    Target{"sm_90a", 90, 90, Hardware::sm_90, architecture, {8, 0}},
    Target{"sm_100", 100, 0, Hardware::sm_100, baseline, {8, 6}},
    Target{"sm_100f", 100, 100, Hardware::sm_100, family, {8, 8}},
    Target{"sm_100a", 100, 100, Hardware::sm_100, architecture, {8, 6}},
    Target{"sm_103", 103, 0, Hardware::sm_103, baseline, {8, 8}},
    Target{"sm_103f", 103, 100, Hardware::sm_103, family, {8, 8}},
    Target{"sm_103a", 103, 100, Hardware::sm_103, architecture, {8, 8}},
    Target{"sm_110", 110, 0, Hardware::sm_110, baseline, {9, 0}},
    Target{"sm_110f", 110, 110, Hardware::sm_110, family, {9, 0}},
    Target{"sm_110a", 110, 110, Hardware::sm_110, architecture, {9, 0}},
    Target{"sm_120", 120, 0, Hardware::sm_120, baseline, {8, 7}},
    Target{"sm_120f", 120, 120, Hardware::sm_120, family, {8, 8}},
    Target{"sm_120a", 120, 120, Hardware::sm_120, architecture, {8, 7}},
    Target{"sm_121", 121, 0, Hardware::sm_121, baseline, {8, 8}},
    Target{"sm_121f", 121, 120, Hardware::sm_121, family, {8, 8}},
    Target{"sm_121a", 121, 120, Hardware::sm_121, architecture, {8, 8}},
};

}  // namespace

std::span<const Target> targets() {
  return table;
}

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Target::name);
  return found == table.end() ? nullptr : &*found;
}

const Target* find_target_or_card(std::string_view name) {
  if (const Target* found = find_target(name)) return found;
  const std::optional<Hardware> hardware = hardware_of_card(name);
  if (!hardware) return nullptr;
  const Target* best = nullptr;
  for (const Target& t : table)
    if (t.hardware == *hardware && (best == nullptr || t.features == architecture)) best = &t;
  return best;
}

const Target* listed(const Target& target) {
  const Target* same = find_target(target.name);
  return same != nullptr && *same == target ? same : nullptr;
}

const Target& target(std::string_view name) {
  if (const Target* found = find_target_or_card(name)) return *found;
  std::vector<std::string_view> names;
  for (const Target& t : table) names.push_back(t.name);
  throw UnknownTarget(format_text("unknown target '{}': there are {}; or a card's name, such as H100, RTX 4090", name, comma_list(names)));
}

std::string_view name(Hardware hardware) {
  return std::ranges::find(table, hardware, &Target::hardware)->name;
}

std::string to_string(PtxVersion version) {
  return format_text("{}.{}", version.major, version.minor);
}

std::string_view name(Evidence evidence) {
  switch (evidence) {
    case Evidence::assumed: return "assumed";
    case Evidence::published: return "published";
    case Evidence::replayed: return "replayed";
    case Evidence::measured: return "measured";
  }
  return "";
}

}  // namespace warpmat
