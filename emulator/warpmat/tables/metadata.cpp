#include <warpmat/tables/metadata.h>

#include <fmt/format.h>

namespace warpmat {
namespace {

bool is_tf32(const Form& form) { return form.format(OperandName::a) == Format::tf32; }

[[noreturn]] void trap(const Form& form, const Element& group, unsigned code) {
  const Place place = form.operand(OperandName::e).fragment.place(group);
  throw Trap(place.lane, std::nullopt,
             fmt::format("operand e holds the metadata code {:#x} for group {} of row {} (bits {}-{}); defined are {}", code, group.column,
                         group.row, place.bit, place.bit + 3, describe_valid_metadata(form)));
}

}  // namespace

int metadata_group(const Form& form) { return form.shape.k / form.operand(OperandName::e).fragment.columns(); }

bool valid_metadata(const Form& form, unsigned code) {
  if (is_tf32(form)) return code == 0x4 || code == 0xe;
  const unsigned first = code & 3, second = code >> 2;
  return form.sparsity == Sparsity::sparse_ordered ? first < second : first != second;
}

std::string_view describe_valid_metadata(const Form& form) {
  if (is_tf32(form)) return "0x4 and 0xe";
  if (form.sparsity == Sparsity::sparse_ordered) return "0x4, 0x8, 0x9, 0xc, 0xd and 0xe";
  return "0x4, 0x8, 0x9, 0xc, 0xd, 0xe and their reversals 0x1, 0x2, 0x3, 0x6, 0x7, 0xb";
}

int metadata_column(int group, unsigned code, int stored) {
  if (group == 2) return code == 0xe ? 1 : 0;
  const int unit = group / 4;  // elements that one half of the code places
  const unsigned place = stored < unit ? code & 3 : code >> 2;
  return static_cast<int>(place) * unit + stored % unit;
}

void read_metadata(const Form& form, const Lowering& lowering, const Arguments& arguments, MetadataColumns& columns) {
  const bool as_measured = arguments.undefined == Undefined::hardware && lowering.evidence == Evidence::measured && !is_tf32(form);
  const Fragment& fragment = form.operand(OperandName::e).fragment;
  const auto selector = static_cast<int>((*arguments.source(OperandName::selector).front())[0]);
  if (selector < 0 || selector >= fragment.matrices())  // an illegal instruction on an H200, so there is nothing else to do [H200]
    throw Trap(0, std::nullopt, fmt::format("selector {} is undefined for this form; it takes 0 to {}", selector, fragment.matrices() - 1));

  const int group_columns = metadata_group(form);
  std::size_t next = 0;
  for (int row = 0; row < form.shape.m; ++row)
    for (int group = 0; group < fragment.columns(); ++group) {
      const Element at{row, group, selector};
      const auto code = static_cast<unsigned>(read_element(fragment, arguments.source(OperandName::e), at));
      if (!as_measured && !valid_metadata(form, code)) trap(form, at, code);
      for (int stored = 0; stored < group_columns / 2; ++stored)
        columns[next++] = static_cast<std::uint16_t>(group * group_columns + metadata_column(group_columns, code, stored));
    }
}

}  // namespace warpmat
