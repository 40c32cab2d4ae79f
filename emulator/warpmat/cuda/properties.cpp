// The device: its number, properties, attributes, limits, flags.

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/waiting.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/internals.h>
#include <warpmat/tables/hardware.h>

namespace warpmat::cuda {
namespace {

constexpr int runtime_version = 13000;
constexpr unsigned known_device_flags = 0x1f;  ///< cudaDeviceMask

/// On the PCI bus: a GPU's number.
constexpr int bus_of(int gpu) {
  return gpu;
}

DeviceProperties properties_of(const Device& device, int gpu) {
  DeviceProperties all{};
  all.uuid[15] = static_cast<unsigned char>(gpu);
  all.pciBusID = bus_of(gpu);
  std::snprintf(all.name, sizeof all.name, "%s", device.name);
  all.totalGlobalMem = device.global_bytes;
  all.sharedMemPerBlock = 48 << 10;
  all.sharedMemPerBlockOptin = device.shared_per_block;
  all.sharedMemPerMultiprocessor = device.shared_per_processor;
  all.reservedSharedMemPerBlock = hardware_traits(device.number).reserved_shared;
  all.regsPerBlock = all.regsPerMultiprocessor = 65536;
  all.warpSize = 32;
  all.memPitch = 0x7fffffff;
  all.maxThreadsPerBlock = max_block_threads;
  std::ranges::copy(max_block, all.maxThreadsDim);
  std::ranges::copy(max_grid, all.maxGridSize);
  all.totalConstMem = 64 << 10;
  all.major = device.number / 10;
  all.minor = device.number % 10;
  // the Programming Guide's technical specifications; extents in the order of cudaDeviceProp
  std::ranges::copy(
      std::initializer_list<int>{131072, 32768, 131072, 65536, 32768, 32768, 131072, 65000, 2097120, 32768, 32768, 16384, 16384,
                                 16384,  8192,  8192,   32768, 32768, 32768, 2048,   32768, 32768,   2048,  32768, 2046,  32768,
                                 131072, 65536, 16384,  16384, 16384, 32768, 2048,   32768, 32768,   2048,  32768, 32768, 2046},
      all.textures);
  all.textureAlignment = all.surfaceAlignment = texture_alignment;
  all.texturePitchAlignment = texture_pitch_alignment;
  all.multiProcessorCount = device.processors;
  all.maxThreadsPerMultiProcessor = device.threads_per_processor;
  all.maxBlocksPerMultiProcessor = device.blocks_per_processor;
  all.l2CacheSize = device.l2_bytes;
  all.memoryBusWidth = device.bus_bits;
  all.asyncEngineCount = 3;
  all.canMapHostMemory = all.concurrentKernels = all.unifiedAddressing = all.streamPrioritiesSupported = 1;
  all.managedMemory = all.concurrentManagedAccess = all.hostRegisterSupported = all.canUseHostPointerForRegisteredMem = 1;
  all.globalL1CacheSupported = all.localL1CacheSupported = all.computePreemptionSupported = all.cooperativeLaunch = 1;
  all.memoryPoolsSupported = 1;
  all.persistingL2CacheMaxSize = device.persisting_l2_bytes;
  all.accessPolicyMaxWindowSize = device.number >= 80 ? 128 << 20 : 0;
  all.ipcEventSupported = 1;
  all.clusterLaunch = hardware_traits(device.number).clusters ? 1 : 0;
  return all;
}

/// An attribute by number (cudaDeviceAttr): a member of the properties.
struct DeviceAttribute {
  int number;
  std::size_t offset;
  bool wide;  ///< std::size_t
};

#define WARPMAT_CUDA_INT(number, member) \
  { number, offsetof(DeviceProperties, member), false }
#define WARPMAT_CUDA_SIZE(number, member) \
  { number, offsetof(DeviceProperties, member), true }
constexpr DeviceAttribute attributes[] = {
    WARPMAT_CUDA_INT(1, maxThreadsPerBlock),
    WARPMAT_CUDA_INT(2, maxThreadsDim[0]),
    WARPMAT_CUDA_INT(3, maxThreadsDim[1]),
    WARPMAT_CUDA_INT(4, maxThreadsDim[2]),
    WARPMAT_CUDA_INT(5, maxGridSize[0]),
    WARPMAT_CUDA_INT(6, maxGridSize[1]),
    WARPMAT_CUDA_INT(7, maxGridSize[2]),
    WARPMAT_CUDA_SIZE(8, sharedMemPerBlock),
    WARPMAT_CUDA_SIZE(9, totalConstMem),
    WARPMAT_CUDA_INT(10, warpSize),
    WARPMAT_CUDA_SIZE(11, memPitch),
    WARPMAT_CUDA_INT(12, regsPerBlock),
    WARPMAT_CUDA_SIZE(14, textureAlignment),
    WARPMAT_CUDA_INT(16, multiProcessorCount),
    WARPMAT_CUDA_INT(18, integrated),
    WARPMAT_CUDA_INT(19, canMapHostMemory),
    WARPMAT_CUDA_SIZE(30, surfaceAlignment),
    WARPMAT_CUDA_INT(31, concurrentKernels),
    WARPMAT_CUDA_INT(32, ECCEnabled),
    WARPMAT_CUDA_INT(33, pciBusID),
    WARPMAT_CUDA_INT(34, pciDeviceID),
    WARPMAT_CUDA_INT(35, tccDriver),
    WARPMAT_CUDA_INT(37, memoryBusWidth),
    WARPMAT_CUDA_INT(38, l2CacheSize),
    WARPMAT_CUDA_INT(39, maxThreadsPerMultiProcessor),
    WARPMAT_CUDA_INT(40, asyncEngineCount),
    WARPMAT_CUDA_INT(41, unifiedAddressing),
    WARPMAT_CUDA_INT(50, pciDomainID),
    WARPMAT_CUDA_SIZE(51, texturePitchAlignment),
    WARPMAT_CUDA_INT(75, major),
    WARPMAT_CUDA_INT(76, minor),
    WARPMAT_CUDA_INT(78, streamPrioritiesSupported),
    WARPMAT_CUDA_INT(79, globalL1CacheSupported),
    WARPMAT_CUDA_INT(80, localL1CacheSupported),
    WARPMAT_CUDA_SIZE(81, sharedMemPerMultiprocessor),
    WARPMAT_CUDA_INT(82, regsPerMultiprocessor),
    WARPMAT_CUDA_INT(83, managedMemory),
    WARPMAT_CUDA_INT(84, isMultiGpuBoard),
    WARPMAT_CUDA_INT(85, multiGpuBoardGroupID),
    WARPMAT_CUDA_INT(86, hostNativeAtomicSupported),
    WARPMAT_CUDA_INT(88, pageableMemoryAccess),
    WARPMAT_CUDA_INT(89, concurrentManagedAccess),
    WARPMAT_CUDA_INT(90, computePreemptionSupported),
    WARPMAT_CUDA_INT(91, canUseHostPointerForRegisteredMem),
    WARPMAT_CUDA_INT(95, cooperativeLaunch),
    WARPMAT_CUDA_SIZE(97, sharedMemPerBlockOptin),
    WARPMAT_CUDA_INT(99, hostRegisterSupported),
    WARPMAT_CUDA_INT(100, pageableMemoryAccessUsesHostPageTables),
    WARPMAT_CUDA_INT(101, directManagedMemAccessFromHost),
    WARPMAT_CUDA_INT(106, maxBlocksPerMultiProcessor),
    WARPMAT_CUDA_INT(108, persistingL2CacheMaxSize),
    WARPMAT_CUDA_INT(109, accessPolicyMaxWindowSize),
    WARPMAT_CUDA_SIZE(111, reservedSharedMemPerBlock),
    WARPMAT_CUDA_INT(112, sparseCudaArraySupported),
    WARPMAT_CUDA_INT(113, hostRegisterReadOnlySupported),
    WARPMAT_CUDA_INT(115, memoryPoolsSupported),
    WARPMAT_CUDA_INT(116, gpuDirectRDMASupported),
    WARPMAT_CUDA_INT(120, clusterLaunch),
    WARPMAT_CUDA_INT(125, ipcEventSupported),
};
#undef WARPMAT_CUDA_INT
#undef WARPMAT_CUDA_SIZE

/// Attributes that are limits of textures and surfaces: the number, and the place in DeviceProperties::textures.
constexpr std::pair<int, int> texture_attributes[] = {
    {21, 0},  {22, 2},  {23, 3},  {24, 11}, {25, 12}, {26, 13}, {27, 20}, {28, 21}, {29, 22}, {42, 18}, {43, 19}, {45, 9},  {46, 10},
    {47, 14}, {48, 15}, {49, 16}, {52, 17}, {53, 23}, {54, 24}, {55, 25}, {56, 26}, {57, 27}, {58, 28}, {59, 29}, {60, 30}, {61, 31},
    {62, 32}, {63, 33}, {64, 34}, {65, 35}, {66, 36}, {67, 37}, {68, 38}, {70, 6},  {71, 7},  {72, 8},  {73, 4},  {74, 5},  {77, 1},
};

int attribute_of(const Device& device, int gpu, int number) {
  switch (number) {
    case 13: return device.clock_khz;
    case 36: return device.memory_clock_khz;
    case 15: return 1;        // copies overlap with kernels
    case 17: return 0;        // no limit of a kernel's time
    case 20: return 0;        // compute mode: default
    case 69: return 1 << 28;  // texels of a texture of linear memory
    case 102: return 1;       // virtual memory management
    case 122:
    case 123: return 1;                                                  // streams wait for numbers of 64 bits, and for zero bits
    case 132: return context().gpus > 1 && device.number >= 90 ? 1 : 0;  // multicast objects
    case 87: return device.number % 10 == 0 ? 2 : 32;                    // the ratio of f32 to f64 speed
    default: break;
  }
  const auto* const limit = std::ranges::find(texture_attributes, number, &std::pair<int, int>::first);
  if (limit != std::end(texture_attributes)) return properties_of(device, gpu).textures[limit->second];
  const auto* const found = std::ranges::find(attributes, number, &DeviceAttribute::number);
  if (found == std::end(attributes)) {
    require(number >= 1 && number <= 147);
    return 0;  // what this device lacks
  }
  const DeviceProperties all = properties_of(device, gpu);
  const char* const at = reinterpret_cast<const char*>(&all) + found->offset;
  int narrow = 0;
  std::size_t wide = 0;
  std::memcpy(found->wide ? static_cast<void*>(&wide) : &narrow, at, found->wide ? sizeof wide : sizeof narrow);
  return found->wide ? static_cast<int>(wide) : narrow;
}

std::string bus_id(int gpu) {
  return fmt::format("0000:{:02x}:00.0", bus_of(gpu));
}

/// A GPU's access to the memory of others ends with its primary context, as does theirs to its memory.
struct Peers {
  static void leave(Context& context, Owner owner) {
    if (!is_primary(owner)) return;
    for (int gpu = 0; gpu < context.gpus; ++gpu) {
      context.space.set_peer(gpu_of(owner), gpu, false);
      context.space.set_peer(gpu, gpu_of(owner), false);
    }
  }
};

/// cudaLimit.
enum Limit : int { stack_bytes, printf_bytes, heap_bytes, sync_depth, pending_launches, fetch_granularity, persisting_l2_bytes };
constexpr std::size_t most_stack_bytes = 512 << 10;  ///< of a thread's local memory, by the Programming Guide's table

/// Frees the heap of malloc(): the next one has the size that is then asked for.
void forget_heap(DeviceMemory& memory) {
  if (const auto heap = std::exchange(Internals::heap(memory), nullptr)) memory.free(heap->address());
}

/// With the values that a driver starts with.
struct LimitsOfGpu {
  std::map<int, std::size_t> all{{stack_bytes, 1024},      {printf_bytes, 1 << 20}, {heap_bytes, 8 << 20},   {sync_depth, 2},
                                 {pending_launches, 2048}, {fetch_granularity, 64}, {persisting_l2_bytes, 0}};
};

struct Limits {
  std::map<int, LimitsOfGpu> of_gpu;

