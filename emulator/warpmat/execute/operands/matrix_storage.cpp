#include <warpmat/execute/operands/matrix_storage.h>

#include <memory>

#include <warpmat/numeric/persistent.h>
#include <warpmat/text.h>

namespace warpmat {

MatrixRuns matrix_runs(const Form& form) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  constexpr std::uint32_t far = 1 << 16;  // a stride at which rows are never adjacent
  const auto number = [&](int bit) { return form.number_in_memory(fragment.element({0, 0, bit}), far); };
  const bool whole = fragment.elements_per_register() == 1 || number(fragment.element_bits()) == number(0) + 1;
  const int bits = whole ? fragment.register_bits() : fragment.element_bits();
  MatrixRuns out{static_cast<std::uint32_t>(bits) / 8, {}};
  for (int reg = 0; reg < fragment.registers(); ++reg)
    for (int bit = 0; bit < fragment.register_bits(); bit += bits) {
      MatrixRun& run = out.runs.emplace_back();
      run.reg = reg;
      run.bit = bit;
      for (int lane = 0; lane < warp_size; ++lane) {
        const Element e = fragment.element({lane, reg, bit});
        run.lines[static_cast<std::size_t>(lane)] = static_cast<std::uint16_t>(form.column_major ? e.column : e.row);
        run.elements[static_cast<std::size_t>(lane)] = static_cast<std::uint16_t>(form.column_major ? e.row : e.column);
      }
    }
  return out;
}

const MatrixRuns& listed_runs(const Form& form) {
  using Slot = Persistent<MatrixRuns>;
  static constinit Persistent<std::unique_ptr<Slot[]>> all;
  const auto& slots = all.get([] { return std::make_unique<Slot[]>(most_form_numbers()); });
  return slots[number_of(form)].get([&] { return matrix_runs(form); });
}

std::optional<std::string> misaligned(const Form& form, const MatrixStorage& storage) {
  const auto bytes = static_cast<std::uint64_t>(form.memory_alignment());
  if (storage.address % bytes != 0) return format_text("the address of a matrix must be a multiple of {} bytes for {}", bytes, form.opcode);
  if (storage.stride * static_cast<std::uint64_t>(form.memory_bits) % (8 * bytes) != 0)
    return format_text("a stride of {} elements is no multiple of {} bytes, which {} needs", storage.stride, bytes, form.opcode);
  return std::nullopt;
}

}  // namespace warpmat
