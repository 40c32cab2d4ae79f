#include "check.h"

// Conditional nodes of graphs: if, while, switch, one that is captured, and what is refused.

__global__ void set(cudaGraphConditionalHandle condition, const int* from) {
  cudaGraphSetConditional(condition, *from);
}

__global__ void add(int* to, int number) {
  *to += number;
}

/// Counts down, and sets the condition to what is left.
__global__ void count_down(cudaGraphConditionalHandle condition, int* left, int* rounds) {
  ++*rounds;
  cudaGraphSetConditional(condition, --*left);
}

cudaGraphConditionalHandle condition_of(cudaGraph_t graph, unsigned value = 0, unsigned flags = 0) {
  cudaGraphConditionalHandle condition;
  CHECK(cudaGraphConditionalHandleCreate(&condition, graph, value, flags));
  return condition;
}

cudaGraph_t* bodies_of(cudaGraph_t graph, cudaGraphConditionalHandle condition, cudaGraphConditionalNodeType type, unsigned size,
                       const cudaGraphNode_t* after, size_t count, cudaGraphNode_t* node) {
  cudaGraphNodeParams parameters = {cudaGraphNodeTypeConditional};
  parameters.conditional.handle = condition;
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  CHECK(cudaGraphAddNode(node, graph, after, nullptr, count, &parameters));
  return parameters.conditional.phGraph_out;
}

template <typename... Arguments>
cudaGraphNode_t kernel_in(cudaGraph_t graph, const cudaGraphNode_t* after, void (*kernel)(Arguments...), Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaKernelNodeParams parameters = {reinterpret_cast<void*>(kernel), {1, 1, 1}, {1, 1, 1}, 0, pointers, nullptr};
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, after, after == nullptr ? 0 : 1, &parameters));
  return node;
}

void run(cudaGraph_t graph, int times = 1) {
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphDestroy(graph));  // the executable has its own
  for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(executable));
}

int main() {
  int* n = nullptr;
  CHECK(cudaMallocManaged(&n, 16 * sizeof *n));
  cudaGraph_t graph;
  cudaGraphNode_t node;

  for (int value = 1; value >= 0; --value) {  // 5 where the condition holds, else 6
    n[0] = value;
    n[1] = 0;
    CHECK(cudaGraphCreate(&graph, 0));
    const cudaGraphConditionalHandle condition = condition_of(graph);
    const cudaGraphNode_t first = kernel_in(graph, nullptr, set, condition, static_cast<const int*>(n));
    cudaGraph_t* const bodies = bodies_of(graph, condition, cudaGraphCondTypeIf, 2, &first, 1, &node);
    kernel_in(bodies[0], nullptr, add, n + 1, 5);
    kernel_in(bodies[1], nullptr, add, n + 1, 6);
    run(graph);
    std::printf(value == 1 ? "if %d" : " %d", n[1]);
  }

  n[0] = 10;
  n[1] = 0;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle condition = condition_of(graph, 1, cudaGraphCondAssignDefault);
  cudaGraph_t* bodies = bodies_of(graph, condition, cudaGraphCondTypeWhile, 1, nullptr, 0, &node);
  kernel_in(bodies[0], nullptr, count_down, condition, n, n + 1);
  run(graph);
  std::printf(", while %d", n[1]);
  n[0] = 1;
  n[1] = 0;
  CHECK(cudaGraphCreate(&graph, 0));
  condition = condition_of(graph, 1, cudaGraphCondAssignDefault);
  bodies = bodies_of(graph, condition, cudaGraphCondTypeWhile, 1, nullptr, 0, &node);
  const cudaGraphNode_t reset = kernel_in(bodies[0], nullptr, add, n, 0);
  kernel_in(bodies[0], &reset, count_down, condition, n, n + 1);
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) {  // the default comes back with each launch
    n[0] = 1;
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
  }
  std::printf(" %d, switch", n[1]);

  for (int value = 3; value >= 0; --value) {  // of three graphs: 3 chooses none, the third adds nothing
    n[0] = value;
    n[1] = 0;
    CHECK(cudaGraphCreate(&graph, 0));
    condition = condition_of(graph);
    const cudaGraphNode_t first = kernel_in(graph, nullptr, set, condition, static_cast<const int*>(n));
    bodies = bodies_of(graph, condition, cudaGraphCondTypeSwitch, 3, &first, 1, &node);
    kernel_in(bodies[1], nullptr, add, n + 1, 7);
    run(graph);
    std::printf(" %d", n[1]);
  }

  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraph_t inner;
  CHECK(cudaGraphCreate(&inner, 0));
  bodies_of(inner, condition_of(inner), cudaGraphCondTypeIf, 1, nullptr, 0, &node);
  std::printf(", child %s", cudaGetErrorName(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner)));

  n[0] = 4;
  n[1] = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaStreamCaptureStatus status;
  const cudaGraphNode_t* after;
  size_t count;
  add<<<1, 1, 0, stream>>>(n + 1, 0);
  CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, nullptr, &count));
  condition = condition_of(graph, 1, cudaGraphCondAssignDefault);
  bodies = bodies_of(graph, condition, cudaGraphCondTypeWhile, 1, after, count, &node);
  CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  cudaStream_t other;
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaStreamBeginCaptureToGraph(other, bodies[0], nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
  count_down<<<1, 1, 0, other>>>(condition, n, n + 1);
  CHECK(cudaStreamEndCapture(other, nullptr));  // into a graph that has a name
  CHECK(cudaStreamEndCapture(stream, &graph));
  run(graph);
  std::printf(", captured %d\n", n[1]);

  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNodeParams wrong = {cudaGraphNodeTypeConditional};
  wrong.conditional.handle = condition_of(graph);
  wrong.conditional.type = cudaGraphCondTypeWhile;
  wrong.conditional.size = 2;  // a loop has one graph
  std::printf("%s ", cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &wrong)));
  wrong.conditional.size = 1;
  wrong.conditional.handle = 0;
  std::printf("%s\n", cudaGetErrorName(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &wrong)));
}