  void leave(Context& context, Owner owner) {
    if (!is_primary(owner)) return;
    of_gpu[gpu_of(owner)] = {};
    forget_heap(context.space.memory());
    context.space.memory().set_heap_bytes(of_gpu[gpu_of(owner)].all.at(heap_bytes));
  }
};

std::map<int, std::size_t>& limits() {
  return context().part<Limits>().of_gpu[current_gpu()].all;
}

/// The depth to which kernels wait for kernels has a limit below sm_90 alone [CUDA Runtime API, cudaDeviceSetLimit].
void require_limit(const Device& device, int limit) {
  require(limits().contains(limit));
  require(limit != sync_depth || device.number < 90, cudaErrorUnsupportedLimit);
}

/// The heap keeps its size once a kernel of a module that uses it was launched.
void set_heap_bytes(Context& context, std::size_t bytes) {
  try {
    context.space.memory().set_heap_bytes(bytes);
  } catch (const std::logic_error&) {
    throw ApiError(cudaErrorInvalidValue);
  }
}

}  // namespace

WARPMAT_CUDA_API Error cudaGetDeviceCount(int* count) {
  return call(__func__, [&](Context&) {
    require(count != nullptr);
    *count = context().gpus;
  });
}

WARPMAT_CUDA_API Error cudaGetDevice(int* device) {
  return call(__func__, [&](Context&) {
    require(device != nullptr);
    *device = chosen_device();
  });
}

/// It works behind a fault, too, as on an H200.
WARPMAT_CUDA_API Error cudaSetDevice(int device) {
  if (in_host_function()) return last_error() = cudaErrorNotPermitted;
  Context& state = context();
  const std::lock_guard lock(mutex());
  if (device < 0 || device >= state.gpus) return last_error() = cudaErrorInvalidDevice;
  choose_device(device);
  return cudaSuccess;
}

WARPMAT_CUDA_API Error cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  constexpr unsigned has_device_flags = 1;
  return call(__func__, [&](Context&) {
    require_device(device);
    require(flags <= has_device_flags && (flags == 0 || (device_flags & ~known_device_flags) == 0));
  });
}

