// Calls of the CUDA runtime and driver: an input is a sequence of them with any sizes, offsets, pitches and handles, also of objects that
// are gone. The harness keeps what CUDA asks of a program: pointers to memory of the host are of as many bytes as the call says. Memory
// that only `keep` and `kept` touch must hold what they wrote.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/ipc.h>
#include <warpmat/cuda/types.h>

#include "fuzz/input.h"

namespace warpmat::cuda {

struct Array;
struct MipmappedArray;
struct Graph;
struct GraphNode;
struct Pool;
struct MemoryProperties {
  int type, handle_types;
  MemoryLocation location;
  void* metadata;
  unsigned char flags[8];
};

extern "C" {
Error cudaDeviceReset();
Error cudaMallocArray(Array** array, const ChannelFormat* format, std::size_t width, std::size_t height, unsigned flags);
Error cudaMalloc3DArray(Array** array, const ChannelFormat* format, Extent extent, unsigned flags);
Error cudaFreeArray(Array* array);
Error cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, const Array* array);
Error cudaMallocMipmappedArray(MipmappedArray** mipmap, const ChannelFormat* format, Extent extent, unsigned levels, unsigned flags);
Error cudaGetMipmappedArrayLevel(Array** array, const MipmappedArray* mipmap, unsigned level);
Error cudaFreeMipmappedArray(MipmappedArray* mipmap);
Error cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
                        CopyKind kind, Stream* stream);
Error cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
                   CopyKind kind);
Error cudaMemcpy3DAsync(const Copy3D* copy, Stream* stream);
Error cudaMemcpy3D(const Copy3D* copy);
Error cudaMemcpy2DToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
                          std::size_t height, CopyKind kind);
Error cudaMemcpy2DFromArray(void* to, std::size_t pitch, const Array* from, std::size_t x, std::size_t y, std::size_t width,
                            std::size_t height, CopyKind kind);
Error cudaMemcpy2DArrayToArray(Array* to, std::size_t to_x, std::size_t to_y, const Array* from, std::size_t from_x, std::size_t from_y,
                               std::size_t width, std::size_t height, CopyKind kind);
Error cudaMemcpyToArray(Array* to, std::size_t x, std::size_t y, const void* from, std::size_t bytes, CopyKind kind);
Error cudaMemcpyFromArray(void* to, const Array* from, std::size_t x, std::size_t y, std::size_t bytes, CopyKind kind);
Error cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height);
Error cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, Stream* stream);
Error cudaMemset3D(PitchedPointer to, int value, Extent extent);
Error cudaMalloc3D(PitchedPointer* pitched, Extent extent);
Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, MemoryLocation, unsigned flags, Stream* stream);
Error cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, Pool* pool, Stream* stream);
Error cudaDeviceSetMemPool(int device, Pool* pool);
Error cudaMemPoolCreate(Pool** pool, const PoolProperties* properties);
Error cudaMemPoolDestroy(Pool* pool);
Error cudaMemPoolTrimTo(Pool* pool, std::size_t);
Error cudaMemPoolSetAttribute(Pool* handle, int attribute, void* value);
Error cudaMemPoolGetAttribute(Pool* handle, int attribute, void* value);
Error cudaMemPoolSetAccess(Pool* pool, const PoolAccess* access, std::size_t count);
Error cudaStreamBeginCapture(Stream* stream, int mode);
Error cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph, GraphNode* const* after, const void*, std::size_t count, int mode);
Error cudaStreamEndCapture(Stream* handle, Graph** graph);
Error cudaStreamGetCaptureInfo(Stream* handle, int* status, unsigned long long* id, Graph** graph, GraphNode* const** after,
                               const void** edges, std::size_t* count);
Error cudaStreamUpdateCaptureDependencies(Stream* handle, GraphNode* const* after, const void*, std::size_t count, unsigned flags);
Error cudaStreamCopyAttributes(Stream* to, Stream* from);
Error cudaStreamSetAttribute(Stream* handle, int id, const void* value);
Error cudaThreadExchangeStreamCaptureMode(int* mode);
Error cudaGraphCreate(Graph** graph, unsigned flags);
Error cudaGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long flags);
Error cudaGraphClone(Graph** clone, Graph* graph);
Error cudaGraphExecUpdate(Graph* executable, Graph* graph, GraphUpdate* result);
Error cudaGraphLaunch(Graph* executable, Stream* stream);
Error cudaGraphDestroy(Graph* graph);
Error cudaGraphExecDestroy(Graph* executable);
Error cudaGraphConditionalHandleCreate(unsigned long long* handle, Graph* graph, unsigned value, unsigned flags);
Error cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const Copy3D* asked);
Error cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, void* to, const void* from,
                               std::size_t bytes, CopyKind kind);
