// Functions whose interface changed between CUDA 12 and 13. 13 has the interface of 12's _v2 or _v3 under the plain name.

#include <cstring>

#include <warpmat/cuda/forward/forward.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/types.h>

namespace warpmat::cuda {

using Nodes = struct GraphNode* const*;

WARPMAT_CUDA_CORE(cudaCreateSurfaceObject)
WARPMAT_CUDA_CORE(cudaCreateTextureObject)
WARPMAT_CUDA_CORE(cudaDeviceReset)
WARPMAT_CUDA_CORE(cudaDeviceSynchronize)
WARPMAT_CUDA_CORE(cudaEventElapsedTime)
WARPMAT_CUDA_CORE(cudaGetDriverEntryPointByVersion)
WARPMAT_CUDA_CORE(cudaGetSurfaceObjectResourceDesc)
WARPMAT_CUDA_CORE(cudaGetTextureObjectResourceDesc)
WARPMAT_CUDA_CORE(cudaGetTextureObjectResourceViewDesc)
WARPMAT_CUDA_CORE(cudaGraphAddDependencies)
WARPMAT_CUDA_CORE(cudaGraphAddNode)
WARPMAT_CUDA_CORE(cudaGraphGetEdges)
WARPMAT_CUDA_CORE(cudaGraphNodeGetDependencies)
WARPMAT_CUDA_CORE(cudaGraphNodeGetDependentNodes)
WARPMAT_CUDA_CORE(cudaGraphRemoveDependencies)
WARPMAT_CUDA_CORE(cudaMemAdvise)
WARPMAT_CUDA_CORE(cudaMemPrefetchAsync)
WARPMAT_CUDA_CORE(cudaPointerGetAttributes)
WARPMAT_CUDA_CORE(cudaStreamGetCaptureInfo)
WARPMAT_CUDA_CORE(cudaStreamUpdateCaptureDependencies)

extern "C" {
Error core_cudaCreateSurfaceObject(std::uint64_t* handle, const ResourceDescription* resource);
Error core_cudaCreateTextureObject(std::uint64_t* handle, const ResourceDescription* resource, const TextureDescription* how,
                                   const ResourceView* view);
Error core_cudaDeviceReset();
Error core_cudaDeviceSynchronize();
Error core_cudaEventElapsedTime(float* milliseconds, struct Event* start, struct Event* end);
Error core_cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version, unsigned long long flags, int* status);
Error core_cudaGetSurfaceObjectResourceDesc(ResourceDescription* resource, std::uint64_t handle);
Error core_cudaGetTextureObjectResourceDesc(ResourceDescription* resource, std::uint64_t handle);
Error core_cudaGetTextureObjectResourceViewDesc(ResourceView* view, std::uint64_t handle);
Error core_cudaGraphAddDependencies(struct Graph* graph, Nodes from, Nodes to, const void* edges, std::size_t count);
Error core_cudaGraphAddNode(struct GraphNode** node, struct Graph* graph, Nodes after, const void* edges, std::size_t count,
                            NodeParameters* parameters);
Error core_cudaGraphGetEdges(struct Graph* graph, struct GraphNode** from, struct GraphNode** to, void* edges, std::size_t* count);
Error core_cudaGraphNodeGetDependencies(struct GraphNode* node, struct GraphNode** nodes, void* edges, std::size_t* count);
Error core_cudaGraphNodeGetDependentNodes(struct GraphNode* node, struct GraphNode** nodes, void* edges, std::size_t* count);
Error core_cudaGraphRemoveDependencies(struct Graph* graph, Nodes from, Nodes to, const void* edges, std::size_t count);
Error core_cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, MemoryLocation location);
Error core_cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, MemoryLocation location, unsigned flags, struct Stream* stream);
Error core_cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer);
Error core_cudaStreamGetCaptureInfo(struct Stream* stream, int* status, unsigned long long* id, struct Graph** graph, Nodes* after,
                                    const void** edges, std::size_t* count);
Error core_cudaStreamUpdateCaptureDependencies(struct Stream* stream, Nodes after, const void* edges, std::size_t count, unsigned flags);
}

