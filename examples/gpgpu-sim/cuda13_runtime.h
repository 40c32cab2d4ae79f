// Functions of CUDA 13's runtime that nvcc's code calls and GPGPU-Sim does not have. `apply --cuda13` includes this file at the end of
// libcuda/cuda_runtime_api.cc.
extern "C" cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* entry) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(entry));
  return cudaSuccess;
}

extern "C" cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t bytes, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const char*>(kernel), grid, block, const_cast<const void**>(arguments), bytes, stream);
}
