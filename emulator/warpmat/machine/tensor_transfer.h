#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <warpmat/ir/code.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/numeric/canonical_nan.h>

namespace warpmat::machine {

// tcgen05.ld and .st apart from the warps that execute them. Precondition of all: the cells exist.

/// The number that .abs makes of a word.
inline std::uint32_t operand_of_reduction(const code::TensorStatement& statement, std::uint32_t word) {
  return statement.absolute ? word & 0x7fffffff : word;
}

/// One step of tcgen05.ld.red: as min and max of the same type; of f32 a NaN counts with .NaN alone, and -0 is below +0.
inline std::uint32_t reduce(const code::TensorStatement& statement, std::uint32_t a, std::uint32_t b) {
  using Reduction = code::TensorStatement::Reduction;
  b = operand_of_reduction(statement, b);
  const bool least =
      statement.reduction == Reduction::min_u32 || statement.reduction == Reduction::min_s32 || statement.reduction == Reduction::min_f32;
  if (statement.reduction == Reduction::min_u32 || statement.reduction == Reduction::max_u32)
    return least ? std::min(a, b) : std::max(a, b);
  const auto ordered = [&](std::uint32_t bits) {  // signed integers in the order of the numbers
    const bool negative_float =
        (bits >> 31) != 0 && (statement.reduction == Reduction::min_f32 || statement.reduction == Reduction::max_f32);
    return static_cast<std::int32_t>(negative_float ? bits ^ 0x7fffffff : bits);
  };
  if (statement.reduction == Reduction::min_f32 || statement.reduction == Reduction::max_f32) {
    constexpr std::uint32_t infinity = 0x7f800000;
    const bool a_nan = (a & 0x7fffffff) > infinity, b_nan = (b & 0x7fffffff) > infinity;
    if ((a_nan && b_nan) || (statement.nan && (a_nan || b_nan))) return canonical_f32_nan;
    if (a_nan || b_nan) return a_nan ? b : a;
  }
  return (ordered(a) < ordered(b)) == least ? a : b;
}

/// The cells of a transfer: places are linear, so that of a thread and that of a register add up.
class TransferPlaces {
 public:
  TransferPlaces(const Transfer& transfer, TensorCell from) : transfer_(transfer) {
    for (int lane = 0; lane < warp_size; ++lane) {
      const TensorCell place = transfer.place(lane, 0);
      of_threads_[static_cast<std::size_t>(lane)] = {from.lane + place.lane, from.column + place.column};
    }
  }

  /// Calls visit(lane, cell) for the cells of half `half` of register `reg`.
  template <typename Visit>
  void for_each(int reg, int half, Visit visit) const {
    const TensorCell of_register = transfer_.place(0, reg, half);
    for (int lane = 0; lane < warp_size; ++lane) {
      const TensorCell& of_thread = of_threads_[static_cast<std::size_t>(lane)];
      visit(lane, TensorCell{of_thread.lane + of_register.lane, of_thread.column + of_register.column});
    }
  }

 private:
  const Transfer& transfer_;
  std::array<TensorCell, warp_size> of_threads_;
};

/// tcgen05.ld from `from` on: words(reg) are the 32 lanes of a register; that of a reduction follows the others.
template <typename Words>
void load_registers(const code::TensorStatement& statement, TensorCell from, const TensorMemory& memory, Words words) {
  const Transfer& transfer = statement.transfer;
  const TransferPlaces places(transfer, from);
  for (int reg = 0; reg < transfer.registers(); ++reg) {
    std::uint32_t* const to = words(reg);
    places.for_each(reg, 0, [&](int lane, TensorCell cell) {
      const std::uint32_t word = memory.word(cell.lane, cell.column);
      to[lane] = transfer.halves ? word & 0xffff : word;
    });
    if (transfer.halves) places.for_each(reg, 1, [&](int lane, TensorCell cell) { to[lane] |= memory.word(cell.lane, cell.column) << 16; });
  }
  if (statement.reduction == code::TensorStatement::Reduction::none) return;
  std::uint32_t* const reduced = words(transfer.registers());
  for (int reg = 0; reg < transfer.registers(); ++reg)
    places.for_each(reg, 0, [&](int lane, TensorCell cell) {
      const std::uint32_t word = memory.word(cell.lane, cell.column);
      reduced[lane] = reg == 0 ? operand_of_reduction(statement, word) : reduce(statement, reduced[lane], word);
    });
}

/// What tcgen05.st writes from `to` on: word(reg, lane) is that of a register.
template <typename Word>
std::vector<PendingStore::Word> stored_words(const Transfer& transfer, TensorCell to, Word word) {
  std::vector<PendingStore::Word> words;
  const TransferPlaces places(transfer, to);
  for (int reg = 0; reg < transfer.registers(); ++reg)
    for (int half = 0; half < (transfer.halves ? 2 : 1); ++half)
      places.for_each(reg, half, [&](int lane, TensorCell cell) {
        words.push_back({cell, word(reg, lane) >> 16 * half, transfer.halves});
      });
  return words;
}

/// A store writes its words. Unpacked halves leave the upper halves of their words (assumed: 0).
inline void perform_store(std::span<const PendingStore::Word> words, TensorMemory& memory) {
  for (const PendingStore::Word& word : words) memory.word(word.place.lane, word.place.column) = word.half ? word.bits & 0xffff : word.bits;
}

}  // namespace warpmat::machine
