#include "tools/report/lowered_forms.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpmat {

std::string_view meaning(Label label) {
  switch (label) {
    case Label::measured: return "compared bit for bit with that hardware by this project";
    case Label::specified: return "the ISA fixes every bit (data movement, integers, correct rounding); not compared with that hardware";
    case Label::replayed: return "compared bit for bit with outputs of that hardware that others published";
    case Label::published: return "as papers describe that hardware's arithmetic; none of its outputs was compared";
    case Label::assumed: return "not compared: deduced from neighbouring generations, or left to the hardware";
  }
  return "";
}

std::vector<LoweredForm> lowered_forms(const Form& form, const Target* only) {
  std::vector<LoweredForm> found;
  for (const Target& t : targets()) {
    if ((only != nullptr && &t != only) || unavailable(form, t)) continue;
    if (found.empty() || found.back().hardware != t.hardware)
      found.push_back({t.hardware, find_lowering(form, t.hardware), find_floor(form, t.hardware)});
  }
  return found;
}

std::string target_text(const Requirement& r) {
  if (r.baseline != 0) return fmt::format("sm_{}", r.baseline);
  return fmt::format("sm_{}{}", r.families.front(), r.architecture ? "a" : "a/f");
}

std::string evidence_label(const LoweredForm& lowered) {
  const Label label = label_of(*lowered.lowering);
  if (!lowered.floor || lowered.floor->evidence >= lowered.lowering->evidence) return std::string(name(label));
  return fmt::format("{} (floor {})", name(label), name(lowered.floor->evidence));
}

std::string evidence_text(const std::vector<LoweredForm>& found) {
  std::vector<std::pair<std::string, std::string>> texts;  // label, hardware
  for (const Label of_row : all_labels)
    for (const LoweredForm& o : found) {
      if (label_of(*o.lowering) != of_row) continue;
      const std::string label = evidence_label(o);
      auto text = std::ranges::find(texts, label, &std::pair<std::string, std::string>::first);
      if (text == texts.end()) text = texts.insert(text, {label, label});
      text->second += fmt::format(" {}", name(o.hardware));
    }
  std::vector<std::string> said;
  for (const auto& [label, text] : texts) said.push_back(text);
  return fmt::format("{}", fmt::join(said, "; "));
}

}  // namespace warpmat
