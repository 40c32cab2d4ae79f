#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <warpmat/program.h>
#include <warpmat/warp.h>

namespace warpmat::inline v0_1 {

/// Executes the scalar statements of a program for a warp: the machine that executes kernels, with one warp.
class ListMachine {
 public:
  virtual ~ListMachine() = default;

  /// For a warp whose shared memory begins at `shared_base`. `program` must outlive the machine.
  static std::unique_ptr<ListMachine> make(const Program& program, std::uint32_t shared_base);

  /// Executes the operations from `first` up to `last` in all lanes, on the warp's register file and shared memory. Throws Trap; named
  /// registers and memory are then unchanged.
  virtual void execute(std::int32_t first, std::int32_t last, std::span<Register> registers, std::span<std::uint8_t> shared) = 0;
};

}  // namespace warpmat::inline v0_1
