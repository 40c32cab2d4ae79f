#include <warpmat/execute/reference/execute.h>

#include <algorithm>
#include <array>

#include <warpmat/execute/operands/row_addresses.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/capacity.h>

namespace warpmat::inline v0_1 {

namespace {

/// The rows that the first `count` lanes address. Checks all addresses before it returns.
std::array<std::uint8_t*, warp_size> addressed_rows(const Arguments& arguments, int count) {
  std::array<std::uint8_t*, warp_size> rows{};
  for (int lane = 0; lane < count; ++lane) {
    try {
      rows[static_cast<std::size_t>(lane)] = arguments.shared->at(lane, row_address(arguments, lane), Form::row_bytes, "row").data();
    } catch (const Trap& trap) {
      throw trap.of(OperandName::p);
    }
  }
  return rows;
}

/// Calls `visit(element, row, bit)` for every element of the addressed matrices, which begins at bit `bit` of the bytes `row`.
template <typename Visit>
void for_each_element(const Form& form, const Arguments& arguments, Visit visit) {
  const auto rows = addressed_rows(arguments, form.rows_in_memory());
  for (int matrix = 0; matrix < form.number; ++matrix)
    for (int row = 0; row < form.shape.m; ++row)
      for (int column = 0; column < form.shape.n; ++column) {
        const Element element{row, column, matrix};
        const RowPlace place = form.row_place(element);
        visit(element, rows[static_cast<std::size_t>(place.lane)], place.bit);
      }
}

/// `count` bits of a row from bit `first` on, low bits first.
std::uint64_t row_bits(const std::uint8_t* row, int first, int count) {
  std::uint64_t bits = 0;
  for (int i = 0; i < count; ++i) bits |= static_cast<std::uint64_t>(row[(first + i) / 8] >> (first + i) % 8 & 1) << i;
  return bits;
}

}  // namespace

namespace {

/// A copy of the registers that an instruction reads or writes: its registers may overlap the memory, and a source may be the destination.
class Copies {
 public:
  explicit Copies(std::size_t count) : count_(count) {
    for (std::size_t i = 0; i < words_.size(); ++i) pointers_[i] = words_[i].data();
  }
  explicit Copies(ConstRegisterList source) : Copies(source.size()) {
    for (std::size_t i = 0; i < count_; ++i) std::copy_n(source[i], warp_size, pointers_[i]);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  RegisterList list() { return std::span(pointers_).first(count_); }
  void write(RegisterList destination) const {
    for (std::size_t i = 0; i < count_; ++i) std::copy_n(pointers_[i], warp_size, destination[i]);
  }

 private:
  std::size_t count_;
  std::array<Register, capacity::move_words> words_{};
  std::array<std::uint32_t*, capacity::move_words> pointers_;
};

}  // namespace

void execute_ldmatrix(const Form& form, const Lowering& lowering, const Arguments& arguments) {
  if (lowering.exceptions.checks_all_addresses) addressed_rows(arguments, warp_size);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  Copies loaded(arguments.destination.size());
  for_each_element(form, arguments, [&](const Element& element, const std::uint8_t* row, int bit) {
    write_element(fragment, loaded.list(), element, row_bits(row, bit, form.memory_bits));
  });
  loaded.write(arguments.destination);
}

void execute_stmatrix(const Form& form, const Arguments& arguments) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  Copies source(arguments.source(OperandName::r));
  for_each_element(form, arguments, [&](const Element& element, std::uint8_t* row, int bit) {
    const std::uint64_t bits = read_element(fragment, source.list(), element);
    for (int i = 0; i < form.memory_bits; i += 8) row[(bit + i) / 8] = static_cast<std::uint8_t>(bits >> i);
  });
}

void execute_movmatrix(const Form& form, const Arguments& arguments) {
  Copies moved(arguments.destination.size());
  for (int row = 0; row < form.shape.m; ++row)
    for (int column = 0; column < form.shape.n; ++column) {
      const Element element{row, column, 0};
      const std::uint64_t bits = read_element(form.operand(OperandName::a).fragment, arguments.source(OperandName::a), element);
      write_element(form.operand(OperandName::d).fragment, moved.list(), element, bits);
    }
  moved.write(arguments.destination);
}

}  // namespace warpmat::inline v0_1
