#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <warpmat/diagnostic.h>
#include <warpmat/instruction.h>
#include <warpmat/layout.h>
#include <warpmat/version.h>
#include <warpmat/warp.h>

namespace warpmat {

// ---- Global memory ----

class DeviceHeap;
struct Internals;
struct StoredBuffer;
struct Texture;

/// More memory is needed than DeviceMemory::set_most_bytes() or LaunchOptions::most_block_bytes allows.
class WARPMAT_API MemoryLimit : public std::bad_alloc {
 public:
  explicit MemoryLimit(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  /// What needs it, how much, and the limit.
  const char* what() const noexcept override { return text_->c_str(); }

 private:
  std::shared_ptr<const std::string> text_;
};

/// The global memory of a GPU: buffers with gaps between them, so that accesses outside a buffer are detected. Addresses depend only on the
/// order and sizes of the allocations. Do not change it while a kernel runs.
class WARPMAT_API DeviceMemory {
 public:
  /// A buffer as it is when it is asked for. `name` is valid as long as the memory has the buffer, freed or not; `contents`, which a kernel
  /// may change, until it is freed or moved.
  struct Buffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::string_view name = {};
    bool freed = false;
    std::span<const std::byte> contents = {};  ///< none of a freed one
    std::uint64_t end() const { return address + bytes; }
  };

  DeviceMemory();
  /// The first allocated buffer lies at `first_address`, or at the next multiple of its alignment; all others lie behind it.
  explicit DeviceMemory(std::uint64_t first_address);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  /// Allocates a zeroed buffer behind all allocated ones, where none is placed. Its address is a multiple of `alignment`, a power of two,
  /// and of 256. `name` appears in messages. Throws std::invalid_argument for another alignment, std::bad_alloc where no addresses or
  /// memory are left.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes, std::string name = {}, std::uint64_t alignment = 256);
  /// Allocates a buffer with these contents.
  template <typename T>
  [[nodiscard]] std::uint64_t allocate(std::span<const T> contents, std::string name = {}) {
    static_assert(std::is_trivially_copyable_v<T>);
    return allocate_bytes(std::as_bytes(contents), std::move(name));
  }
  template <typename T>
  [[nodiscard]] std::uint64_t allocate(const std::vector<T>& contents, std::string name = {}) {
    return allocate(std::span<const T>(contents), std::move(name));
  }
  /// A buffer with these contents at an address that another memory gave it. Throws std::invalid_argument where it overlaps another buffer,
  /// freed or not, or addresses that are not of global memory.
  void place(std::uint64_t address, std::span<const std::uint8_t> contents, std::string name);
  /// Frees the buffer that begins at `address`; later accesses to it are errors. Throws std::invalid_argument if none begins there.
  void free(std::uint64_t address);

  /// Backs the buffer that begins at `address` with host memory at the same address, which the caller has mapped, and copies its contents
  /// there. Managed and pinned memory are such buffers. Throws std::invalid_argument if no buffer begins there.
  void move_to_own_address(std::uint64_t address);
  /// Makes `bytes` of this process a buffer at their own address, which overlaps no other one. The caller keeps them while it is in use.
  void add_own_memory(std::span<std::uint8_t> bytes, std::string name);
  /// Forgets the buffer that begins at `address`. Throws std::invalid_argument if none begins there.
  void remove(std::uint64_t address);

  /// The `count` bytes at `address`. Throws std::out_of_range unless one buffer contains them all.
  std::span<std::uint8_t> bytes(std::uint64_t address, std::uint64_t count);
  std::span<const std::uint8_t> bytes(std::uint64_t address, std::uint64_t count) const;
  /// `count` elements from `address` on. Throws std::out_of_range.
  template <typename T>
  [[nodiscard]] std::vector<T> read(std::uint64_t address, std::size_t count) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> out(count);
    copy_out(address, std::as_writable_bytes(std::span(out)));
    return out;
  }

