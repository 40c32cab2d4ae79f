#include <warpmat/execute/operand_words.h>

#include <memory>
#include <vector>

#include <warpmat/numeric/persistent.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {
namespace {

static_assert(capacity::operand_words <= UINT8_MAX);

using FormOperands = std::vector<OperandWords>;

FormOperands operands_of(const Form& form) {
  FormOperands operands;
  for (const Operand& operand : form.operands)
    operands.push_back({operand.name, operand.kind, operand.written, static_cast<std::uint8_t>(operand.words())});
  return operands;
}

}  // namespace

std::span<const OperandWords> operand_words(const Form& form) {
  using Slot = Persistent<FormOperands>;
  static constinit Persistent<std::unique_ptr<Slot[]>> all;
  const auto& slots = all.get([] { return std::make_unique<Slot[]>(most_form_numbers()); });
  return slots[number_of(form)].get([&] { return operands_of(form); });
}

}  // namespace warpmat
