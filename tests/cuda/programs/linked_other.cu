// The other object of linked.cu.

__device__ int counter = 100;
__constant__ int table[4] = {1, 20, 3, 4};

static __device__ int hidden = 1000;

static __device__ __noinline__ int own(int x) {
  return x + hidden;
}

template <typename T>
__device__ __noinline__ T twice(T x) {
  return x + x;
}

__device__ int scale(int x) {
  return 10000 * x + twice(50);
}

__global__ void second(int* out) {
  out[threadIdx.x] += own(threadIdx.x) * 1000;
  atomicAdd(&counter, 10);
}

void run_other(int* out) {
  second<<<1, 4>>>(out);
}
