// The driver: initialisation, the GPUs, contexts. All contexts have one address space; each owns what was made while it was current.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include <warpmat/cuda/driver.h>

namespace warpmat::cuda {

extern "C" {
Error cudaDeviceGetCacheConfig(int* config);
Error cudaDeviceSetCacheConfig(int config);
Error cudaDeviceGetSharedMemConfig(int* config);
Error cudaDeviceSetSharedMemConfig(int config);
Error cudaCtxResetPersistingL2Cache();
Error cudaDeviceCanAccessPeer(int* can, int device, int peer);
Error cudaDeviceEnablePeerAccess(int device, unsigned flags);
Error cudaDeviceDisablePeerAccess(int device);
Error cudaDeviceGetByPCIBusId(int* device, const char* id);
Error cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer);
Error cudaDeviceGetDefaultMemPool(Pool** pool, int device);
Error cudaDeviceGetMemPool(Pool** pool, int device);
Error cudaDeviceSetMemPool(int device, Pool* pool);
Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value);
Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value);
Error cudaDeviceGraphMemTrim(int device);
}

struct DriverContext {
  Owner id = no_owner;
  unsigned flags = 0;
  int gpu = 0;
  int retained = 0;              ///< of a primary one: how often the program holds it
  bool used_by_runtime = false;  ///< which holds it until the process ends
};

namespace {

constexpr int invalid_value = 1, not_initialised = 3, invalid_context = 201, destroyed_context = 709, driver_version = 13000;
constexpr unsigned known_context_flags = 0x7f | 0x80;  ///< CUctx_flags

std::atomic<bool> initialised{false};

struct Contexts {
  std::array<DriverContext, most_gpus> primaries;  ///< of each GPU
  Handles<DriverContext> made;
  Owner last = primary_of(context().gpus - 1);

  Contexts() {
    for (int gpu = 0; gpu < most_gpus; ++gpu) primary(gpu) = {.id = primary_of(gpu), .gpu = gpu};
  }
  DriverContext& primary(int gpu) { return primaries[static_cast<std::size_t>(gpu)]; }
  bool is_primary(const DriverContext* context) const { return context >= primaries.begin() && context < primaries.end(); }
  bool is_alive(const DriverContext* context) const { return is_primary(context) || made.find(context) != nullptr; }
};

Contexts& contexts() {
  return lasting<Contexts>();
}

/// The contexts that the thread has pushed: the last one is current.
struct Pushed {
  std::array<DriverContext*, 64> all;
  std::size_t count;
};

Pushed& pushed() {
  static thread_local Pushed contexts{};
  return contexts;
}

DriverContext* current() {
  const Pushed& stack = pushed();
  return stack.count == 0 ? nullptr : stack.all[stack.count - 1];
}

/// The GPU that the thread has chosen, for where it has no context.
int& chosen_gpu() {
  static thread_local int gpu = 0;
  return gpu;
}

/// The one whose work this thread runs; no_owner where it runs none.
Owner& acting() {
  static thread_local Owner owner = no_owner;
  return owner;
}

/// The current context, unless it is destroyed.
DriverContext* living() {
  DriverContext* const context = current();
  return context != nullptr && contexts().is_alive(context) ? context : nullptr;
}

int set_current(DriverContext* context) {
  Pushed& stack = pushed();
  if (context != nullptr && !contexts().is_alive(context)) return invalid_context;
  if (context == nullptr && stack.count != 0) --stack.count;
  if (context == nullptr) return 0;
  stack.count = std::max<std::size_t>(stack.count, 1);
  stack.all[stack.count - 1] = context;
  return 0;
}

int push(DriverContext* context) {
  Pushed& stack = pushed();
  if (!contexts().is_alive(context) || stack.count == stack.all.size()) return invalid_context;
  stack.all[stack.count++] = context;
  return 0;
}

/// Runs what needs cuInit alone, under the lock.
template <typename Body>
int initialised_call(Body&& body) {
  if (in_host_function()) return cudaErrorNotPermitted;
  if (const int missing = check_initialised(); missing != 0) return missing;
  const std::lock_guard lock(mutex());
  return body();
}

bool is_gpu(int device) {
  return device >= 0 && device < context().gpus;
}

/// For one that names a GPU, under the lock.
template <typename Body>
int call_of_gpu(int device, Body&& body) {
  return initialised_call([&] { return is_gpu(device) ? int{body(contexts().primary(device))} : int{cudaErrorInvalidDevice}; });
}

/// Its objects are gone; the context itself stays, and is as new.
Error reset(const DriverContext& primary) {
  const AsOwner as(primary.id);
  return cudaDeviceReset();
}

}  // namespace

