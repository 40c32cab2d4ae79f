#include <warpmat/c/instruction.h>

#include <atomic>
#include <memory>

#include <warpmat/execute/staged_product.h>
#include <warpmat/forms.h>
#include <warpmat/numeric/persistent.h>

warpmat_instruction::warpmat_instruction(const warpmat::Form& form, const warpmat::Target& target_)
    : instruction(form, target_),
      operands(warpmat::operand_words(instruction.form())),
      addresses_memory(instruction.form().find_operand(warpmat::OperandName::p) != nullptr),
      lane_kernel(warpmat::find_lane_kernel(instruction)),
      product(warpmat::find_product(instruction)),
      lane_product(warpmat::find_lane_product(product)),
      moves(warpmat::find_moves(instruction)),
      sass(sass_name(instruction.form(), instruction.lowering())),
      machine(sass ? *sass : machine_name(instruction.form(), instruction.lowering())),
      evidence(name(label_of(instruction.lowering()))),
      source(instruction.lowering().source),
      layout_evidence(name(layout_label(instruction.form(), instruction.target().hardware).label)),
      layout_source(layout_label(instruction.form(), instruction.target().hardware).source),
      target(instruction.target().name),
      fields(fields_of(instruction.form())) {}

namespace warpmat::inline v0_1::c {
namespace {

using Slot = Persistent<warpmat_instruction>;

/// The slot for a form and a target of the tables.
Slot& slot(const Form& form, const Target& target) {
  static constinit Persistent<std::unique_ptr<Slot[]>> all;
  const auto& slots = all.get([] { return std::make_unique<Slot[]>(most_form_numbers() * targets().size()); });
  const auto target_number = static_cast<std::size_t>(&target - targets().data());
  return slots[number_of(form) * targets().size() + target_number];
}

}  // namespace

const warpmat_instruction& persistent_instruction(const Form& form, const Target& target) {
  return slot(form, target).get([&] { return warpmat_instruction(form, target); });
}

}  // namespace warpmat::inline v0_1::c
