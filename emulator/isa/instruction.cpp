#include <warpmat/isa/instruction.h>

#include <cassert>
#include <stdexcept>

#include <fmt/format.h>

namespace warpmat {
namespace {

const Form& known_form(std::string_view opcode) {
  if (const Form* form = find_form(opcode)) return *form;
  throw std::invalid_argument(explain_unknown_opcode(opcode));
}

}  // namespace

Instruction::Instruction(std::string_view opcode, std::string_view target_name)
    : Instruction(known_form(opcode), warpmat::target(target_name)) {}

Instruction::Instruction(const Form& form, const Target& target, PtxVersion version)
    : form_(&form), target_(&target), lowering_(find_lowering(form, target.hardware)) {
  if (const auto reason = unavailable(form, target, version)) throw std::invalid_argument(*reason);
  assert(lowering_ != nullptr);  // the lowering table has a row for every form of a target
}

std::string machine_name(const Form& form, const Lowering& lowering) {
  std::string text(lowering.machine);
  const auto replace = [&](std::string_view place, const std::string& by) {
    if (const std::size_t at = text.find(place); at != std::string::npos) text.replace(at, place.size(), by);
  };
  replace("{sp}", form.sparsity == Sparsity::dense ? "" : "SP.");
  replace("{mnk}", fmt::format("{}{}{}", form.shape.m, form.shape.n, form.shape.k));
  replace("{mnh}", fmt::format("{}{}{}", form.shape.m, form.shape.n, form.shape.k / 2));
  return text;
}

}  // namespace warpmat