  /// Says that nobody has written these bytes, whatever they hold. Checks::global looks for their use; what a kernel stores or a copy
  /// brings is written. All bytes count as written unless this says otherwise. Throws std::out_of_range unless one buffer contains them.
  void set_unwritten(std::uint64_t address, std::uint64_t count);
  /// Says that these bytes are written: by the caller, through bytes(). Throws std::out_of_range unless one buffer contains them.
  void set_written(std::uint64_t address, std::uint64_t count);
  /// Gives `count` bytes at `to` the state of those at `from`, as a copy of their contents does. Throws std::out_of_range.
  void copy_written(std::uint64_t to, std::uint64_t from, std::uint64_t count);
  /// Bytes one behind another that nobody has written.
  struct Unwritten {
    std::uint64_t address = 0, bytes = 0;
  };
  /// The first ones of these bytes that nobody has written; nothing if all are. Throws std::out_of_range.
  [[nodiscard]] std::optional<Unwritten> find_unwritten(std::uint64_t address, std::uint64_t count) const;

  /// The buffer that contains `address`, freed or not; nothing if there is none.
  [[nodiscard]] std::optional<Buffer> find(std::uint64_t address) const;
  /// The buffer of that name that is not freed; nothing if there is none, or several.
  [[nodiscard]] std::optional<Buffer> find_name(std::string_view name) const;
  /// The position of `address` relative to the nearest buffer: "16 bytes beyond the end of buffer 'A' of 1024 bytes at 0x7f0000000000".
  std::string describe(std::uint64_t address) const;

  /// The most bytes that all buffers together may have from now on, but those of add_own_memory(); there is no limit unless said. What
  /// would exceed it throws MemoryLimit, and changes nothing.
  void set_most_bytes(std::uint64_t bytes) { most_bytes_ = bytes; }

  /// The size that the heap of malloc() in kernels is to have, 8 MiB unless said. Throws std::logic_error once a kernel has used it.
  void set_heap_bytes(std::uint64_t bytes);

 private:
  friend struct Internals;

  std::uint64_t allocate_bytes(std::span<const std::byte> contents, std::string name);
  void copy_out(std::uint64_t address, std::span<std::byte> to) const;
  std::uint64_t free_address(std::uint64_t bytes, std::uint64_t alignment) const;
  void check_room(std::uint64_t bytes, const std::string& name) const;
  StoredBuffer& beginning_at(std::uint64_t address);
  StoredBuffer& containing(std::uint64_t address, std::uint64_t count);

  /// What each of several GPUs with one address space has for itself.
  struct OfGpu {
    /// The addresses of each module's variables once they are placed. It keeps the module alive, so that no other module gets its address.
    std::map<std::shared_ptr<const void>, std::vector<std::uint64_t>> modules;
    std::uint64_t heap_bytes = 8 << 20;
    std::shared_ptr<DeviceHeap> heap;
  };

  std::uint64_t next_address_ = 0x00007f00'00000000;  ///< where the next buffer may begin
  std::vector<StoredBuffer> buffers_;                 ///< sorted by address
  std::vector<OfGpu> gpus_{1};
  std::size_t gpu_ = 0;  ///< that allocates and runs kernels: select_gpu()
  std::map<std::uint64_t, std::shared_ptr<const Texture>> textures_;
  std::uint64_t last_texture_ = 0;  ///< the handle that was given last
  std::uint64_t used_bytes_ = 0, most_bytes_ = ~std::uint64_t{0};
};

// ---- Kernels and launches ----

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

 private:
  friend struct Internals;

  std::shared_ptr<const syntax::Module> syntax_;
};

struct AssemblerDecisions;  // assembler.h

struct KernelOptions {
  std::string_view target = {};                   ///< the GPU to emulate ("sm_90a"); by default the module's own .target
  bool contract = true;                           ///< whether unrounded mul and add become fma, as in ptxas; false is its --fmad=false
  std::string_view assembler_options = {};        ///< of ptxas, those that change bits: "--fmad false", "-O0", "-g"; others are passed over
  const AssemblerDecisions* decisions = nullptr;  ///< what an assembler decided; null: the rule of docs/reference/assembler.md decides
  bool keep_registers = false;                    ///< a register keeps its value until it is written again: for debuggers; slower
};

