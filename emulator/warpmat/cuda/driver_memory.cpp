// The driver: memory and copies.

#include <cstring>

#include <warpmat/cuda/copy.h>
#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {

extern "C" {
Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, MemoryLocation location, unsigned flags, Stream* stream);
Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, MemoryLocation location);
Error cudaMemPoolCreate(Pool** pool, const PoolProperties* properties);
Error cudaMemPoolDestroy(Pool* pool);
Error cudaMemPoolTrimTo(Pool* pool, std::size_t bytes);
Error cudaMemPoolGetAttribute(Pool* pool, int attribute, void* value);
Error cudaMemPoolSetAttribute(Pool* pool, int attribute, void* value);
Error cudaMemPoolGetAccess(int* flags, Pool* pool, MemoryLocation* location);
Error cudaMemPoolSetAccess(Pool* pool, const PoolAccess* access, std::size_t count);
Error cudaHostGetFlags(unsigned* flags, void* host);
Error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, Pool* pool, Stream* stream);
}
namespace {

/// A fill by a value of 1, 2 or 4 bytes.
template <typename Value>
int fill(DeviceAddress to, Value value, std::size_t count, Stream* stream) {
  return in_context([&] {
    return enqueue("cuMemset", [&](Context& state) {
      require(to % sizeof value == 0);
      const auto range = [=, all = known(CheckedSize(count) * sizeof value)](Context& context) {
        return all == 0 ? nullptr : context.space.device_bytes(pointer_to(to), all);
      };
      static_cast<void>(range(state));
      require_access(state, stream, pointer_to(to));
      const auto work = [=](Context& context) {
        std::uint8_t* const bytes = range(context);
        access_host({{reinterpret_cast<std::uintptr_t>(bytes), count * sizeof value}}, [&] {
          for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes + i * sizeof value, &value, sizeof value);
        });
        context.space.note_written(pointer_to(to), count * sizeof value);
      };
      submit(state, stream, {.type = NodeType::fill, .work = work});
    });
  });
}

/// An attribute of a pointer (CUpointer_attribute): as many low bytes of a number as the attribute has.
struct PointerAnswer {
  std::size_t bytes = sizeof(std::uint64_t);
  std::uint64_t value = 0;
};

/// The answer for an address of `found`, or of a variable of device memory.
PointerAnswer pointer_answer(const Context& state, int attribute, const Allocation* found, DeviceAddress address) {
  const bool device = found == nullptr || found->is_of_device() || found->kind == Allocation::Kind::managed;
  const bool host = found != nullptr && !found->is_of_device();
  switch (attribute) {
    case 1: return {.value = reinterpret_cast<std::uintptr_t>(context_of(found != nullptr ? found->owner : primary_of(0)))};
    case 2: return {sizeof(unsigned), device ? 2u : 1u};  // CU_MEMORYTYPE_DEVICE, _HOST
    case 3: return {.value = address};
    case 4: return {.value = host ? address : 0};
    case 6: return {sizeof(unsigned), 1};                                   // copies are done when their calls return
    case 7: return {.value = found != nullptr ? found->address : address};  // no two allocations begin at one address
    case 8: return {sizeof(bool), found != nullptr && found->kind == Allocation::Kind::managed ? 1u : 0u};
    case 9: return {sizeof(int), static_cast<std::uint64_t>(found != nullptr ? found->gpu : state.space.gpu_at(pointer_to(address)))};
    case 10: return {sizeof(bool), found != nullptr && found->kind == Allocation::Kind::device && found->pool == nullptr ? 1u : 0u};
    case 11: return {.value = found != nullptr ? found->address : address};
    case 12: return {.value = found != nullptr ? found->bytes : 0};
    case 13: return {sizeof(bool), 1};
    case 14: return {.value = 0};
    case 15: return {sizeof(bool), 0};
    case 17: return {.value = found != nullptr ? reinterpret_cast<std::uintptr_t>(found->pool) : 0};
    default: throw ApiError(cudaErrorNotSupported, "attribute " + std::to_string(attribute) + " of a pointer is not supported");
  }
}

bool is_known(Context& state, DeviceAddress address) {
  return state.space.find(pointer_to(address)) != nullptr || state.space.is_device_address(pointer_to(address));
}

/// Writes an attribute. Of an address that is none of CUDA's, each is zero.
void put_answer(Context& state, void* to, int attribute, DeviceAddress address) {
  require(to != nullptr);
  PointerAnswer answer = pointer_answer(state, attribute, state.space.find(pointer_to(address)), address);
  if (!is_known(state, address)) answer.value = 0;
  std::memcpy(to, &answer.value, answer.bytes);
}

}  // namespace

WARPMAT_CUDA_API int cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  return in_context([&] { return bytes == 0 ? cudaErrorInvalidValue : cudaMalloc(reinterpret_cast<void**>(address), bytes); });
}

WARPMAT_CUDA_API int cuMemAllocAsync(DeviceAddress* address, std::size_t bytes, Stream* stream) {
  return in_context([&] { return cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream); });
}

