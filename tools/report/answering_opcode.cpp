#include "tools/report/answering_opcode.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/opcode.h>
#include <warpmat/wgmma.h>
#include <warpmat/words/words.h>

#include "tools/report/meant_forms.h"
#include "tools/report/operand_layout.h"
#include "tools/report/ptx_file.h"

namespace warpmat {
namespace {

[[noreturn]] void refuse_opcode(const std::string& opcode) {
  refuse_file(opcode);
  refuse_machine_name(opcode);
  const std::string mnemonic(mnemonic_of(opcode));
  if (mnemonic != "wgmma" && !is_matrix_mnemonic(mnemonic))
    throw std::invalid_argument(fmt::format(
        "'{}' is in no opcode of ldmatrix, stmatrix, movmatrix, mma, wmma and wgmma, and no name of a machine instruction such as "
        "HMMA.16816.F32; 'warpmat list' shows all",
        opcode));
  const InstructionKind kind = mnemonic == "wgmma" ? InstructionKind::warpgroup : InstructionKind::matrix;
  throw std::invalid_argument(explain_unknown_instruction(opcode, kind));
}

const Operand* operand_of(const Form& form, OperandName name) {
  const Operand* const operand = form.find_operand(name);
  return operand != nullptr && has_layout(form, *operand) ? operand : nullptr;
}

/// Whether an operand's elements lie at the same places in both forms, in registers or in rows of memory.
bool lies_alike(const Form& a, const Form& b, OperandName name) {
  const Operand &of_a = *operand_of(a, name), &of_b = *operand_of(b, name);
  if (is_address(of_a) || is_address(of_b))
    return is_address(of_a) == is_address(of_b) && a.number == b.number && a.shape == b.shape && a.memory_bits == b.memory_bits;
  return of_a.fragment == of_b.fragment;
}

bool lies_alike(const WgmmaForm& a, const WgmmaForm& b, OperandName name) {
  return a.shape == b.shape && a.tile->operand(name).fragment == b.tile->operand(name).fragment;
}

/// One of each class of `all` with the same layout.
template <typename AnyForm>
std::vector<const AnyForm*> unlike(const std::vector<const AnyForm*>& all, OperandName name) {
  std::vector<const AnyForm*> classes;
  for (const AnyForm* form : all)
    if (std::ranges::none_of(classes, [&](const AnyForm* other) { return lies_alike(*form, *other, name); })) classes.push_back(form);
  return classes;
}

/// The formats that a spelling names: "e4m3" of mma.m16n8k32.e4m3.
std::vector<Format> formats_of(const std::string& spelling) {
  std::vector<Format> formats;
  for (const std::string_view part : split(spelling, '.'))
    if (const FormatRow* format = find_format(part)) formats.push_back(format->format);
  return formats;
}

/// Keeps the forms whose operand has one of `formats`, where there are any.
template <typename AnyForm, typename OperandOf>
void keep_formats(std::vector<const AnyForm*>& all, const std::vector<Format>& formats, OperandOf operand_of_form) {
  std::vector<const AnyForm*> kept;
  for (const AnyForm* form : all)
    if (const auto format = operand_of_form(*form).format; format && std::ranges::count(formats, *format) != 0) kept.push_back(form);
  if (!kept.empty()) all = std::move(kept);
}

}  // namespace

AnsweringOpcode answering_opcode(const std::string& spelling, const std::string& operand) {
  MeantForms meant = forms_meant(spelling);
  if (meant.size() == 0) refuse_opcode(spelling);
  if (meant.size() == 1) return {meant.opcode(), 1};
  const std::string opcode = meant.opcode();
  const auto name = find_operand_name(operand);
  if (!name) return {opcode, 1};  // which is refused with the operands that there are
  std::erase_if(meant.warp, [&](const Form* form) { return operand_of(*form, *name) == nullptr; });
  std::erase_if(meant.warpgroup, [&](const WgmmaForm* form) { return form->tile->find_operand(*name) == nullptr; });
  if (meant.size() == 0) return {opcode, 1};
  keep_formats(meant.warp, formats_of(spelling), [&](const Form& form) { return form.operand(*name); });
  keep_formats(meant.warpgroup, formats_of(spelling), [&](const WgmmaForm& form) { return form.tile->operand(*name); });
  std::vector<std::string> different;
  for (const Form* form : unlike(meant.warp, *name)) different.push_back(form->opcode);
  for (const WgmmaForm* form : unlike(meant.warpgroup, *name)) different.push_back(form->opcode);
  constexpr std::size_t most = 4;
  const std::size_t ways = different.size();
  if (ways > most) different.resize(most);
  if (ways > 1)
    throw std::invalid_argument(fmt::format("'{}' may be {} forms, and operand {} lies in {} ways; write more of one: {}{}", spelling,
                                            meant.size(), operand, ways, fmt::join(different, ", "), ways > most ? ", ..." : ""));
  return {meant.opcode(), meant.size()};
}

}  // namespace warpmat
