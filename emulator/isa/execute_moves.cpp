#include <warpmat/isa/execute.h>

#include <array>

namespace warpmat {
namespace {

constexpr int matrix_rows = 8;
constexpr int row_elements = 8;
constexpr std::size_t element_bytes = 2;
constexpr std::size_t row_bytes = row_elements * element_bytes;
constexpr std::size_t max_rows = 4 * matrix_rows;

/// The rows that lanes 0 to 8 * number - 1 address: all checked before the first one is used.
std::array<std::uint8_t*, max_rows> addressed_rows(const Form& form, const Arguments& arguments) {
  std::array<std::uint8_t*, max_rows> rows{};
  const Register& addresses = *arguments.source(OperandName::p).front();
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(form.number * matrix_rows); ++lane) {
    // Shared addresses have 32 bits: base and offset add modulo 2^32, as the hardware adds them.
    const auto address = static_cast<std::uint32_t>(addresses[lane] + static_cast<std::uint64_t>(arguments.offset));
    rows[lane] = arguments.shared->at(static_cast<int>(lane), address, row_bytes, "row").data();
  }
  return rows;
}

/// Calls `visit(element, bytes)` for every element of the addressed matrices, where `bytes` are its two bytes in shared memory.
template <typename Visit>
void for_each_element(const Form& form, const Arguments& arguments, Visit visit) {
  const auto rows = addressed_rows(form, arguments);
  for (int matrix = 0; matrix < form.number; ++matrix)
    for (int row = 0; row < matrix_rows; ++row)
      for (int column = 0; column < row_elements; ++column)
        visit(Element{row, column, matrix},
              rows[static_cast<std::size_t>(matrix * matrix_rows + row)] + static_cast<std::size_t>(column) * element_bytes);
}

}  // namespace

void execute_ldmatrix(const Form& form, const Lowering&, const Arguments& arguments) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  std::array<Register, 4> loaded{};  // the address register may be one of the destination's
  const std::array<Register*, 4> pointers{&loaded[0], &loaded[1], &loaded[2], &loaded[3]};
  for_each_element(form, arguments, [&](const Element& element, const std::uint8_t* bytes) {
    write_element(fragment, pointers, element, bytes[0] | std::uint64_t{bytes[1]} << 8);
  });
  for (std::size_t i = 0; i < arguments.destination.size(); ++i) *arguments.destination[i] = loaded[i];
}

void execute_stmatrix(const Form& form, const Lowering&, const Arguments& arguments) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  for_each_element(form, arguments, [&](const Element& element, std::uint8_t* bytes) {
    const std::uint64_t bits = read_element(fragment, arguments.source(OperandName::r), element);
    bytes[0] = static_cast<std::uint8_t>(bits);
    bytes[1] = static_cast<std::uint8_t>(bits >> 8);
  });
}

void execute_movmatrix(const Form& form, const Lowering&, const Arguments& arguments) {
  Register moved{};
  Register* const pointer = &moved;
  for (int row = 0; row < matrix_rows; ++row)
    for (int column = 0; column < row_elements; ++column) {
      const Element element{row, column, 0};
      const std::uint64_t bits = read_element(form.operand(OperandName::a).fragment, arguments.source(OperandName::a), element);
      write_element(form.operand(OperandName::d).fragment, {&pointer, 1}, element, bits);
    }
  *arguments.destination.front() = moved;
}

}  // namespace warpmat
