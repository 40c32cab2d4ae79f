#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/lane_registers.h>
#include <warpmat/execute/fast/operand_views.h>
#include <warpmat/execute/operand_words.h>
#include <warpmat/execute/operands/matrix_storage.h>
#include <warpmat/execute/staged_registers.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/numeric/made_as_needed.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

struct MovePlan;

/// Whether the reference and the kernels can use the memory in place: bytes within 32-bit addresses.
inline bool usable_in_place(const CallMemory& memory) {
  return memory.rows == nullptr && memory.shared_base <= UINT32_MAX && !memory.wide_addresses;
}

/// `fast` if it supports single operands lane by lane, else nullptr.
inline const FastPath* as_lane_kernel(const FastPath* fast) {
  return fast != nullptr && fast->takes_lanes(OperandName::b) && !fast->wants_all_lanes() ? fast : nullptr;
}
/// ldmatrix and stmatrix in place on thread-major registers: see fast_thread_moves. Returns the number of warps done, from the first on.
/// Precondition: usable_in_place(memory).
std::size_t move_by_threads(const MovePlan& plan, const RegisterView& r, const ConstRegisterView& p, const CallMemory& memory,
                            std::size_t warps);

/// Whether a register of C of warp `warp` shares a word with an earlier one of D, of `words` words each (execute_split_dot).
bool overlaps_earlier(const ConstRegisterView& c, const ConstRegisterView& d, int words, std::size_t warp = 0);

/// Executes the warps of a batch in order, in registers and rows of memory of its own. Sources are copied in before an instruction
/// executes, results copied back after it. So all sources are read before any result is written. Registers of wmma.mma that are registers
/// of D too have one copy: its second half reads what the first wrote (docs/reference/numerics.md).
class StagedWarp {
 public:
  /// Starts at warp `first`. Copies by vectors for Path::fast, else lane by lane. `lane_kernel`: as_lane_kernel(the instruction's).
  /// `memory` must outlive it.
  StagedWarp(const Instruction& instruction, const CallMemory& memory, Path path, const FastPath* lane_kernel, std::size_t first = 0)
      : instruction_(instruction),
        form_(instruction.form()),
        lowering_(instruction.lowering()),
        batch_(memory),
        first_(first),
        vectors_(path == Path::fast),
        lane_kernel_(vectors_ ? lane_kernel : nullptr),
        shares_registers_(form_.mnemonic == Mnemonic::wmma_mma),
        own_rows_((form_.mnemonic == Mnemonic::ldmatrix || form_.mnemonic == Mnemonic::stmatrix || moves_matrix(form_)) &&
                  !usable_in_place(memory)),
        runs_(own_rows_ && moves_matrix(form_) ? &listed_runs(form_) : nullptr) {}
  StagedWarp(const StagedWarp&) = delete;
  StagedWarp& operator=(const StagedWarp&) = delete;

