#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <warpmat/program.h>

namespace warpmat {

/// The registers and shared memories of many warps that run one program: a runner's input and output.
struct WarpStates {
  std::size_t warps = 0;
  std::size_t words = 0;             ///< 32-bit registers a warp: Program::named_words, in the order of their slots
  std::size_t shared_bytes = 0;      ///< bytes of shared memory a warp, at least Program::shared_bytes
  std::vector<Register> registers;   ///< [warps][words]
  std::vector<std::uint8_t> shared;  ///< [warps][shared_bytes]

  /// All zero, of the sizes that `program` needs.
  WarpStates(const Program& program, std::size_t warp_count, std::size_t at_least_shared_bytes = 0);

  std::span<Register> registers_of(std::size_t warp) { return std::span(registers).subspan(warp * words, words); }
  std::span<const Register> registers_of(std::size_t warp) const { return std::span(registers).subspan(warp * words, words); }
  std::span<std::uint8_t> shared_of(std::size_t warp) { return std::span(shared).subspan(warp * shared_bytes, shared_bytes); }
  std::span<const std::uint8_t> shared_of(std::size_t warp) const { return std::span(shared).subspan(warp * shared_bytes, shared_bytes); }

  friend bool operator==(const WarpStates&, const WarpStates&) = default;
};

/// Executes programs: the emulator on all cores, a GPU, or in tests a faulty copy of one of them. The differential layer compares two
/// runners and knows nothing else about either.
class Runner {
 public:
  virtual ~Runner() = default;

  /// Runs `program` once on each warp of `states`, in place. Throws std::runtime_error naming the statement that failed, with `states`
  /// unchanged. Shared memory begins at address `shared_base()`, which a program's `mov` of a variable's address returns.
  virtual void run(const Program& program, WarpStates& states) = 0;

  /// The shared-memory address of the first byte of `states`' memories.
  virtual std::uint32_t shared_base() const = 0;

  /// A description for reports: "emulator sm_90" or "NVIDIA H200, sm_90, driver 13.0".
  virtual std::string description() const = 0;
};

}  // namespace warpmat
