#include <warpmat/execute/fast/instruction_sets.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <warpmat/numeric/kernels_target.h>
#include <warpmat/numeric/persistent.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

struct InstructionSet {
  std::string_view name;
  std::int64_t targets;  ///< Highway's targets; several if they differ in extensions of one set
};

std::string_view name_of(std::int64_t highway_target) {
  const std::string_view name = hwy::TargetName(highway_target);
  return name.starts_with("AVX3") ? "AVX-512" : name;
}

/// Highway gives better targets lower numbers.
std::vector<InstructionSet> find_sets() {
  std::vector<InstructionSet> sets;
  std::int64_t rest = hwy::SupportedTargets() & HWY_TARGETS & ~(HWY_SCALAR | HWY_EMU128);
  for (; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    if (sets.empty() || sets.back().name != name_of(target)) sets.push_back({name_of(target), 0});
    sets.back().targets |= target;
  }
  return sets;
}

const std::vector<InstructionSet>& sets() {
  static constinit Persistent<std::vector<InstructionSet>> found;
  return found.get(find_sets);
}

}  // namespace

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> names;
  for (const InstructionSet& set : sets()) names.push_back(set.name);
  return names;
}

void use_instruction_set(std::string_view name) {
  const auto found = std::ranges::find(sets(), name, &InstructionSet::name);
  if (found == sets().end())
    throw std::invalid_argument(format_text("no kernels for '{}' on this CPU; there are: {}", name, comma_list(instruction_sets())));
  kernels_target().Update(found->targets);
}

void use_best_instruction_set() {
  kernels_target().Update(hwy::SupportedTargets());
}

}  // namespace warpmat