  /// Describes the form's `operands`; called once.
  void add(std::span<const OperandWords> operands, std::span<const RegisterView> views) {
    std::size_t words = 0;
    LaneRegisters* address = nullptr;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const OperandWords& operand = operands[i];
      const RegisterView& registers = views[i];
      if (operand.kind == OperandKind::stride && registers.is_empty()) {  // left out
        views_.set_source(operand.name, {});
        continue;
      }
      const bool addresses = operand.kind == OperandKind::address;
      const int count = addresses && batch_.wide_addresses ? 2 : operand.words;
      const bool in_place = lane_kernel_ != nullptr && lane_kernel_->takes_lanes(operand.name) && is_lane_by_lane(registers, count);
      LaneRegisters& entry = operand.written ? destination_ : sources_[source_count_];
      std::construct_at(&entry, registers, &own_.registers[words], count, in_place);
      words += static_cast<std::size_t>(count);
      if (addresses) address = &entry;
      if (operand.written) {
        place_destination();
        continue;
      }
      if (operand.name == OperandName::a) a_ = &entry;
      if (operand.name == OperandName::b) b_ = &entry;
      if (operand.name == OperandName::c) c_ = &entry;
      if (operand.kind == OperandKind::stride) stride_registers_ = entry.staged;
      names_[source_count_] = operand.name;
      place_source(source_count_++);
    }
    own_.point(words);
    if (address != nullptr) use_memory(*address);
  }

  /// Executes the warps up to `last`, which is excluded. Throws Trap as Instruction::execute of a batch.
  void execute(std::size_t last, const ExecutionOptions& options);

  /// Copies the registers and memory of warp `warp`. Throws Trap if an address is wrong or the memory refuses a row.
  void read(std::size_t warp);
  /// For the kernels: the copies, and operands that are in place.
  Warps warps() const {
    Warps warps = views_.warps(&memory_);
    warps.apart = true;
    return warps;
  }
  /// The copies of all operands, for the reference.
  Batch copies();
  /// Copies results back, to memory too. Throws Trap if the memory refuses a row.
  void write();

  bool c_overlaps_earlier_d() const { return overlaps_earlier(c_->view, destination_.view, destination_.count, warp_); }
  int destination_words() const { return destination_.count; }
  /// Copies C again, with its current value.
  void read_c();
  /// Copies one register of the destination back.
  void write_word(int word) const;

 private:
  void gather(std::span<const LaneRegisters> operands) { vectors_ ? fast_gather(operands) : plain_gather(operands); }
  void scatter(const LaneRegisters& operand) const { vectors_ ? fast_scatter(operand) : plain_scatter(operand); }
  std::span<LaneRegisters> sources() { return sources_.first(source_count_); }
  /// Where kernels find an operand: in place, or in its copy.
  RegisterView place_of(const LaneRegisters& operand) {
    if (operand.in_place) return operand.lanes();
    return own_.list(operand.staged, static_cast<std::size_t>(operand.count));
  }
  void place_source(std::size_t i) { views_.set_source(names_[i], place_of(sources_[i])); }
  void place_destination() { views_.set_written(place_of(destination_)); }
  void go_to(std::size_t warp);

  /// For an instruction that addresses memory: its operand p, which has two words if addresses have 64 bits.
  void use_memory(const LaneRegisters& p);
  /// Makes registers of A, B and C that are registers of D too be read where D is written; all others where they were copied to.
  void share_registers();
  /// Checks the lanes' addresses, stores them in addresses_, and makes p address the rows of rows_. Reads the rows of ldmatrix.
  void find_rows();
  /// The same for the matrix of wmma, whose rows are contiguous in rows_.
  void find_matrix();
  void access_matrix(bool write);
  /// Throws Trap unless `bytes` bytes from `address` on are in the memory.
  void check_range(int lane, std::uint64_t address, std::uint64_t bytes, const char* what) const;
  /// Copies `bytes` bytes at `address` of the memory to or from `own`.
  void access(int lane, std::uint64_t address, std::uint8_t* own, std::size_t bytes, bool write, const char* what) const;
  /// Makes p address the bytes from `offset(lane)` on of rows_.
  template <typename Offset>
  void set_own_addresses(Offset offset);
  /// The copies with the caller's offset, for what finds addresses.
  Batch given() const {
    Batch batch = views_.batch(form_, memory_);
    batch.offset = batch_.offset;
    return batch;
  }

  const Instruction& instruction_;
  const Form& form_;
  const Lowering& lowering_;
  const CallMemory& batch_;
  const std::size_t first_;
  const bool vectors_;  ///< copy by vectors
  const FastPath* const lane_kernel_;
  const bool shares_registers_;   ///< a sequence that may write some of D before it has read all sources
  const bool own_rows_;           ///< rows of memory are copied too
  const MatrixRuns* const runs_;  ///< of wmma.load and wmma.store whose memory is copied, else nullptr
  std::size_t warp_ = 0;

  // For warp warp_.
  MadeAsNeeded<LaneRegisters, operand_name_count> sources_;
  std::array<OperandName, operand_name_count> names_;  ///< of the sources
  std::size_t source_count_ = 0;
  LaneRegisters destination_{{}, nullptr, 0};
  LaneRegisters *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;  ///< of sources_
  StagedRegisters own_;
  OperandViews views_;  ///< place_of() each operand
  CallMemory memory_;   ///< that kernels use

  // For an instruction that addresses memory.
  Register* p_registers_ = nullptr;
  std::uint64_t memory_base_ = 0, memory_bytes_ = 0;  ///< the range of addresses, if rows are copied
  std::array<std::uint64_t, warp_size> addresses_;
  MatrixStorage matrix_;  ///< of wmma, in the caller's memory
  Register* stride_registers_ = nullptr;
  alignas(64) std::array<std::uint8_t, capacity::matrix_bytes> rows_;
};

}  // namespace warpmat
