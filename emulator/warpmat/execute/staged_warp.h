#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <warpmat/execute/arguments.h>
#include <warpmat/execute/batch.h>
#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/instruction.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/tables/capacity.h>
#include <warpmat/tables/lowering.h>

namespace warpmat {

struct MovePlan;

/// Whether the reference and the kernels can use the memory where it lies: bytes that addresses of 32 bits reach.
inline bool lies_plainly(const BatchMemory& memory) {
  return memory.rows == nullptr && memory.shared_base <= UINT32_MAX && !memory.wide_addresses;
}
/// Whether they can read and write the registers and memory of `batch` where they lie. All other batches are executed by StagedWarp.
bool lies_plainly(const Form& form, const Batch& batch);

/// The kernels' plan of ldmatrix, stmatrix or movmatrix; nullptr of other instructions and where there is none.
const MovePlan* find_moves(const Instruction& instruction);
/// ldmatrix and stmatrix on registers that lie thread by thread, where they lie: see fast_thread_moves. Returns how many warps, from the
/// first on, are done. `memory` must lie plainly.
std::size_t move_by_threads(const MovePlan& plan, const BatchDestination& r, const BatchDestination& p, const BatchMemory& memory,
                            std::size_t warps);

/// One warp of a batch after another, in registers and rows of memory of its own: sources are copied here before an instruction executes,
/// results copied back after it. So all is read before anything is written, wherever it lies. Registers of wmma.mma that are registers of D
/// too have one copy: its second half reads what the first wrote (docs/numerics.md).
class StagedWarp {
 public:
  /// Begins with warp `first`. Copies by vectors for Path::fast, else lane by lane. `memory` must outlive it.
  StagedWarp(const Form& form, const Lowering& lowering, const BatchMemory& memory, Path path, std::size_t first = 0)
      : form_(form),
        lowering_(lowering),
        batch_(memory),
        first_(first),
        vectors_(path == Path::fast),
        shares_registers_(form.mnemonic == Mnemonic::wmma_mma),
        own_rows_((form.mnemonic == Mnemonic::ldmatrix || form.mnemonic == Mnemonic::stmatrix) && !lies_plainly(memory)) {}
  StagedWarp(const StagedWarp&) = delete;
  StagedWarp& operator=(const StagedWarp&) = delete;

  /// Where the form's `operands` lie, told once: place(i, operand, registers) describes the registers of operand i.
  /// False as soon as `place` returns false.
  template <typename Place>
  bool add(std::span<const OperandWords> operands, Place place) {
    std::size_t words = 0, sources = 0;
    LaneRegisters* address = nullptr;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const OperandWords& operand = operands[i];
      BatchDestination registers;
      if (!place(i, operand, registers)) return false;
      if (operand.kind == OperandKind::stride && registers.words == nullptr) continue;  // left out
      const bool addresses = operand.kind == OperandKind::address;
      const int count = addresses && batch_.wide_addresses ? 2 : operand.words;
      LaneRegisters& entry = operand.written ? destination_ : sources_[sources];
      entry = {registers.words, registers.word_stride, registers.lane_stride, registers.numbers, &registers_[words], count};
      const std::span<std::uint32_t*> pointers(&pointers_[words], static_cast<std::size_t>(count));
      words += pointers.size();
      if (addresses) address = &entry;
      if (operand.written) {
        destination_stride_ = registers.stride;
        arguments_.destination = pointers;
        continue;
      }
      if (operand.name == OperandName::c) c_ = &entry;
      arguments_.source(operand.name) = pointers;
      source_strides_[sources++] = registers.stride;
    }
    source_count_ = sources;
    for (std::size_t i = 0; i < words; ++i) pointers_[i] = registers_[i].data();
    if (address != nullptr) use_memory(*address);
    return true;
  }

  std::size_t first() const { return first_; }
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

  /// Of an instruction that addresses memory: its operand p, which has two words if addresses have 64 bits.
  void use_memory(const LaneRegisters& p);
  /// Has registers of A, B and C that are registers of D too read where D is written, and others where they were copied to.
  void share_registers();
  /// Checks the lanes' addresses, keeps them in addresses_, and has p address the rows of rows_.
  void find_rows();
  void check(int lane, std::uint64_t address) const;
  void access_row(int lane, bool write);

  const Form& form_;
  const Lowering& lowering_;
  const BatchMemory& batch_;
  const std::size_t first_;
  const bool vectors_;           ///< copy by vectors
  const bool shares_registers_;  ///< a sequence that may write some of D before it has read all sources
  const bool own_rows_;          ///< rows of memory are copied too
  std::size_t warp_ = 0;

  // Of warp warp_; strides from warp to warp.
  std::array<LaneRegisters, operand_name_count> sources_;
  std::array<std::size_t, operand_name_count> source_strides_;
  std::size_t source_count_ = 0;
  LaneRegisters destination_{};
  std::size_t destination_stride_ = 0;
  const LaneRegisters* c_ = nullptr;  ///< of sources_
  std::array<Register, capacity::form_words + 1> registers_;
  std::array<std::uint32_t*, capacity::form_words + 1> pointers_;  ///< by words of the operands, as registers_
  Arguments arguments_;

  // Of an instruction that addresses memory.
  std::optional<SharedMemory> memory_;
  Register* p_registers_ = nullptr;
  std::uint64_t memory_base_ = 0, memory_bytes_ = 0;  ///< where addresses may lie, if rows are copied
  std::array<std::uint64_t, lanes> addresses_;
  alignas(64) std::array<std::uint8_t, static_cast<std::size_t>(lanes) * Form::row_bytes> rows_;
};

}  // namespace warpmat
