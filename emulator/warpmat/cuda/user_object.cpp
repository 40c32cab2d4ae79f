// User objects: numbers of references that the program and graphs have to something of the program.

#include <warpmat/cuda/user_object.h>

#include <cstdint>
#include <limits>
#include <utility>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/handles.h>
#include <warpmat/cuda/mutex.h>

namespace warpmat::cuda {

struct UserObject {
  void (*destroy)(void*) = nullptr;
  void* data = nullptr;
  std::uint64_t references = 0;
};

namespace {

constexpr unsigned most_references = std::numeric_limits<int>::max();

struct UserObjects {
  Handles<UserObject> all;
  void leave(Context&, Owner) {}  // references outlive contexts
};

Handles<UserObject>& user_objects() {
  return context().part<UserObjects>().all;
}

UserObject& user_object_of(UserObject* handle) {
  return user_objects().at(handle, cudaErrorInvalidValue);
}

void require_count(unsigned count) {
  require(count != 0 && count <= most_references);
}

/// The destructor may wait for another thread's call, so others may call meanwhile. It may use no CUDA, as host functions.
void drop_references(UserObject& object, unsigned count) {
  if ((object.references -= count) != 0) return;
  const Fresh<UserObject> last = user_objects().take(&object);
  const Unlocked others_run;
  const bool before = std::exchange(in_host_function(), true);
  last->destroy(last->data);
  in_host_function() = before;
}

}  // namespace

UserReferences::UserReferences(const UserReferences& other) : counts_(other.counts_) {
  for (const auto& [object, count] : counts_) object->references += count;
}

UserReferences& UserReferences::operator=(UserReferences other) noexcept {
  std::swap(counts_, other.counts_);
  return *this;
}

UserReferences::~UserReferences() {
  for (const auto& [object, count] : std::exchange(counts_, {})) drop_references(*object, count);
}

void UserReferences::remove(UserObject& object, unsigned count) {
  const auto found = counts_.find(&object);
  require(found != counts_.end() && found->second >= count);
  if ((found->second -= count) == 0) counts_.erase(found);
  drop_references(object, count);
}

WARPMAT_CUDA_API Error cudaUserObjectCreate(UserObject** object, void* data, void (*destroy)(void*), unsigned references, unsigned flags) {
  constexpr unsigned no_destructor_sync = 1;  // the one flag, which is not optional
  return call(__func__, [&](Context&) {
    require(object != nullptr && destroy != nullptr && flags == no_destructor_sync);
    require_count(references);
    *object = user_objects().make(destroy, data, references);
  });
}

WARPMAT_CUDA_API Error cudaUserObjectRetain(UserObject* object, unsigned count) {
  return call(__func__, [&](Context&) {
    require_count(count);
    user_object_of(object).references += count;
  });
}

WARPMAT_CUDA_API Error cudaUserObjectRelease(UserObject* object, unsigned count) {
  return call(__func__, [&](Context&) {
    require_count(count);
    require(user_object_of(object).references >= count);
    drop_references(*object, count);
  });
}

WARPMAT_CUDA_API Error cudaGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  constexpr unsigned move = 1;  // the program's references become the graph's
  return call(__func__, [&](Context&) {
    require_count(count);
    require(flags <= move && user_object_of(object).references >= count);
    graph_of(graph).user_objects.add(*object, count);
    if (flags != move) object->references += count;
  });
}

WARPMAT_CUDA_API Error cudaGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  return call(__func__, [&](Context&) {
    require_count(count);
    graph_of(graph).user_objects.remove(user_object_of(object), count);
  });
}

WARPMAT_CUDA_API int cuUserObjectCreate(UserObject** object, void* data, void (*destroy)(void*), unsigned references, unsigned flags) {
  return in_context([&] { return cudaUserObjectCreate(object, data, destroy, references, flags); });
}

WARPMAT_CUDA_API int cuUserObjectRetain(UserObject* object, unsigned count) {
  return in_context([&] { return cudaUserObjectRetain(object, count); });
}

WARPMAT_CUDA_API int cuUserObjectRelease(UserObject* object, unsigned count) {
  return in_context([&] { return cudaUserObjectRelease(object, count); });
}

WARPMAT_CUDA_API int cuGraphRetainUserObject(Graph* graph, UserObject* object, unsigned count, unsigned flags) {
  return in_context([&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}

WARPMAT_CUDA_API int cuGraphReleaseUserObject(Graph* graph, UserObject* object, unsigned count) {
  return in_context([&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

}  // namespace warpmat::cuda