Error cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const Fill* asked);
Error cudaGraphMemsetNodeSetParams(GraphNode* node, const Fill* asked);
Error cudaGraphExecMemsetNodeSetParams(Graph* executable, GraphNode* node, const Fill* asked);
Error cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const HostCall* asked);
Error cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Graph* child);
Error cudaGraphExecChildGraphNodeSetParams(Graph* executable, GraphNode* node, Graph* child);
Error cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count);
Error cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Event* event);
Error cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Event* event);
Error cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event);
Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, GraphAllocation* asked);
Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, void* pointer);
Error cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* after, const void*, std::size_t count, NodeParameters* asked);
Error cudaGraphNodeGetType(GraphNode* node, int* type);
Error cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Error cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, void*, std::size_t* count);
Error cudaGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes, void*, std::size_t* count);
Error cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void*, std::size_t count);
Error cudaGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void*, std::size_t count);
Error cudaGraphDestroyNode(GraphNode* handle);
Error cudaGraphNodeFindInClone(GraphNode** found, GraphNode* node, Graph* clone);
Error cudaGraphNodeSetEnabled(Graph* executable, GraphNode* node, unsigned enabled);
Error cudaIpcGetMemHandle(IpcHandle* handle, void* pointer);
Error cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned flags);
Error cudaIpcCloseMemHandle(void* pointer);
Error cudaCreateTextureObject(std::uint64_t* handle, const ResourceDescription* resource, const TextureDescription* how,
                              const ResourceView* view);
Error cudaDestroyTextureObject(std::uint64_t handle);
Error cudaCreateSurfaceObject(std::uint64_t* handle, const ResourceDescription* resource);
Error cudaDestroySurfaceObject(std::uint64_t handle);
int cuInit(unsigned flags);
int cuModuleLoadData(DeviceModule** module, const void* image);
int cuModuleUnload(DeviceModule* module);
int cuModuleGetFunction(Function** function, DeviceModule* module, const char* name);
int cuModuleGetGlobal_v2(DeviceAddress* address, std::size_t* bytes, DeviceModule* module, const char* name);
int cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, Stream* stream, void** arguments, void** extra);
int cuFuncSetAttribute(Function* function, int attribute, int value);
int cuMemAddressReserve(DeviceAddress* address, std::size_t bytes, std::size_t alignment, DeviceAddress, unsigned long long flags);
int cuMemAddressFree(DeviceAddress address, std::size_t bytes);
int cuMemCreate(unsigned long long* handle, std::size_t bytes, const MemoryProperties* properties, unsigned long long flags);
int cuMemRelease(unsigned long long handle);
int cuMemMap(DeviceAddress address, std::size_t bytes, std::size_t offset, unsigned long long handle, unsigned long long flags);
int cuMemSetAccess(DeviceAddress address, std::size_t bytes, const PoolAccess* access, std::size_t count);
int cuMemUnmap(DeviceAddress address, std::size_t bytes);
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* dims, const std::uint64_t* strides,
                           const unsigned* box, const unsigned* element_strides, int interleave, int swizzle, int l2_promotion, int fill);
}

namespace {

constexpr const char* module_text = R"(
.version 8.6
.target sm_90
.address_size 64
.global .align 8 .b8 variable[64];
.visible .entry store(.param .u64 to, .param .u64 value) {
  .reg .b64 %l<4>;
  ld.param.u64 %l0, [to]; ld.param.u64 %l1, [value];
  st.global.u64 [%l0], %l1;
  ret;
}
.visible .entry fetch(.param .u64 texture, .param .u64 at) {
  .reg .b64 %l<4>; .reg .b32 %r<8>; .reg .f32 %f<8>;
  ld.param.u64 %l0, [texture]; ld.param.v2.f32 {%f0, %f1}, [at];
  mov.f32 %f2, 0f3F000000;
  tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%l0, {%f0, %f1}];
  tex.level.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%l0, {%f0, %f1}], %f1;
  tex.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%l0, {%f0, %f1, %f2, %f2}];
  ret;
}
.visible .entry surface(.param .u64 surface, .param .u64 at) {
  .reg .b64 %l<4>; .reg .b32 %r<8>;
  ld.param.u64 %l0, [surface]; ld.param.v2.b32 {%r0, %r1}, [at];
  suld.b.2d.b32.trap {%r2}, [%l0, {%r0, %r1}];
  sust.b.2d.b32.zero [%l0, {%r0, %r1}], {%r2};
  ret;
}
.visible .entry leave(.param .u64 bytes, .param .u64 unused) {
  .shared .align 8 .b8 tile[64];
  .reg .b64 %l<4>; .reg .b32 %r;
  ld.param.u64 %l0, [bytes]; mov.u64 %l1, tile; add.u64 %l1, %l1, %l0; ld.shared.u32 %r, [%l1];
  ret;
}
)";
__extension__ using Wide = unsigned __int128;
constexpr const char* kernels[] = {"store", "fetch", "surface", "leave", "none"};
constexpr std::size_t host_bytes = 1 << 16, most_calls = 100, most_handles = 24;
alignas(4096) std::uint8_t host[host_bytes];

/// Objects of one kind. Those that are gone stay, so that they are used again.
template <typename T>
class Handles {
 public:
  void add(T handle) {
    if (all_.size() < most_handles) all_.push_back(handle);
  }
  /// One of them, or none.
  T any(Input& input) const {
    const std::size_t i = input.below(all_.size() + 1);
    return i == all_.size() ? T{} : all_[i];
  }
  const std::vector<T>& all() const { return all_; }
  void clear() { all_.clear(); }

 private:
  std::vector<T> all_;
};

