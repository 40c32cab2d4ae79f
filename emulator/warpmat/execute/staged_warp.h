#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <warpmat/execute/arguments.h>
#include <warpmat/execute/batch.h>
#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/fast/thread_moves.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/tables/capacity.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

/// Whether the reference and the kernels can use the memory where it lies: bytes that addresses of 32 bits reach.
inline bool lies_plainly(const BatchMemory& memory) {
  return memory.rows == nullptr && memory.shared_base <= UINT32_MAX && !memory.wide_addresses;
}
/// Whether they can read and write the registers and memory of `batch` where they lie. All other batches are executed by StagedWarp.
bool lies_plainly(const Form& form, const Batch& batch);

/// One warp of a batch after another, in registers and rows of memory of its own: sources are copied here before an instruction executes,
/// results copied back after it. So all is read before anything is written, wherever it lies; of a wmma.mma in two halves too, whose second
/// half reads what the first wrote where registers lie plainly.
class StagedWarp {
 public:
  /// Copies by vectors for Path::fast, else lane by lane. `memory` must outlive it.
  StagedWarp(const Form& form, const Lowering& lowering, const BatchMemory& memory, Path path);
  StagedWarp(const StagedWarp&) = delete;
  StagedWarp& operator=(const StagedWarp&) = delete;

  /// Where an operand of the form lies: told once for each, before the first warp.
  void add(const OperandWords& operand, const BatchDestination& registers);
  /// Sources are only read: their pointers are not const because sources and destinations share one type.
  void add(const OperandWords& operand, const BatchOperand& registers) {
    add(operand, BatchDestination{const_cast<std::uint32_t*>(registers.words), registers.stride, registers.word_stride,
                                  registers.lane_stride, registers.numbers});
  }

  /// Goes to warp `warp`, and executes ldmatrix or stmatrix on it without copying registers. Declines by false, having changed nothing.
  bool move_directly(std::size_t warp);
  /// The registers and memory of warp `warp`, copied. Throws OperandTrap where an address is wrong or the memory refuses a row.
  const Arguments& read(std::size_t warp);
  /// Copies what was written back; of memory too. Throws OperandTrap where the memory refuses a row.
  void write();

  /// Whether a register of C shares a word with an earlier one of D (execute_split_dot).
  bool c_meets_earlier_d() const;
  int destination_words() const { return destination_.count; }
  /// Copies C once more, as it is now.
  void read_c() const;
  /// Copies one register of the destination back.
  void write_word(int word) const;

 private:
  void gather(std::span<const LaneRegisters> operands) const { vectors_ ? fast_gather(operands) : plain_gather(operands); }
  void scatter(const LaneRegisters& operand) const { vectors_ ? fast_scatter(operand) : plain_scatter(operand); }
  std::span<const LaneRegisters> sources() const { return {sources_.data(), source_count_}; }
  void go_to(std::size_t warp);

  /// Checks the lanes' addresses, keeps them in addresses_, and has p address the rows of rows_.
  void find_rows();
  void check(int lane, std::uint64_t address) const;
  void access_row(int lane, bool write);

  const Form& form_;
  const Lowering& lowering_;
  const BatchMemory& batch_;
  const bool vectors_;   ///< copy by vectors
  const bool own_rows_;  ///< rows of memory are copied too
  const ThreadMove thread_move_;
  std::uint64_t memory_base_, memory_bytes_;  ///< where addresses may lie, if rows are copied
  std::size_t warp_ = 0;

  // Of warp warp_; strides from warp to warp.
  std::array<LaneRegisters, operand_names> sources_;
  std::array<std::size_t, operand_names> source_strides_;
  std::size_t source_count_ = 0;
  LaneRegisters destination_{};
  std::size_t destination_stride_ = 0;
  const LaneRegisters* c_ = nullptr;  ///< of sources_
  int words_ = 0;                     ///< of all operands that were added
  Register* p_registers_ = nullptr;
  std::array<Register, capacity::form_words + 1> registers_;
  std::array<std::uint32_t*, capacity::form_words + 1> pointers_;
  Arguments arguments_;
  SharedMemory memory_;
  std::array<std::uint64_t, lanes> addresses_;
  alignas(64) std::array<std::uint8_t, static_cast<std::size_t>(lanes) * Form::row_bytes> rows_;
};

}  // namespace warpmat
