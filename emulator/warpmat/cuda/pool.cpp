// Memory pools. An allocation from a pool is memory as any other: pools count it, and reserve nothing.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/waiting.h>

namespace warpmat::cuda {

struct Pool {                            ///< cudaMemPool_t and CUmemoryPool
  int gpu = 0;                           ///< that has its memory
  GpuSet others = 0;                     ///< which may access it, too
  std::array<int, 4> reuse{0, 1, 1, 1};  ///< by the attributes 1 to 3
  std::uint64_t threshold = 0, high = 0;
};

namespace {

/// cudaMemPoolAttr.
enum PoolAttribute : int {
  follow_events = 1,
  opportunistic,
  internal_dependencies,
  release_threshold,
  reserved,
  reserved_high,
  used,
  used_high
};

struct PoolsOfGpu {
  Fresh<Pool> first = make_fresh<Pool>();
  Pool* current = first.get();
};

struct Pools {
  std::map<int, PoolsOfGpu> of_gpu;
  Handles<Pool> made;  ///< allocations from a destroyed one still name it

  PoolsOfGpu& of(int gpu) {
    const auto [found, is_new] = of_gpu.try_emplace(gpu);
    if (is_new) found->second.first->gpu = gpu;
    return found->second;
  }
  /// That no pool is current which is gone.
  void check_current() {
    for (auto& [gpu, own] : of_gpu)
      if (made.find(own.current) == nullptr) own.current = own.first.get();
  }
  void leave(Context&, Owner owner) {
    made.drop(owner);
    const auto found = of_gpu.find(gpu_of(owner));
    if (is_primary(owner) && found != of_gpu.end()) *found->second.first = {.gpu = found->first};
    check_current();
  }
};

Pools& pools() {
  return context().part<Pools>();
}

Pool& pool_of(Pool* handle) {
  for (const auto& [gpu, own] : pools().of_gpu)
    if (handle == own.first.get()) return *handle;
  return pools().made.at(handle, cudaErrorInvalidValue);
}

std::uint64_t used_by(const Context& context, const Pool& pool) {
  std::uint64_t bytes = 0;
  for (const auto& [address, allocation] : context.space.allocations())
    if (allocation.pool == &pool) bytes += allocation.bytes;
  return bytes;
}

void allocate(Context& context, void** pointer, std::size_t bytes, Pool& pool, Stream* stream) {
  require(pointer != nullptr);
  const auto node = [&] {
    GraphAllocation asked{};
    asked.bytesize = bytes;
    GraphNode made = allocation_node(context, asked);
    *pointer = asked.dptr;
    return made;
  };
  if (capture(stream, node)) return;
  *pointer = nullptr;
  if (bytes == 0) return;
  const std::uint64_t address = context.space.allocate(bytes, Allocation::Kind::device, "cudaMallocAsync", 0, pool.gpu);
  context.space.set_pool(address, &pool);
  context.space.allow(address, set_of(pool.gpu) | pool.others);
  pool.high = std::max(pool.high, used_by(context, pool));
  *pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

/// Memory of graphs: cudaGraphMemAttributeType, used and reserved, each now and at most.
std::uint64_t of_graphs(const Context& context, int gpu) {
  std::uint64_t bytes = 0;
  for (const auto& [address, allocation] : context.space.allocations())
    if (allocation.kind == Allocation::Kind::graph && allocation.gpu == gpu) bytes += allocation.bytes;
  return bytes;
}

}  // namespace

WARPMAT_CUDA_API Error cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream) {
  return call(__func__, [&](Context& context) {
    const int gpu = gpu_of(owner_of_stream(stream));
    allocate(context, pointer, bytes, *pools().of(gpu).current, stream);
  });
}

WARPMAT_CUDA_API Error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, Pool* pool, Stream* stream) {
  return call(__func__, [&](Context& context) { allocate(context, pointer, bytes, pool_of(pool), stream); });
}

