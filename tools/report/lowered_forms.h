#pragma once

#include <warpmat/forms.h>
#include <warpmat/instruction.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/floor.h"

namespace warpmat {

/// A form on a hardware that has it.
struct LoweredForm {
  Hardware hardware;
  const Lowering* lowering;
  std::optional<Floor> floor;
};

/// From the strongest on.
inline constexpr Label all_labels[] = {Label::measured, Label::specified, Label::replayed, Label::published, Label::assumed};

/// "compared bit for bit with that hardware by this project".
std::string_view meaning(Label label);

/// The hardware that has `form`: `only`, or all of them if that is nullptr, oldest first.
std::vector<LoweredForm> lowered_forms(const Form& form, const Target* only = nullptr);

/// The targets that satisfy `requirement`: "sm_80" for it and all later ones, "sm_100a/f" or "sm_120a".
std::string target_text(const Requirement& requirement);

/// "replayed", or "replayed (floor published)" if the label of the alignment's floor is weaker than the rest.
std::string evidence_label(const LoweredForm& lowered);

/// "measured sm_90; replayed (floor published) sm_80 sm_86": the strongest evidence first.
std::string evidence_text(const std::vector<LoweredForm>& found);

}  // namespace warpmat
