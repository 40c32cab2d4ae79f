// The driver: memory and copies.

#include <cstring>

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {
namespace {

/// A fill by a value of 1, 2 or 4 bytes.
template <typename Value>
int fill(DeviceAddress to, Value value, std::size_t count, Stream* stream) {
  return in_context([&] {
    return enqueue("cuMemset", [&](Context& state) {
      require(to % sizeof value == 0 && count <= SIZE_MAX / sizeof value);
      std::uint8_t* const bytes = count == 0 ? nullptr : state.space.device_bytes(pointer_to(to), count * sizeof value);
      const auto work = [=](Context&) {
        for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes + i * sizeof value, &value, sizeof value);
      };
      submit(state, stream, {.type = NodeType::fill, .work = work});
    });
  });
}

/// The allocation that has `address`, and what it is for pointer attributes.
void pointer_attribute(Context& state, void* data, int attribute, DeviceAddress address) {
  const void* const at = pointer_to(address);
  const Allocation* const found = state.space.find(at);
  require(data != nullptr && (found != nullptr || state.space.is_device_address(at)));
  const bool device = found == nullptr || found->is_of_device() || found->kind == Allocation::Kind::managed;
  const bool host = found != nullptr && !found->is_of_device();
  const auto put = [&](auto value) { std::memcpy(data, &value, sizeof value); };
  switch (attribute) {
    case 2: return put(device ? 2u : 1u);  // CU_MEMORYTYPE_DEVICE, _HOST
    case 3: return put(address);
    case 4: require(host); return put(address);
    case 8: return put(static_cast<std::uint8_t>(found != nullptr && found->kind == Allocation::Kind::managed));
    case 9: return put(0);
    case 11: return put(found != nullptr ? found->address : address);
    case 12: return put(found != nullptr ? found->bytes : std::uint64_t{0});
    case 13: return put(static_cast<std::uint8_t>(1));
    default: throw ApiError(cudaErrorNotSupported, "attribute " + std::to_string(attribute) + " of a pointer is not supported");
  }
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
  return in_context(
      [&] { return call("cuPointerGetAttribute", [&](Context& state) { pointer_attribute(state, data, attribute, address); }); });
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

WARPMAT_CUDA_PER_THREAD(cuMemAllocAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemFreeAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpy, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyHtoD_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoH_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoD_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemcpyHtoDAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoHAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyDtoDAsync_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemcpyAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemsetD8_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemsetD16_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemsetD32_v2, ptds)
WARPMAT_CUDA_PER_THREAD(cuMemsetD8Async, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemsetD16Async, ptsz)
WARPMAT_CUDA_PER_THREAD(cuMemsetD32Async, ptsz)

}  // namespace warpmat::cuda
