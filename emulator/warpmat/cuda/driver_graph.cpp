// The driver: graphs and captures, those of the runtime. driver_array.cpp has the nodes of copies.

#include <warpmat/cuda/driver.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {

struct DriverCopy3D;          // driver_array.cpp
struct MemoryOperationsNode;  // stream_memory.cpp

extern "C" {
Error cudaGraphCreate(Graph** graph, unsigned flags);
Error cudaGraphDestroy(Graph* graph);
Error cudaGraphClone(Graph** clone, Graph* graph);
Error cudaGraphDebugDotPrint(Graph* graph, const char* file, unsigned flags);
Error cudaGraphInstantiate(Graph** executable, Graph* graph, unsigned long long flags);
Error cudaGraphInstantiateWithParams(Graph** executable, Graph* graph, GraphInstantiation* parameters);
Error cudaGraphLaunch(Graph* executable, Stream* stream);
Error cudaGraphUpload(Graph* executable, Stream* stream);
Error cudaGraphExecDestroy(Graph* executable);
Error cudaGraphExecGetFlags(Graph* executable, unsigned long long* flags);
Error cudaGraphExecUpdate(Graph* executable, Graph* graph, GraphUpdate* result);
Error cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count);
Error cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Graph* child);
Error cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Event* event);
Error cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Event* event);
Error cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const HostCall* asked);
Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, GraphAllocation* asked);
Error cudaGraphHostNodeGetParams(GraphNode* node, HostCall* asked);
Error cudaGraphHostNodeSetParams(GraphNode* node, const HostCall* asked);
Error cudaGraphExecHostNodeSetParams(Graph* executable, GraphNode* node, const HostCall* asked);
Error cudaGraphExecChildGraphNodeSetParams(Graph* executable, GraphNode* node, Graph* child);
Error cudaGraphEventRecordNodeGetEvent(GraphNode* node, Event** event);
Error cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event);
Error cudaGraphEventWaitNodeGetEvent(GraphNode* node, Event** event);
Error cudaGraphEventWaitNodeSetEvent(GraphNode* node, Event* event);
Error cudaGraphExecEventRecordNodeSetEvent(Graph* executable, GraphNode* node, Event* event);
Error cudaGraphExecEventWaitNodeSetEvent(Graph* executable, GraphNode* node, Event* event);
Error cudaGraphMemAllocNodeGetParams(GraphNode* node, GraphAllocation* asked);
Error cudaGraphNodeGetType(GraphNode* node, int* type);
Error cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Error cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Error cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, void* edges, std::size_t* count);
Error cudaGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes, void* edges, std::size_t* count);
Error cudaGraphNodeGetDependentNodes(GraphNode* node, GraphNode** nodes, void* edges, std::size_t* count);
Error cudaGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void* edges, std::size_t count);
Error cudaGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void* edges, std::size_t count);
Error cudaGraphDestroyNode(GraphNode* node);
Error cudaGraphNodeFindInClone(GraphNode** found, GraphNode* node, Graph* clone);
Error cudaGraphNodeSetEnabled(Graph* executable, GraphNode* node, unsigned enabled);
Error cudaGraphNodeGetEnabled(Graph* executable, GraphNode* node, unsigned* enabled);
Error cudaStreamBeginCapture(Stream* stream, int mode);
Error cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph, GraphNode* const* after, const void* edges, std::size_t count, int mode);
Error cudaStreamEndCapture(Stream* stream, Graph** graph);
Error cudaStreamGetCaptureInfo(Stream* stream, int* status, unsigned long long* id, Graph** graph, GraphNode* const** after,
                               const void** edges, std::size_t* count);
Error cudaStreamUpdateCaptureDependencies(Stream* stream, GraphNode* const* after, const void* edges, std::size_t count, unsigned flags);
Error cudaThreadExchangeStreamCaptureMode(int* mode);
Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, void* pointer);
Error cudaGraphMemFreeNodeGetParams(GraphNode* node, void** pointer);
Error cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const KernelCall* asked);
Error cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* after, const void* edges, std::size_t count,
                       NodeParameters* asked);
int cuGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const DriverCopy3D* copy,
                         void* context);
int cuGraphAddBatchMemOpNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const MemoryOperationsNode* asked);
Error cudaGraphKernelNodeGetParams(GraphNode* node, KernelCall* asked);
Error cudaGraphKernelNodeSetParams(GraphNode* node, const KernelCall* asked);
Error cudaGraphExecKernelNodeSetParams(Graph* executable, GraphNode* node, const KernelCall* asked);
Error cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const Fill* asked);
Error cudaGraphMemsetNodeGetParams(GraphNode* node, Fill* asked);
Error cudaGraphMemsetNodeSetParams(GraphNode* node, const Fill* asked);
Error cudaGraphExecMemsetNodeSetParams(Graph* executable, GraphNode* node, const Fill* asked);
}

namespace {

struct DriverKernelCall {  ///< CUDA_KERNEL_NODE_PARAMS_v2
  KernelCall call;
  void* kernel;  ///< where `call` has no function
  void* context;
};

/// The runtime's; nullptr of nullptr.
struct OfRuntime {
  explicit OfRuntime(const DriverKernelCall* asked) {
    if (asked == nullptr) return;
    call = asked->call;
    if (call.func == nullptr) call.func = asked->kernel;
    pointer = &call;
  }
  OfRuntime(const OfRuntime&) = delete;
  KernelCall call = {};
  const KernelCall* pointer = nullptr;
};

}  // namespace

WARPMAT_CUDA_API int cuGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count,
                                          const KernelCall* asked) {
  return in_context([&] { return cudaGraphAddKernelNode(node, graph, after, count, asked); });
}

WARPMAT_CUDA_API int cuGraphAddKernelNode_v2(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count,
                                             const DriverKernelCall* asked) {
  return in_context([&] { return cudaGraphAddKernelNode(node, graph, after, count, OfRuntime(asked).pointer); });
}

/// CUgraphNodeParams is cudaGraphNodeParams, but for copies and kernels. Edges say nothing that a graph has here.
WARPMAT_CUDA_API int cuGraphAddNode_v2(GraphNode** node, Graph* graph, GraphNode* const* after, const void* edges, std::size_t count,
                                       NodeParameters* asked) {
  if (asked == nullptr) return cudaErrorInvalidValue;
  const void* const place = &asked->of;
  constexpr std::size_t copy_at = 16;  // CUDA_MEMCPY_NODE_PARAMS::copyParams
  switch (static_cast<NodeType>(asked->type)) {
    case NodeType::kernel: return cuGraphAddKernelNode_v2(node, graph, after, count, static_cast<const DriverKernelCall*>(place));
    case NodeType::copy:
      return cuGraphAddMemcpyNode(node, graph, after, count,
                                  reinterpret_cast<const DriverCopy3D*>(static_cast<const char*>(place) + copy_at), nullptr);
    case NodeType::memory_operations:
      return cuGraphAddBatchMemOpNode(node, graph, after, count, static_cast<const MemoryOperationsNode*>(place));
    default: return in_context([&] { return cudaGraphAddNode(node, graph, after, edges, count, asked); });
  }
}

WARPMAT_CUDA_API int cuGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, NodeParameters* asked) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, asked);
}