/// An entry, resolved for a target. Cheap to copy, immutable, thread-safe.
class WARPMAT_API Kernel {
 public:
  /// `entry`: the name in PTX, or its C++ name with or without parameter types, if only one entry has it: "gemm" of _Z4gemmPf.
  /// Throws SyntaxError listing every statement that cannot be executed, and std::invalid_argument for an unknown entry or target.
  Kernel(const Module& module, std::string_view entry, const KernelOptions& options = {});

  /// A parameter of the entry, and its place in the .param space.
  struct Parameter {
    std::string name;  ///< in PTX
    std::uint32_t offset = 0, bytes = 0, alignment = 1;
    std::string type;      ///< "u64", or "b8" of structs
    bool pointer = false;  ///< .ptr
  };

  /// A .global or .const variable of the module.
  struct Variable {
    std::string name;  ///< in PTX
    std::uint64_t bytes = 0;
    bool constant = false;  ///< .const
  };

  /// The name in PTX.
  [[nodiscard]] std::string entry() const;
  /// The GPU that it is resolved for: "sm_90a".
  [[nodiscard]] std::string target() const;
  [[nodiscard]] std::vector<Parameter> parameters() const;
  /// The variables of its module, which variable_address() finds by their names.
  [[nodiscard]] std::vector<Variable> variables() const;

 private:
  friend struct Internals;