WARPMAT_CUDA_API Error cudaFreeAsync(void* pointer, Stream* stream) {
  return call(__func__, [&](Context& context) {
    if (capture(stream, [&] { return free_node(context, pointer); })) return;
    if (pointer == nullptr || is_of_graph(context, pointer)) return;
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
    run_in_order(context, stream,
                 [address](Context& state) { state.space.release(address, {Allocation::Kind::device}, cudaErrorInvalidValue); });
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetDefaultMemPool(Pool** pool, int device) {
  return call(__func__, [&](Context&) {
    require(pool != nullptr);
    require_device(device);
    *pool = pools().of(device).first.get();
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetMemPool(Pool** pool, int device) {
  return call(__func__, [&](Context&) {
    require(pool != nullptr);
    require_device(device);
    *pool = pools().of(device).current;
  });
}

WARPMAT_CUDA_API Error cudaDeviceSetMemPool(int device, Pool* pool) {
  return call(__func__, [&](Context&) {
    require_device(device);
    require(pool_of(pool).gpu == device);
    pools().of(device).current = pool;
  });
}

WARPMAT_CUDA_API Error cudaMemPoolCreate(Pool** pool, const PoolProperties* properties) {
  return call(__func__, [&](Context&) {
    constexpr int pinned = 1;
    require(pool != nullptr && properties != nullptr && properties->allocType == pinned);
    if (properties->handleTypes != 0) throw ApiError(cudaErrorNotSupported, "pools that other processes share are not supported");
    if (properties->location.type != on_device) throw ApiError(cudaErrorNotSupported, "pools of host memory are not supported");
    require_device(properties->location.id);
    *pool = pools().made.make(Pool{.gpu = properties->location.id});
  });
}

WARPMAT_CUDA_API Error cudaMemPoolDestroy(Pool* pool) {
  return call(__func__, [&](Context&) {
    require(pools().made.take(pool) != nullptr);
    pools().check_current();
  });
}

WARPMAT_CUDA_API Error cudaMemPoolTrimTo(Pool* pool, std::size_t) {
  return call(__func__, [&](Context&) { pool_of(pool); });
}

WARPMAT_CUDA_API Error cudaMemPoolSetAttribute(Pool* handle, int attribute, void* value) {
  return call(__func__, [&](Context&) {
    Pool& pool = pool_of(handle);
    require(value != nullptr);
    std::uint64_t wide = 0;
    switch (attribute) {
      case follow_events:
      case opportunistic:
      case internal_dependencies: std::memcpy(&pool.reuse[static_cast<std::size_t>(attribute)], value, sizeof(int)); break;
      case release_threshold: std::memcpy(&pool.threshold, value, sizeof pool.threshold); break;
      case reserved_high:
      case used_high:
        std::memcpy(&wide, value, sizeof wide);
        require(wide == 0);
        pool.high = 0;
        break;
      default: throw ApiError(cudaErrorInvalidValue);
    }
  });
}

WARPMAT_CUDA_API Error cudaMemPoolGetAttribute(Pool* handle, int attribute, void* value) {
  return call(__func__, [&](Context& context) {
    const Pool& pool = pool_of(handle);
    require(value != nullptr);
    const auto put = [&](auto found) { std::memcpy(value, &found, sizeof found); };
    switch (attribute) {
      case follow_events:
      case opportunistic:
      case internal_dependencies: return put(pool.reuse[static_cast<std::size_t>(attribute)]);
      case release_threshold: return put(pool.threshold);
      case reserved:
      case used: return put(used_by(context, pool));
      case reserved_high:
      case used_high: return put(std::max(pool.high, used_by(context, pool)));
      default: throw ApiError(cudaErrorInvalidValue);
    }
  });
}

WARPMAT_CUDA_API Error cudaMemPoolSetAccess(Pool* pool, const PoolAccess* access, std::size_t count) {
  return call(__func__, [&](Context& context) {
    Pool& changed = pool_of(pool);
    require(count == 0 || access != nullptr);
    GpuSet others = changed.others;
    for (std::size_t i = 0; i < count; ++i) {
      require(access[i].location.type == on_device && is_access(access[i].flags));
      require_device(access[i].location.id);
      require(access[i].flags != no_access || access[i].location.id != changed.gpu, cudaErrorInvalidDevice);
      const GpuSet gpu = set_of(access[i].location.id);
      others = access[i].flags == no_access ? others & ~gpu : others | gpu;
    }
    changed.others = others;
    for (const auto& [address, allocation] : context.space.allocations())
      if (allocation.pool == pool) context.space.allow(address, set_of(changed.gpu) | others);
  });
}

WARPMAT_CUDA_API Error cudaMemPoolGetAccess(int* flags, Pool* pool, MemoryLocation* location) {
  return call(__func__, [&](Context&) {
    const Pool& asked = pool_of(pool);
    require(flags != nullptr && location != nullptr);
    require(location->type == on_device);
    require_device(location->id);
    *flags = ((set_of(asked.gpu) | asked.others) & set_of(location->id)) != 0 ? read_and_write : no_access;
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return call(__func__, [&](Context& context) {
    require_device(device);
    require(value != nullptr && attribute >= 0 && attribute <= 3);
    const std::uint64_t bytes = of_graphs(context, device);
    std::memcpy(value, &bytes, sizeof bytes);
  });
}

WARPMAT_CUDA_API Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return call(__func__, [&](Context&) {
    require_device(device);
    require(value != nullptr && (attribute == 1 || attribute == 3));  // the highest figures are those of now
  });
}

WARPMAT_CUDA_API Error cudaDeviceGraphMemTrim(int device) {
  return call(__func__, [&](Context&) { require_device(device); });
}

WARPMAT_CUDA_PER_THREAD(cudaMallocAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaMallocFromPoolAsync, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaFreeAsync, ptsz)

}  // namespace warpmat::cuda
