// A library with the name of CUDA's runtime, as NVIDIA's is in a process of PyTorch's: it has nothing of warpmat's.

extern "C" int cudaRuntimeGetVersion(int* version) {
  *version = 13999;
  return 0;
}