/// Memory that no other call may change.
struct Kept {
  void* pointer;
  std::vector<std::uint8_t> bytes;
};

struct Session {
  explicit Session(Input& given) : input(given) {}

  Input& input;
  Handles<void*> pointers;  ///< of the device; freed ones, too
  Handles<void*> mapped;    ///< memory that the host may access
  Handles<Stream*> streams;
  Handles<Event*> events;
  Handles<Graph*> graphs, executables;
  Handles<GraphNode*> nodes;
  Handles<Array*> arrays;
  Handles<MipmappedArray*> mipmaps;
  Handles<Pool*> pools;
  Handles<std::uint64_t> textures, surfaces;
  Handles<unsigned long long> physical;
  Handles<DeviceAddress> reserved;
  Handles<DeviceModule*> modules;
  Handles<Function*> functions;
  std::vector<Kept> kept;

  std::uint64_t size() { return input.size(); }
  unsigned flags() { return input.yes() ? input.take<std::uint8_t>() : 0; }
  CopyKind kind() { return static_cast<CopyKind>(input.below(7)); }
  Stream* stream() { return input.below(8) == 7 ? reinterpret_cast<Stream*>(input.below(4)) : streams.any(input); }
  ChannelFormat format() {
    constexpr int bits[] = {0, 8, 16, 32};
    const auto one = [&] { return input.below(16) == 15 ? static_cast<int>(input.take<std::int8_t>()) : bits[input.below(4)]; };
    return {one(), one(), one(), one(), static_cast<int>(input.below(4))};
  }
  Extent extent() { return {size(), size(), size()}; }
  Position position() { return {size(), size(), size()}; }

  /// A place in memory of the GPU, or null. Addresses elsewhere would be promises that the host has memory there.
  void* device() {
    constexpr std::uintptr_t first = 0x2000'0000'0000, end = 0x5000'0000'0000;
    void* const base = input.below(4) == 3 ? mapped.any(input) : pointers.any(input);
    const std::uintptr_t moved = reinterpret_cast<std::uintptr_t>(base) + (input.yes() ? size() : 0);
    return moved >= first && moved < end ? reinterpret_cast<void*>(moved) : base;
  }
  /// A place from which `bytes` lie in the host's memory, or null.
  void* at_host(Wide bytes) {
    const std::size_t offset = input.below(64);
    return bytes > host_bytes - offset ? nullptr : host + offset;
  }
  /// Either.
  void* place(Wide bytes) { return input.yes() ? device() : at_host(bytes); }

  static Wide pitched(std::uint64_t pitch, std::uint64_t width, std::uint64_t height) { return static_cast<Wide>(pitch) * height + width; }

  PitchedPointer pitched_place(const Position& at, const Extent& of) {
    const std::uint64_t pitch = size(), rows = size();
    const Wide lines = static_cast<Wide>(rows) * (static_cast<Wide>(at.z) + of.depth) + at.y + of.height;
    const bool fits = lines <= host_bytes && pitch <= host_bytes && at.x <= host_bytes && of.width <= host_bytes;
    const std::uint64_t bytes =
        fits ? static_cast<std::uint64_t>(lines) * pitch + at.x + 16 * of.width : UINT64_MAX;  // of arrays, elements
    return {place(bytes), pitch, size(), rows};
  }
  Copy3D copy() {
    Copy3D all{};
    all.srcPos = position();
    all.dstPos = position();
    all.extent = extent();
    all.srcArray = arrays.any(input);
    if (all.srcArray == nullptr || input.below(16) == 15) all.srcPtr = pitched_place(all.srcPos, all.extent);
    all.dstArray = arrays.any(input);
    if (all.dstArray == nullptr || input.below(16) == 15) all.dstPtr = pitched_place(all.dstPos, all.extent);
    all.kind = kind();
    return all;
  }
  ResourceDescription resource() {
    ResourceDescription all{};
    all.type = static_cast<ResourceDescription::Type>(input.below(5));
    switch (all.type) {
      case ResourceDescription::array: all.of.array = arrays.any(input); break;
      case ResourceDescription::mipmap: all.of.mipmap = mipmaps.any(input); break;
      case ResourceDescription::linear:
        all.of.linear.memory = device();
        all.of.linear.format = format();
        all.of.linear.bytes = size();
        break;
      default:
        all.of.pitched.memory = device();
        all.of.pitched.format = format();
        all.of.pitched.width = size();
        all.of.pitched.height = size();
        all.of.pitched.pitch = size();
    }
    return all;
  }
  float number() { return input.yes() ? input.take<float>() : static_cast<float>(input.take<std::int8_t>()); }
  TextureDescription sampling() {
    TextureDescription how{};
    for (int& mode : how.address) mode = static_cast<int>(input.below(5));
    how.filter = static_cast<int>(input.below(3));
    how.read = static_cast<int>(input.below(3));
    how.srgb = static_cast<int>(input.below(2));
    for (float& each : how.border) each = number();
    how.normalised = static_cast<int>(input.below(2));
    how.anisotropy = input.take<std::uint8_t>();
    how.level_filter = static_cast<int>(input.below(3));
    how.level_bias = number();
    how.least_level = number();
    how.most_level = number();
    return how;
  }
  GraphAllocation allocation() {
    GraphAllocation asked{};
    asked.poolProps.allocType = 1;
    asked.poolProps.location = {1, 0};
    asked.bytesize = size();
    return asked;
  }
  Fill fill() { return {device(), size(), input.take<std::uint8_t>(), static_cast<unsigned>(input.below(6)), size(), size()}; }
  std::vector<GraphNode*> after() {
    std::vector<GraphNode*> all(input.below(3));
    for (GraphNode*& node : all) node = nodes.any(input);
    return all;
  }
};

