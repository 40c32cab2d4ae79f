#include <warpmat/execute/reference/metadata_columns.h>

#include <warpmat/instruction.h>
#include <warpmat/text.h>

namespace warpmat {
namespace {

[[noreturn]] void trap(const Form& form, const Element& group, unsigned code) {
  const Place place = form.operand(OperandName::e).fragment.place(group);
  throw Trap(Trap::Kind::undefined, OperandName::e, place.lane, std::nullopt,
             format_text("operand e holds the metadata code {:#x} for group {} of row {} (bits {}-{}); defined are {}", code, group.column,
                         group.row, place.bit, place.bit + 3, describe_valid_metadata(form)));
}

}  // namespace

void read_metadata(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options,
                   MetadataColumns& columns) {
  const bool as_measured = options.undefined == Undefined::hardware &&
                           lowering.exceptions.undefined_metadata == UndefinedMetadata::as_written &&
                           form.format(OperandName::a) != Format::tf32;
  const Fragment& fragment = form.operand(OperandName::e).fragment;
  const auto selector = static_cast<int>(batch.source(OperandName::selector).at(0, 0));
  if (selector < 0 || selector >= fragment.matrices())  // an H200 raises an illegal instruction, so this always traps [H200]
    throw Trap(Trap::Kind::undefined, OperandName::selector, 0, std::nullopt,
               format_text("selector {} is undefined for this form; it takes 0 to {}", selector, fragment.matrices() - 1));

  const int group_columns = metadata_group(form);
  std::size_t next = 0;
  for (int row = 0; row < form.shape.m; ++row)
    for (int group = 0; group < fragment.columns(); ++group) {
      const Element at{row, group, selector};
      const auto code = static_cast<unsigned>(read_element(fragment, batch.source(OperandName::e), at));
      if (!as_measured && !valid_metadata(form, code)) trap(form, at, code);
      for (int stored = 0; stored < group_columns / 2; ++stored)
        columns[next++] = static_cast<std::uint16_t>(group * group_columns + metadata_column(group_columns, code, stored));
    }
}

}  // namespace warpmat