  std::shared_ptr<const code::Program> program_;
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

// The optional checks: ROW(NAME, USUAL, ALSO, FINDS) of each. NAME is a field of Checks, a keyword of Python's, and a word of --check,
// which turns on ALSO, too. USUAL: whether a launch has it that does not say.
#define WARPMAT_EACH_CHECK(ROW)                                                                                                   \
  ROW(uninitialised, true, stores, "an uninitialised value of shared memory affects control flow, an address or global memory")   \
  ROW(copies, true, copies, "data of cp.async is read before the wait for it, or by other warps before a barrier")                \
  ROW(races, false, races,                                                                                                        \
      "two warps access a byte of shared memory, at least one writes, and no synchronisation orders them. Of two lanes of a "     \
      "warp, and of two blocks in global memory, it is a warning")                                                                \
  ROW(lanes, false, lanes, "a shuffle reads a lane that takes no part, which PTX leaves undefined; else a note")                  \
  ROW(fences, true, fences, "with copies: a bulk copy or wgmma reads bytes without a fence.proxy.async; else a warning")          \
  ROW(stores, true, uninitialised, "with uninitialised: global memory gets such a value; else a warning")                         \
  ROW(global, false, uninitialised,                                                                                               \
      "with uninitialised: also a value of global memory that nobody has written, as DeviceMemory::set_unwritten() says. Stores " \
      "of what is computed from it and atomics on such bytes are warnings")

/// Bounds, alignment, participation of lanes and deadlocks are always checked. See docs/use/launch.md.
struct Checks {
#define WARPMAT_CHECK(name, usual, also, finds) bool name = usual;
  WARPMAT_EACH_CHECK(WARPMAT_CHECK)
#undef WARPMAT_CHECK
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

/// Calls work(data) on at most `jobs` threads, the caller's among them, and returns when all calls have returned. The caller's call alone
/// must be enough: others help if threads are there. `work` throws nothing.
using RunOnThreads = void (*)(int jobs, void (*work)(void* data), void* data);

/// Gives all later launches of the process the threads that they run on, as those of a pool that the program has: to begin threads takes
/// longer than a short launch. Without a call, or after one with nullptr, threads begin and end with each launch on several. Any thread may
/// call it. After fork() the child's launches call it, too; it must then use the caller's thread alone.
WARPMAT_API void set_threads(RunOnThreads threads);

/// When asynchronous copies, cp.async and the bulk ones, take effect.
enum class Timing : std::uint8_t {
  latest,  ///< as late as the ISA allows, so that a missing wait becomes visible
  /// In the order of their statements, when the warp that issued them has its turn's end, as a card usually completes them before anything
  /// waits: programs with races that pass on cards pass
  card,
};

struct LaunchOptions {
  int jobs = 1;                       ///< threads; 0 means the number of cores. The result does not depend on it
  std::uint64_t schedule = 0;         ///< 0: blocks and warps in order; else the seed of another order
  Timing timing = Timing::latest;     ///< of asynchronous copies
  ExecutionOptions execution = {};    ///< of the matrix instructions
  std::uint64_t most_operations = 0;  ///< limit for each block; 0: no limit. More is a trap
  /// Limit for what printf prints, in bytes; 0: no limit. More is a trap of kind `limit`
  std::uint64_t most_printed = 256 << 20;
  /// Limit for the registers, the local and the shared memory of the blocks that run at once, in bytes; 0: no limit. launch() refuses a
  /// kernel that needs more
  std::uint64_t most_block_bytes = 0;
  /// Limit for the time of the launch; 0: no limit. More is a trap of kind `limit`. launch() refuses what is negative or no number
  double most_seconds = 0;
  Checks checks = {};
  /// Is asked of each report of a check, and of each Trap that an observer throws. After true the launch goes on as if there were none, and
  /// no warning has it. Errors of which a GPU would know, as an address outside of all buffers, end the launch without a question. Several
  /// threads may call it at once.
  std::function<bool(const Trap& report)> suppresses = nullptr;
  /// Gets the launches and copies that the kernel makes, for the caller to run. nullptr: a kernel that makes one traps
  ChildLaunches* children = nullptr;
  /// when it becomes true, the launch ends soon with a trap of kind `limit`; any thread may set it
  const std::atomic<bool>* stop = nullptr;
  /// Receive the events of all clusters (observer.h). If there are any, the launch uses one thread. Not null.
  std::vector<machine::Observer*> observers = {};
  /// Each makes an observer of cluster `number` of the launch (without clusters: of a block). Several threads may call it at once. It may
  /// return nullptr.
  std::vector<std::function<std::unique_ptr<machine::Observer>(std::uint64_t number)>> observers_of_clusters = {};
};

struct LaunchResult {
  std::string printed;           ///< output of vprintf, in the order of the blocks, which LaunchOptions::schedule decides
  std::uint64_t operations = 0;  ///< warp-wide operations that were executed
  /// Statements whose results a GPU may not reproduce: Trap's text for the first occurrence of each, in statement order.
  std::vector<std::string> warnings = {};
  std::vector<Trap> warned = {};  ///< the same in parts, with their places
  /// Shuffles that read lanes which take no part (outside of the mask, elsewhere, exited), each statement once: "line 12
  /// (shfl.sync.idx.b32)". They got 0, as from an sm_90; PTX leaves it undefined.
  std::vector<std::string> absent_lanes = {};
};

/// Where the .global or .const variable `name`, in PTX or in C++, of the kernel's module lies in `memory`, as cuModuleGetGlobal has it:
/// memory.bytes() reads and sets it. It gets its initial contents now if nothing of the module was placed in `memory` before. Throws
/// std::invalid_argument.
[[nodiscard]] WARPMAT_API std::uint64_t variable_address(const Kernel& kernel, DeviceMemory& memory, std::string_view name);

/// Says where variables of the kernel's module lie in `memory`: an address in a buffer there by the variable's name in PTX. Variables
/// without a row get memory and their initial contents. Throws std::invalid_argument, and places nothing, for a name that no variable of
/// the module has, for an address from which a buffer does not hold the whole variable, and where the module was placed in `memory` before.
WARPMAT_API void place_variables(const Kernel& kernel, DeviceMemory& memory, const std::map<std::string, std::uint64_t>& addresses);

/// Runs a kernel to its end. Checks `arguments` against the entry's parameters. Throws std::invalid_argument if grid, block, shared memory
/// or arguments do not fit, and Trap for an error of the kernel; `memory` then holds what was written so far.
WARPMAT_API LaunchResult launch(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory,
                                const std::vector<Argument>& arguments, const LaunchOptions& options = {});

// ---- Tensor maps ----

/// The tensor memory accelerator's description of a tensor in global memory, one that the driver accepts (CUDA Driver API reference,
/// "Tensor Map Object Management"). Enumerators have the driver's numbers.
///
/// An interleaved tensor stores its channels in slices of 16 or 32 bytes. Its dimensions are W, {H, {D,}} slices, N. A slice replaces an
/// element, and the distance of neighbours along W is not among the strides: it is the slice (measured on an H200).
class WARPMAT_API TensorMap {
 public:
  /// Sixteen elements of u4x16, u4x16_p64 and u6x16_p32 have 8, 8 and 12 contiguous bytes in global memory, and 8, 16 and 16 in shared
  /// memory: padding follows, which keeps its old contents (PTX ISA 9.1 section 5.5.1.1; the driver's 16U4_ALIGN8B, 16U4_ALIGN16B and
  /// 16U6_ALIGN16B; sm_100 on).
  enum class Type : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, u4x16, u4x16_p64, u6x16_p32 };
  enum class Interleave : std::uint8_t { none, bytes_16, bytes_32 };
  using Swizzle = warpmat::Swizzle;
  /// What a swizzle of 128 bytes keeps together: 16 bytes, 32, 32 whose halves of 16 bytes exchange their 8 bytes in every other line of
  /// 128, or 64 (PTX ISA 9.1 section 5.5.7; all but the first: sm_100 on). Which lines exchange 8 bytes is assumed: the odd ones.
  enum class Atom : std::uint8_t { bytes_16, bytes_32, bytes_32_flip_8, bytes_64 };
  enum class L2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
  enum class Fill : std::uint8_t { zeros, nan };
  enum class Mode : std::uint8_t { tile, im2col };
  static constexpr std::size_t max_dimensions = 5;
  static constexpr std::size_t bytes = 128;     ///< of an encoded map
  static constexpr std::size_t alignment = 64;  ///< of its address
  static constexpr int swizzle_numbers = 7;     ///< the driver's, of swizzle and atom together
  using Encoded = std::array<std::uint8_t, bytes>;