/// What a callback does: calls of CUDA's functions, which CUDA forbids and which must not break anything.
void call_back(void* data) {
  static int depth = 0;
  auto* const stream = static_cast<Stream*>(data);
  if (++depth < 5) {
    cudaLaunchHostFunc(stream, call_back, data);
    cudaStreamSynchronize(stream);
    cudaDeviceSynchronize();
  }
  --depth;
}

template <typename T, typename Make>
void add(Handles<T>& handles, Make make) {
  T made{};
  if (make(&made) == 0) handles.add(made);
}

/// Adds what `make` gives to the nodes, and to the graph's handles what the call asks for.
template <typename Make>
void add_node(Session& s, Make make) {
  const std::vector<GraphNode*> after = s.after();
  Graph* const graph = s.graphs.any(s.input);
  add(s.nodes, [&](GraphNode** node) { return make(node, graph, after.data(), after.size()); });
}

void keep(Session& s) {
  void* pointer = nullptr;
  const std::size_t bytes = 1 + s.input.take<std::uint8_t>();
  if (s.kept.size() >= 4 || cudaMalloc(&pointer, bytes) != cudaSuccess) return;
  std::vector<std::uint8_t> contents(bytes, s.input.take<std::uint8_t>());
  if (cudaMemcpy(pointer, contents.data(), bytes, host_to_device) == cudaSuccess) s.kept.push_back({pointer, std::move(contents)});
}

/// Ends the process where memory holds something else than what was written.
void check(const Kept& kept) {
  std::vector<std::uint8_t> contents(kept.bytes.size());
  if (cudaMemcpy(contents.data(), kept.pointer, contents.size(), device_to_host) == cudaSuccess && contents != kept.bytes) std::abort();
}

void get_nodes(Session& s) {
  std::array<GraphNode*, 64> nodes{}, to{};
  std::size_t count = nodes.size();
  Graph* const graph = s.graphs.any(s.input);
  if (cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess)
    for (std::size_t i = 0; i < std::min(count, nodes.size()); ++i) s.nodes.add(nodes[i]);
  count = nodes.size();
  cudaGraphGetEdges(graph, nodes.data(), to.data(), nullptr, &count);
}

void launch(Session& s) {
  std::uint64_t first = s.input.yes()   ? reinterpret_cast<std::uintptr_t>(s.device())
                        : s.input.yes() ? s.textures.any(s.input)
                                        : s.surfaces.any(s.input);
  std::uint64_t second = s.input.yes() ? s.size() : s.input.take<std::uint64_t>();
  void* arguments[] = {&first, &second};
  const auto extent = [&] { return s.input.yes() ? 1 : static_cast<unsigned>(s.input.below(5)); };
  cuLaunchKernel(s.functions.any(s.input), extent(), extent(), extent(), extent(), extent(), extent(),
                 s.input.yes() ? 0 : static_cast<unsigned>(s.size()), s.stream(), arguments, nullptr);
}

void encode_map(Session& s) {
  alignas(64) std::uint8_t map[128];
  std::uint64_t dims[5], strides[5];
  unsigned box[5], element_strides[5];
  for (std::size_t i = 0; i < 5; ++i) {
    dims[i] = s.size();
    strides[i] = s.size();
    box[i] = static_cast<unsigned>(s.size());
    element_strides[i] = static_cast<unsigned>(s.size());
  }
  const auto enumerator = [&] { return static_cast<int>(s.input.take<std::int8_t>()); };
  cuTensorMapEncodeTiled(map + s.input.below(2), enumerator(), s.flags(), s.device(), dims, strides, box, element_strides, enumerator(),
                         enumerator(), enumerator(), enumerator());
}

void add_conditional(Session& s) {
  NodeParameters asked{};
  asked.type = 13;  // cudaGraphNodeTypeConditional
  Graph* const graph = s.graphs.any(s.input);
  cudaGraphConditionalHandleCreate(&asked.of.conditional.handle, graph, s.flags(), s.flags());
  asked.of.conditional.type = static_cast<int>(s.input.below(4));
  asked.of.conditional.size = static_cast<unsigned>(s.input.below(4));
  const std::vector<GraphNode*> after = s.after();
  GraphNode* node = nullptr;
  if (cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &asked) != cudaSuccess) return;
  s.nodes.add(node);
  if (asked.of.conditional.graphs != nullptr && asked.of.conditional.size > 0) s.graphs.add(asked.of.conditional.graphs[0]);
}

