#include <warpmat/execute/reference/execute.h>

#include <algorithm>
#include <array>

#include <warpmat/execute/operands/row_addresses.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

namespace {

/// The rows that the first `count` lanes address. Checks all addresses before it returns.
std::array<std::uint8_t*, warp_size> addressed_rows(const Batch& batch, int count) {
  std::array<std::uint8_t*, warp_size> rows{};
  SharedMemory memory = memory_of(batch);
  for (int lane = 0; lane < count; ++lane) {
    try {
      rows[static_cast<std::size_t>(lane)] = memory.at(lane, row_address(batch, lane), Form::row_bytes, "row").data();
    } catch (const Trap& trap) {
      throw trap.of(OperandName::p);
    }
  }
  return rows;
}

/// Calls `visit(element, row, bit)` for every element of the addressed matrices, which begins at bit `bit` of the bytes `row`.
template <typename Visit>
void for_each_element(const Form& form, const Batch& batch, Visit visit) {
  const auto rows = addressed_rows(batch, form.rows_in_memory());
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
  explicit Copies(const Operand& operand) : count_(operand.words()) {}
  Copies(const Operand& operand, const ConstRegisterView& source) : Copies(operand) {
    for (int i = 0; i < count_; ++i)
      for (int lane = 0; lane < warp_size; ++lane) view().at(i, lane) = source.at(i, lane);
  }

  RegisterView view() { return words_[0].data(); }
  void write(const RegisterView& destination) {
    for (int i = 0; i < count_; ++i)
      for (int lane = 0; lane < warp_size; ++lane) destination.at(i, lane) = view().at(i, lane);
  }

 private:
  int count_;
  std::array<Register, capacity::move_words> words_{};
};

}  // namespace

void execute_ldmatrix(const Form& form, const Lowering& lowering, const Batch& batch) {
  if (lowering.exceptions.checks_all_addresses) addressed_rows(batch, warp_size);
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  Copies loaded(form.operand(OperandName::r));
  for_each_element(form, batch, [&](const Element& element, const std::uint8_t* row, int bit) {
    write_element(fragment, loaded.view(), element, row_bits(row, bit, form.memory_bits));
  });
  loaded.write(batch.destination);
}

void execute_stmatrix(const Form& form, const Batch& batch) {
  const Fragment& fragment = form.operand(OperandName::r).fragment;
  Copies source(form.operand(OperandName::r), batch.source(OperandName::r));
  for_each_element(form, batch, [&](const Element& element, std::uint8_t* row, int bit) {
    const std::uint64_t bits = read_element(fragment, source.view(), element);
    for (int i = 0; i < form.memory_bits; i += 8) row[(bit + i) / 8] = static_cast<std::uint8_t>(bits >> i);
  });
}

void execute_movmatrix(const Form& form, const Batch& batch) {
  Copies moved(form.operand(OperandName::d));
  for (int row = 0; row < form.shape.m; ++row)
    for (int column = 0; column < form.shape.n; ++column) {
      const Element element{row, column, 0};
      const std::uint64_t bits = read_element(form.operand(OperandName::a).fragment, batch.source(OperandName::a), element);
      write_element(form.operand(OperandName::d).fragment, moved.view(), element, bits);
    }
  moved.write(batch.destination);
}

}  // namespace warpmat