  /// The arguments of cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, right or wrong.
  struct WARPMAT_API Arguments {
    Type type = Type::u8;
    std::uint32_t rank = 1;                                   ///< dimensions, the innermost first
    std::uint64_t address = 0;                                ///< generic address of element (0, 0, ...)
    std::array<std::uint64_t, max_dimensions> dims{};         ///< elements
    std::array<std::uint64_t, max_dimensions - 1> strides{};  ///< bytes, of dimensions 1, 2, ...
    std::array<std::uint32_t, max_dimensions> box{};          ///< tile: elements that a copy traverses
    std::array<std::uint32_t, max_dimensions> element_strides{1, 1, 1, 1, 1};
    Interleave interleave = Interleave::none;
    Swizzle swizzle = Swizzle::none;
    Atom atom = Atom::bytes_16;  ///< others with Swizzle::bytes_128 alone
    L2Promotion l2_promotion = L2Promotion::none;
    Fill fill = Fill::zeros;

    Mode mode = Mode::tile;
    /// im2col: the corners of the box in which the filter's base moves, relative to the first and the last element of W, {H, {D}}.
    std::array<std::int32_t, max_dimensions - 2> lower_corner{}, upper_corner{};
    std::uint32_t channels = 0;  ///< im2col: elements of each pixel
    std::uint32_t pixels = 0;    ///< im2col: pixels of a copy

    /// The driver's number of swizzle and atom (CU_TENSOR_MAP_SWIZZLE_NONE is 0).
    int swizzle_number() const;
    /// Precondition: `number` is below swizzle_numbers.
    void set_swizzle(int number);
  };