/// Each reads its arguments from the input.
constexpr void (*calls[])(Session&) = {
    // memory
    [](Session& s) { add(s.pointers, [&](void** p) { return cudaMalloc(p, s.size()); }); },
    [](Session& s) { add(s.pointers, [&](void** p) { return cudaMallocAsync(p, s.size(), s.stream()); }); },
    [](Session& s) {
      std::size_t pitch = 0;
      add(s.pointers, [&](void** p) { return cudaMallocPitch(p, &pitch, s.size(), s.size()); });
    },
    [](Session& s) {
      PitchedPointer pitched{};
      if (cudaMalloc3D(&pitched, s.extent()) == cudaSuccess) s.pointers.add(pitched.ptr);
    },
    [](Session& s) { add(s.mapped, [&](void** p) { return cudaMallocManaged(p, s.size(), s.flags()); }); },
    [](Session& s) { add(s.mapped, [&](void** p) { return cudaHostAlloc(p, s.size(), s.flags()); }); },
    [](Session& s) {
      const std::uint64_t bytes = s.size();
      if (void* const memory = s.at_host(bytes); memory != nullptr) cudaHostRegister(memory, bytes, s.flags());
    },
    [](Session& s) { cudaHostUnregister(s.at_host(1)); },
    [](Session& s) { cudaFree(s.input.yes() ? s.device() : s.pointers.any(s.input)); },
    [](Session& s) { cudaFreeAsync(s.pointers.any(s.input), s.stream()); },
    [](Session& s) {
      PointerAttributes attributes{};
      cudaPointerGetAttributes(&attributes, s.place(1));
    },
    [](Session& s) {
      cudaMemPrefetchAsync(s.device(), s.size(), {1, 0}, s.flags(), s.stream());
    },
    keep,
    // copies and fills
    [](Session& s) {
      const std::uint64_t bytes = s.size();
      void *const to = s.place(bytes), *const from = s.place(bytes);
      cudaMemcpy(to, from, bytes, s.kind());
    },
    [](Session& s) {
      const std::uint64_t bytes = s.size();
      void *const to = s.place(bytes), *const from = s.place(bytes);
      cudaMemcpyAsync(to, from, bytes, s.kind(), s.stream());
    },
    [](Session& s) {
      const std::uint64_t to_pitch = s.size(), from_pitch = s.size(), width = s.size(), height = s.size();
      void *const to = s.place(Session::pitched(to_pitch, width, height)), *const from =
                                                                               s.place(Session::pitched(from_pitch, width, height));
      cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, s.kind());
    },
    [](Session& s) {
      const std::uint64_t to_pitch = s.size(), from_pitch = s.size(), width = s.size(), height = s.size();
      void *const to = s.place(Session::pitched(to_pitch, width, height)), *const from =
                                                                               s.place(Session::pitched(from_pitch, width, height));
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, s.kind(), s.stream());
    },
    [](Session& s) {
      const Copy3D copy = s.copy();
      cudaMemcpy3D(&copy);
    },
    [](Session& s) {
      const Copy3D copy = s.copy();
      cudaMemcpy3DAsync(&copy, s.stream());
    },
    [](Session& s) { cudaMemset(s.device(), s.input.take<std::uint8_t>(), s.size()); },
    [](Session& s) { cudaMemsetAsync(s.device(), s.input.take<std::uint8_t>(), s.size(), s.stream()); },
    [](Session& s) { cudaMemset2D(s.device(), s.size(), s.input.take<std::uint8_t>(), s.size(), s.size()); },
    [](Session& s) { cudaMemset2DAsync(s.device(), s.size(), s.input.take<std::uint8_t>(), s.size(), s.size(), s.stream()); },
    [](Session& s) {
      cudaMemset3D({s.device(), s.size(), s.size(), s.size()}, s.input.take<std::uint8_t>(), s.extent());
    },
    // streams and events
    [](Session& s) {
      add(s.streams, [&](Stream** p) { return cudaStreamCreateWithPriority(p, s.flags(), static_cast<int>(s.input.below(3)) - 1); });
    },
    [](Session& s) { cudaStreamDestroy(s.stream()); },
    [](Session& s) { cudaStreamSynchronize(s.stream()); },
    [](Session& s) { cudaStreamQuery(s.stream()); },
    [](Session& s) { cudaStreamWaitEvent(s.stream(), s.events.any(s.input), s.flags()); },
    [](Session& s) { cudaStreamCopyAttributes(s.stream(), s.stream()); },
    [](Session& s) {
      std::array<std::uint8_t, 64> value{};
      s.input.take(value.data(), 8);
      cudaStreamSetAttribute(s.stream(), static_cast<int>(s.input.take<std::int8_t>()), value.data());
    },
    [](Session& s) {
      Stream* const stream = s.stream();
      cudaLaunchHostFunc(stream, call_back, s.stream());
    },
    [](Session& s) { add(s.events, [&](Event** p) { return cudaEventCreateWithFlags(p, s.flags()); }); },
    [](Session& s) { cudaEventDestroy(s.events.any(s.input)); },
    [](Session& s) { cudaEventRecord(s.events.any(s.input), s.stream()); },
    [](Session& s) { cudaEventSynchronize(s.events.any(s.input)); },
    [](Session& s) {
      float milliseconds = 0;
      cudaEventElapsedTime(&milliseconds, s.events.any(s.input), s.events.any(s.input));
    },
    // capture
    [](Session& s) { cudaStreamBeginCapture(s.stream(), static_cast<int>(s.input.below(4))); },
    [](Session& s) {
      const std::vector<GraphNode*> after = s.after();
      cudaStreamBeginCaptureToGraph(s.stream(), s.graphs.any(s.input), after.data(), nullptr, after.size(),
                                    static_cast<int>(s.input.below(4)));
    },
    [](Session& s) { add(s.graphs, [&](Graph** p) { return cudaStreamEndCapture(s.stream(), p); }); },
    [](Session& s) {
      int status = 0;
      unsigned long long id = 0;
      Graph* graph = nullptr;
      GraphNode* const* after = nullptr;
      std::size_t count = 0;
      if (cudaStreamGetCaptureInfo(s.stream(), &status, &id, &graph, &after, nullptr, &count) != cudaSuccess || status != 1) return;
      s.graphs.add(graph);
      for (std::size_t i = 0; i < count; ++i) s.nodes.add(after[i]);
    },
    [](Session& s) {
      const std::vector<GraphNode*> after = s.after();
      cudaStreamUpdateCaptureDependencies(s.stream(), after.data(), nullptr, after.size(), s.flags());
    },
    [](Session& s) {
      int mode = static_cast<int>(s.input.below(4));
      cudaThreadExchangeStreamCaptureMode(&mode);
    },
    // graphs
    [](Session& s) { add(s.graphs, [&](Graph** p) { return cudaGraphCreate(p, s.flags()); }); },
    [](Session& s) { add(s.graphs, [&](Graph** p) { return cudaGraphClone(p, s.graphs.any(s.input)); }); },
    [](Session& s) { add(s.executables, [&](Graph** p) { return cudaGraphInstantiateWithFlags(p, s.graphs.any(s.input), s.flags()); }); },
    [](Session& s) { cudaGraphLaunch(s.executables.any(s.input), s.stream()); },
    [](Session& s) { cudaGraphDestroy(s.graphs.any(s.input)); },
    [](Session& s) { cudaGraphExecDestroy(s.executables.any(s.input)); },
    [](Session& s) {
      GraphUpdate result{};
      cudaGraphExecUpdate(s.executables.any(s.input), s.graphs.any(s.input), &result);
    },
    [](Session& s) {
      const Copy3D copy = s.copy();
      add_node(s, [&](auto... at) { return cudaGraphAddMemcpyNode(at..., &copy); });
    },
    [](Session& s) {
      const std::uint64_t bytes = s.size();
      void *const to = s.place(bytes), *const from = s.place(bytes);
      add_node(s, [&](auto... at) { return cudaGraphAddMemcpyNode1D(at..., to, from, bytes, s.kind()); });
    },
    [](Session& s) {
      const Fill fill = s.fill();
      add_node(s, [&](auto... at) { return cudaGraphAddMemsetNode(at..., &fill); });
    },
    [](Session& s) {
      const Fill fill = s.fill();
      cudaGraphMemsetNodeSetParams(s.nodes.any(s.input), &fill);
    },
    [](Session& s) {
      const Fill fill = s.fill();
      cudaGraphExecMemsetNodeSetParams(s.executables.any(s.input), s.nodes.any(s.input), &fill);
    },
    [](Session& s) {
      const HostCall asked{call_back, s.stream()};
      add_node(s, [&](auto... at) { return cudaGraphAddHostNode(at..., &asked); });
    },
    [](Session& s) { add_node(s, [&](auto... at) { return cudaGraphAddChildGraphNode(at..., s.graphs.any(s.input)); }); },
    [](Session& s) { cudaGraphExecChildGraphNodeSetParams(s.executables.any(s.input), s.nodes.any(s.input), s.graphs.any(s.input)); },
    [](Session& s) { add_node(s, [&](auto... at) { return cudaGraphAddEmptyNode(at...); }); },
    [](Session& s) { add_node(s, [&](auto... at) { return cudaGraphAddEventRecordNode(at..., s.events.any(s.input)); }); },
    [](Session& s) { add_node(s, [&](auto... at) { return cudaGraphAddEventWaitNode(at..., s.events.any(s.input)); }); },
    [](Session& s) { cudaGraphEventRecordNodeSetEvent(s.nodes.any(s.input), s.events.any(s.input)); },
    [](Session& s) {
      GraphAllocation asked = s.allocation();
      add_node(s, [&](auto... at) { return cudaGraphAddMemAllocNode(at..., &asked); });
      s.pointers.add(asked.dptr);
    },
    [](Session& s) { add_node(s, [&](auto... at) { return cudaGraphAddMemFreeNode(at..., s.device()); }); },
    add_conditional,
    get_nodes,
    [](Session& s) {
      int type = 0;
      cudaGraphNodeGetType(s.nodes.any(s.input), &type);
    },
    [](Session& s) {
      std::array<GraphNode*, 64> nodes{};
      std::size_t count = nodes.size();
      cudaGraphNodeGetDependencies(s.nodes.any(s.input), nodes.data(), nullptr, &count);
    },
    [](Session& s) {
      GraphNode *const from = s.nodes.any(s.input), *const to = s.nodes.any(s.input);
      cudaGraphAddDependencies(s.graphs.any(s.input), &from, &to, nullptr, 1);
    },
    [](Session& s) {
      GraphNode *const from = s.nodes.any(s.input), *const to = s.nodes.any(s.input);
      cudaGraphRemoveDependencies(s.graphs.any(s.input), &from, &to, nullptr, 1);
    },
    [](Session& s) { cudaGraphDestroyNode(s.nodes.any(s.input)); },
    [](Session& s) {
      add(s.nodes, [&](GraphNode** p) { return cudaGraphNodeFindInClone(p, s.nodes.any(s.input), s.graphs.any(s.input)); });
    },
    [](Session& s) { cudaGraphNodeSetEnabled(s.executables.any(s.input), s.nodes.any(s.input), s.flags()); },
    // arrays, textures, surfaces
    [](Session& s) {
      const ChannelFormat format = s.format();
      add(s.arrays, [&](Array** p) { return cudaMallocArray(p, &format, s.size(), s.size(), s.flags()); });
    },
    [](Session& s) {
      const ChannelFormat format = s.format();
      add(s.arrays, [&](Array** p) { return cudaMalloc3DArray(p, &format, s.extent(), s.flags()); });
    },
    [](Session& s) { cudaFreeArray(s.arrays.any(s.input)); },
    [](Session& s) {
      ChannelFormat format{};
      Extent extent{};
      unsigned flags = 0;
      cudaArrayGetInfo(&format, &extent, &flags, s.arrays.any(s.input));
    },
    [](Session& s) {
      const ChannelFormat format = s.format();
      add(s.mipmaps, [&](MipmappedArray** p) { return cudaMallocMipmappedArray(p, &format, s.extent(), s.flags(), s.flags()); });
    },
    [](Session& s) { add(s.arrays, [&](Array** p) { return cudaGetMipmappedArrayLevel(p, s.mipmaps.any(s.input), s.flags()); }); },
    [](Session& s) { cudaFreeMipmappedArray(s.mipmaps.any(s.input)); },
    [](Session& s) {
      const std::uint64_t pitch = s.size(), width = s.size(), height = s.size();
      void* const from = s.place(Session::pitched(pitch, width, height));
      cudaMemcpy2DToArray(s.arrays.any(s.input), s.size(), s.size(), from, pitch, width, height, s.kind());
    },
    [](Session& s) {
      const std::uint64_t pitch = s.size(), width = s.size(), height = s.size();
      void* const to = s.place(Session::pitched(pitch, width, height));
      cudaMemcpy2DFromArray(to, pitch, s.arrays.any(s.input), s.size(), s.size(), width, height, s.kind());
    },
    [](Session& s) {
      Array *const to = s.arrays.any(s.input), *const from = s.arrays.any(s.input);
      cudaMemcpy2DArrayToArray(to, s.size(), s.size(), from, s.size(), s.size(), s.size(), s.size(), s.kind());
    },
    [](Session& s) {
      const std::uint64_t bytes = s.size();
      void* const from = s.place(bytes);
      cudaMemcpyToArray(s.arrays.any(s.input), s.size(), s.size(), from, bytes, s.kind());
    },
    [](Session& s) {
      const std::uint64_t bytes = s.size();
      void* const to = s.place(bytes);
      cudaMemcpyFromArray(to, s.arrays.any(s.input), s.size(), s.size(), bytes, s.kind());
    },
    [](Session& s) {
      const ResourceDescription resource = s.resource();
      const TextureDescription how = s.sampling();
      add(s.textures, [&](std::uint64_t* p) { return cudaCreateTextureObject(p, &resource, &how, nullptr); });
    },
    [](Session& s) { cudaDestroyTextureObject(s.textures.any(s.input)); },
    [](Session& s) {
      const ResourceDescription resource = s.resource();
      add(s.surfaces, [&](std::uint64_t* p) { return cudaCreateSurfaceObject(p, &resource); });
    },
    [](Session& s) { cudaDestroySurfaceObject(s.surfaces.any(s.input)); },
    // pools
    [](Session& s) {
      PoolProperties properties{};
      properties.allocType = static_cast<int>(s.input.below(3));
      properties.location = {static_cast<int>(s.input.below(3)), 0};
      properties.maxSize = s.size();
      add(s.pools, [&](Pool** p) { return cudaMemPoolCreate(p, &properties); });
    },
    [](Session& s) { cudaMemPoolDestroy(s.pools.any(s.input)); },
    [](Session& s) { cudaDeviceSetMemPool(0, s.pools.any(s.input)); },
    [](Session& s) { add(s.pointers, [&](void** p) { return cudaMallocFromPoolAsync(p, s.size(), s.pools.any(s.input), s.stream()); }); },
    [](Session& s) { cudaMemPoolTrimTo(s.pools.any(s.input), s.size()); },
    [](Session& s) {
      std::uint64_t value = s.size();
      cudaMemPoolSetAttribute(s.pools.any(s.input), static_cast<int>(s.input.below(10)), &value);
      cudaMemPoolGetAttribute(s.pools.any(s.input), static_cast<int>(s.input.below(10)), &value);
    },
    [](Session& s) {
      const PoolAccess access{{static_cast<int>(s.input.below(3)), 0}, static_cast<int>(s.input.below(4))};
      cudaMemPoolSetAccess(s.pools.any(s.input), &access, 1);
    },
    // modules and kernels
    [](Session& s) { add(s.modules, [](DeviceModule** p) { return cuModuleLoadData(p, module_text); }); },
    [](Session& s) { cuModuleUnload(s.modules.any(s.input)); },
    [](Session& s) {
      add(s.functions,
          [&](Function** p) { return cuModuleGetFunction(p, s.modules.any(s.input), kernels[s.input.below(std::size(kernels))]); });
    },
    [](Session& s) {
      DeviceAddress address = 0;
      std::size_t bytes = 0;
      if (cuModuleGetGlobal_v2(&address, &bytes, s.modules.any(s.input), "variable") == 0) s.pointers.add(pointer_to(address));
    },
    [](Session& s) { cuFuncSetAttribute(s.functions.any(s.input), static_cast<int>(s.input.below(20)), static_cast<int>(s.size())); },
    launch,
    encode_map,
    // virtual memory
    [](Session& s) {
      add(s.reserved, [&](DeviceAddress* p) { return cuMemAddressReserve(p, s.size() << s.input.below(22), s.size(), 0, s.flags()); });
    },
    [](Session& s) { cuMemAddressFree(s.reserved.any(s.input), s.size() << s.input.below(22)); },
    [](Session& s) {
      const MemoryProperties properties{1, static_cast<int>(s.input.below(3)), {1, 0}, nullptr, {}};
      add(s.physical, [&](unsigned long long* p) { return cuMemCreate(p, s.size() << s.input.below(22), &properties, s.flags()); });
    },
    [](Session& s) { cuMemRelease(s.physical.any(s.input)); },
    [](Session& s) {
      const DeviceAddress at = s.reserved.any(s.input) + (s.input.yes() ? s.size() : 0);
      if (cuMemMap(at, s.size() << s.input.below(22), s.size(), s.physical.any(s.input), s.flags()) == 0) s.pointers.add(pointer_to(at));
    },
    [](Session& s) {
      const PoolAccess access{{static_cast<int>(s.input.below(3)), 0}, static_cast<int>(s.input.below(4))};
      cuMemSetAccess(s.reserved.any(s.input), s.size() << s.input.below(22), &access, 1);
    },
    [](Session& s) { cuMemUnmap(s.reserved.any(s.input), s.size() << s.input.below(22)); },
    // other processes
    [](Session& s) {
      IpcHandle handle{};
      cudaIpcGetMemHandle(&handle, s.device());
      handle.bytes[s.input.below(64)] ^= static_cast<std::uint8_t>(s.input.take<std::uint8_t>());
      void* opened = nullptr;
      if (cudaIpcOpenMemHandle(&opened, handle, 1) == cudaSuccess) cudaIpcCloseMemHandle(opened);
    },
    [](Session& s) {
      cudaDeviceReset();
      s.kept.clear();
    },
};

