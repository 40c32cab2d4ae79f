#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <warpmat/cuda/handles.h>
#include <warpmat/cuda/host_access.h>
#include <warpmat/cuda/types.h>
#include <warpmat/launch.h>

namespace warpmat::cuda {

/// Of each allocation of device memory, as with a GPU: what a texture asks of its memory (cudaDeviceProp::textureAlignment).
inline constexpr std::uint64_t texture_alignment = 512;
/// Of the rows of a pitched texture (cudaDeviceProp::texturePitchAlignment).
inline constexpr std::uint64_t texture_pitch_alignment = 32;

/// What keeps a file of shared memory as large as those that have mapped it need it (F_ADD_SEALS).
inline constexpr int seals_of_shared = 1 | 2 | 4;  // F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW

inline constexpr unsigned register_read_only = 8;  ///< cudaHostRegisterReadOnly

constexpr int most_gpus = 16;
using GpuSet = std::uint32_t;  ///< a bit for each GPU
constexpr GpuSet all_gpus = (GpuSet{1} << most_gpus) - 1;
constexpr GpuSet set_of(int gpu) {
  return GpuSet{1} << gpu;
}

/// What a program allocated or registered.
struct Allocation {
  /// opened: memory of another process
  enum class Kind : std::uint8_t { device, pinned, managed, registered, graph, opened };
  Kind kind = Kind::device;
  std::uint64_t address = 0, bytes = 0;
  unsigned flags = 0;          ///< as given: cudaHostAllocMapped, ...
  const void* pool = nullptr;  ///< the pool that it is from
  std::uint64_t owner = 0;     ///< the context that it was made in
  int gpu = 0;                 ///< that has it; of memory of the host the one that was current
  int file = -1;               ///< the file of memory with its bytes, where other processes may open it
  bool is_of_device() const { return kind == Kind::device || kind == Kind::graph || kind == Kind::opened; }
};

/// The addresses of all GPUs in this process. An address of device memory is reserved: a host access to it faults, as it does with a GPU,
/// and its bytes lie elsewhere. Managed, pinned and registered memory have their bytes at their address, and so has memory that several
/// processes use. Addresses are the same in every run and are never used twice, so that accesses to freed memory are found.
class AddressSpace {
 public:
  /// Reserves the addresses, and those of the windows of shared, local and parameter memory. `total`: bytes that each GPU has.
  /// With `followed`, it knows which bytes of device memory nobody has written (Checks::global).
  AddressSpace(std::uint64_t total, bool followed, int gpus);

  /// Throws ApiError with cudaErrorMemoryAllocation if the GPU, else the current one, has not as many bytes left.
  std::uint64_t allocate(std::uint64_t bytes, Allocation::Kind kind, const char* call, unsigned flags = 0, std::optional<int> gpu = {});
  /// Makes memory of the process accessible to kernels. Throws ApiError if a part of it is so already, and where the program could not
  /// read it itself, or write it unless `flags` say that kernels only read it.
  /// `name`: in reports; empty: "cudaHostRegister" and a number.
  void add(void* memory, std::uint64_t bytes, unsigned flags, std::string name = {});
  /// Frees the allocation that begins at `address`. Throws ApiError(`otherwise`) if none of these kinds begins there.
  void release(std::uint64_t address, std::initializer_list<Allocation::Kind> kinds, Error otherwise);

  /// Frees all that an owner has.
  void release_all(std::uint64_t owner);
  /// Frees a variable that share_variable() has moved, or another one.
  void release_variable(std::uint64_t address);

  /// A file of memory with the bytes of an allocation, from `first_byte` on.
  struct SharedFile {
    int file;
    std::uint64_t first_byte, bytes;
  };
  /// Moves the bytes of the allocation that contains `pointer` into such a file, if they are not in one. Throws ApiError where none of
  /// cudaMalloc does.
  SharedFile share(const void* pointer);
  /// Makes the bytes of another process's file an allocation of `gpu`. Returns its address; the file may be closed.
  std::uint64_t open_shared(const SharedFile& shared, int gpu);

