#include <warpmat/forms.h>

#include <algorithm>
#include <array>

namespace warpmat {
namespace {

constexpr std::array<std::string_view, 5> label_names{"assumed", "published", "replayed", "specified", "measured"};

/// Whether the ISA leaves no bit of the result open.
bool fixed_by_the_isa(Semantics semantics) {
  switch (semantics) {
    case Semantics::ldmatrix:
    case Semantics::stmatrix:
    case Semantics::movmatrix:
    case Semantics::integer_dot:
    case Semantics::bit_dot: return true;
    default: return false;
  }
}

}  // namespace

std::string_view name(Label label) {
  return label_names[static_cast<std::size_t>(label)];
}

std::optional<Label> find_label(std::string_view name) {
  const auto* const found = std::ranges::find(label_names, name);
  return found == label_names.end() ? std::nullopt : std::optional(static_cast<Label>(found - label_names.begin()));
}

Label label_of(const Lowering& lowering) {
  switch (lowering.evidence) {
    case Evidence::assumed: return Label::assumed;
    case Evidence::published: return fixed_by_the_isa(lowering.semantics) ? Label::specified : Label::published;
    case Evidence::replayed: return Label::replayed;
    case Evidence::measured: return Label::measured;
  }
  return Label::assumed;
}

LayoutLabel layout_label(const Form& form, Hardware hardware) {
  const bool wmma = moves_matrix(form) || form.mnemonic == Mnemonic::wmma_mma;
  // A load's bits are its layout, whatever its format: every shape has one of A.
  const auto is_load = [&](const Form& f) { return f.mnemonic == Mnemonic::wmma_load && f.shape == form.shape; };
  const auto load = std::ranges::find_if(forms(), is_load);
  const Lowering& lowering = *find_lowering(wmma ? *load : form, hardware);
  if (!wmma && lowering.evidence != Evidence::measured) return {Label::specified, "PTX ISA 9.1"};
  return {label_of(lowering), lowering.source};
}

}  // namespace warpmat
