#pragma once

#include <cstddef>
#include <cstdint>

// The types of the CUDA runtime's interface, version 13: their layout is the one that nvcc's programs are compiled with.
// tests/cuda/layout_test.cpp compares them with the toolkit's headers where these are.

#define WARPMAT_CUDA_API extern "C" __attribute__((visibility("default")))

namespace warpmat::cuda {

enum Error : int {
#define WARPMAT_CUDA_ERROR(name, code) name = code,
#include <warpmat/cuda/error_table.inc>
#undef WARPMAT_CUDA_ERROR
};

struct GridSize {  ///< dim3
  std::uint32_t x, y, z;
  friend bool operator==(const GridSize&, const GridSize&) = default;
};

enum CopyKind : int { host_to_host, host_to_device, device_to_host, device_to_device, by_address };

struct DeviceProperties {  ///< cudaDeviceProp
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned int luidDeviceNodeMask;
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  std::size_t totalConstMem;
  int major;
  int minor;
  std::size_t textureAlignment;
  std::size_t texturePitchAlignment;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int textures[39];  ///< the limits of textures and surfaces
  std::size_t surfaceAlignment;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int tccDriver;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int globalL1CacheSupported;
  int localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int isMultiGpuBoard;
  int multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int computePreemptionSupported;
  int canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported;
  int sparseCudaArraySupported;
  int hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported;
  int memoryPoolsSupported;
  int gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported;
  int ipcEventSupported;
  int clusterLaunch;
  int unifiedFunctionPointers;
  int others[63];  ///< NUMA, MPS, PCI subsystem and reserved
};

struct FunctionAttributes {  ///< cudaFuncAttributes
  std::size_t sharedSizeBytes;
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
  int clusterDimMustBeSet;
  int requiredClusterWidth;
  int requiredClusterHeight;
  int requiredClusterDepth;
  int clusterSchedulingPolicyPreference;
  int nonPortableClusterSizeAllowed;
  int reserved[16];
};

enum MemoryType : int { unregistered_memory, host_memory, device_memory, managed_memory };

struct PointerAttributes {  ///< cudaPointerAttributes
  MemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};

struct ChannelFormat {  ///< cudaChannelFormatDesc: bits of each channel; 0 signed, 1 unsigned, 2 floating
  int x, y, z, w, kind;
};

struct ResourceDescription {  ///< cudaResourceDesc
  enum Type : int { array, mipmap, linear, pitched };
  Type type;
  union {
    struct Array* array;
    struct MipmappedArray* mipmap;
    struct {
      void* memory;
      ChannelFormat format;
      std::size_t bytes;
    } linear;
    struct {
      void* memory;
      ChannelFormat format;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  } of;
  unsigned flags;
};

struct TextureDescription {  ///< cudaTextureDesc
  int address[3];
  int filter, read, srgb;
  float border[4];
  int normalised;
  unsigned anisotropy;
  int level_filter;
  float level_bias, least_level, most_level;
  int no_optimisation, seamless;
};

struct ResourceView {  ///< cudaResourceViewDesc
  int format;
  std::size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
  unsigned reserved[16];
};

struct Extent {  ///< cudaExtent
  std::size_t width, height, depth;
};

struct PitchedPointer {  ///< cudaPitchedPtr
  void* ptr;
  std::size_t pitch, xsize, ysize;
};

struct Position {  ///< cudaPos
  std::size_t x, y, z;
};

struct Copy3D {  ///< cudaMemcpy3DParms
  struct Array* srcArray;
  Position srcPos;
  PitchedPointer srcPtr;
  struct Array* dstArray;
  Position dstPos;
  PitchedPointer dstPtr;
  Extent extent;
  CopyKind kind;
};

struct Copy3DPeer {  ///< cudaMemcpy3DPeerParms
  struct Array* srcArray;
  Position srcPos;
  PitchedPointer srcPtr;
  int srcDevice;
  struct Array* dstArray;
  Position dstPos;
  PitchedPointer dstPtr;
  int dstDevice;
  Extent extent;
};

struct Fill {  ///< cudaMemsetParams
  void* dst;
  std::size_t pitch;
  unsigned value, elementSize;
  std::size_t width, height;
};

struct HostCall {  ///< cudaHostNodeParams
  void (*fn)(void*);
  void* userData;
};

struct KernelCall {  ///< cudaKernelNodeParams
  void* func;
  GridSize gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};

struct MemoryLocation {  ///< cudaMemLocation
  int type, id;
};

constexpr int on_device = 1;                                     ///< a type of locations
constexpr int no_access = 0, read_only = 1, read_and_write = 3;  ///< cudaMemAccessFlags
constexpr bool is_access(int flags) {
  return flags == no_access || flags == read_only || flags == read_and_write;
}

struct PoolProperties {  ///< cudaMemPoolProps
  int allocType, handleTypes;
  MemoryLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct PoolAccess {  ///< cudaMemAccessDesc
  MemoryLocation location;
  int flags;
};

struct GraphAllocation {  ///< cudaMemAllocNodeParams
  PoolProperties poolProps;
  const PoolAccess* accessDescs;
  std::size_t accessDescCount, bytesize;
  void* dptr;
};

struct NodeParameters {  ///< cudaGraphNodeParams
  int type;
  int reserved[3];
  union {
    long long bytes[29];
    KernelCall kernel;
    struct {
      int flags;
      int reserved[3];
      Copy3D parameters;
    } copy;
    Fill fill;
    HostCall host;
    struct Graph* child;
    struct Event* event;
    GraphAllocation allocation;
    void* pointer;
    struct {
      unsigned long long handle;
      int type;
      unsigned size;
      struct Graph** graphs;
    } conditional;
  } of;
  long long reserved_end;
};

struct GraphInstantiation {  ///< cudaGraphInstantiateParams
  unsigned long long flags;
  struct Stream* stream;
  struct GraphNode* node;
  int result;
};

struct GraphUpdate {  ///< cudaGraphExecUpdateResultInfo
  int result;
  struct GraphNode *node, *from;
};

struct LaunchAttribute {  ///< cudaLaunchAttribute
  int id;
  char pad[4];
  union {
    char bytes[64];
    void* handle;
    std::uint32_t cluster[3];
    int cooperative;
  } value;
};

struct LaunchConfiguration {  ///< cudaLaunchConfig_t
  GridSize gridDim;
  GridSize blockDim;
  std::size_t dynamicSmemBytes;
  struct Stream* stream;
  LaunchAttribute* attrs;
  unsigned int numAttrs;
};

}  // namespace warpmat::cuda
