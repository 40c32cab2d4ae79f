#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <warpmat/instruction.h>
#include <warpmat/program.h>
#include <warpmat/warp.h>

namespace warpmat {

/// Executes the statements of a program for a warp: the machine that executes kernels, with one warp.
class ListMachine {
 public:
  virtual ~ListMachine() = default;

  /// For a warp whose shared memory begins at `shared_base`. `program` must outlive the machine.
  static std::unique_ptr<ListMachine> make(const Program& program, std::uint32_t shared_base);

  /// Executes the operations from `first` up to `last` in all lanes, on the warp's register file and shared memory. Throws Trap; the
  /// operations of statement() have then changed no named register and no memory, but where an observer ended it after its effect. Throws
  /// std::invalid_argument in a call of one of the warp's observers.
  virtual void execute(std::int32_t first, std::int32_t last, std::span<Register> registers, std::span<std::uint8_t> shared,
                       const ExecutionOptions& options) = 0;
  /// Ends the block for the observers so far, and begins it for these; `shared` is its memory. If one of them throws, none is left.
  /// Throws std::invalid_argument in a call of one of them, which stay.
  virtual void observe(std::vector<machine::Observer*> observers, std::span<std::uint8_t> shared) = 0;
  /// The number of the statement that raised the last Trap.
  virtual std::size_t statement() const = 0;
};

}  // namespace warpmat