WARPMAT_CUDA_API int cuMemAllocPitch_v2(DeviceAddress* address, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  return in_context([&] { return cudaMallocPitch(reinterpret_cast<void**>(address), pitch, width, height); });
}

WARPMAT_CUDA_API int cuMemAllocManaged(DeviceAddress* address, std::size_t bytes, unsigned flags) {
  return in_context([&] { return cudaMallocManaged(reinterpret_cast<void**>(address), bytes, flags); });
}

WARPMAT_CUDA_API int cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return in_context([&] { return cudaHostAlloc(pointer, bytes, flags); });
}

WARPMAT_CUDA_API int cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}

WARPMAT_CUDA_API int cuMemFree_v2(DeviceAddress address) {
  return in_context([&] { return cudaFree(pointer_to(address)); });
}

WARPMAT_CUDA_API int cuMemFreeAsync(DeviceAddress address, Stream* stream) {
  return in_context([&] { return cudaFreeAsync(pointer_to(address), stream); });
}

WARPMAT_CUDA_API int cuMemFreeHost(void* pointer) {
  return in_context([&] { return cudaFreeHost(pointer); });
}

WARPMAT_CUDA_API int cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned flags) {
  return in_context([&] { return cudaHostRegister(memory, bytes, flags); });
}

WARPMAT_CUDA_API int cuMemHostUnregister(void* memory) {
  return in_context([&] { return cudaHostUnregister(memory); });
}

WARPMAT_CUDA_API int cuMemHostGetDevicePointer_v2(DeviceAddress* address, void* host, unsigned flags) {
  return in_context([&] { return cudaHostGetDevicePointer(reinterpret_cast<void**>(address), host, flags); });
}

WARPMAT_CUDA_API int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return in_context([&] { return cudaMemGetInfo(free, total); });
}

WARPMAT_CUDA_API int cuMemGetAddressRange_v2(DeviceAddress* base, std::size_t* bytes, DeviceAddress address) {
  return in_context([&] {
    return call("cuMemGetAddressRange", [&](Context& state) {
      const Allocation* const found = state.space.find(pointer_to(address));
      require(found != nullptr, cudaErrorSymbolNotFound);
      if (base != nullptr) *base = found->address;
      if (bytes != nullptr) *bytes = found->bytes;
    });
  });
}

WARPMAT_CUDA_API int cuPointerGetAttribute(void* data, int attribute, DeviceAddress address) {
  constexpr int host_pointer = 4;
  return in_context([&] {
    return call("cuPointerGetAttribute", [&](Context& state) {
      const Allocation* const found = state.space.find(pointer_to(address));
      require(is_known(state, address) && (attribute != host_pointer || (found != nullptr && !found->is_of_device())));
      put_answer(state, data, attribute, address);
    });
  });
}

WARPMAT_CUDA_API int cuMemcpyHtoD_v2(DeviceAddress to, const void* from, std::size_t bytes) {
  return in_context([&] { return cudaMemcpy(pointer_to(to), from, bytes, host_to_device); });
}

WARPMAT_CUDA_API int cuMemcpyDtoH_v2(void* to, DeviceAddress from, std::size_t bytes) {
  return in_context([&] { return cudaMemcpy(to, pointer_to(from), bytes, device_to_host); });
}

WARPMAT_CUDA_API int cuMemcpyDtoD_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes) {
  return in_context([&] { return cudaMemcpy(pointer_to(to), pointer_to(from), bytes, device_to_device); });
}

WARPMAT_CUDA_API int cuMemcpy(DeviceAddress to, DeviceAddress from, std::size_t bytes) {
  return in_context([&] { return cudaMemcpy(pointer_to(to), pointer_to(from), bytes, by_address); });
}

WARPMAT_CUDA_API int cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t bytes, Stream* stream) {
  return in_context([&] { return cudaMemcpyAsync(pointer_to(to), from, bytes, host_to_device, stream); });
}

WARPMAT_CUDA_API int cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t bytes, Stream* stream) {
  return in_context([&] { return cudaMemcpyAsync(to, pointer_to(from), bytes, device_to_host, stream); });
}

WARPMAT_CUDA_API int cuMemcpyDtoDAsync_v2(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream* stream) {
  return in_context([&] { return cudaMemcpyAsync(pointer_to(to), pointer_to(from), bytes, device_to_device, stream); });
}

WARPMAT_CUDA_API int cuMemcpyAsync(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream* stream) {
  return in_context([&] { return cudaMemcpyAsync(pointer_to(to), pointer_to(from), bytes, by_address, stream); });
}

WARPMAT_CUDA_API int cuMemcpyPeer(DeviceAddress to, DriverContext* of_to, DeviceAddress from, DriverContext* of_from, std::size_t bytes) {
  return in_context([&] {
    if (!is_context(of_to) || !is_context(of_from)) return cudaErrorDeviceUninitialized;
    return cudaMemcpy(pointer_to(to), pointer_to(from), bytes, device_to_device);
  });
}