WARPMAT_CUDA_API Error cudaSetValidDevices(int* devices, int count) {
  return call(__func__, [&](Context&) {
    require(devices != nullptr && count >= 0 && count <= context().gpus);
    for (int i = 0; i < count; ++i) require_device(devices[i]);
  });
}

WARPMAT_CUDA_API Error cudaChooseDevice(int* device, const DeviceProperties* wanted) {
  return call(__func__, [&](Context&) {
    require(device != nullptr && wanted != nullptr);
    *device = 0;
  });
}

WARPMAT_CUDA_API Error cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return call(__func__, [&](Context& context) {
    require(properties != nullptr);
    require_device(device);
    *properties = properties_of(context.device, device);
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
  return call(__func__, [&](Context& context) {
    require(value != nullptr);
    require_device(device);
    *value = attribute_of(context.device, device, attribute);
  });
}

WARPMAT_CUDA_API Error cudaDeviceSynchronize() {
  return call(__func__, [](Context& context) { finish(context); });
}

/// Frees all that the primary context of the current GPU has. It forgets no fault: behind one it succeeds, and the device is then not to be
/// had, as on an H200.
WARPMAT_CUDA_API Error cudaDeviceReset() {
  if (in_host_function()) return last_error() = cudaErrorNotPermitted;
  Context& state = context();
  const std::lock_guard lock(mutex());
  const AsOwner as(primary_of(current_gpu()));
  if (!state.has_fault()) return state.release(current_owner());
  state.set_fault(cudaErrorDevicesUnavailable);
  return cudaSuccess;
}

WARPMAT_CUDA_API Error cudaSetDeviceFlags(unsigned flags) {
  return call(__func__, [&](Context&) { require((flags & ~known_device_flags) == 0); });
}

WARPMAT_CUDA_API Error cudaGetDeviceFlags(unsigned* flags) {
  return call(__func__, [&](Context&) {
    require(flags != nullptr);
    *flags = 8;  // cudaDeviceMapHost
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetLimit(std::size_t* value, int limit) {
  return call(__func__, [&](Context& context) {
    require(value != nullptr);
    require_limit(context.device, limit);
    *value = limits().at(limit);
  });
}

WARPMAT_CUDA_API Error cudaDeviceSetLimit(int limit, std::size_t value) {
  return call(__func__, [&](Context& context) {
    require_limit(context.device, limit);
    require(limit != stack_bytes || value <= most_stack_bytes);
    require(value <= context.space.total_bytes(), cudaErrorMemoryAllocation);
    if (limit == heap_bytes) set_heap_bytes(context, value);
    limits()[limit] = value;
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetCacheConfig(int* config) {
  return call(__func__, [&](Context&) {
    require(config != nullptr);
    *config = 0;
  });
}

WARPMAT_CUDA_API Error cudaDeviceSetCacheConfig(int config) {
  return call(__func__, [&](Context&) { require(config >= 0 && config <= 3); });
}

WARPMAT_CUDA_API Error cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return call(__func__, [&](Context&) {
    require(id != nullptr && length >= 13);
    require_device(device);
    std::snprintf(id, static_cast<std::size_t>(length), "%s", bus_id(device).c_str());
  });
}

WARPMAT_CUDA_API Error cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return call(__func__, [&](Context&) {
    require(device != nullptr && id != nullptr);
    int gpu = 0;
    while (gpu < context().gpus && bus_id(gpu) != id) ++gpu;
    require_device(gpu);
    *device = gpu;
  });
}

WARPMAT_CUDA_API Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(__func__, [&](Context&) {
    require(can != nullptr);
    require_device(device);
    require_device(peer);
    *can = device != peer ? 1 : 0;
  });
}

/// Each GPU may have access to each other one; none is its own peer.
WARPMAT_CUDA_API Error cudaDeviceEnablePeerAccess(int device, unsigned flags) {
  return call(__func__, [&](Context& context) {
    require_device(device);
    require(device != current_gpu(), cudaErrorPeerAccessUnsupported);
    require(flags == 0);
    require(!context.space.is_peer(current_gpu(), device), cudaErrorPeerAccessAlreadyEnabled);
    context.part<Peers>();  // whose leave() ends it
    context.space.set_peer(current_gpu(), device, true);
  });
}

WARPMAT_CUDA_API Error cudaDeviceDisablePeerAccess(int device) {
  return call(__func__, [&](Context& context) {
    require_device(device);
    require(context.space.is_peer(current_gpu(), device), cudaErrorPeerAccessNotEnabled);
    finish(context);
    context.space.set_peer(current_gpu(), device, false);
  });
}

/// Of two GPUs: all are joined by NVLink.
WARPMAT_CUDA_API Error cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return call(__func__, [&](Context&) {
    enum : int { performance_rank = 1, access, native_atomics, array_access };
    require(value != nullptr);
    require_device(device);
    require_device(peer);
    require(device != peer, cudaErrorInvalidDevice);
    require(attribute >= performance_rank && attribute <= array_access);
    *value = attribute == performance_rank ? 0 : 1;
  });
}

WARPMAT_CUDA_API Error cudaCtxResetPersistingL2Cache() {
  return call(__func__, [](Context&) {});
}

/// The width of banks of shared memory, which no GPU since sm_50 changes.
WARPMAT_CUDA_API Error cudaDeviceGetSharedMemConfig(int* config) {
  return call(__func__, [&](Context&) {
    constexpr int four_bytes = 1;
    require(config != nullptr);
    *config = four_bytes;
  });
}

WARPMAT_CUDA_API Error cudaDeviceSetSharedMemConfig(int config) {
  return call(__func__, [&](Context&) { require(config >= 0 && config <= 2); });
}

WARPMAT_CUDA_API Error cudaRuntimeGetVersion(int* version) {
  return call(__func__, [&](Context&) {
    require(version != nullptr);
    *version = runtime_version;
  });
}

WARPMAT_CUDA_API Error cudaDriverGetVersion(int* version) {
  return cudaRuntimeGetVersion(version);
}

WARPMAT_CUDA_API Error cudaProfilerStart() {
  return call(__func__, [](Context&) {});
}

WARPMAT_CUDA_API Error cudaProfilerStop() {
  return call(__func__, [](Context&) {});
}

}  // namespace warpmat::cuda