bool is_primary(Owner owner) {
  return owner != no_owner && owner <= primary_of(context().gpus - 1);
}

int gpu_of(Owner owner) {
  if (context().gpus == 1) return 0;
  const DriverContext* const found = context_of(owner);
  return found == nullptr ? 0 : found->gpu;
}

Owner current_owner() {
  if (acting() != no_owner) return acting();
  const DriverContext* const context = living();
  return context != nullptr ? context->id : primary_of(chosen_gpu());
}

int current_gpu() {
  return context().gpus == 1 ? 0 : gpu_of(current_owner());
}

AsOwner::AsOwner(Owner owner) : before_(std::exchange(acting(), owner)) {}
AsOwner::~AsOwner() {
  acting() = before_;
}

bool is_context(const DriverContext* context) {
  const std::lock_guard lock(mutex());
  return contexts().is_alive(context);
}

int chosen_device() {
  const DriverContext* const context = living();
  return context != nullptr ? context->gpu : chosen_gpu();
}

void choose_device(int gpu) {
  chosen_gpu() = gpu;
  contexts().primary(gpu).used_by_runtime = true;
  static_cast<void>(set_current(&contexts().primary(gpu)));
}

Owner last_owner() {
  return contexts().last;
}

DriverContext* context_of(Owner owner) {
  DriverContext* found = is_primary(owner) ? &contexts().primaries[owner - primary_of(0)] : nullptr;
  if (found != nullptr) return found;
  contexts().made.for_each([&](DriverContext& each) {
    if (each.id == owner) found = &each;
  });
  return found;
}

bool& in_driver() {
  static thread_local bool inside = false;
  return inside;
}

void bind_primary_context() {
  initialised = true;
  if (living() == nullptr) static_cast<void>(set_current(&contexts().primary(chosen_gpu())));
  if (contexts().is_primary(current())) current()->used_by_runtime = true;
}

int driver_code(Error error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection: return invalid_value;
    case cudaErrorInvalidSymbol: return cudaErrorSymbolNotFound;
    case cudaErrorInvalidDeviceFunction: return cudaErrorInvalidResourceHandle;
    default: return error;
  }
}

int check_initialised() {
  return initialised ? 0 : not_initialised;
}

int check_current() {
  if (!initialised) return not_initialised;
  if (current() == nullptr) return invalid_context;
  const std::lock_guard lock(mutex());
  return contexts().is_alive(current()) ? 0 : destroyed_context;
}

WARPMAT_CUDA_API int cuInit(unsigned flags) {
  if (flags != 0) return invalid_value;
  static_cast<void>(context());
  initialised = true;
  return 0;
}

WARPMAT_CUDA_API int cuDriverGetVersion(int* version) {
  if (version == nullptr) return invalid_value;
  *version = driver_version;
  return 0;
}

