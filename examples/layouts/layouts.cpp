// The lane, register and bit that hold an element, and its address in memory for ldmatrix.

#include <cstdio>

#include <warpmat/forms.h>

using namespace warpmat;

namespace {

/// Prints the lane and register of each element of an operand: "4.0".
void print_owners(const Form& form, OperandName name) {
  const Fragment& fragment = form.operand(name).fragment;
  std::printf("%s of %s: lane.register\n", std::string(warpmat::name(name)).c_str(), form.opcode.c_str());
  for (int row = 0; row < fragment.rows(); ++row) {
    for (int column = 0; column < fragment.columns(); ++column) {
      const Place place = fragment.place({row, column, 0});
      std::printf("%5d.%d", place.lane, place.reg);
    }
    std::printf("\n");
  }
}

/// Whether the element at each element's place is that element.
bool is_inverse(const Fragment& fragment) {
  for (int row = 0; row < fragment.rows(); ++row)
    for (int column = 0; column < fragment.columns(); ++column) {
      const Element element{row, column, 0};
      if (fragment.element(fragment.place(element)) != element) return false;
    }
  return true;
}

}  // namespace

int main() {
  const Form& mma = *find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  print_owners(mma, OperandName::a);
  print_owners(mma, OperandName::b);

  // The registers of ldmatrix.x4 are those of A: the same lanes hold the same elements if matrix 1 has rows 8 to 15 and matrix 2 columns 8
  // to 15.
  const Form& load = *find_form("ldmatrix.sync.aligned.m8n8.x4.shared.b16");
  const Fragment& a = mma.operand(OperandName::a).fragment;
  const Fragment& r = load.operand(OperandName::r).fragment;
  int different = 0;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 16; ++column)
      different += a.place({row, column, 0}) != r.place({row % 8, column % 8, row / 8 + column / 8 * 2});
  std::printf("elements of A that ldmatrix.x4 puts elsewhere: %d\n", different);
  const RowPlace place = load.row_place({3, 5, 2});
  std::printf("row 3, column 5 of matrix 2: in the row whose address lane %d holds, from bit %d on\n", place.lane, place.bit);
  return different == 0 && is_inverse(a) ? 0 : 1;
}
