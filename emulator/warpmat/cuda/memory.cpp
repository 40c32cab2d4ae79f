// Allocation: device, pinned, managed and registered memory.

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/cuda/waiting.h>

namespace warpmat::cuda {
namespace {

using Kind = Allocation::Kind;

constexpr std::size_t pitch_alignment = 512;
constexpr unsigned host_flags = 1 | 2 | 4, register_flags = 1 | 2 | 4 | 8;

std::uint64_t address_of(const void* at) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at));
}

/// What an allocating call gives for 0 bytes: success and a null pointer.
void allocate(Context& context, void** pointer, std::size_t bytes, Kind kind, const char* name, unsigned flags = 0) {
  require(pointer != nullptr);
  *pointer = nullptr;
  if (bytes != 0) *pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(context.space.allocate(bytes, kind, name, flags)));
}

std::size_t pitch_of(std::size_t width) {
  return known(CheckedSize(width).rounded_up(pitch_alignment), cudaErrorMemoryAllocation);
}

const Allocation& pinned_at(Context& context, const void* host) {
  const Allocation* const found = context.space.find(host);
  require(found != nullptr && (found->kind == Kind::pinned || found->kind == Kind::registered));
  return *found;
}

/// Waits for the work of the context that has the memory.
void finish_owner_of(Context& context, const void* pointer) {
  const Allocation* const found = context.space.find(pointer);
  const AsOwner as(found != nullptr ? found->owner : current_owner());
  finish(context);
}

PointerAttributes attributes_of(const Context& context, const void* pointer) {
  PointerAttributes attributes{};
  const Allocation* const found = context.space.find(pointer);
  auto* const address = const_cast<void*>(pointer);
  const bool on_device = found != nullptr ? found->is_of_device() : context.space.is_device_address(pointer);
  if (found == nullptr && !on_device)
    return {.type = unregistered_memory, .device = -2, .devicePointer = nullptr, .hostPointer = address, .reserved = {}};
  attributes.device = found != nullptr ? found->gpu : context.space.gpu_at(pointer);
  attributes.devicePointer = address;
  attributes.hostPointer = on_device ? nullptr : address;
  attributes.type = on_device ? device_memory : found->kind == Kind::managed ? managed_memory : host_memory;
  return attributes;
}

}  // namespace

WARPMAT_CUDA_API Error cudaMalloc(void** pointer, std::size_t bytes) {
  return call(__func__, [&](Context& context) { allocate(context, pointer, bytes, Kind::device, "cudaMalloc"); });
}

WARPMAT_CUDA_API Error cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call(__func__, [&](Context& context) {
    require(pitch != nullptr);
    *pitch = pitch_of(width);
    allocate(context, pointer, known(CheckedSize(*pitch) * height, cudaErrorMemoryAllocation), Kind::device, "cudaMallocPitch");
  });
}

WARPMAT_CUDA_API Error cudaMalloc3D(PitchedPointer* pitched, Extent extent) {
  return call(__func__, [&](Context& context) {
    require(pitched != nullptr);
    const std::size_t pitch = pitch_of(extent.width);
    void* pointer = nullptr;
    allocate(context, &pointer, known(CheckedSize(pitch) * extent.height * extent.depth, cudaErrorMemoryAllocation), Kind::device,
             "cudaMalloc3D");
    *pitched = {pointer, pitch, extent.width, extent.height};
  });
}

WARPMAT_CUDA_API Error cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return call(__func__, [&](Context& context) {
    require(flags == 1 || flags == 2);
    allocate(context, pointer, bytes, Kind::managed, "cudaMallocManaged", flags);
  });
}

WARPMAT_CUDA_API Error cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return call(__func__, [&](Context& context) {
    require((flags & ~host_flags) == 0);
    allocate(context, pointer, bytes, Kind::pinned, "cudaHostAlloc", flags);
  });
}

WARPMAT_CUDA_API Error cudaMallocHost(void** pointer, std::size_t bytes) {
  return call(__func__, [&](Context& context) { allocate(context, pointer, bytes, Kind::pinned, "cudaMallocHost"); });
}

WARPMAT_CUDA_API Error cudaFree(void* pointer) {
  return call(__func__, [&](Context& context) {
    if (pointer == nullptr || is_of_graph(context, pointer)) return;
    finish_owner_of(context, pointer);
    context.space.release(address_of(pointer), {Kind::device, Kind::managed}, cudaErrorInvalidValue);
  });
}

