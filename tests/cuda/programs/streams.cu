// Streams, events, host functions, a captured graph, asynchronous and pitched memory.

#include "check.h"

__global__ void scale(int* x, int factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

void count_call(void* counter) {
  ++*static_cast<int*>(counter);
}

int main() {
  constexpr int n = 256;
  int *host = nullptr, *device = nullptr, called = 0;
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaStream_t first, second;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CHECK(cudaMallocAsync(&device, n * sizeof(int), first));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < n; ++i) host[i] = i;
  CHECK(cudaEventRecord(begin, first));
  CHECK(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, first));
  scale<<<2, 128, 0, first>>>(device, 3, n);
  CHECK(cudaEventRecord(end, first));
  CHECK(cudaStreamWaitEvent(second, end));
  CHECK(cudaLaunchHostFunc(second, count_call, &called));
  CHECK(cudaStreamSynchronize(second));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));

  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  scale<<<2, 128, 0, first>>>(device, 2, n);
  CHECK(cudaEventRecord(end, first));
  CHECK(cudaStreamWaitEvent(second, end));
  CHECK(cudaLaunchHostFunc(second, count_call, &called));
  CHECK(cudaEventRecord(begin, second));
  CHECK(cudaStreamWaitEvent(first, begin));
  CHECK(cudaStreamEndCapture(first, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(executable, first));
  CHECK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphDestroy(graph));

  int* rows = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&rows, &pitch, 16 * sizeof(int), 16));
  CHECK(cudaMemcpy2DAsync(rows, pitch, device, 16 * sizeof(int), 16 * sizeof(int), 16, cudaMemcpyDeviceToDevice, first));
  CHECK(cudaMemcpy2DAsync(host, 16 * sizeof(int), rows, pitch, 16 * sizeof(int), 16, cudaMemcpyDeviceToHost, first));
  CHECK(cudaStreamSynchronize(first));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[i] != 24 * i;
  CHECK(cudaFreeAsync(device, first));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  std::printf("%d wrong, %d calls, time %s\n", wrong, called, milliseconds > 0 ? "positive" : "zero");
  return wrong;
}