/// A program that cleans up, in an order of its own.
void end(Session& s) {
  for (const Kept& kept : s.kept) check(kept);
  if (s.kept.empty()) cudaDeviceReset();
  Graph* graph = nullptr;
  for (Stream* stream : s.streams.all())
    if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
  cudaDeviceSetMemPool(0, nullptr);
  for (Graph* executable : s.executables.all()) cudaGraphExecDestroy(executable);
  for (Graph* each : s.graphs.all()) cudaGraphDestroy(each);
  for (Stream* stream : s.streams.all()) cudaStreamDestroy(stream);
  for (Event* event : s.events.all()) cudaEventDestroy(event);
  for (std::uint64_t texture : s.textures.all()) cudaDestroyTextureObject(texture);
  for (std::uint64_t surface : s.surfaces.all()) cudaDestroySurfaceObject(surface);
  for (Array* array : s.arrays.all()) cudaFreeArray(array);
  for (MipmappedArray* mipmap : s.mipmaps.all()) cudaFreeMipmappedArray(mipmap);
  for (void* pointer : s.pointers.all()) cudaFree(pointer);
  for (void* pointer : s.mapped.all())
    if (cudaFree(pointer) != cudaSuccess) cudaFreeHost(pointer);
  for (const Kept& kept : s.kept) cudaFree(kept.pointer);
  for (Pool* pool : s.pools.all()) cudaMemPoolDestroy(pool);
  for (DeviceModule* module : s.modules.all()) cuModuleUnload(module);
  for (std::size_t offset = 0; offset < 64; ++offset) cudaHostUnregister(host + offset);
  for (unsigned long long handle : s.physical.all()) cuMemRelease(handle);
}

}  // namespace
}  // namespace warpmat::cuda

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("WARPMAT_CUDA_JOBS", "1", 1);
  setenv("WARPMAT_CUDA_TARGET", "sm_90a", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace warpmat::cuda;
  context().set_fault(cudaSuccess);
  cuInit(0);
  warpmat::Input input(data, size);
  Session session(input);
  for (std::size_t i = 0; i < most_calls && !input.ended(); ++i) calls[input.below(std::size(calls))](session);
  context().set_fault(cudaSuccess);
  cudaDeviceSynchronize();
  end(session);
  return 0;
}
