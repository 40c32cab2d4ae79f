#include <fmt/core.h>
#include <warpmat/text.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "gpu/compare/sweep.h"
#include "gpu/lab/mutants/refute.h"

namespace warpmat {
namespace {

/// A mutant that recorded answers do not refute, the forms concerned, and the reason.
struct Survivor {
  std::string_view change;
  bool (*of)(const Form& form);
  std::string_view forms, reason;
};

constexpr std::array<Survivor, 0> survivors{};

struct Count {
  std::set<const Form*> forms;
  std::size_t mutants = 0, killed = 0;
};

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string summary(const std::vector<Verdict>& verdicts) {
  std::set<const Form*> forms;
  std::size_t killed = 0;
  for (const Verdict& verdict : verdicts) {
    forms.insert(verdict.form);
    killed += verdict.killed;
  }
  return fmt::format("{} of {}: {} killed by recorded answers alone, {} survive.\n\n", plural(verdicts.size(), "mutant"),
                     plural(forms.size(), "form"), killed, verdicts.size() - killed);
}

std::string table_of_changes(const std::vector<Verdict>& verdicts) {
  std::vector<std::pair<std::string, Count>> changes;
  for (const Verdict& verdict : verdicts) {
    const std::string change = verdict.change.substr(0, verdict.change.find(':'));  // layouts without the two bits
    auto found = std::ranges::find(changes, change, &std::pair<std::string, Count>::first);
    if (found == changes.end()) found = changes.insert(changes.end(), {change, {}});
    found->second.forms.insert(verdict.form);
    ++found->second.mutants;
    found->second.killed += verdict.killed;
  }
  std::string text = "| mutant | forms that it concerns | mutants | killed |\n|---|---|---|---|\n";
  for (const auto& [change, count] : changes)
    text += fmt::format("| {} | {} | {} | {} |\n", change, count.forms.size(), count.mutants, count.killed);
  return text;
}

std::string table_of_survivors(const std::vector<Verdict>& verdicts) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> alive;
  for (const Verdict& verdict : verdicts)
    if (!verdict.killed)
      alive[{verdict.change, std::string(reason_to_survive(*verdict.form, verdict.change).value_or("unknown"))}].push_back(
          verdict.form->opcode);
  if (alive.empty()) return "No mutant survives.\n";
  std::string text = "| survivor | forms | why |\n|---|---|---|\n";
  for (const auto& [key, forms] : alive) text += fmt::format("| {} | `{}` | {} |\n", key.first, joined(forms, "` `"), key.second);
  return text;
}

/// The newest target of each hardware without recorded answers, with the number of mutants that answers could refute there.
std::string hardware_without_answers() {
  std::map<Hardware, std::set<const Form*>> forms;
  std::map<Hardware, std::size_t> mutants;
  for (const Target& target : targets()) {
    if (target.hardware == Hardware::sm_90) continue;
    for (const Form* form : forms_of(target))
      if (forms[target.hardware].insert(form).second)
        mutants[target.hardware] += mutants_of(*form, *find_lowering(*form, target.hardware)).size() + layout_mutants_of(*form).size();
  }
  std::string text;
  for (const auto& [hardware, count] : mutants) text += fmt::format("| {} | {} | {} |\n", name(hardware), forms[hardware].size(), count);
  return text;
}

}  // namespace

std::optional<std::string_view> reason_to_survive(const Form& form, std::string_view change) {
  const auto* found = std::ranges::find_if(survivors, [&](const Survivor& s) { return s.change == change && s.of(form); });
  if (found == survivors.end()) return std::nullopt;
  return found->reason;
}

std::string known_limits_markdown() {
  std::string text =
      "A mutant is the emulator with one change: a constant or a rule of the arithmetic, or a layout with two index bits of an operand "
      "(element inside the register, lane, register) exchanged. Forms that share a layout have one mutant of it. So do forms of `wmma.mma` "
      "that differ only in the layouts of A and B in memory. No recorded answer shows that the second half of a `wmma.mma` reads what the "
      "first has written, because their operands do not overlap; random programs do (docs/reference/numerics.md). Recorded answers of an "
      "H200 refute "
      "every mutant on sm_90";
  if (survivors.empty()) {
    text += ".";
  } else {
    text += " but these:\n\n| survivor | forms | why |\n|---|---|---|\n";
    for (const Survivor& s : survivors) text += fmt::format("| {} | {} | {} |\n", s.change, s.forms, s.reason);
  }
  text += "\n\nHardware without recorded answers refutes no mutant: the labels say how its arithmetic is known.\n\n";
  return text + "| hardware | forms | mutants that no answers refute |\n|---|---|---|\n" + hardware_without_answers();
}

std::string mutants_markdown(const std::vector<Verdict>& verdicts) {
  return summary(verdicts) + table_of_changes(verdicts) + "\n" + table_of_survivors(verdicts);
}

}  // namespace warpmat
