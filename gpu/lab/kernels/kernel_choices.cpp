#include "gpu/lab/kernels/kernel_choices.h"

#include <algorithm>
#include <mutex>
#include <string_view>

#include <warpmat/forms.h>

namespace warpmat {

std::size_t slots() {
  std::size_t count = 0;
  for (const Pool& pool : pools) count += pool.size;
  return count;
}

const Pool& pool_named(char letter) {
  return *std::ranges::find_if(pools, [&](const Pool& pool) { return pool.prefix[1] == letter; });
}

Choices::Choices(const Target& target) {
  for (ScalarCase& shown : scalar_cases(target, assembled_version))
    if (!is_left_out(shown)) scalar[mnemonic(shown)].push_back(std::move(shown));
  for (const auto& [name, cases] : scalar) mnemonics.push_back(name);
  for (const Form& form : warpmat::forms())
    if (is_drawn(form, target)) forms.push_back(&form);
}

std::string Choices::mnemonic(const ScalarCase& shown) {
  return shown.opcode.substr(0, shown.opcode.find('.'));
}

bool Choices::is_left_out(const ScalarCase& shown) {
  // Only contraction() draws products without rounding.
  const bool contracts = mnemonic(shown) == "mul" && shown.results[0].type->is_floating() &&
                         shown.executable.modifiers.rounding == Rounding::nearest_even && shown.opcode.find(".rn") == std::string::npos;
  const bool set = mnemonic(shown) == "set" && shown.results[0].register_bits == 16;
  const bool widens = shown.opcode.starts_with("cvt") && shown.results[0].kind == ValueKind::f64 && shown.sources[0].type->is_floating();
  const bool bytes = std::ranges::any_of(shown.results, [](const ScalarOperand& result) { return result.register_bits == 8; });
  return bytes || contracts || set || (widens && shown.sources[0].kind != ValueKind::f64);
}

bool Choices::may_be_guarded(const ScalarCase& shown) {
  const std::string name = mnemonic(shown);
  return name != "set" && name != "testp" && name[0] != 'v';
}

bool Choices::is_drawn(const Form& form, const Target& target) {
  if (unavailable(form, target, assembled_version)) return false;
  if (form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::stmatrix) return form.opcode.find("m8n8") != std::string::npos;
  const bool fragments = std::ranges::all_of(form.operands, [](const Operand& operand) { return operand.kind == OperandKind::fragment; });
  return form.mnemonic == Mnemonic::mma && fragments && form.opcode.find(".sp") == std::string::npos &&
         form.opcode.find("kind::") == std::string::npos && !find_lowering(form, target.hardware)->exceptions.subroutine;
}

const Choices& choices(const Target& target) {
  static std::map<std::string_view, Choices>& known = *new std::map<std::string_view, Choices>;
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  return known.try_emplace(target.name, target).first->second;
}

}  // namespace warpmat
