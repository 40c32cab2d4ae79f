#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <warpmat/export.h>

namespace warpmat {

class DeviceHeap;
struct Texture;

/// The global memory of a GPU: buffers with gaps between them, so that accesses outside a buffer are detected. Addresses depend only on the
/// order and sizes of the allocations. Do not change it while a kernel runs.
class WARPMAT_API DeviceMemory {
 public:
  /// Frees a buffer's bytes, unless they are the process's own.
  struct Release {
    Release() : owned(true) {}
    explicit Release(bool owned_) : owned(owned_) {}
    void operator()(std::uint8_t* bytes) const {
      if (owned) std::free(bytes);
    }
    bool owned;
  };
  struct Buffer {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::string name;
    bool freed = false;
    std::unique_ptr<std::uint8_t[], Release> data;
    std::uint64_t end() const { return address + bytes; }
  };

  DeviceMemory() = default;
  /// The first buffer lies at `first_address`, all others behind it.
  explicit DeviceMemory(std::uint64_t first_address) : next_address_(first_address) {}
  DeviceMemory(DeviceMemory&&) = default;
  DeviceMemory& operator=(DeviceMemory&&) = default;

  /// Allocates a zeroed buffer. Its address is a multiple of `alignment`, a power of two of at least 256. `name` appears in messages.
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
  /// A buffer with these contents at an address that another memory gave it. Throws std::invalid_argument where it overlaps another buffer.
  void place(std::uint64_t address, std::span<const std::uint8_t> contents, std::string name);
  /// Frees the buffer that begins at `address`; later accesses to it are errors. Throws std::invalid_argument if none begins there.
  void free(std::uint64_t address);

  /// From now on the buffer that begins at `address` has its bytes at that address of this process, where the caller has mapped memory; its
  /// contents are copied. Managed and pinned memory are such buffers. Throws std::invalid_argument if no buffer begins there.
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

  /// The buffer that contains `address`, freed or not, or nullptr.
  const Buffer* find(std::uint64_t address) const;
  /// The buffer of that name that is not freed; nullptr if there is none, or several.
  const Buffer* find_name(std::string_view name) const;
  /// The position of `address` relative to the nearest buffer: "buffer 'A' of 1024 bytes ends 16 bytes before".
  std::string describe(std::uint64_t address) const;

  /// The size that the heap of malloc() in kernels is to have, 8 MiB unless said. Throws std::logic_error once a kernel has used it.
  void set_heap_bytes(std::uint64_t bytes);
  /// That heap, a buffer. The first call allocates it: launch() makes one before a kernel that needs the heap.
  DeviceHeap& heap();

  /// Makes a texture or surface object of texels in this memory. Returns its handle, which no other object gets, and which is not 0.
  std::uint64_t add_texture(Texture texture);
  /// Whether there was such an object.
  bool remove_texture(std::uint64_t handle) { return textures_.erase(handle) != 0; }
  /// nullptr where no object has that handle.
  const Texture* find_texture(std::uint64_t handle) const;

  /// The addresses of each module's variables once they are placed. The map keeps the module alive, so that no other module gets its
  /// address.
  std::map<std::shared_ptr<const void>, std::vector<std::uint64_t>>& modules() { return modules_; }

 private:
  std::uint64_t allocate_bytes(std::span<const std::byte> contents, std::string name);
  void copy_out(std::uint64_t address, std::span<std::byte> to) const;
  std::vector<Buffer>::iterator beginning_at(std::uint64_t address);

  std::uint64_t next_address_ = 0x00007f00'00000000;  ///< where the next buffer may begin
  std::vector<Buffer> buffers_;                       ///< sorted by address
  std::map<std::shared_ptr<const void>, std::vector<std::uint64_t>> modules_;
  std::map<std::uint64_t, std::shared_ptr<const Texture>> textures_;
  std::uint64_t last_texture_ = 0;  ///< the handle that was given last
  std::uint64_t heap_bytes_ = 8 << 20;
  std::shared_ptr<DeviceHeap> heap_;
};

}  // namespace warpmat
