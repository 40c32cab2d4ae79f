#include <dlfcn.h>

#include "test.h"
#include "tools/command.h"

// libcudart.so.12: the runtime for programs of CUDA 12.

namespace warpmat::runtime_12_test {

TEST_CASE("a program of CUDA 12 runs by its own interface", "[cuda]") {
  const std::string program = std::filesystem::path(cuda_program_path()).replace_filename("warpmat_cuda_12_program");
  const Outcome outcome = run_program(program, {}, {"LD_LIBRARY_PATH=" + cuda_libraries_path()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out ==
        "version 12\n"
        "NVIDIA H200, 9.0, 1024 threads a block, clock known, 132 processors, 1D texture 131072, bus 6016 bits, L2 62914560 bytes, "
        "39321600 to set aside, cluster 1, behind it ee\n"
        "attributes right, behind them right\n"
        "attributes without a place: error 1\n"
        "texture right, behind it right\n"
        "capture: status 1, 1 nodes to wait for\n"
        "graph: 1 edges, from the first node\n"
        "numbers: 8 16 24 32\n"
        "cuCtxSynchronize: 0\n"
        "IPC: error 801\n");
  CHECK(outcome.err.find("cudaMemPoolExportPointer is not supported") != std::string::npos);
}

TEST_CASE("libcudart.so.12 has the functions of 13 and those that it changed, with version 12", "[cuda]") {
  void* const handle = dlopen((cuda_libraries_path() + "/libcudart.so.12").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  for (const char* const name : {
#define WARPMAT_CUDA_SUPPORTED(name) #name,
#define WARPMAT_CUDA_UNSUPPORTED WARPMAT_CUDA_SUPPORTED
#include <warpmat/cuda/runtime_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
           "cudaGetDeviceProperties_v2", "cudaMemPrefetchAsync_v2", "cudaMemPrefetchAsync_v2_ptsz", "cudaMemAdvise_v2",
           "cudaGraphAddNode_v2", "cudaGraphGetEdges_v2", "cudaGraphAddDependencies_v2", "cudaGraphRemoveDependencies_v2",
           "cudaGraphNodeGetDependencies_v2", "cudaGraphNodeGetDependentNodes_v2", "cudaStreamGetCaptureInfo_v2",
           "cudaStreamGetCaptureInfo_v3", "cudaStreamGetCaptureInfo_v2_ptsz", "cudaStreamUpdateCaptureDependencies_v2",
           "cudaEventElapsedTime_v2", "cudaThreadSynchronize", "cudaThreadExit"}) {
    INFO(name);
    CHECK(dlvsym(handle, name, "libcudart.so.12") != nullptr);
  }
}

}  // namespace warpmat::runtime_12_test