WARPMAT_CUDA_API int cuMemcpyPeerAsync(DeviceAddress to, DriverContext* of_to, DeviceAddress from, DriverContext* of_from,
                                       std::size_t bytes, Stream* stream) {
  return in_context([&] {
    if (!is_context(of_to) || !is_context(of_from)) return cudaErrorDeviceUninitialized;
    return cudaMemcpyAsync(pointer_to(to), pointer_to(from), bytes, device_to_device, stream);
  });
}

WARPMAT_CUDA_API int cuMemsetD8_v2(DeviceAddress to, std::uint8_t value, std::size_t count) {
  return fill(to, value, count, nullptr);
}

WARPMAT_CUDA_API int cuMemsetD16_v2(DeviceAddress to, std::uint16_t value, std::size_t count) {
  return fill(to, value, count, nullptr);
}

WARPMAT_CUDA_API int cuMemsetD32_v2(DeviceAddress to, std::uint32_t value, std::size_t count) {
  return fill(to, value, count, nullptr);
}

WARPMAT_CUDA_API int cuMemsetD8Async(DeviceAddress to, std::uint8_t value, std::size_t count, Stream* stream) {
  return fill(to, value, count, stream);
}

WARPMAT_CUDA_API int cuMemsetD16Async(DeviceAddress to, std::uint16_t value, std::size_t count, Stream* stream) {
  return fill(to, value, count, stream);
}

WARPMAT_CUDA_API int cuMemsetD32Async(DeviceAddress to, std::uint32_t value, std::size_t count, Stream* stream) {
  return fill(to, value, count, stream);
}

WARPMAT_CUDA_API int cuMemPoolCreate(Pool** pool, const PoolProperties* properties) {
  return in_context([&] { return cudaMemPoolCreate(pool, properties); });
}

WARPMAT_CUDA_API int cuMemPoolDestroy(Pool* pool) {
  return in_context([&] { return cudaMemPoolDestroy(pool); });
}

WARPMAT_CUDA_API int cuMemPoolTrimTo(Pool* pool, std::size_t bytes) {
  return in_context([&] { return cudaMemPoolTrimTo(pool, bytes); });
}

WARPMAT_CUDA_API int cuMemPoolGetAttribute(Pool* pool, int attribute, void* value) {
  return in_context([&] { return cudaMemPoolGetAttribute(pool, attribute, value); });
}

WARPMAT_CUDA_API int cuMemPoolSetAttribute(Pool* pool, int attribute, void* value) {
  return in_context([&] { return cudaMemPoolSetAttribute(pool, attribute, value); });
}

WARPMAT_CUDA_API int cuMemPoolGetAccess(int* flags, Pool* pool, MemoryLocation* location) {
  return in_context([&] { return cudaMemPoolGetAccess(flags, pool, location); });
}

WARPMAT_CUDA_API int cuMemPoolSetAccess(Pool* pool, const PoolAccess* access, std::size_t count) {
  return in_context([&] { return cudaMemPoolSetAccess(pool, access, count); });
}

WARPMAT_CUDA_API int cuMemHostGetFlags(unsigned* flags, void* host) {
  return in_context([&] { return cudaHostGetFlags(flags, host); });
}

WARPMAT_CUDA_API int cuMemAllocFromPoolAsync(DeviceAddress* address, std::size_t bytes, Pool* pool, Stream* stream) {
  return in_context([&] { return cudaMallocFromPoolAsync(reinterpret_cast<void**>(address), bytes, pool, stream); });
}

WARPMAT_CUDA_API int cuPointerGetAttributes(unsigned count, const int* attributes, void** values, DeviceAddress address) {
  return in_context([&] {
    return call("cuPointerGetAttributes", [&](Context& state) {
      require(count == 0 || (attributes != nullptr && values != nullptr));
      for (unsigned i = 0; i < count; ++i) put_answer(state, values[i], attributes[i], address);
    });
  });
}

WARPMAT_CUDA_API int cuMemPrefetchAsync_v2(DeviceAddress address, std::size_t bytes, MemoryLocation location, unsigned flags,
                                           Stream* stream) {
  return in_context([&] { return cudaMemPrefetchAsync(pointer_to(address), bytes, location, flags, stream); });
}

WARPMAT_CUDA_API int cuMemAdvise_v2(DeviceAddress address, std::size_t bytes, int advice, MemoryLocation location) {
  return in_context([&] { return cudaMemAdvise(pointer_to(address), bytes, advice, location); });
}

WARPMAT_CUDA_PER_THREAD(cuMemAllocAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemPrefetchAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemFreeAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpy, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyHtoD_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoH_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoD_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyHtoDAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoHAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoDAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyPeer, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyPeerAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemsetD8_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemsetD16_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemsetD32_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemsetD8Async, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemsetD16Async, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemsetD32Async, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemAllocFromPoolAsync, ptsz)

}  // namespace warpmat::cuda
