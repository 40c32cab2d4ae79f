#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>

namespace warpmat::cuda {

/// Memory of objects that programs know by their addresses. No address is given twice, so a handle of what is gone is never another
/// object's. Pages return to the machine when all of their objects are gone.
class FreshMemory : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* object, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

  struct Chunk {
    std::uint64_t bytes = 0, objects = 0;
  };
  Chunk& map_chunk(std::uint64_t bytes);
  void unmap(std::uint64_t address);

  std::map<std::uint64_t, Chunk> chunks_;  ///< by address; the last one is being filled
  std::uint64_t next_ = 0;                 ///< in the last chunk
};

/// The one of the process, which ends with it.
FreshMemory& fresh_memory();

/// Destroys an object of fresh memory.
struct FreshDelete {
  template <typename T>
  void operator()(T* object) const {
    std::destroy_at(object);
    fresh_memory().deallocate(object, sizeof(T), alignof(T));
  }
};
template <typename T>
using Fresh = std::unique_ptr<T, FreshDelete>;

template <typename T, typename... Parts>
Fresh<T> make_fresh(Parts&&... parts) {
  void* const place = fresh_memory().allocate(sizeof(T), alignof(T));
  return Fresh<T>(::new (place) T{std::forward<Parts>(parts)...});
}

/// The same for an object with several owners.
template <typename T, typename... Parts>
std::shared_ptr<T> share_fresh(Parts&&... parts) {
  return std::shared_ptr<T>(make_fresh<T>(std::forward<Parts>(parts)...));
}

}  // namespace warpmat::cuda