namespace {

constexpr int last_12 = 12090;

/// The place that CUDA 12 names by the device's number, or by cudaCpuDeviceId.
MemoryLocation location_of(int device) {
  constexpr int cpu = -1, on_device = 1, on_host = 2;
  return device == cpu ? MemoryLocation{.type = on_host, .id = 0} : MemoryLocation{.type = on_device, .id = device};
}

// CUDA 13 gave these structs reserved members at their ends, and cudaResourceDesc flags. CUDA 12's end before them.
constexpr std::size_t pointer_attributes_12 = 24, resource_description_12 = 64, resource_view_12 = 48;
static_assert(pointer_attributes_12 == offsetof(PointerAttributes, reserved));
static_assert(resource_description_12 == offsetof(ResourceDescription, of) + sizeof(ResourceDescription::of.pitched));
static_assert(resource_view_12 == offsetof(ResourceView, reserved));

/// Writes the first `bytes` of the struct that `get(struct)` fills, all that CUDA 12's has.
template <typename Struct, typename Get>
Error get_first(void* to, std::size_t bytes, Get get) {
  Struct all{};
  const Error error = get(to == nullptr ? nullptr : &all);
  if (error == cudaSuccess) std::memcpy(to, &all, bytes);
  return error;
}

/// CUDA 13's struct of the `bytes` of CUDA 12's, the others zero. Null stays null.
template <typename Struct>
class Widened {
 public:
  Widened(const void* from, std::size_t bytes) : is_null_(from == nullptr) {
    if (!is_null_) std::memcpy(&all_, from, bytes);
  }
  const Struct* get() const { return is_null_ ? nullptr : &all_; }

 private:
  Struct all_{};
  bool is_null_;
};

}  // namespace

// ---- Where managed memory lies

WARPMAT_CUDA_API Error cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, struct Stream* stream) {
  return core_cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

WARPMAT_CUDA_API Error cudaMemPrefetchAsync_v2(const void* pointer, std::size_t bytes, MemoryLocation location, unsigned flags,
                                               struct Stream* stream) {
  return core_cudaMemPrefetchAsync(pointer, bytes, location, flags, stream);
}

WARPMAT_CUDA_API Error cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device) {
  return core_cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

WARPMAT_CUDA_API Error cudaMemAdvise_v2(const void* pointer, std::size_t bytes, int advice, MemoryLocation location) {
  return core_cudaMemAdvise(pointer, bytes, advice, location);
}

// ---- Structs that are shorter

WARPMAT_CUDA_API Error cudaPointerGetAttributes(void* attributes, const void* pointer) {
  return get_first<PointerAttributes>(attributes, pointer_attributes_12,
                                      [&](PointerAttributes* all) { return core_cudaPointerGetAttributes(all, pointer); });
}

WARPMAT_CUDA_API Error cudaCreateTextureObject(std::uint64_t* handle, const void* resource, const TextureDescription* how,
                                               const void* view) {
  return core_cudaCreateTextureObject(handle, Widened<ResourceDescription>(resource, resource_description_12).get(), how,
                                      Widened<ResourceView>(view, resource_view_12).get());
}

WARPMAT_CUDA_API Error cudaCreateSurfaceObject(std::uint64_t* handle, const void* resource) {
  return core_cudaCreateSurfaceObject(handle, Widened<ResourceDescription>(resource, resource_description_12).get());
}

WARPMAT_CUDA_API Error cudaGetTextureObjectResourceDesc(void* resource, std::uint64_t handle) {
  return get_first<ResourceDescription>(resource, resource_description_12,
                                        [&](ResourceDescription* all) { return core_cudaGetTextureObjectResourceDesc(all, handle); });
}

WARPMAT_CUDA_API Error cudaGetSurfaceObjectResourceDesc(void* resource, std::uint64_t handle) {
  return get_first<ResourceDescription>(resource, resource_description_12,
                                        [&](ResourceDescription* all) { return core_cudaGetSurfaceObjectResourceDesc(all, handle); });
}

WARPMAT_CUDA_API Error cudaGetTextureObjectResourceViewDesc(void* view, std::uint64_t handle) {
  return get_first<ResourceView>(view, resource_view_12,
                                 [&](ResourceView* all) { return core_cudaGetTextureObjectResourceViewDesc(all, handle); });
}

// ---- Graphs, whose edges have no data here

WARPMAT_CUDA_API Error cudaGraphAddNode(struct GraphNode** node, struct Graph* graph, Nodes after, std::size_t count,
                                        NodeParameters* parameters) {
  return core_cudaGraphAddNode(node, graph, after, nullptr, count, parameters);
}

WARPMAT_CUDA_API Error cudaGraphAddNode_v2(struct GraphNode** node, struct Graph* graph, Nodes after, const void* edges, std::size_t count,
                                           NodeParameters* parameters) {
  return core_cudaGraphAddNode(node, graph, after, edges, count, parameters);
}

WARPMAT_CUDA_API Error cudaGraphGetEdges(struct Graph* graph, struct GraphNode** from, struct GraphNode** to, std::size_t* count) {
  return core_cudaGraphGetEdges(graph, from, to, nullptr, count);
}

WARPMAT_CUDA_API Error cudaGraphGetEdges_v2(struct Graph* graph, struct GraphNode** from, struct GraphNode** to, void* edges,
                                            std::size_t* count) {
  return core_cudaGraphGetEdges(graph, from, to, edges, count);
}

/// A function of a graph's edges, with and without their data.
#define WARPMAT_CUDA_EDGES(name)                                                                                      \
  WARPMAT_CUDA_API Error name(struct Graph* graph, Nodes from, Nodes to, std::size_t count) {                         \
    return core_##name(graph, from, to, nullptr, count);                                                              \
  }                                                                                                                   \
  WARPMAT_CUDA_API Error name##_v2(struct Graph* graph, Nodes from, Nodes to, const void* edges, std::size_t count) { \
    return core_##name(graph, from, to, edges, count);                                                                \
  }
