// Graphs made node by node: kernels, copies, fills, host functions, a child, memory; changed when executable, and by an update.

#include <unistd.h>

#include "check.h"

__global__ void add(int* x, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += value;
}

void count_call(void* counter) {
  ++*static_cast<int*>(counter);
}

/// References to a user object: the program has two, then a graph one, then its copies.
void use_user_objects() {
  volatile int destroyed = 0;
  cudaUserObject_t object;
  CHECK(cudaUserObjectCreate(&object, const_cast<int*>(&destroyed), count_call, 2, cudaUserObjectNoDestructorSync));
  cudaGraph_t graph, clone;
  cudaGraphExec_t executable;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CHECK(cudaGraphRetainUserObject(graph, object, 2));
  CHECK(cudaGraphReleaseUserObject(graph, object, 2));
  CHECK(cudaUserObjectRetain(object, 3));
  CHECK(cudaUserObjectRelease(object, 4));
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphInstantiate(&executable, clone, 0));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  std::printf("%d destroyed, ", destroyed);
  CHECK(cudaGraphExecDestroy(executable));
  for (int i = 0; i < 1000 && destroyed == 0; ++i) usleep(1000);
  std::printf("%d, %s %s %s\n", destroyed, cudaGetErrorName(cudaUserObjectCreate(&object, nullptr, count_call, 1, 0)),
              cudaGetErrorName(cudaUserObjectCreate(&object, nullptr, count_call, 0, cudaUserObjectNoDestructorSync)),
              cudaGetErrorName(cudaUserObjectCreate(&object, nullptr, nullptr, 1, cudaUserObjectNoDestructorSync)));
}

int main() {
  use_user_objects();
  constexpr int n = 100, bytes = n * sizeof(int);
  int *device = nullptr, host[n], size = n, value = 5, called = 0;
  CHECK(cudaMalloc(&device, bytes));
  cudaGraph_t graph, child;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphCreate(&child, 0));

  cudaGraphNode_t fill, kernel, copy, call, inner, below, empty;
  cudaMemsetParams zero = {};
  zero.dst = device;
  zero.elementSize = 4;
  zero.value = 1000;
  zero.width = n;
  zero.height = 1;
  CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &zero));
  void* arguments[] = {&device, &value, &size};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = dim3(4);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
  value = 70;
  CHECK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &launch));
  CHECK(cudaGraphAddChildGraphNode(&below, graph, nullptr, 0, child));
  CHECK(cudaGraphAddEmptyNode(&empty, graph, &below, 1));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &empty, 1, host, device, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphAddDependencies(graph, &kernel, &below, nullptr, 1));
  const cudaHostNodeParams host_call = {count_call, &called};
  CHECK(cudaGraphAddHostNode(&call, graph, &copy, 1, &host_call));

  std::size_t nodes = 0, edges = 0, roots = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(cudaGraphDebugDotPrint(graph, "/dev/null", cudaGraphDebugDotFlagsVerbose));
  cudaGraphNodeType type;
  CHECK(cudaGraphNodeGetType(below, &type));
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  std::printf("%zu nodes, %zu edges, %zu root, type %d: %d, %d calls\n", nodes, edges, roots, type, host[n - 1], called);

  value = 6;
  CHECK(cudaGraphExecKernelNodeSetParams(executable, kernel, &launch));
  CHECK(cudaGraphNodeSetEnabled(executable, call, 0));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  std::printf("changed: %d, %d calls\n", host[0], called);

  zero.value = 2000;
  CHECK(cudaGraphMemsetNodeSetParams(fill, &zero));
  cudaGraphExecUpdateResultInfo update;
  CHECK(cudaGraphExecUpdate(executable, graph, &update));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  std::printf("updated: %d\n", host[0]);
  CHECK(cudaGraphDestroyNode(call));
  std::printf("%s, ", cudaGetErrorName(cudaGraphExecUpdate(executable, graph, &update)));
  CHECK(cudaGraphAddDependencies(graph, &copy, &fill, nullptr, 1));
  cudaGraphExec_t circle;
  std::printf("%s\n", cudaGetErrorName(cudaGraphInstantiate(&circle, graph, 0)));

  // memory of a graph, captured
  cudaStream_t stream;
  int* of_graph = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&of_graph, bytes, stream));
  CHECK(cudaMemsetAsync(of_graph, 0, bytes, stream));
  add<<<4, 32, 0, stream>>>(of_graph, 9, n);
  CHECK(cudaMemcpyAsync(host, of_graph, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(of_graph, stream));
  cudaGraph_t captured;
  CHECK(cudaStreamEndCapture(stream, &captured));
  cudaGraphExec_t run;
  CHECK(cudaGraphInstantiate(&run, captured, 0));
  CHECK(cudaGraphGetNodes(captured, nullptr, &nodes));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(run, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("captured: %zu nodes, %d\n", nodes, host[n - 1]);
  cudaGraphNode_t of_capture[8];
  int named = 0;  // kernel nodes that say which kernel they launch
  CHECK(cudaGraphGetNodes(captured, of_capture, &nodes));
  for (std::size_t i = 0; i < nodes; ++i) {
    cudaGraphNodeType of_node;
    cudaKernelNodeParams launched = {};
    CHECK(cudaGraphNodeGetType(of_capture[i], &of_node));
    if (of_node != cudaGraphNodeTypeKernel) continue;
    CHECK(cudaGraphKernelNodeGetParams(of_capture[i], &launched));
    named += launched.func == reinterpret_cast<void*>(add);
  }
  std::printf("%d named\n", named);

  // another stream joins two captures, one after the other
  cudaStream_t other;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaEventCreate(&fork));
  CHECK(cudaEventCreate(&join));
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(other, fork));
    add<<<4, 32, 0, other>>>(device, 1, n);
    add<<<4, 32, 0, stream>>>(device, 1, n);
    CHECK(cudaEventRecord(join, other));
    CHECK(cudaStreamWaitEvent(stream, join));
    add<<<4, 32, 0, stream>>>(device, 1, n);
    cudaGraph_t joined;
    CHECK(cudaStreamEndCapture(stream, &joined));
    CHECK(cudaGraphGetEdges(joined, nullptr, nullptr, nullptr, &edges));
    CHECK(cudaGraphGetRootNodes(joined, nullptr, &roots));
    CHECK(cudaGraphDestroy(joined));
    std::printf("%zu edges, %zu roots, %s\n", edges, roots, cudaGetErrorName(cudaStreamWaitEvent(other, join)));
  }
  return 0;
}
