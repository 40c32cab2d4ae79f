#include <warpmat/execute/reference/scale_factors.h>

#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat {

int selected_scales(const Form& form, const Batch& batch, OperandName ids_name) {
  const ConstRegisterView& registers = batch.source(ids_name);
  const auto ids_of = [&](int lane) { return ScaleIds{registers.at(0, lane), registers.at(1, lane)}; };
  const ScaleIds first = ids_of(0);
  for (int lane = 0; lane < warp_size; ++lane) {
    const ScaleIds ids = ids_of(lane);
    if (const auto reason = undefined_ids(form, ids_name, ids)) throw Trap(Trap::Kind::undefined, ids_name, lane, std::nullopt, *reason);
    if (ids != first)
      throw Trap(Trap::Kind::undefined, ids_name, lane, std::nullopt,
                 format_text("{} is {{{}, {}}}; it must be {{{}, {}}} as in lane 0", name(ids_name), ids.byte_id, ids.thread_id,
                             first.byte_id, first.thread_id));
  }
  return scale_matrix(form, ids_name, first);
}

Element scale_element(const Form& form, OperandName scale_name, int matrix, int line, std::size_t i, std::size_t count) {
  const int factor = static_cast<int>(i) * form.scale_vector / static_cast<int>(count);
  return scale_name == OperandName::scale_a ? Element{line, factor, matrix} : Element{factor, line, matrix};
}

Scales read_scales(const Form& form, const Batch& batch, OperandName scale_name, int matrix, int line, std::size_t count) {
  const Operand& operand = form.operand(scale_name);
  Scales scales;
  for (std::size_t i = 0; i < count; ++i) {
    const Element element = scale_element(form, scale_name, matrix, line, i, count);
    scales[i] = decode(*operand.format, read_element(operand.fragment, batch.source(scale_name), element));
  }
  return scales;
}

}  // namespace warpmat
