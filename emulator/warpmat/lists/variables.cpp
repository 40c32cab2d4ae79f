#include <warpmat/operands.h>
#include <warpmat/text.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>

#include <warpmat/formats.h>
#include <warpmat/matrices.h>
#include <warpmat/matrices/same_number.h>
#include <warpmat/matrices/sample.h>

namespace warpmat::numbers {
namespace {

/// A matrix in the bytes of a variable.
class View {
 public:
  View(const Warp& warp, std::string_view variable_name, int rows, int columns, Format format, const MemoryLayout& layout)
      : name(variable_name), matrix{rows, columns, row(format).bits, layout} {
    const SharedVariable* found = warp.program().find_variable(variable_name);
    if (found == nullptr) throw std::invalid_argument(unknown(warp.program(), variable_name));
    address = static_cast<std::uint64_t>(found->address);
    if (8 % matrix.element_bits != 0 && matrix.element_bits % 8 != 0)
      throw std::invalid_argument(
          fmt::format("{} has {} bits: pack_rows lays out rows of such elements", warpmat::name(format), matrix.element_bits));
    const auto bits = static_cast<std::uint64_t>(found->bytes()) * 8;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (bit(i, j) + static_cast<std::uint64_t>(matrix.element_bits) > bits)
          throw std::invalid_argument(
              fmt::format("a {}x{} matrix of {} leaves {}: its element in row {}, column {} begins at byte {} of {}", rows, columns,
                          warpmat::name(format), variable_name, i, j, bit(i, j) / 8, found->bytes()));
  }

  std::uint64_t bit(int row, int column) const { return matrix.layout.bit(row, column, matrix.columns, matrix.element_bits); }

  std::uint64_t read(std::span<const std::uint8_t> shared, int row, int column) const {
    const std::uint64_t at = bit(row, column);
    std::uint64_t element = 0;
    for (int i = 0; i < matrix.element_bits; i += 8)
      element |= std::uint64_t{shared[address + at / 8 + static_cast<std::uint64_t>(i) / 8]} << i;
    return element >> at % 8 & mask();
  }

  void write(std::span<std::uint8_t> shared, int row, int column, std::uint64_t element) const {
    const std::uint64_t at = bit(row, column);
    for (int i = 0; i < matrix.element_bits; i += 8) {
      std::uint8_t& byte = shared[address + at / 8 + static_cast<std::uint64_t>(i) / 8];
      const auto kept = matrix.element_bits < 8 ? static_cast<std::uint8_t>(byte & ~(mask() << at % 8)) : std::uint8_t{0};
      byte = static_cast<std::uint8_t>(kept | element >> i << at % 8);
    }
  }

  std::string place(int row, int column) const {
    return fmt::format("row {}, column {} of {} (address {:#x})", row, column, name, address + bit(row, column) / 8);
  }

  std::string name;
  MemoryMatrix matrix;
  std::uint64_t address = 0;  ///< of the variable, relative to the start of shared memory

 private:
  std::uint64_t mask() const { return matrix.element_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << matrix.element_bits) - 1; }

  static std::string unknown(const Program& program, std::string_view name) {
    std::vector<std::string> names;
    for (const SharedVariable& v : program.variables()) names.push_back(v.name);
    return fmt::format("the program has no shared variable '{}'; it has {}", name, names.empty() ? "none" : joined(names, ", "));
  }
};

/// The place where `wanted` has the value `held`: "; 2 belongs to row 5, column 3 of tile (address 0x56)". Empty if nowhere.
std::string home(const View& view, const Matrix& wanted, double held) {
  std::string first;
  int places = 0;
  for (int i = 0; i < wanted.rows(); ++i)
    for (int j = 0; j < wanted.columns(); ++j)
      if (same_number(wanted(i, j), held) && places++ == 0) first = view.place(i, j);
  if (places == 0) return "";
  if (places == 1) return fmt::format("; {} belongs to {}", held, first);
  return fmt::format("; {} belongs to {} places, the first is {}", held, places, first);
}

}  // namespace

void set_variable(Warp& warp, std::string_view name, const Matrix& matrix, Format format, const MemoryLayout& layout) {
  const View view(warp, name, matrix.rows(), matrix.columns(), format, layout);
  for (int i = 0; i < matrix.rows(); ++i)
    for (int j = 0; j < matrix.columns(); ++j) view.write(warp.shared().bytes(), i, j, from_double(format, matrix(i, j)));
  warp.describe_variable(name, view.matrix);
}

Matrix get_variable(const Warp& warp, std::string_view name, int rows, int columns, Format format, const MemoryLayout& layout) {
  const View view(warp, name, rows, columns, format, layout);
  Matrix matrix(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) matrix(i, j) = to_double(format, view.read(warp.shared().bytes(), i, j));
  return matrix;
}

std::string compare_variable(const Warp& warp, std::string_view name, const Matrix& expected, Format format, const MemoryLayout& layout) {
  const View view(warp, name, expected.rows(), expected.columns(), format, layout);
  const Matrix held = numbers::get_variable(warp, name, expected.rows(), expected.columns(), format, layout),
               wanted = rounded(format, expected);
  std::vector<std::pair<int, int>> wrong;
  for (int i = 0; i < wanted.rows(); ++i)
    for (int j = 0; j < wanted.columns(); ++j)
      if (!same_number(held(i, j), wanted(i, j))) wrong.emplace_back(i, j);
  std::string text;
  for (const std::size_t index : sample(wrong.size())) {
    const auto [i, j] = wrong[index];
    text += fmt::format("{} holds {}, expected {}{}\n", view.place(i, j), held(i, j), wanted(i, j), home(view, wanted, held(i, j)));
  }
  if (wrong.size() > sample(wrong.size()).size())
    text += fmt::format("{} of {} elements are wrong\n", wrong.size(), wanted.rows() * wanted.columns());
  return text;
}

}  // namespace warpmat::numbers
