#include <warpmat/layout/tensor_memory.h>

#include <algorithm>

namespace warpmat {
namespace {

constexpr TensorCell none{}, next_column{0, 1}, lower_half{8, 0};

constexpr std::array shapes{
    TransferShape{"16x64b", 16, 2, 1, {lower_half, next_column, {1, 0}, {2, 0}, {4, 0}}, {none, none}, false},
    TransferShape{"16x128b", 16, 4, 2, {next_column, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, {lower_half, none}, false},
    TransferShape{"16x256b", 16, 8, 4, {{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}}, {next_column, lower_half}, false},
    TransferShape{"32x32b", 32, 1, 1, {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}}, {none, none}, false},
    TransferShape{"16x32bx2", 16, 1, 1, {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, none}}, {none, none}, true},
};

constexpr std::array paths{
    DataPath{'A', 128, 1, false}, DataPath{'B', 64, 2, false}, DataPath{'C', 64, 1, true},  DataPath{'D', 128, 1, false},
    DataPath{'E', 64, 2, false},  DataPath{'F', 64, 1, true},  DataPath{'G', 32, 4, false},
};

constexpr std::array<int, 7> row_by_row{1, 2, 4, 8, 16, 32, 64};
constexpr std::array all_copies{
    CopyShape{"128x256b", 128, 8, row_by_row, {}},
    CopyShape{"4x256b", 4, 8, {32, 64}, {}},
    CopyShape{"128x128b", 128, 4, row_by_row, {}},
    CopyShape{"64x128b.warpx2::02_13", 64, 4, row_by_row, {64, 0}},
    CopyShape{"64x128b.warpx2::01_23", 64, 4, {1, 2, 4, 8, 16, 64}, {32, 0}},
    CopyShape{"32x128b.warpx4", 32, 4, row_by_row, {32, 64}},
};

}  // namespace

const DataPath& data_path(char name) {
  return *std::ranges::find(paths, name, &DataPath::name);
}

std::span<const CopyShape> copy_shapes() {
  return all_copies;
}

int CopyShape::lane(int row, int copy) const {
  int lane = 0;
  for (std::size_t bit = 0; bit < row_bits.size(); ++bit) lane += (row >> bit & 1) * row_bits[bit];
  for (std::size_t bit = 0; bit < copies.size(); ++bit) lane += (copy >> bit & 1) * copies[bit];
  return lane;
}

std::span<const TransferShape> transfer_shapes() {
  return shapes;
}

const TransferShape* find_transfer_shape(std::string_view name) {
  const auto found = std::ranges::find(shapes, name, &TransferShape::name);
  return found == shapes.end() ? nullptr : &*found;
}

TensorCell Transfer::place(int thread, int reg, int half) const {
  TensorCell sum{0, reg / shape->registers * shape->columns};
  const auto add = [&](const TensorCell& place, int times) {  // times 0 or 1: GCC 12 makes wrong vectors of a condition here (-O3 -mavx2)
    sum.lane += times * place.lane;
    sum.column += times * place.column;
  };
  for (std::size_t bit = 0; bit < shape->thread_bits.size(); ++bit) add(shape->thread_bits[bit], thread >> bit & 1);
  for (std::size_t bit = 0; bit < shape->register_bits.size(); ++bit) add(shape->register_bits[bit], reg % shape->registers >> bit & 1);
  if (halves) sum.column = 2 * sum.column + half;
  if (shape->has_second && thread >= 16) sum.column += static_cast<int>(second_columns);
  return sum;
}

}  // namespace warpmat