WARPMAT_CUDA_EDGES(cudaGraphAddDependencies)
WARPMAT_CUDA_EDGES(cudaGraphRemoveDependencies)
#undef WARPMAT_CUDA_EDGES

/// The same of a node's neighbours.
#define WARPMAT_CUDA_NEIGHBOURS(name)                                                                                   \
  WARPMAT_CUDA_API Error name(struct GraphNode* node, struct GraphNode** nodes, std::size_t* count) {                   \
    return core_##name(node, nodes, nullptr, count);                                                                    \
  }                                                                                                                     \
  WARPMAT_CUDA_API Error name##_v2(struct GraphNode* node, struct GraphNode** nodes, void* edges, std::size_t* count) { \
    return core_##name(node, nodes, edges, count);                                                                      \
  }
WARPMAT_CUDA_NEIGHBOURS(cudaGraphNodeGetDependencies)
WARPMAT_CUDA_NEIGHBOURS(cudaGraphNodeGetDependentNodes)
#undef WARPMAT_CUDA_NEIGHBOURS

// ---- Capture

WARPMAT_CUDA_API Error cudaStreamGetCaptureInfo(struct Stream* stream, int* status, unsigned long long* id) {
  return core_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

WARPMAT_CUDA_API Error cudaStreamGetCaptureInfo_v2(struct Stream* stream, int* status, unsigned long long* id, struct Graph** graph,
                                                   Nodes* after, std::size_t* count) {
  return core_cudaStreamGetCaptureInfo(stream, status, id, graph, after, nullptr, count);
}

WARPMAT_CUDA_API Error cudaStreamGetCaptureInfo_v3(struct Stream* stream, int* status, unsigned long long* id, struct Graph** graph,
                                                   Nodes* after, const void** edges, std::size_t* count) {
  return core_cudaStreamGetCaptureInfo(stream, status, id, graph, after, edges, count);
}

WARPMAT_CUDA_API Error cudaStreamUpdateCaptureDependencies(struct Stream* stream, Nodes after, std::size_t count, unsigned flags) {
  return core_cudaStreamUpdateCaptureDependencies(stream, after, nullptr, count, flags);
}

WARPMAT_CUDA_API Error cudaStreamUpdateCaptureDependencies_v2(struct Stream* stream, Nodes after, const void* edges, std::size_t count,
                                                              unsigned flags) {
  return core_cudaStreamUpdateCaptureDependencies(stream, after, edges, count, flags);
}

// ---- Names that 13 no longer has

WARPMAT_CUDA_API Error cudaEventElapsedTime_v2(float* milliseconds, struct Event* start, struct Event* end) {
  return core_cudaEventElapsedTime(milliseconds, start, end);
}

WARPMAT_CUDA_API Error cudaThreadSynchronize() {
  return core_cudaDeviceSynchronize();
}

WARPMAT_CUDA_API Error cudaThreadExit() {
  return core_cudaDeviceReset();
}

/// The driver's function as it was in CUDA 12.
WARPMAT_CUDA_API Error cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status) {
  return core_cudaGetDriverEntryPointByVersion(name, function, last_12, flags, status);
}

/// The runtime's version, which a program compares with the one it was compiled for.
WARPMAT_CUDA_API Error cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  *version = last_12;
  return cudaSuccess;
}

WARPMAT_CUDA_SAME_PER_THREAD(cudaGetDriverEntryPoint, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaMemPrefetchAsync, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaMemPrefetchAsync_v2, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaStreamGetCaptureInfo, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaStreamGetCaptureInfo_v2, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaStreamGetCaptureInfo_v3, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaStreamUpdateCaptureDependencies, ptsz)
WARPMAT_CUDA_SAME_PER_THREAD(cudaStreamUpdateCaptureDependencies_v2, ptsz)

}  // namespace warpmat::cuda
