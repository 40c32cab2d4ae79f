#include <warpmat/execute/operand_words.h>

#include <cassert>
#include <vector>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {
namespace {

static_assert(capacity::operand_words <= UINT8_MAX);

using FormOperands = std::vector<OperandWords>;

std::vector<FormOperands> of_all_forms() {
  std::vector<FormOperands> all;
  for (const Form& form : forms()) {
    FormOperands& operands = all.emplace_back();
    for (const Operand& operand : form.operands)
      operands.push_back({operand.name, operand.kind, operand.written, static_cast<std::uint8_t>(operand.words())});
  }
  return all;
}

}  // namespace

std::span<const OperandWords> operand_words(const Form& form) {
  const auto number = static_cast<std::size_t>(&form - forms().data());
  assert(number < forms().size());
  static constinit Persistent<std::vector<FormOperands>> all;
  return all.get(of_all_forms)[number];
}

}  // namespace warpmat