WARPMAT_CUDA_API int cuGraphKernelNodeGetParams(GraphNode* node, KernelCall* asked) {
  return in_context([&] { return cudaGraphKernelNodeGetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphKernelNodeGetParams_v2(GraphNode* node, DriverKernelCall* asked) {
  return in_context([&] {
    const Error error = cudaGraphKernelNodeGetParams(node, asked == nullptr ? nullptr : &asked->call);
    if (error == cudaSuccess) asked->kernel = asked->context = nullptr;
    return error;
  });
}

WARPMAT_CUDA_API int cuGraphKernelNodeSetParams(GraphNode* node, const KernelCall* asked) {
  return in_context([&] { return cudaGraphKernelNodeSetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphKernelNodeSetParams_v2(GraphNode* node, const DriverKernelCall* asked) {
  return in_context([&] { return cudaGraphKernelNodeSetParams(node, OfRuntime(asked).pointer); });
}

WARPMAT_CUDA_API int cuGraphExecKernelNodeSetParams(Graph* executable, GraphNode* node, const KernelCall* asked) {
  return in_context([&] { return cudaGraphExecKernelNodeSetParams(executable, node, asked); });
}

WARPMAT_CUDA_API int cuGraphExecKernelNodeSetParams_v2(Graph* executable, GraphNode* node, const DriverKernelCall* asked) {
  return in_context([&] { return cudaGraphExecKernelNodeSetParams(executable, node, OfRuntime(asked).pointer); });
}

WARPMAT_CUDA_API int cuGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const Fill* asked,
                                          void*) {
  return in_context([&] { return cudaGraphAddMemsetNode(node, graph, after, count, asked); });
}

WARPMAT_CUDA_API int cuGraphMemsetNodeGetParams(GraphNode* node, Fill* asked) {
  return in_context([&] { return cudaGraphMemsetNodeGetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphMemsetNodeSetParams(GraphNode* node, const Fill* asked) {
  return in_context([&] { return cudaGraphMemsetNodeSetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphExecMemsetNodeSetParams(Graph* executable, GraphNode* node, const Fill* asked, void*) {
  return in_context([&] { return cudaGraphExecMemsetNodeSetParams(executable, node, asked); });
}

WARPMAT_CUDA_API int cuGraphCreate(Graph** graph, unsigned flags) {
  return in_context([&] { return cudaGraphCreate(graph, flags); });
}

WARPMAT_CUDA_API int cuGraphDestroy(Graph* graph) {
  return in_context([&] { return cudaGraphDestroy(graph); });
}

WARPMAT_CUDA_API int cuGraphClone(Graph** clone, Graph* graph) {
  return in_context([&] { return cudaGraphClone(clone, graph); });
}

WARPMAT_CUDA_API int cuGraphDebugDotPrint(Graph* graph, const char* file, unsigned flags) {
  return in_context([&] { return cudaGraphDebugDotPrint(graph, file, flags); });
}

WARPMAT_CUDA_API int cuGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long flags) {
  return in_context([&] { return cudaGraphInstantiate(executable, graph, flags); });
}

WARPMAT_CUDA_API int cuGraphInstantiateWithParams(Graph** executable, Graph* graph, GraphInstantiation* parameters) {
  return in_context([&] { return cudaGraphInstantiateWithParams(executable, graph, parameters); });
}

WARPMAT_CUDA_API int cuGraphLaunch(Graph* executable, Stream* stream) {
  return in_context([&] { return cudaGraphLaunch(executable, stream); });
}

WARPMAT_CUDA_API int cuGraphUpload(Graph* executable, Stream* stream) {
  return in_context([&] { return cudaGraphUpload(executable, stream); });
}

WARPMAT_CUDA_API int cuGraphExecDestroy(Graph* executable) {
  return in_context([&] { return cudaGraphExecDestroy(executable); });
}

WARPMAT_CUDA_API int cuGraphExecGetFlags(Graph* executable, unsigned long long* flags) {
  return in_context([&] { return cudaGraphExecGetFlags(executable, flags); });
}

WARPMAT_CUDA_API int cuGraphExecUpdate_v2(Graph* executable, Graph* graph, GraphUpdate* result) {
  return in_context([&] { return cudaGraphExecUpdate(executable, graph, result); });
}

WARPMAT_CUDA_API int cuGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count) {
  return in_context([&] { return cudaGraphAddEmptyNode(node, graph, after, count); });
}

WARPMAT_CUDA_API int cuGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Graph* child) {
  return in_context([&] { return cudaGraphAddChildGraphNode(node, graph, after, count, child); });
}

WARPMAT_CUDA_API int cuGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Event* event) {
  return in_context([&] { return cudaGraphAddEventRecordNode(node, graph, after, count, event); });
}

WARPMAT_CUDA_API int cuGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, Event* event) {
  return in_context([&] { return cudaGraphAddEventWaitNode(node, graph, after, count, event); });
}

WARPMAT_CUDA_API int cuGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count, const HostCall* asked) {
  return in_context([&] { return cudaGraphAddHostNode(node, graph, after, count, asked); });
}

WARPMAT_CUDA_API int cuGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count,
                                            GraphAllocation* asked) {
  return in_context([&] { return cudaGraphAddMemAllocNode(node, graph, after, count, asked); });
}

WARPMAT_CUDA_API int cuGraphHostNodeGetParams(GraphNode* node, HostCall* asked) {
  return in_context([&] { return cudaGraphHostNodeGetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphHostNodeSetParams(GraphNode* node, const HostCall* asked) {
  return in_context([&] { return cudaGraphHostNodeSetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphExecHostNodeSetParams(Graph* executable, GraphNode* node, const HostCall* asked) {
  return in_context([&] { return cudaGraphExecHostNodeSetParams(executable, node, asked); });
}

WARPMAT_CUDA_API int cuGraphExecChildGraphNodeSetParams(Graph* executable, GraphNode* node, Graph* child) {
  return in_context([&] { return cudaGraphExecChildGraphNodeSetParams(executable, node, child); });
}

WARPMAT_CUDA_API int cuGraphEventRecordNodeGetEvent(GraphNode* node, Event** event) {
  return in_context([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}

WARPMAT_CUDA_API int cuGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) {
  return in_context([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}

WARPMAT_CUDA_API int cuGraphEventWaitNodeGetEvent(GraphNode* node, Event** event) {
  return in_context([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}

WARPMAT_CUDA_API int cuGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) {
  return in_context([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}

WARPMAT_CUDA_API int cuGraphExecEventRecordNodeSetEvent(Graph* executable, GraphNode* node, Event* event) {
  return in_context([&] { return cudaGraphExecEventRecordNodeSetEvent(executable, node, event); });
}

WARPMAT_CUDA_API int cuGraphExecEventWaitNodeSetEvent(Graph* executable, GraphNode* node, Event* event) {
  return in_context([&] { return cudaGraphExecEventWaitNodeSetEvent(executable, node, event); });
}

WARPMAT_CUDA_API int cuGraphMemAllocNodeGetParams(GraphNode* node, GraphAllocation* asked) {
  return in_context([&] { return cudaGraphMemAllocNodeGetParams(node, asked); });
}

WARPMAT_CUDA_API int cuGraphNodeGetType(GraphNode* node, int* type) {
  return in_context([&] { return cudaGraphNodeGetType(node, type); });
}

WARPMAT_CUDA_API int cuGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return in_context([&] { return cudaGraphGetNodes(graph, nodes, count); });
}

WARPMAT_CUDA_API int cuGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return in_context([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

WARPMAT_CUDA_API int cuGraphGetEdges_v2(Graph* graph, GraphNode** from, GraphNode** to, void* edges, std::size_t* count) {
  return in_context([&] { return cudaGraphGetEdges(graph, from, to, edges, count); });
}

WARPMAT_CUDA_API int cuGraphNodeGetDependencies_v2(GraphNode* node, GraphNode** nodes, void* edges, std::size_t* count) {
  return in_context([&] { return cudaGraphNodeGetDependencies(node, nodes, edges, count); });
}

WARPMAT_CUDA_API int cuGraphNodeGetDependentNodes_v2(GraphNode* node, GraphNode** nodes, void* edges, std::size_t* count) {
  return in_context([&] { return cudaGraphNodeGetDependentNodes(node, nodes, edges, count); });
}

WARPMAT_CUDA_API int cuGraphAddDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void* edges,
                                               std::size_t count) {
  return in_context([&] { return cudaGraphAddDependencies(graph, from, to, edges, count); });
}

WARPMAT_CUDA_API int cuGraphRemoveDependencies_v2(Graph* graph, GraphNode* const* from, GraphNode* const* to, const void* edges,
                                                  std::size_t count) {
  return in_context([&] { return cudaGraphRemoveDependencies(graph, from, to, edges, count); });
}

WARPMAT_CUDA_API int cuGraphDestroyNode(GraphNode* node) {
  return in_context([&] { return cudaGraphDestroyNode(node); });
}

WARPMAT_CUDA_API int cuGraphNodeFindInClone(GraphNode** found, GraphNode* node, Graph* clone) {
  return in_context([&] { return cudaGraphNodeFindInClone(found, node, clone); });
}

WARPMAT_CUDA_API int cuGraphNodeSetEnabled(Graph* executable, GraphNode* node, unsigned enabled) {
  return in_context([&] { return cudaGraphNodeSetEnabled(executable, node, enabled); });
}

WARPMAT_CUDA_API int cuGraphNodeGetEnabled(Graph* executable, GraphNode* node, unsigned* enabled) {
  return in_context([&] { return cudaGraphNodeGetEnabled(executable, node, enabled); });
}

WARPMAT_CUDA_API int cuStreamBeginCapture_v2(Stream* stream, int mode) {
  return in_context([&] { return cudaStreamBeginCapture(stream, mode); });
}

WARPMAT_CUDA_API int cuStreamBeginCaptureToGraph(Stream* stream, Graph* graph, GraphNode* const* after, const void* edges,
                                                 std::size_t count, int mode) {
  return in_context([&] { return cudaStreamBeginCaptureToGraph(stream, graph, after, edges, count, mode); });
}

WARPMAT_CUDA_API int cuStreamEndCapture(Stream* stream, Graph** graph) {
  return in_context([&] { return cudaStreamEndCapture(stream, graph); });
}

WARPMAT_CUDA_API int cuStreamGetCaptureInfo_v3(Stream* stream, int* status, unsigned long long* id, Graph** graph, GraphNode* const** after,
                                               const void** edges, std::size_t* count) {
  return in_context([&] { return cudaStreamGetCaptureInfo(stream, status, id, graph, after, edges, count); });
}

WARPMAT_CUDA_API int cuStreamUpdateCaptureDependencies_v2(Stream* stream, GraphNode* const* after, const void* edges, std::size_t count,
                                                          unsigned flags) {
  return in_context([&] { return cudaStreamUpdateCaptureDependencies(stream, after, edges, count, flags); });
}

WARPMAT_CUDA_API int cuThreadExchangeStreamCaptureMode(int* mode) {
  return in_context([&] { return cudaThreadExchangeStreamCaptureMode(mode); });
}

WARPMAT_CUDA_API int cuGraphInstantiate_v2(Graph** executable, Graph* graph, GraphNode** node, char* text, std::size_t bytes) {
  if (node != nullptr) *node = nullptr;
  if (text != nullptr && bytes != 0) *text = '\0';
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}

WARPMAT_CUDA_API int cuGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, std::size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

WARPMAT_CUDA_API int cuGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes, std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

WARPMAT_CUDA_API int cuGraphNodeGetDependentNodes(GraphNode* node, GraphNode** nodes, std::size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

WARPMAT_CUDA_API int cuGraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, std::size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

WARPMAT_CUDA_API int cuGraphRemoveDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, std::size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

WARPMAT_CUDA_API int cuGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* after, std::size_t count,
                                           DeviceAddress memory) {
  return in_context([&] { return cudaGraphAddMemFreeNode(node, graph, after, count, pointer_to(memory)); });
}

WARPMAT_CUDA_API int cuGraphMemFreeNodeGetParams(GraphNode* node, DeviceAddress* memory) {
  return in_context([&] { return cudaGraphMemFreeNodeGetParams(node, reinterpret_cast<void**>(memory)); });
}

WARPMAT_CUDA_API int cuStreamGetCaptureInfo_v2(Stream* stream, int* status, unsigned long long* id, Graph** graph, GraphNode* const** after,
                                               std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, after, nullptr, count);
}

WARPMAT_CUDA_API int cuStreamUpdateCaptureDependencies(Stream* stream, GraphNode* const* after, std::size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, after, nullptr, count, flags);
}

WARPMAT_CUDA_PER_THREAD(cuGraphInstantiateWithParams, ptsz)
WARPMAT_CUDA_PER_THREAD(cuGraphLaunch, ptsz)
WARPMAT_CUDA_PER_THREAD(cuGraphUpload, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamBeginCapture_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamBeginCaptureToGraph, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamEndCapture, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetCaptureInfo_v2, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamGetCaptureInfo_v3, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamUpdateCaptureDependencies, ptsz)
WARPMAT_CUDA_PER_THREAD(cuStreamUpdateCaptureDependencies_v2, ptsz)

}  // namespace warpmat::cuda
