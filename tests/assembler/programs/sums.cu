// Products and sums as programs write them, for each type: which become one fma, ptxas decides.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL template <class T> __global__ void

template <class T>
__device__ T lerp(T a, T b, T t) { return a + t * (b - a); }
template <class T>
__device__ T polynomial(T x, const T* c) { return ((c[0] * x + c[1]) * x + c[2]) * x + c[3]; }

KERNEL multiply_add(const T* p, T* out) { out[0] = p[0] * p[1] + p[2]; }
KERNEL subtract_product(const T* p, T* out) { out[0] = p[2] - p[0] * p[1]; }
KERNEL two_products(const T* p, T* out) { out[0] = p[0] * p[1] + p[2] * p[3]; }
KERNEL determinant(const T* p, T* out) { out[0] = p[0] * p[3] - p[1] * p[2]; }
KERNEL squares(const T* p, T* out) { out[0] = p[0] * p[0] + p[1] * p[1] + p[2] * p[2]; }
KERNEL shared_product(const T* p, T* out) {
  const T product = p[0] * p[1];
  out[0] = product + p[2];
  out[1] = product - p[3];
}
KERNEL stored_product(const T* p, T* out) {
  const T product = p[0] * p[1];
  out[0] = product;
  out[1] = product + p[2];
}
KERNEL negated_product(const T* p, T* out) { out[0] = -(p[0] * p[1]) + p[2]; }
KERNEL inlined(const T* p, T* out) {
  out[0] = lerp(p[0], p[1], p[2]);
  out[1] = polynomial(p[0], p + 4);
}
KERNEL scaled(const T* p, T* out) { out[0] = p[0] * p[1] * T(0.25f) + p[2]; }
KERNEL within_branch(const T* p, T* out) {
  T value = p[0] * p[1];
  if (threadIdx.x > 7) value = value + p[2];
  out[threadIdx.x] = value;
}
KERNEL both_branches(const T* p, T* out) {
  const T product = p[0] * p[1];
  out[threadIdx.x] = threadIdx.x > 7 ? product + p[2] : product - p[3];
}
KERNEL over_barrier(const T* p, T* out) {
  const T product = p[threadIdx.x] * p[1];
  __syncthreads();
  out[threadIdx.x] = product + p[2];
}
KERNEL dot(const T* p, T* out, int n) {
  T sum = p[0];
  for (int i = 0; i < n; ++i) sum = sum + p[i] * p[i + 1];
  out[0] = sum;
}
KERNEL dot_of_eight(const T* p, T* out) {
  T sum = p[0];
#pragma unroll
  for (int i = 1; i < 9; ++i) sum = sum + p[i] * p[i + 9];
  out[0] = sum;
}
KERNEL recurrence(const T* p, T* out) {
  T value = p[0] - p[0];
  for (int i = 0; i < static_cast<int>(threadIdx.x & 3) + 3; ++i) value = (p[1] + value) * (p[2] + p[2]);
  out[0] = value + p[3];
}
KERNEL product_of_last_round(const T* p, T* out, int n) {
  T product = p[0], sum = p[1];
  for (int i = 0; i < n; ++i) {
    sum = sum + product;
    product = p[i] * p[i + 1];
  }
  out[0] = sum + product;
}
KERNEL early_exit(const T* p, T* out, int n) {
  const T product = p[threadIdx.x] * p[1];
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = product + p[2];
}
KERNEL by_index(const T* p, T* out, int n) {
  const int index = n * threadIdx.x + 3;
  switch (n & 3) {
    case 0: out[index] = p[0] * p[1] + p[2]; break;
    case 1: out[index] = p[0] * p[1] - p[2]; break;
    default: out[index] = p[index] * p[1];
  }
}

#define EACH(T)                                                                                                                          \
  template __global__ void multiply_add<T>(const T*, T*);                                                                                \
  template __global__ void subtract_product<T>(const T*, T*);                                                                            \
  template __global__ void two_products<T>(const T*, T*);                                                                                \
  template __global__ void determinant<T>(const T*, T*);                                                                                 \
  template __global__ void squares<T>(const T*, T*);                                                                                     \
  template __global__ void shared_product<T>(const T*, T*);                                                                              \
  template __global__ void stored_product<T>(const T*, T*);                                                                              \
  template __global__ void negated_product<T>(const T*, T*);                                                                             \
  template __global__ void inlined<T>(const T*, T*);                                                                                     \
  template __global__ void within_branch<T>(const T*, T*);                                                                               \
  template __global__ void both_branches<T>(const T*, T*);                                                                               \
  template __global__ void over_barrier<T>(const T*, T*);                                                                                \
  template __global__ void dot<T>(const T*, T*, int);                                                                                    \
  template __global__ void dot_of_eight<T>(const T*, T*);                                                                                \
  template __global__ void recurrence<T>(const T*, T*);                                                                                  \
  template __global__ void product_of_last_round<T>(const T*, T*, int);                                                                  \
  template __global__ void early_exit<T>(const T*, T*, int);                                                                             \
  template __global__ void by_index<T>(const T*, T*, int);

EACH(float)
EACH(double)
EACH(__half)
EACH(__half2)
EACH(__nv_bfloat16)
template __global__ void scaled<float>(const float*, float*);
template __global__ void scaled<double>(const double*, double*);
