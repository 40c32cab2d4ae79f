#include "tools/report/explanation_pair.h"

#include <fmt/core.h>

#include <stdexcept>
#include <string_view>

#include "gpu/models/variant.h"

namespace warpmat {
namespace {

/// A form with its lowering and target.
struct Computer {
  const Form* form;
  const Target* target;
  const Lowering* lowering;
  std::string_view tile_of{};  ///< the wgmma or tcgen05.mma of which the form is the tile

  explicit Computer(const Instruction& i) : form(&i.form()), target(&i.target()), lowering(&i.lowering()) {}
  explicit Computer(const WgmmaForm& w) : form(w.tile), target(find_target("sm_90a")), lowering(&lowering_of(w)), tile_of(w.opcode) {}
  explicit Computer(const NamedProduct& n) : form(n.product.tile), target(n.target), lowering(n.product.lowering), tile_of(n.opcode) {}

  Explanation explain(const Call& call, const Element& element, const ExecutionOptions& options) const {
    Explanation explanation = warpmat::explain(*form, *target, *lowering, call, element, options);
    explanation.tile_of = tile_of;
    if (!tile_of.empty()) explanation.as = fmt::format("{} on {}", tile_of.substr(0, tile_of.find('.')), target->name);
    return explanation;
  }
};

/// An explanation with another model: one of the tables, or one with changed constants. No hardware is known to have it.
class Mutant {
 public:
  Mutant(const Computer& of, const std::string& text)
      : name_(text), varied_(*of.form, *of.lowering, parse_variant(text)), lowering_(without_card(varied_.lowering())) {
    if (!varied_.deviations().empty())
      throw std::invalid_argument(
          fmt::format("--against {}: explain shows models with other constants; other rules are shown by 'warpmat distinguish'", text));
  }
  Mutant(const Mutant&) = delete;
  Mutant& operator=(const Mutant&) = delete;

  Explanation explain(Computer of, const Call& call, const Element& element, const ExecutionOptions& options) const {
    of.lowering = &lowering_;
    Explanation explanation = of.explain(call, element, options);
    explanation.as = name_;
    return explanation;
  }

 private:
  static Lowering without_card(const Lowering& row) {
    return {row.machine, row.semantics, row.model, Evidence::assumed, "a mutant, no card", row.exceptions};
  }

  std::string name_;
  VariedLowering varied_;
  Lowering lowering_;
};

ExplanationPair pair_of(const Computer& computer, const Call& call, const Element& element, const std::string& against,
                        const ExecutionOptions& options) {
  ExplanationPair pair{computer.explain(call, element, options), std::nullopt, nullptr};
  if (against == "f32") {
    pair.other = explain_as_f32(*computer.form, *computer.target, *computer.lowering, call, element, options);
  } else if (against.starts_with("sm_") || find_target_or_card(against) != nullptr) {
    const Computer other(Instruction(computer.form->opcode, against));
    if (*other.form != *computer.form)
      throw std::invalid_argument(fmt::format("the registers of {} hold other elements on {} than on {}: explain each by itself",
                                              computer.form->opcode, against, computer.target->name));
    pair.other = other.explain(call, element, options);
  } else if (!against.empty()) {
    const auto mutant = std::make_shared<Mutant>(computer, against);
    pair.other = mutant->explain(computer, call, element, options);
    pair.model = mutant;
  }
  return pair;
}

}  // namespace

ExplanationPair explain_pair(const Instruction& instruction, const Call& call, const Element& element, const std::string& against,
                             const ExecutionOptions& options) {
  return pair_of(Computer(instruction), call, element, against, options);
}

ExplanationPair explain_pair(const WgmmaForm& form, const Call& call, const Element& element, const std::string& against,
                             const ExecutionOptions& options) {
  return pair_of(Computer(form), call, element, against, options);
}

ExplanationPair explain_pair(const NamedProduct& named, const Call& call, const Element& element, const std::string& against,
                             const ExecutionOptions& options) {
  if (named.product.k96())
    throw std::invalid_argument(fmt::format("{} with K = 96 consists of no mma whose steps could be shown", named.opcode));
  return pair_of(Computer(named), call, element, against, options);
}

}  // namespace warpmat
