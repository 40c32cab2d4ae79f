#include "tools/report/meant_forms.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <warpmat/forms.h>
#include <warpmat/words/words.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

#include "tools/report/nearest.h"

namespace warpmat {
namespace {

/// The forms by the names of the machine instructions that they become on some target.
const std::multimap<std::string, const Form*>& by_machine_name() {
  static const std::multimap<std::string, const Form*> names = [] {
    std::set<std::pair<std::string, const Form*>> all;
    for (const Form& form : forms())
      for (const std::string& name : machine_names(form, nullptr)) all.emplace(name, &form);
    return std::multimap<std::string, const Form*>(all.begin(), all.end());
  }();
  return names;
}

/// Of the machine instruction `name`; if there is none, of those that have more parts.
std::vector<const Form*> of_machine(const std::string& name) {
  std::vector<const Form*> exact, longer;
  for (const auto& [machine, form] : by_machine_name()) {
    if (machine == name) exact.push_back(form);
    if (machine.starts_with(name + ".")) longer.push_back(form);
  }
  std::vector<const Form*> found = exact.empty() ? longer : exact;
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// The parts of an opcode, each as often as it stands there; shared::cta is shared, and ordered metadata is a qualifier beside sp.
std::multiset<std::string> opcode_parts(std::string_view opcode) {
  std::multiset<std::string> parts;
  for (const std::string_view part : split(opcode, '.')) {
    if (part.starts_with("sp::")) parts.insert("sp");
    parts.emplace(part == "shared::cta" ? "shared" : part);
  }
  return parts;
}

bool has_all(const std::multiset<std::string>& parts, const std::multiset<std::string>& wanted) {
  return std::ranges::includes(parts, wanted);
}

}  // namespace

std::set<std::string> machine_names(const Form& form, const Target* only) {
  std::set<std::string> names;
  for (const Target& target : targets()) {
    if ((only != nullptr && only != &target) || unavailable(form, target)) continue;
    if (const Lowering* lowering = find_lowering(form, target.hardware))
      if (const auto name = sass_name(form, *lowering)) names.insert(*name);
  }
  return names;
}

MeantForms forms_meant(std::string_view spelling) {
  if (const Form* form = find_form(spelling)) return {{form}, {}};
  if (const WgmmaForm* form = find_wgmma(spelling)) return {{}, {form}};
  std::string upper(spelling);
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (std::vector<const Form*> found = of_machine(upper); !found.empty()) return {std::move(found), {}};
  const std::multiset<std::string> wanted = opcode_parts(spelling);
  MeantForms meant;
  const auto fits = [&](const std::string& opcode) {
    const std::multiset<std::string> parts = opcode_parts(opcode);
    return has_all(parts, wanted) && (parts.contains("sp") == wanted.contains("sp"));
  };
  for (const Form& form : forms())
    if (fits(form.opcode)) meant.warp.push_back(&form);
  for (const WgmmaForm& form : wgmma_forms())
    if (fits(form.opcode)) meant.warpgroup.push_back(&form);
  return meant;
}

namespace {

/// The tile of one warp, which has the operands.
const Form& tile_of(const Form& form) {
  return form;
}
const Form& tile_of(const WgmmaForm& form) {
  return *form.tile;
}

int accumulator_bits(const Form& form) {
  const Operand* const d = form.find_operand(OperandName::d);
  return d == nullptr || !d->format ? 0 : row(*d->format).bits;
}

/// The opcodes of the forms whose accumulators are the widest.
template <typename AnyForm>
std::vector<std::string> widest(const std::vector<const AnyForm*>& forms) {
  int most = 0;
  for (const AnyForm* form : forms) most = std::max(most, accumulator_bits(tile_of(*form)));
  std::vector<std::string> opcodes;
  for (const AnyForm* form : forms)
    if (accumulator_bits(tile_of(*form)) == most) opcodes.push_back(form->opcode);
  return opcodes;
}

}  // namespace

void refuse_machine_name(std::string_view spelling) {
  if (spelling.empty() || std::isupper(static_cast<unsigned char>(spelling.front())) == 0) return;
  std::vector<std::string_view> names;
  for (const auto& [name, form] : by_machine_name()) names.push_back(name);
  const std::string_view near = nearest(spelling, names);
  if (!near.empty())
    throw std::invalid_argument(fmt::format("no matrix instruction of a GPU is called '{}'; the nearest is {}", spelling, near));
}

std::string opcode_meant(const std::string& spelling, std::string& note) {
  constexpr std::size_t most = 4;
  const MeantForms meant = forms_meant(spelling);
  if (meant.size() == 0) refuse_machine_name(spelling);
  if (meant.size() == 0) return spelling;
  if (meant.size() == 1) return meant.opcode();
  std::vector<std::string> opcodes = widest(meant.warp);
  for (std::string& opcode : widest(meant.warpgroup)) opcodes.push_back(std::move(opcode));
  if (opcodes.size() == 1) {
    note = fmt::format("'{}' may be {} forms; this is {}", spelling, meant.size(), opcodes.front());
    return opcodes.front();
  }
  const bool cut = opcodes.size() > most;
  const std::size_t count = opcodes.size();
  opcodes.resize(std::min(count, most));
  throw std::invalid_argument(
      fmt::format("'{}' may be {} forms; write more of one: {}{}", spelling, count, fmt::join(opcodes, ", "), cut ? ", ..." : ""));
}

std::string opcode_meant(const std::string& spelling) {
  std::string note;
  std::string opcode = opcode_meant(spelling, note);
  if (!note.empty()) fmt::print(stderr, "warpmat: {}\n", note);
  return opcode;
}

}  // namespace warpmat
