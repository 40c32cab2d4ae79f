#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <warpmat/execute/arguments.h>
#include <warpmat/export.h>
#include <warpmat/machine/device_memory.h>
#include <warpmat/ptx/sums_in_code.h>
#include <warpmat/warp/lane_mask.h>

namespace warpmat {

namespace syntax {
struct Module;
}
namespace code {
struct Program;
}
namespace machine {
class Observer;
}

// Whole kernels:
//
//     const Module module(ptx_text);
//     const Kernel kernel(module, "saxpy", {.target = "sm_90"});
//     DeviceMemory memory;
//     const auto x = memory.allocate(std::vector<float>(1000, 1.0f), "x"), y = memory.allocate(4000, "y");
//     launch(kernel, {.grid = {8}, .block = {128}}, memory, {1000, 2.0f, x, y});
//     CHECK(memory.read<float>(y, 1000) == expected);

/// Parsed PTX: entries, functions and variables. Cheap to copy, immutable.
class WARPMAT_API Module {
 public:
  /// Throws SyntaxError listing every place that is not PTX.
  explicit Module(std::string text);

  /// The names of the entries.
  [[nodiscard]] std::vector<std::string> entries() const;
  const std::shared_ptr<const syntax::Module>& syntax() const { return syntax_; }

 private:
  std::shared_ptr<const syntax::Module> syntax_;
};

struct KernelOptions {
  std::string_view target = {};                        ///< the GPU to emulate ("sm_90a"); by default the module's own .target
  bool contract = true;                                ///< whether unrounded mul and add become fma, as in ptxas; false is its --fmad=false
  const std::vector<SumInCode>* sums = nullptr;        ///< what machine code shows, which goes before the rule: docs/assembler.md
  const std::vector<ResultInCode>* results = nullptr;  ///< the same, of results that may be immediates
};

/// An entry, resolved for a target. Cheap to copy, immutable, thread-safe.
class WARPMAT_API Kernel {
 public:
  /// `entry`: the name in PTX, or its C++ name with or without parameter types, if only one entry has it: "gemm" of _Z4gemmPf.
  /// Throws SyntaxError listing every statement that cannot be executed, and std::invalid_argument for an unknown entry or target.
  Kernel(const Module& module, std::string_view entry, const KernelOptions& options = {});
  explicit Kernel(std::shared_ptr<const code::Program> program) : program_(std::move(program)) {}

  /// A parameter of the entry, and its place in the .param space.
  struct Parameter {
    std::string name;  ///< in PTX
    std::uint32_t offset = 0, bytes = 0, alignment = 1;
    std::string type;      ///< "u64", or "b8" of structs
    bool pointer = false;  ///< .ptr
  };

  /// The name in PTX.
  [[nodiscard]] std::string entry() const;
  /// The GPU that it is resolved for: "sm_90a".
  [[nodiscard]] std::string target() const;
  [[nodiscard]] std::vector<Parameter> parameters() const;
  /// What it executes: internal, without a header among the installed ones.
  const code::Program& program() const { return *program_; }

 private:
  std::shared_ptr<const code::Program> program_;
};

struct WARPMAT_API Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// One argument of a kernel: the bytes of a number, of an address in DeviceMemory, which is a std::uint64_t, or of a struct. Pointers and
/// arrays of the host do not compile: a kernel cannot reach what they name.
class Argument {
  template <typename T>
  static constexpr bool of_host = std::is_pointer_v<T> || std::is_array_v<T> || std::is_null_pointer_v<T> || std::is_member_pointer_v<T>;

