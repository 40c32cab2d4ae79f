// The libraries as processes load them beside others of the same names.

#include <dlfcn.h>

#include "test.h"
#include "tools/command.h"

namespace warpmat::libraries_test {
namespace {

const std::string folder = cuda_libraries_path() + "/";

/// A library of the name libcudart.so.13 that is not warpmat's.
std::string other_runtime() {
  return (std::filesystem::path(cuda_program_path()).parent_path() / "other_runtime/libcudart.so.13").string();
}

TEST_CASE("the driver needs no libcudart: another one in the process does no harm", "[cuda]") {
  const Outcome outcome = run_program(driver_program_path(), {"scale"}, {"LD_PRELOAD=" + other_runtime(), "LD_LIBRARY_PATH=" + folder});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == run_program(driver_program_path(), {"scale"}, {"LD_LIBRARY_PATH=" + folder}).out);
}

TEST_CASE("clients that ask for libraries without a number get the same ones", "[cuda]") {
  for (const std::string name : {"libcuda.so", "libcudart.so"}) {
    INFO(name);
    void* const plain = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
    CHECK(plain != nullptr);
    CHECK(plain == dlopen((folder + name + (name == "libcuda.so" ? ".1" : ".13")).c_str(), RTLD_NOW | RTLD_LOCAL));
  }
}

TEST_CASE("warpmat cuda comes before the libraries that a program would find", "[cuda]") {
  const Outcome outcome = run_command({"cuda", cuda_program_path(), "works"}, {"LD_PRELOAD=" + other_runtime()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("store(device, 42): cudaSuccess\n"));
}

TEST_CASE("a program that loads another driver fails, and the driver is named", "[cuda]") {
  const TemporaryDirectory directory;
  const std::string driver = directory.path("libcuda.so.1");
  std::filesystem::copy_file(other_runtime(), driver);
  const Outcome outcome =
      run_command({"cuda", "--report", directory.path("r.json"), cuda_program_path(), "works"}, {"LD_PRELOAD=" + driver});
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("loaded the driver " + driver));
  CHECK_THAT(read_text(directory.path("r.json")), ContainsSubstring("\"driver\": \"" + driver + "\""));
  CHECK(run_command({"cuda", "--report", directory.path("r.json"), cuda_program_path(), "works"}).status == 0);
  CHECK_THAT(read_text(directory.path("r.json")), ContainsSubstring("\"driver\": \"warpmat\""));
}

TEST_CASE("NVIDIA's libraries load with the nvJitLink that links nothing, and Python's frameworks do not take it for one", "[cuda]") {
  void* const library = dlopen((folder + "libnvJitLink.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  CHECK(dlvsym(library, "__nvJitLinkCreate_13_0", "libnvJitLink.so.13") != nullptr);  // as cuSPARSE is linked
  CHECK(dlsym(library, "nvJitLinkVersion") == nullptr);                               // by which cuda.core decides
  const Outcome outcome = run_command({"cuda", "/bin/sh", "-c", "cat /proc/self/maps"});
  CHECK_THAT(outcome.out, ContainsSubstring("libnvJitLink.so.13"));
}

// libcudart.so.12: the runtime for programs of CUDA 12.

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

}  // namespace
}  // namespace warpmat::libraries_test
