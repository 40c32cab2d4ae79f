#include "tools/library/offers.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpmat {

std::string_view meaning(Evidence evidence) {
  switch (evidence) {
    case Evidence::measured: return "compared bit for bit with that hardware by this project";
    case Evidence::replayed: return "compared bit for bit with published outputs of that hardware";
    case Evidence::published: return "literature or the ISA's text only";
    case Evidence::assumed: return "deduced from neighbouring generations";
  }
  return "";
}

std::vector<Offer> offers(const Form& form, const Target* only) {
  std::vector<Offer> found;
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

std::string evidence_label(const Offer& offer) {
  const Evidence evidence = offer.lowering->evidence;
  if (!offer.floor || offer.floor->evidence >= evidence) return std::string(name(evidence));
  return fmt::format("{} (floor {})", name(evidence), name(offer.floor->evidence));
}

std::string evidence_text(const std::vector<Offer>& found) {
  std::vector<std::pair<std::string, std::string>> texts;  // label, hardware
  for (const Evidence evidence : all_evidence)
    for (const Offer& o : found) {
      if (o.lowering->evidence != evidence) continue;
      const std::string label = evidence_label(o);
      auto text = std::ranges::find(texts, label, &std::pair<std::string, std::string>::first);
      if (text == texts.end()) text = texts.insert(text, {label, label});
      text->second += fmt::format(" {}", name(o.hardware));
    }
  return fmt::format("{}", fmt::join(texts | std::views::values, "; "));
}

}  // namespace warpmat
