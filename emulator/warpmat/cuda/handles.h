#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include <warpmat/cuda/errors.h>
#include <warpmat/cuda/fresh_memory.h>

namespace warpmat::cuda {

/// Which context of the program owns an object: the number that cuCtxGetId gives. The primary contexts of the GPUs are 1, 2, ...
using Owner = std::uint64_t;
constexpr Owner no_owner = 0;  ///< of what goes with another object

constexpr Owner primary_of(int gpu) {
  return static_cast<Owner>(gpu) + 1;
}
bool is_primary(Owner owner);
/// The GPU of a context; of one that is no more the first.
int gpu_of(Owner owner);

/// The one whose work runs, else the one that is current in this thread; where none is, the primary one of the thread's GPU.
Owner current_owner();
/// That of the current owner.
int current_gpu();
/// The greatest one that any context has had.
Owner last_owner();

/// As long as it lives, current_owner() is `owner` in this thread.
class AsOwner {
 public:
  explicit AsOwner(Owner owner);
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner();

 private:
  Owner before_;
};

/// The objects of one kind that a program knows by their addresses, each with its owner.
template <typename T>
class Handles {
 public:
  T* add(Fresh<T> object, Owner owner = current_owner()) {
    T* const handle = object.get();
    all_.emplace(handle, Entry{std::move(object), owner});
    return handle;
  }

  template <typename... Parts>
  T* make(Parts&&... parts) {
    return add(make_fresh<T>(std::forward<Parts>(parts)...));
  }

  /// nullptr for what is none, or no more.
  T* find(const void* handle) const {
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : found->second.object.get();
  }

  /// Throws ApiError.
  T& at(const void* handle, Error otherwise = cudaErrorInvalidResourceHandle) const {
    T* const found = find(handle);
    require(found != nullptr, otherwise);
    return *found;
  }

  /// 0 for what is none.
  Owner owner_of(const void* handle) const {
    const auto found = all_.find(handle);
    return found == all_.end() ? 0 : found->second.owner;
  }

  /// Forgets the handle and returns its object; nullptr if there is none.
  Fresh<T> take(const void* handle) {
    const auto found = all_.find(handle);
    return found == all_.end() ? nullptr : std::move(all_.extract(found).mapped().object);
  }

  /// Destroys all objects of an owner. `visit` gets each, which is then no handle any more.
  template <typename Visit>
  void drop(Owner owner, Visit visit) {
    for (auto it = all_.begin(); it != all_.end();) {
      if (it->second.owner != owner) {
        ++it;
        continue;
      }
      const void* const handle = it->first;
      if (const Fresh<T> dropped = take(handle)) visit(*dropped);
      it = all_.upper_bound(handle);  // visits and destructors may have changed the table
    }
  }
  void drop(Owner owner) {
    drop(owner, [](T&) {});
  }

  /// Calls `visit` for each.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [handle, entry] : all_) visit(*entry.object);
  }

 private:
  struct Entry {
    Fresh<T> object;
    Owner owner;
  };
  std::map<const void*, Entry> all_;
};

}  // namespace warpmat::cuda
