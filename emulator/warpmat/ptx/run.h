#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/export.h>
#include <warpmat/layout/memory_layout.h>
#include <warpmat/ptx/program.h>
#include <warpmat/warp/lane_mask.h>

namespace warpmat {

class ListMachine;

/// The registers and the shared memory of one warp that runs a program. Not thread-safe; the program is.
class WARPMAT_API Warp {
 public:
  /// All registers and all memory are zero. Shared memory holds the program's variables and has at least `shared_bytes` bytes. It begins at
  /// address `shared_base`, a multiple of every alignment in the program. `program` must outlive the warp.
  explicit Warp(const Program& program, std::size_t shared_bytes = 0, std::uint32_t shared_base = 0);
  explicit Warp(const Program&& program, std::size_t shared_bytes = 0, std::uint32_t shared_base = 0) = delete;

  const Program& program() const { return *program_; }

  /// The low word of register `name`; with `word` 1 the upper half of a 64-bit one. Throws std::invalid_argument for others.
  Register& reg(std::string_view name, int word = 0);
  const Register& reg(std::string_view name, int word = 0) const;

  /// The words of all named registers, in the order of their slots.
  std::span<Register> named_registers() { return std::span(registers_).first(static_cast<std::size_t>(program_->named_words)); }
  std::span<const Register> named_registers() const { return std::span(registers_).first(static_cast<std::size_t>(program_->named_words)); }

  SharedMemory& shared() { return shared_; }
  const SharedMemory& shared() const { return shared_; }

  /// The words of `operand`'s registers in order; each points to lanes 0 to 31.
  std::vector<std::uint32_t*> words(const OperandText& operand);
  std::vector<const std::uint32_t*> words(const OperandText& operand) const;

  /// The addresses from which the lanes read in the last execution of the program's `statement`. nullptr if it was not executed yet, or is
  /// neither ldmatrix nor ld.shared.
  const std::array<std::uint64_t, warp_size>* addresses_read(const Statement& statement) const;

  /// Declares the matrix in the shared variable `name`, so that messages can name the element at an address.
  void describe_variable(std::string_view name, const MemoryMatrix& matrix);
  /// The matrix from describe_variable, or nullptr.
  const MemoryMatrix* described_variable(std::string_view name) const;

  /// The lanes that would execute `statement` now: those whose guard is true.
  LaneMask executing(const Statement& statement) const;

  /// Executes one statement of the program. Throws Trap, having changed nothing. Does not allocate unless it throws, or is the first
  /// statement of a copied warp.
  void execute(const Statement& statement, const ExecutionOptions& options = {});

 private:
  void execute_matrix(const Statement& statement, const Instruction& instruction, const ExecutionOptions& options);
  void execute_scalar(const Statement& statement, const ScalarInstruction& instruction);
  void check_access(const Statement& statement, const ScalarInstruction& instruction);
  void check_barrier(const Statement& statement) const;
  Register& word(const Item& item, int index) { return registers_[static_cast<std::size_t>(item.slot + index)]; }
  const Register& word(const Item& item, int index) const { return registers_[static_cast<std::size_t>(item.slot + index)]; }
  std::uint64_t address(const OperandText& operand, std::size_t lane) const;

  void note_addresses(const Statement& statement, const OperandText& address_operand);

  /// Executes scalar statements. A copy of a warp makes its own on first use.
  class Machine {
   public:
    Machine();
    Machine(const Machine&);
    Machine(Machine&&) noexcept;
    Machine& operator=(Machine other) noexcept;
    ~Machine();
    ListMachine& made(const Program& program, std::uint32_t shared_base);

   private:
    std::unique_ptr<ListMachine> machine_;
  };

  const Program* program_;
  std::map<std::string, MemoryMatrix, std::less<>> matrices_;  ///< by the name of the variable
  std::vector<std::array<std::uint64_t, warp_size>> read_;     ///< by number of the statement; empty if none reads
  std::vector<bool> has_read_;                                 ///< by number of the statement
  std::vector<Register> registers_;
  SharedMemory shared_;
  Machine machine_;
};

/// Executes the warp's program from first to last. A Trap names the line; statements before it have taken effect.
WARPMAT_API void run(Warp& warp, const ExecutionOptions& options = {});

}  // namespace warpmat
