#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <warpmat/launch.h>
#include <warpmat/machine/byte_set.h>
#include <warpmat/numeric/checked_size.h>

namespace warpmat {

/// A buffer of a DeviceMemory, with its bytes. It stays where it is while a kernel runs.
struct StoredBuffer {
  /// Frees a buffer's bytes, unless they are the process's own.
  struct Release {
    Release() : owned(true) {}
    explicit Release(bool owned_) : owned(owned_) {}
    void operator()(std::uint8_t* all) const {
      if (owned) std::free(all);
    }
    bool owned;
  };
  using Bytes = std::unique_ptr<std::uint8_t[], Release>;

  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Bytes data = nullptr;
  bool freed = false;
  bool closed = false;                         ///< of another GPU, which does not let the kernel that runs access it
  std::unique_ptr<const std::string> name;     ///< behind a pointer: DeviceMemory::Buffer's name outlives later allocations
  bool foreign = false;                        ///< of add_own_memory()
  std::unique_ptr<ByteSet> written = nullptr;  ///< the bytes that somebody has written; nullptr: all are
  const ByteSet* live = nullptr;               ///< of the heap of malloc(): the bytes of its parts; nullptr: all may be accessed

  std::size_t gpu = 0;  ///< that has it
  /// Of addresses of a multicast object: the bytes of each of its GPUs. It is closed, and has no bytes of its own.
  std::vector<std::uint8_t*> copies = {};
  bool multimem = false;  ///< the kernel that runs may access the copies

  std::uint64_t end() const { return address + bytes; }
  /// Whether the kernel that runs may access it, but for what `live` says.
  bool open() const { return !freed && !closed; }
};

/// Several GPUs may have one address space: from now on `gpu` allocates, places modules, has a heap, and runs kernels.
void select_gpu(DeviceMemory& memory, std::size_t gpu);
std::size_t gpu_of(const DeviceMemory& memory);

/// Makes [address, address + bytes) addresses of a multicast object, which remove() forgets. `copies`: the bytes of each GPU.
void add_multicast(DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes, std::string name, std::vector<std::uint8_t*> copies);

/// The buffer that contains `address`, freed or not, or nullptr. Who accesses bytes asks find_range() for all of them: another buffer may
/// begin where this one ends.
const StoredBuffer* find_buffer(const DeviceMemory& memory, std::uint64_t address);

/// The `count` bytes at `address` in this process; nothing unless one buffer that is not freed, nor closed, contains them all.
std::optional<std::span<std::uint8_t>> find_range(const DeviceMemory& memory, std::uint64_t address, CheckedSize count);

/// What a launch does before its kernel runs: with `followed`, stores of the kernel are noted (Checks::global). Else all bytes count as
/// written from now on.
void follow_writes(DeviceMemory& memory, bool followed);

/// Whether a kernel may read bytes of the memory that nobody has written.
bool has_unwritten(const DeviceMemory& memory);

/// Of a range that find_range() does not find: "the last 8 bytes lie beyond the end of buffer 'A' of 1024 bytes at 0x7f0000000000" where it
/// begins in that buffer, and else where it begins, by DeviceMemory::describe().
std::string describe_range(const DeviceMemory& memory, std::uint64_t address, std::uint64_t count);

}  // namespace warpmat
