#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <warpmat/ptx/program.h>
#include <warpmat/warp/warp.h>

namespace warpmat {

/// What executes the operations of Program::code for a warp: the same machine as executes kernels, with one warp. It is above this room, so
/// machine/list_machine.cpp has what make() makes.
class ListMachine {
 public:
  virtual ~ListMachine() = default;

  /// For a warp whose shared memory begins at `shared_base`. `program` outlives the machine.
  static std::unique_ptr<ListMachine> make(const Program& program, std::uint32_t shared_base);

  /// Executes the operations from `first` up to `last` in all lanes, on the warp's register file and shared memory. Throws Trap; then no
  /// register with a name and no memory has changed.
  virtual void execute(std::int32_t first, std::int32_t last, std::span<Register> registers, std::span<std::uint8_t> shared) = 0;
};

}  // namespace warpmat
