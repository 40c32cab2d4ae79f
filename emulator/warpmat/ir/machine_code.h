#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include <warpmat/version.h>

namespace warpmat::code {

struct Program;

// Straight runs of a hot program as the CPU's own code, where a compiler is there: machine_code/. The machine (machine/warp_compiled.cpp)
// runs it in place of its interpreter's loop. The interpreter is the reference: both leave the same bytes after each operation.

/// Global memory in which an access found its bytes last, and which its next rows may use without asking: nothing where `bytes` is 0.
struct KnownMemory {
  std::uint64_t address = 0, bytes = 0;
  std::uint8_t* data = nullptr;
  const std::uint8_t* last = nullptr;  ///< where the last row was, in a loop
};
WARPMAT_LOCAL inline constexpr std::size_t known_memories = 256;  ///< of a block; accesses share them by their payload's number

/// What a helper returns to the code that called it.
enum class Helped : std::uint32_t { next, stop, thrown };

/// What the code reads and writes, of one split of a warp.
struct CodeContext {
  std::uint8_t* frame = nullptr;            ///< registers of the executing function
  const std::uint8_t* constants = nullptr;  ///< of the block
  KnownMemory* known = nullptr;             ///< known_memories of them
  std::uint8_t* shared = nullptr;           ///< shared memory of the block
  /// scalar::map_has_lanes() of the shared bytes whose accesses concern no observer
  const std::uint16_t* plain_bytes = nullptr;
  const std::uint32_t* thread_indices = nullptr;  ///< %tid.x, .y, .z of the lanes: 3 rows
  std::uint8_t* local = nullptr;                  ///< local memory of lane 0, behind which the other lanes' lies
  std::uint64_t local_bytes = 0;                  ///< of a lane; 0: the machine executes all accesses of it
  std::uint64_t local_frame = 0;                  ///< where that of the executing function begins in it
  std::uint32_t shared_base = 0, shared_bytes = 0;
  std::uint32_t lanes = 0;          ///< of the split
  std::int32_t converges_at = -1;   ///< before which operation they wait for others; -1: before none
  std::int32_t most = 0, left = 0;  ///< operations that the code may execute; left: those that it has not
  std::uint64_t before = 0;         ///< operations of the warp before
  std::int32_t pc = 0;              ///< where the code ended
  std::uint32_t stored = 0;         ///< whether it has stored to memory that others see
  std::uint32_t refused = 0;        ///< whether `execute` has not executed the operation before which it stopped
  std::uint32_t defines = 0;        ///< whether stores enter their bytes into plain_bytes
  std::uint32_t uniform[9]{};       ///< %ntid, %ctaid, %nctaid
  void* warp = nullptr;             ///< a machine::WarpState
  std::exception_ptr exception;     ///< of a helper that threw

  /// Executes operation `number`, behind which the code has counted down `ahead` more, by the machine's own function.
  Helped (*execute)(CodeContext& context, std::uint32_t number, std::uint32_t ahead) = nullptr;
};

/// Code for all operations of a program, for splits with all lanes of a warp or for any.
class MachineCode {
 public:
  /// What the machine finds at an operation.
  struct Place {
    std::uint32_t code = 0;           ///< offset of its code; 0: the code has no entry here
    std::uint32_t to_next_entry = 1;  ///< from here to the next entry, behind the next branch, or to the end
    bool steps = false;               ///< neither the code nor run_statements() executes it, but the machine's step()
  };

  virtual ~MachineCode() = default;
  const Place& place(std::int32_t pc) const { return places_[static_cast<std::size_t>(pc)]; }
  /// Whether it executes exchanges between lanes and barriers of warps, of which observers may want to know.
  bool exchanges() const { return exchanges_; }
  /// Executes operations from context.pc on, which is an entry, until one is not compiled, needs more than context.left, or separates
  /// lanes.
  void run(CodeContext& context) const { enter_(&context, code_ + place(context.pc).code); }

 protected:
  bool exchanges_ = false;
  std::vector<Place> places_;  ///< by operation, and one behind the last
  const std::uint8_t* code_ = nullptr;
  void (*enter_)(CodeContext* context, const std::uint8_t* at) = nullptr;
};

/// Compiles a program, for splits of all lanes or of any. Null: nothing of it is worth it, or the CPU is not one that it knows.
using CompileProgram = std::unique_ptr<const MachineCode> (*)(const Program& program, bool all_lanes);

/// When a program is compiled: once it is hot, or before its second block.
enum class CompileWhen : std::uint8_t { hot, at_once };

/// For all programs from now on; null: nothing compiles. `when` is for tests and measurements.
WARPMAT_LOCAL void set_program_compiler(CompileProgram compile, CompileWhen when = CompileWhen::hot);

WARPMAT_LOCAL bool compiles_at_once();

/// The code of a program, which copies of it share, made once it is hot.
class HotCode {
 public:
  ~HotCode();
  /// After so many operations more have been executed. Compiles it where that makes it hot; other threads do not wait.
  void count(const Program& program, std::uint64_t operations);
  /// Null: not compiled yet, or never.
  const MachineCode* find(bool all_lanes) const { return code_[all_lanes].load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> executed_ = 0;
  static constexpr int variants = 2;
  std::atomic<int> begun_ = 0;  ///< of code_
  std::atomic<const MachineCode*> code_[variants] = {nullptr, nullptr};
};

}  // namespace warpmat::code