WARPMAT_CUDA_API int cuDeviceGetCount(int* count) {
  return after_init([&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = context().gpus;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuDeviceGet(int* device, int number) {
  return after_init([&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    if (!is_gpu(number)) return cudaErrorInvalidDevice;
    *device = number;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuDeviceGetName(char* name, int length, int device) {
  return after_init([&] {
    if (name == nullptr || length <= 0) return cudaErrorInvalidValue;
    std::snprintf(name, static_cast<std::size_t>(length), "%s", context().device.name);
    return is_gpu(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  return after_init([&] {
    if (uuid == nullptr) return cudaErrorInvalidValue;
    if (!is_gpu(device)) return cudaErrorInvalidDevice;
    std::memset(uuid, 0, 15);
    uuid[15] = static_cast<unsigned char>(device);
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return after_init([&] {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    *bytes = context().device.global_bytes;
    return is_gpu(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

WARPMAT_CUDA_API int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return after_init([&] { return cudaDeviceGetAttribute(value, attribute, device); });
}

WARPMAT_CUDA_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  if (const int error = cuDeviceGetAttribute(major, 75, device); error != 0) return error;
  return cuDeviceGetAttribute(minor, 76, device);
}

WARPMAT_CUDA_API int cuDeviceGetPCIBusId(char* id, int length, int device) {
  return after_init([&] { return cudaDeviceGetPCIBusId(id, length, device); });
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxRetain(DriverContext** context, int device) {
  return call_of_gpu(device, [&](DriverContext& primary) {
    if (context == nullptr) return invalid_value;
    ++primary.retained;
    *context = &primary;
    return 0;
  });
}

/// The last release resets it, unless the runtime uses it, too.
WARPMAT_CUDA_API int cuDevicePrimaryCtxRelease_v2(int device) {
  return call_of_gpu(device, [&](DriverContext& primary) {
    if (primary.retained == 0) return invalid_context;
    return --primary.retained == 0 && !primary.used_by_runtime ? int{reset(primary)} : 0;
  });
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxReset_v2(int device) {
  return call_of_gpu(device, reset);
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return call_of_gpu(device, [&](DriverContext& primary) {
    if ((flags & ~known_context_flags) != 0) return invalid_value;
    primary.flags = flags;
    return 0;
  });
}

WARPMAT_CUDA_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return call_of_gpu(device, [&](const DriverContext& primary) {
    if (flags == nullptr || active == nullptr) return invalid_value;
    *flags = primary.flags;
    *active = primary.retained != 0 || primary.used_by_runtime ? 1 : 0;
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxCreate_v2(DriverContext** context, unsigned flags, int device) {
  return initialised_call([&] {
    if (context == nullptr || (flags & ~known_context_flags) != 0) return invalid_value;
    if (!is_gpu(device)) return int{cudaErrorInvalidDevice};
    if (pushed().count == pushed().all.size()) return invalid_context;
    *context = contexts().made.make(DriverContext{.id = ++contexts().last, .flags = flags, .gpu = device});
    return push(*context);
  });
}

WARPMAT_CUDA_API int cuCtxCreate_v4(DriverContext** context, void*, unsigned flags, int device) {
  return cuCtxCreate_v2(context, flags, device);
}

/// Destroys all that was made while it was current. It is popped if it is current in this thread; other threads get errors from it.
WARPMAT_CUDA_API int cuCtxDestroy_v2(DriverContext* context) {
  return initialised_call([&] {
    if (contexts().made.find(context) == nullptr) return invalid_context;
    const Error error = cuda::context().release(context->id);
    if (current() == context) --pushed().count;
    contexts().made.take(context);
    return driver_code(error);
  });
}

WARPMAT_CUDA_API int cuCtxGetCurrent(DriverContext** context) {
  return initialised_call([&] {
    if (context == nullptr) return invalid_value;
    *context = current();
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxSetCurrent(DriverContext* context) {
  return initialised_call([&] { return set_current(context); });
}

WARPMAT_CUDA_API int cuCtxPushCurrent_v2(DriverContext* context) {
  return initialised_call([&] { return push(context); });
}

WARPMAT_CUDA_API int cuCtxPopCurrent_v2(DriverContext** context) {
  return initialised_call([&] {
    if (current() == nullptr) return invalid_context;
    if (context != nullptr) *context = current();
    --pushed().count;
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxGetDevice(int* device) {
  return in_context([&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current()->gpu;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuCtxGetApiVersion(DriverContext*, unsigned* version) {
  return in_context([&] {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = driver_version;
    return cudaSuccess;
  });
}

WARPMAT_CUDA_API int cuCtxSynchronize() {
  return in_context([] { return cudaDeviceSynchronize(); });
}

WARPMAT_CUDA_API int cuProfilerStart() {
  return in_context([] { return cudaSuccess; });
}

WARPMAT_CUDA_API int cuProfilerStop() {
  return in_context([] { return cudaSuccess; });
}

WARPMAT_CUDA_API int cuCtxGetLimit(std::size_t* value, int limit) {
  return in_context([&] { return cudaDeviceGetLimit(value, limit); });
}

WARPMAT_CUDA_API int cuCtxSetLimit(int limit, std::size_t value) {
  return in_context([&] { return cudaDeviceSetLimit(limit, value); });
}

WARPMAT_CUDA_API int cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  return in_context([&] { return cudaDeviceGetStreamPriorityRange(lowest, highest); });
}

WARPMAT_CUDA_API int cuCtxGetCacheConfig(int* config) {
  return in_context([&] { return cudaDeviceGetCacheConfig(config); });
}

WARPMAT_CUDA_API int cuCtxSetCacheConfig(int config) {
  return in_context([&] { return cudaDeviceSetCacheConfig(config); });
}

WARPMAT_CUDA_API int cuCtxGetSharedMemConfig(int* config) {
  return in_context([&] { return cudaDeviceGetSharedMemConfig(config); });
}

WARPMAT_CUDA_API int cuCtxSetSharedMemConfig(int config) {
  return in_context([&] { return cudaDeviceSetSharedMemConfig(config); });
}

WARPMAT_CUDA_API int cuCtxResetPersistingL2Cache() {
  return in_context([&] { return cudaCtxResetPersistingL2Cache(); });
}

WARPMAT_CUDA_API int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return after_init([&] { return cudaDeviceCanAccessPeer(can, device, peer); });
}

WARPMAT_CUDA_API int cuDeviceGetByPCIBusId(int* device, const char* id) {
  return after_init([&] { return cudaDeviceGetByPCIBusId(device, id); });
}

WARPMAT_CUDA_API int cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return after_init([&] { return cudaDeviceGetP2PAttribute(value, attribute, device, peer); });
}

WARPMAT_CUDA_API int cuDeviceGetDefaultMemPool(Pool** pool, int device) {
  return after_init([&] { return cudaDeviceGetDefaultMemPool(pool, device); });
}

WARPMAT_CUDA_API int cuDeviceGetMemPool(Pool** pool, int device) {
  return after_init([&] { return cudaDeviceGetMemPool(pool, device); });
}

WARPMAT_CUDA_API int cuDeviceSetMemPool(int device, Pool* pool) {
  return after_init([&] { return cudaDeviceSetMemPool(device, pool); });
}

WARPMAT_CUDA_API int cuDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return after_init([&] { return cudaDeviceGetGraphMemAttribute(device, attribute, value); });
}

WARPMAT_CUDA_API int cuDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return after_init([&] { return cudaDeviceSetGraphMemAttribute(device, attribute, value); });
}

WARPMAT_CUDA_API int cuDeviceGraphMemTrim(int device) {
  return after_init([&] { return cudaDeviceGraphMemTrim(device); });
}

/// The context of a handle, of which null is the current one. nullptr for what is none.
const DriverContext* find_context(const DriverContext* context) {
  if (context == nullptr) context = current();
  return contexts().is_alive(context) ? context : nullptr;
}

WARPMAT_CUDA_API int cuCtxGetId(DriverContext* context, unsigned long long* id) {
  return initialised_call([&] {
    const DriverContext* const found = find_context(context);
    if (found == nullptr) return invalid_context;
    if (id == nullptr) return invalid_value;
    *id = found->id;
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxGetFlags(unsigned* flags) {
  return initialised_call([&] {
    const DriverContext* const found = find_context(nullptr);
    if (found == nullptr) return invalid_context;
    if (flags == nullptr) return invalid_value;
    *flags = found->flags;
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxSetFlags(unsigned flags) {
  return initialised_call([&] {
    if (find_context(nullptr) == nullptr) return invalid_context;
    if ((flags & ~known_context_flags) != 0) return invalid_value;
    current()->flags = flags;
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxGetDevice_v2(int* device, DriverContext* context) {
  return initialised_call([&] {
    const DriverContext* const found = find_context(context);
    if (found == nullptr) return invalid_context;
    if (device == nullptr) return invalid_value;
    *device = found->gpu;
    return 0;
  });
}

WARPMAT_CUDA_API int cuCtxSynchronize_v2(DriverContext* context) {
  const DriverContext* found = nullptr;
  const int error = initialised_call([&] {
    found = find_context(context);
    return found == nullptr ? invalid_context : 0;
  });
  if (error != 0) return error;
  const AsOwner as(found->id);
  return after_init([] { return cudaDeviceSynchronize(); });
}

/// Of the GPUs: all contexts of one see the same peers.
WARPMAT_CUDA_API int cuCtxEnablePeerAccess(DriverContext* peer, unsigned flags) {
  return in_context([&] {
    if (!is_context(peer)) return cudaErrorDeviceUninitialized;
    return cudaDeviceEnablePeerAccess(peer->gpu, flags);
  });
}

WARPMAT_CUDA_API int cuCtxDisablePeerAccess(DriverContext* peer) {
  return in_context([&] {
    if (!is_context(peer)) return cudaErrorDeviceUninitialized;
    return cudaDeviceDisablePeerAccess(peer->gpu);
  });
}

}  // namespace warpmat::cuda