 public:
  template <typename T>
  requires(std::is_trivially_copyable_v<T> && !of_host<T>) Argument(const T& value) : bytes_(sizeof(T)) {  // NOLINT: numbers are arguments
    std::memcpy(bytes_.data(), &value, sizeof(T));
  }
  Argument(const volatile void* host_memory) = delete;
  Argument(std::nullptr_t) = delete;
  explicit Argument(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {}
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

struct LaunchConfig {
  Dim3 grid = {}, block = {};
  std::uint32_t shared_bytes = 0;  ///< of dynamic shared memory
  Dim3 cluster = {};               ///< blocks that run together; if it is one block, the entry's .reqnctapercluster
  std::uint64_t workspace = 0;     ///< of a cooperative launch: the address of its size and its barrier, both u32 and the barrier zero
};

/// Optional checks. Bounds, alignment, participation of lanes and deadlocks are always checked. See docs/launch.md.
struct Checks {
  bool uninitialised = true;  ///< an uninitialised value of shared memory affects control flow, an address or global memory
  bool copies = true;         ///< data of cp.async is read before the wait for it, or by other warps before a barrier
  bool races = false;         ///< two warps access a byte of shared memory, at least one writes, and no synchronisation orders them
  bool lanes = false;         ///< a shuffle reads a lane that takes no part, which PTX leaves undefined. If false, LaunchResult reports it
  bool fences = true;  ///< with `copies`: a bulk copy reads bytes without a fence.proxy.async. If false, LaunchResult::warnings reports it
};

/// What a kernel leaves to the GPU (CUDA's dynamic parallelism): a launch, a copy or a fill. It may run when the grid of that kernel has
/// ended, which cannot wait for it.
struct ChildLaunch {
  enum class Kind : std::uint8_t { kernel, copy, fill };
  Kind kind = Kind::kernel;
  std::string entry = {};  ///< of the same module
  Dim3 grid = {}, block = {};
  std::uint32_t shared_bytes = 0;
  std::uint64_t stream = 0;                   ///< as the kernel named it; 3: behind all others (cudaStreamTailLaunch)
  std::vector<std::uint8_t> parameters = {};  ///< at their offsets in the .param space, and bytes behind them
  std::uint64_t to = 0, from = 0, bytes = 0;  ///< of a copy; of a fill `from` is the value of each byte
};
struct ChildLaunches {
  std::map<std::uint64_t, ChildLaunch> prepared = {};  ///< by the address of the parameters, which the kernel writes
  std::vector<ChildLaunch> made = {};                  ///< in the order of the blocks
};

struct LaunchOptions {
  int jobs = 1;                       ///< threads; 0 means the number of cores. The result does not depend on it
  std::uint64_t schedule = 0;         ///< 0: blocks and warps in order; else the seed of another order
  ExecutionOptions execution = {};    ///< of the matrix instructions
  std::uint64_t most_operations = 0;  ///< limit for each block; 0: no limit. More is a trap
  Checks checks = {};
  /// The matrix product that the kernel is to compute, "C=A*B^T:128x128x64": names of buffers, ^T where columns are contiguous, M, N and K;
  /// then ",lda=72" where rows lie further apart. Each product of a matrix instruction is held against it, whatever the numbers are, and
  /// the first that is wrong is a trap of kind `mispaired` that names both sides. Empty: none is. See docs/launch.md
  std::string gemm = {};
  /// An element of that product's result, "C[5,3]": LaunchResult::why tells where it comes from. Nothing is then a trap of kind
  /// `mispaired`.
  std::string why = {};
  /// The blocks at whose products `gemm` and `why` look; the others of their clusters are looked at, too. Empty: all. A few cost little.
  std::vector<Dim3> gemm_blocks = {};
  /// Gets the launches and copies that the kernel makes, for the caller to run. nullptr: a kernel that makes one traps
  ChildLaunches* children = nullptr;
  /// when it becomes true, the launch ends soon with a trap of kind `limit`; any thread may set it
  const std::atomic<bool>* stop = nullptr;
  /// Receive the events of all clusters (machine/observer.h). If there are any, the launch uses one thread. Not null.
  std::vector<machine::Observer*> observers = {};
  /// Makes an observer of cluster `number` of the launch (without clusters: of a block). Several threads may call it at once. It may return
  /// nullptr.
  std::function<std::unique_ptr<machine::Observer>(std::uint64_t number)> observer_of_cluster = nullptr;
};

/// The way of an element of a product's result, backwards: LaunchOptions::why.
struct Why {
  /// A product that formed it: one element of the result of a matrix instruction.
  struct Step {
    std::string opcode;
    int row = 0, column = 0;             ///< of the instruction's result
    std::vector<int> depths;             ///< the k that the elements of this row of a have; -1: none, or an element that was not kept
    std::string where;                   ///< "line 341 (mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; gemm.cu:41)"
    std::vector<std::uint32_t> a, b, c;  ///< registers of the operands, 32 lanes each, as `warpmat explain` takes them; empty of wgmma
  };
  std::string text;         ///< who stored it, and for each product which elements met, by which statements and shared addresses
  std::vector<Step> steps;  ///< in their order
};

struct LaunchResult {
  std::string printed;           ///< output of vprintf, in the order of the blocks, which LaunchOptions::schedule decides
  std::uint64_t operations = 0;  ///< warp-wide operations that were executed
  /// Statements whose results a GPU may not reproduce: KernelTrap's text for the first occurrence of each, in statement order.
  std::vector<std::string> warnings = {};
  /// Shuffles that read lanes which take no part (outside of the mask, elsewhere, exited), each statement once: "line 12
  /// (shfl.sync.idx.b32)". They got 0, as from an sm_90; PTX leaves it undefined.
  std::vector<std::string> absent_lanes = {};
  std::vector<Why> why = {};  ///< by the blocks that store the element of LaunchOptions::why, in order
};

/// An error of a kernel, which ends the launch.
class WARPMAT_API KernelTrap : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    misuse,        ///< lanes, operands or barriers violate PTX's rules
    undefined,     ///< the ISA does not define what a matrix instruction's operand holds, or what a shuffle reads: Checks::lanes
    misaligned,    ///< an address is not a multiple of the access size
    out_of_range,  ///< an access outside its memory
    unwritten,     ///< an uninitialised value affects the result: Checks::uninitialised
    unordered,     ///< two accesses are not ordered: Checks::copies, Checks::races
    deadlock,      ///< every warp that has not exited waits
    limit,         ///< LaunchOptions::most_operations
    stopped,       ///< the kernel executed a trap, or its own assertion failed
    mispaired,     ///< a matrix instruction multiplies, or a statement stores, what LaunchOptions::gemm rules out
  };
  struct Site {
    std::string kernel;
    Dim3 block{0, 0, 0};
    int warp = 0;
    int lane = -1;          ///< -1 if no single lane is at fault
    int line = 0;           ///< of the PTX
    std::string statement;  ///< the opcode
    std::string source;     ///< "file.cu:12", if the PTX has .loc
  };
  KernelTrap(Site site, std::optional<std::uint64_t> address, const std::string& reason, Kind kind = Kind::misuse);

  Kind kind;
  Site site;
  std::optional<std::uint64_t> address;
  std::string reason;
};

/// Where the .global or .const variable `name`, in PTX or in C++, of the kernel's module lies in `memory`, as cuModuleGetGlobal has it:
/// memory.bytes() reads and sets it. It gets its initial contents now if nothing of the module was placed in `memory` before. Throws
/// std::invalid_argument.
[[nodiscard]] WARPMAT_API std::uint64_t variable_address(const Kernel& kernel, DeviceMemory& memory, std::string_view name);

/// Says where variables of the kernel's module lie in `memory`: the address of a buffer there by the variable's name in PTX. Variables
/// without a row get memory and their initial contents. Precondition: nothing of the module was placed in `memory` before.
WARPMAT_API void place_variables(const Kernel& kernel, DeviceMemory& memory, const std::map<std::string, std::uint64_t>& addresses);

/// Runs a kernel to its end. Checks `arguments` against the entry's parameters. Throws std::invalid_argument if grid, block, shared memory
/// or arguments do not fit, and KernelTrap for an error of the kernel; `memory` then holds what was written so far.
WARPMAT_API LaunchResult launch(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory,
                                const std::vector<Argument>& arguments, const LaunchOptions& options = {});

}  // namespace warpmat