  // Which kernels may access memory: those of the GPU that has it; of its peers, if it is allocated, unless allow() has said which.
  void set_peer(int gpu, int of, bool may_access);
  bool is_peer(int gpu, int of) const { return (peers_[static_cast<std::size_t>(gpu)] & set_of(of)) != 0; }
  /// Of the buffer that begins at `address`.
  void allow(std::uint64_t address, GpuSet gpus) { allowed_[address] = gpus; }
  /// The buffer that begins at `address` is no more.
  void forget_allowed(std::uint64_t address) { allowed_.erase(address); }
  /// Whether the current GPU may access the buffer at `address`.
  bool may_access(const void* address) const;
  /// Memory as a kernel of the current GPU sees it, as long as it lives: what others do not let it access is closed.
  class View {
   public:
    explicit View(AddressSpace& space);
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    ~View();

   private:
    AddressSpace& space_;
  };

  /// The bytes at a device address. Throws ApiError unless one buffer has them all.
  std::uint8_t* device_bytes(const void* address, std::uint64_t count);
  /// The bytes at a host address. Throws ApiError for null and for an address that belongs to the GPU alone.
  std::uint8_t* host_bytes(const void* address, std::uint64_t count);
  /// Either of them, as cudaMemcpyDefault asks for.
  std::uint8_t* any_bytes(const void* address, std::uint64_t count);

  // With `followed`. Managed, pinned and registered memory counts as written, as the host writes there unseen; so do variables and arrays.
  /// Whether it knows of the bytes there which ones are written.
  bool is_followed(const void* at) const;
  /// A fill, or a copy from the host, has written these bytes, if they are device memory.
  void note_written(const void* at, std::uint64_t bytes);
  /// A copy has moved these bytes, between memory of any kind.
  void note_copied(const void* to, const void* from, std::uint64_t bytes);
  /// The first of these bytes that nobody has written; nothing if all are, or are no device memory.
  std::optional<DeviceMemory::Unwritten> find_unwritten(const void* at, std::uint64_t bytes) const;

  /// Addresses that nothing else gets, a multiple of `alignment`, for virtual memory management. Throws ApiError where there are no more.
  std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment);

  /// Says which pool the allocation that begins at `address` is from.
  void set_pool(std::uint64_t address, const void* pool) { allocations_.at(address).pool = pool; }

  /// The allocation that contains `address`, or nullptr.
  const Allocation* find(const void* address) const;
  /// The GPU that has the buffer at `address`; the first where there is none.
  int gpu_at(const void* address) const;
  /// Whether `address` lies in a buffer of a GPU, allocations and variables.
  bool is_device_address(const void* address) const;
  /// Moves the bytes of a variable to its address, for the host to access them.
  void share_variable(std::uint64_t address, std::uint64_t bytes);

  /// All memory. What is placed and allocated there is the current GPU's.
  DeviceMemory& memory();
  const DeviceMemory& memory() const { return memory_; }
  /// Of the current GPU.
  std::uint64_t free_bytes() const { return total_ - used_[static_cast<std::size_t>(current_gpu())]; }
  std::uint64_t total_bytes() const { return total_; }
  const std::map<std::uint64_t, Allocation>& allocations() const { return allocations_; }
  /// The allocations whose bytes lie at their addresses, where the program reaches them, too.
  std::vector<HostRange> ranges_at_host() const;

 private:
  std::uint64_t map_shared(std::uint64_t bytes);
  bool may_access(int gpu, const StoredBuffer& buffer) const;
  void add(Allocation allocation);
  void release(std::map<std::uint64_t, Allocation>::iterator allocation);

  DeviceMemory memory_;
  std::map<std::uint64_t, Allocation> allocations_;  ///< by address
  std::map<std::uint64_t, GpuSet> allowed_;          ///< by address
  std::array<GpuSet, most_gpus> peers_{};            ///< whose memory each GPU may access
  std::array<std::uint64_t, most_gpus> used_{};
  bool followed_;
  int gpus_;
  std::uint64_t total_, next_shared_, next_virtual_, count_ = 0;
};

}  // namespace warpmat::cuda