WARPMAT_CUDA_API Error cudaFreeHost(void* pointer) {
  return call(__func__, [&](Context& context) {
    if (pointer == nullptr) return;
    finish_owner_of(context, pointer);
    context.space.release(address_of(pointer), {Kind::pinned}, cudaErrorInvalidValue);
  });
}

WARPMAT_CUDA_API Error cudaHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return call(__func__, [&](Context& context) {
    const Allocation* const found = context.space.find(memory);
    require((flags & ~register_flags) == 0 && (found == nullptr || found->kind == Kind::registered));
    context.space.add(memory, bytes, flags);
  });
}

WARPMAT_CUDA_API Error cudaHostUnregister(void* memory) {
  return call(__func__, [&](Context& context) {
    require(memory != nullptr);
    finish(context);
    const Allocation* const found = context.space.find(memory);
    const bool inside = found != nullptr && found->kind == Kind::registered && found->address != address_of(memory);
    context.space.release(address_of(memory), {Kind::registered}, inside ? cudaErrorInvalidValue : cudaErrorHostMemoryNotRegistered);
  });
}

WARPMAT_CUDA_API Error cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return call(__func__, [&](Context& context) {
    require(device != nullptr && flags == 0);
    pinned_at(context, host);
    *device = host;
  });
}

WARPMAT_CUDA_API Error cudaHostGetFlags(unsigned* flags, void* host) {
  return call(__func__, [&](Context& context) {
    require(flags != nullptr);
    *flags = pinned_at(context, host).flags;
  });
}

WARPMAT_CUDA_API Error cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(__func__, [&](Context& context) {
    if (free != nullptr) *free = context.space.free_bytes();
    if (total != nullptr) *total = context.space.total_bytes();
  });
}

WARPMAT_CUDA_API Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return call(__func__, [&](Context& context) {
    require(attributes != nullptr);
    *attributes = attributes_of(context, pointer);
  });
}

namespace {

/// Throws ApiError unless managed memory has all these bytes.
void require_managed(Context& context, const void* pointer, std::size_t bytes) {
  const Allocation* const found = context.space.find(pointer);
  require(found != nullptr && found->kind == Kind::managed && bytes != 0);
  require(bytes <= found->address + found->bytes - address_of(pointer));
}

/// cudaMemLocationType.
enum : int { at_device = 1, at_host = 2, at_numa_node = 3, at_current_numa_node = 4 };

void require_place(MemoryLocation location) {
  require(location.type >= at_device && location.type <= at_current_numa_node);
  require(location.type != at_numa_node || location.id >= 0);
}

}  // namespace

/// Where managed memory lies is a matter of time alone.
WARPMAT_CUDA_API Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, MemoryLocation location, unsigned flags,
                                            Stream* stream) {
  return call(__func__, [&](Context& context) {
    require(flags == 0);
    stream_of(stream);
    require_place(location);
    if (location.type == at_device) require_device(location.id);
    require_managed(context, pointer, bytes);
  });
}

WARPMAT_CUDA_API Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, MemoryLocation location) {
  constexpr int read_mostly = 1, preferred = 3, accessed = 5, not_accessed = 6;  // cudaMemoryAdvise
  return call(__func__, [&](Context& context) {
    require(advice >= read_mostly && advice <= not_accessed);
    require_place(location);
    const bool names_user = advice == accessed || advice == not_accessed;
    if (location.type == at_device && (advice == preferred || names_user)) require(location.id >= 0 && location.id < context.gpus);
    require(!names_user || location.type == at_device || location.type == at_host);
    require_managed(context, pointer, bytes);
  });
}

WARPMAT_CUDA_API Error cudaStreamAttachMemAsync(Stream* stream, void* pointer, std::size_t, unsigned flags) {
  return call(__func__, [&](Context& context) {
    stream_of(stream);
    require(flags == 1 || flags == 2 || flags == 4);  // cudaMemAttachGlobal, _Host, _Single
    const Allocation* const found = context.space.find(pointer);
    require(found != nullptr && found->kind == Kind::managed);
  });
}

WARPMAT_CUDA_PER_THREAD(cudaMemPrefetchAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamAttachMemAsync, ptsz)

}  // namespace warpmat::cuda
