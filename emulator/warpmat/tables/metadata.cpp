#include <warpmat/forms.h>

namespace warpmat {
namespace {

bool is_tf32(const Form& form) {
  return form.format(OperandName::a) == Format::tf32;
}

}  // namespace

int metadata_group(const Form& form) {
  return form.shape.k / form.operand(OperandName::e).fragment.columns();
}

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

}  // namespace warpmat