  /// The driver's reason to refuse these arguments, as one sentence; nothing if it accepts them.
  [[nodiscard]] static std::optional<std::string> problem(const Arguments& given);
  /// Throws std::invalid_argument with problem(given).
  explicit TensorMap(const Arguments& given);

  /// The 128 bytes of a kernel's argument. Their layout is warpmat's own, because NVIDIA does not publish the GPU's.
  [[nodiscard]] Encoded encode() const;
  /// Decodes 128 bytes; nothing if they are not a map.
  [[nodiscard]] static std::optional<TensorMap> decode(std::span<const std::uint8_t> encoded);

  const Arguments& arguments() const { return arguments_; }
  Type type() const { return arguments_.type; }
  std::uint32_t rank() const { return arguments_.rank; }
  std::uint64_t address() const { return arguments_.address; }
  const std::array<std::uint64_t, max_dimensions>& dims() const { return arguments_.dims; }
  const std::array<std::uint64_t, max_dimensions - 1>& strides() const { return arguments_.strides; }
  const std::array<std::uint32_t, max_dimensions>& box() const { return arguments_.box; }
  const std::array<std::uint32_t, max_dimensions>& element_strides() const { return arguments_.element_strides; }
  Interleave interleave() const { return arguments_.interleave; }
  Swizzle swizzle() const { return arguments_.swizzle; }
  Atom atom() const { return arguments_.atom; }
  Fill fill() const { return arguments_.fill; }
  Mode mode() const { return arguments_.mode; }
  const std::array<std::int32_t, max_dimensions - 2>& lower_corner() const { return arguments_.lower_corner; }
  const std::array<std::int32_t, max_dimensions - 2>& upper_corner() const { return arguments_.upper_corner; }

  std::uint64_t element_bits() const;
  /// The distance in bits of neighbours along dimension 0 in global memory: an element, or a slice.
  std::uint64_t unit_bits() const;
  /// The bytes of global memory that a chunk of 16 bytes in shared memory holds: 16, or fewer with padding behind them.
  std::uint32_t chunk_bytes() const;
  /// The address of byte `place` of shared memory under the swizzle.
  std::uint32_t swizzled(std::uint32_t place) const;
  /// The first of the dimensions W, {H, {D}}: channels precede them unless they are interleaved.
  std::size_t first_spatial() const { return interleave() == Interleave::none ? 1 : 0; }
  /// The number of places along dimension `i` that a copy in tile mode moves: ceil(box / element stride); 1 for slices. Dimension 0 has no
  /// element stride.
  std::uint32_t extent(std::size_t i) const;
  /// The bytes of a row: contiguous elements in global memory, or one slice.
  std::uint64_t row_bytes() const;
  std::uint64_t rows() const;
  /// The bytes of a row in shared memory, with the padding of its chunks.
  std::uint64_t shared_row_bytes() const { return row_bytes() / chunk_bytes() * 16 + row_bytes() % chunk_bytes(); }
  /// The bytes that a copy counts at its mbarrier: all its rows, inside the tensor or not. Padding does not count (assumed: so CUTLASS
  /// expects it).
  std::uint64_t box_bytes() const { return rows() * row_bytes(); }
  /// The bytes from one row to the next in shared memory. Rows shorter than the swizzle's span begin at its multiples; slices are
  /// contiguous (both measured on an H200).
  std::uint64_t row_pitch() const;
  /// The bytes of shared memory that a box occupies: whole spans of the swizzle.
  std::uint64_t shared_bytes() const;

 private:
  Arguments arguments_;
};

/// The types named as in launch descriptions: "bf16", "128B", "nan"; nothing for another name.
[[nodiscard]] WARPMAT_API std::optional<TensorMap::Type> find_tensor_type(std::string_view name);
[[nodiscard]] WARPMAT_API std::string_view name(TensorMap::Type type);

}  // namespace warpmat
