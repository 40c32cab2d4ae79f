#include <string>

#include "catch.h"
#include "paths.h"
#include "tools/command.h"

// What error_program.cpp prints. The codes are those that the documentation of CUDA's runtime (section "CUDA Runtime API", each function's
// "Returns") and of cudaError give; they have not been compared with a GPU.

namespace warpmat::errors_test {

namespace {

Outcome run_errors(const std::string& what) {
  return run_program(cuda_program_path(), {what}, {"LD_LIBRARY_PATH=" + cuda_libraries_path()});
}

/// The output of a kernel that fails with `error`.
std::string of_fault(const std::string& error) {
  std::string text = "failing(): cudaSuccess\ncudaGetLastError(): cudaSuccess\n";
  for (const char* const call :
       {"cudaDeviceSynchronize()", "cudaGetLastError()", "cudaGetLastError()", "cudaMalloc(&pointer, 4)", "failing()"})
    text += std::string(call) + ": " + error + "\n";
  return text;
}

}  // namespace

TEST_CASE("kernels read and write device, managed, pinned and registered memory", "[cuda]") {
  const Outcome outcome = run_errors("works");
  CHECK(outcome.status == 0);
  CHECK(outcome.err == "");
  CHECK(outcome.out == R"(cudaMalloc(&device, 4): cudaSuccess
store(device, 42): cudaSuccess
cudaMemcpy(&got, device, 4, device_to_host): cudaSuccess
42
cudaMallocManaged(&managed, 4, 1): cudaSuccess
store(managed, 43): cudaSuccess
cudaDeviceSynchronize(): cudaSuccess
43
cudaMallocHost(&pinned, 4): cudaSuccess
store(pinned, 44): cudaSuccess
cudaDeviceSynchronize(): cudaSuccess
44
cudaHostRegister(&own, 4, 0): cudaSuccess
store(&own, 45): cudaSuccess
cudaHostUnregister(&own): cudaSuccess
45
cudaMemcpyFromSymbol(&got, &total_shadow, 4, 0, device_to_host): cudaSuccess
9
cudaFree(device): cudaSuccess
cudaFree(managed): cudaSuccess
cudaFreeHost(pinned): cudaSuccess
)");
}

TEST_CASE("wrong calls return the codes that CUDA documents", "[cuda]") {
  CHECK(run_errors("calls").out == R"(cudaMalloc(nullptr, 4): cudaErrorInvalidValue
cudaMalloc(&pointer, std::size_t{1} << 60): cudaErrorMemoryAllocation
cudaFree(static_cast<char*>(device) + 4): cudaErrorInvalidValue
cudaFree(host.data()): cudaErrorInvalidValue
cudaFreeHost(device): cudaErrorInvalidValue
cudaMemcpy(device, host.data(), 65, host_to_device): cudaErrorInvalidValue
cudaMemcpy(host.data(), device, 64, host_to_device): cudaErrorInvalidValue
cudaMemcpy(host.data(), device, 64, host_to_host): cudaErrorInvalidValue
cudaMemcpy(device, host.data(), 64, device_to_host): cudaErrorInvalidValue
cudaMemcpy(device, host.data(), 64, 7): cudaErrorInvalidMemcpyDirection
cudaMemcpy2D(device, 8, host.data(), 16, 16, 2, host_to_device): cudaErrorInvalidPitchValue
cudaMemset(device, 0, 65): cudaErrorInvalidValue
cudaMemcpyToSymbol(&no_stub, host.data(), 4, 0, host_to_device): cudaErrorInvalidSymbol
cudaMemcpyToSymbol(&total_shadow, host.data(), 8, 0, host_to_device): cudaErrorInvalidValue
cudaMemcpyToSymbol(&total_shadow, host.data(), 4, 0, device_to_host): cudaErrorInvalidMemcpyDirection
cudaHostUnregister(host.data()): cudaErrorHostMemoryNotRegistered
cudaHostGetDevicePointer(&pointer, host.data(), 0): cudaErrorInvalidValue
cudaHostRegister(host.data(), 4096, 0): cudaSuccess
cudaHostRegister(host.data() + 16, 16, 0): cudaErrorHostMemoryAlreadyRegistered
cudaMallocManaged(&pointer, 4, 9): cudaErrorInvalidValue
cudaSetDevice(3): cudaErrorInvalidDevice
cudaDeviceGetAttribute(&value, 100000, 0): cudaErrorInvalidValue
cudaDeviceGetLimit(&limit, 99): cudaErrorUnsupportedLimit
cudaStreamSynchronize(&value): cudaErrorInvalidResourceHandle
cudaStreamDestroy(&value): cudaErrorInvalidResourceHandle
cudaStreamCreate(nullptr): cudaErrorInvalidValue
cudaEventElapsedTime(&milliseconds, start, end): cudaErrorInvalidResourceHandle
cudaEventElapsedTime(&milliseconds, start, end): cudaSuccess
cudaEventRecord(&value, nullptr): cudaErrorInvalidResourceHandle
launch(&stop_stub, {1, 1, 1}, {1, 1, 1}, nullptr, 0, stream): cudaErrorInvalidResourceHandle
launch(&no_stub): cudaErrorInvalidDeviceFunction
store(device, 1, {0, 1, 1}): cudaErrorInvalidConfiguration
store(device, 1, {1, 65536, 1}): cudaErrorInvalidConfiguration
store(device, 1, {1, 1, 1}, {1025, 1, 1}): cudaErrorInvalidConfiguration
store(device, 1, {1, 1, 1}, {1, 1, 65}): cudaErrorInvalidConfiguration
store(device, 1, {1, 1, 1}, {1, 1, 1}, 64 << 10): cudaErrorInvalidValue
cudaFuncSetAttribute(&store_stub, 8, 1 << 20): cudaErrorInvalidValue
cudaFuncSetAttribute(&store_stub, 8, 64 << 10): cudaSuccess
store(device, 1, {1, 1, 1}, {1, 1, 1}, 64 << 10): cudaSuccess
cudaGraphicsUnregisterResource(pointer): cudaErrorNotSupported
cudaPeekAtLastError(): cudaErrorNotSupported
cudaGetLastError(): cudaErrorNotSupported
cudaGetLastError(): cudaSuccess
cudaFree(device): cudaErrorInvalidValue
cudaMemcpy(host.data(), device, 4, device_to_host): cudaErrorInvalidValue
)");
}

TEST_CASE("the fault of a kernel appears at the next synchronising call and stays", "[cuda]") {
  const struct {
    const char *what, *error, *report;
  } cases[] = {
      {"beyond", "cudaErrorIllegalAddress", "0 bytes beyond the end of buffer 'cudaMalloc 1' of 4 bytes"},
      {"into_host", "cudaErrorIllegalAddress", "outside of any buffer"},
      {"after_free", "cudaErrorIllegalAddress", "buffer 'cudaMalloc 1' of 4 bytes at 0x200000000000, which was freed"},
      {"misaligned", "cudaErrorMisalignedAddress", "the address is not a multiple of 4"},
      {"stop", "cudaErrorLaunchFailure", "the kernel executes a trap"},
      {"deadlock", "cudaErrorLaunchTimeout", "deadlock: no warp of the block can continue"},
  };
  for (const auto& each : cases) {
    INFO(each.what);
    const Outcome outcome = run_errors(each.what);
    CHECK(outcome.out == of_fault(each.error));
    CHECK_THAT(outcome.err, ContainsSubstring("warpmat: kernel '"));
    CHECK_THAT(outcome.err, ContainsSubstring(each.report));
  }
}

TEST_CASE("a host access to device memory ends the program", "[cuda]") {
  CHECK(run_errors("touch").status == 128 + 11);  // SIGSEGV, as the shell has it
}

TEST_CASE("threads, child processes and destructors use the runtime", "[cuda]") {
  CHECK(run_errors("threads").out == "49 149 249 349 449 549 649 749 405\n");
  CHECK(run_errors("fork").out == "child: 1 3\nparent: 1 2\n");
  CHECK(run_errors("exit").out == "cudaMalloc(&freed_at_exit.device, 4): cudaSuccess\ncudaSuccess\n");
}

TEST_CASE("wrong settings are refused", "[cuda]") {
  const struct {
    const char *variable, *message;
  } cases[] = {
      {"WARPMAT_CUDA_TARGET=sm_1", "WARPMAT_CUDA_TARGET=sm_1: a target such as sm_90a or sm_80 is needed"},
      {"WARPMAT_CUDA_JOBS=two", "WARPMAT_CUDA_JOBS=two: a number from 0 to 1024 is needed"},
      {"WARPMAT_CUDA_CHECK=race",
       "WARPMAT_CUDA_CHECK=race: 'race' is no check: there are uninitialised, copies, races, lanes and fences, all and none"},
  };
  for (const auto& each : cases) {
    const Outcome outcome = run_program(cuda_program_path(), {"works"}, {"LD_LIBRARY_PATH=" + cuda_libraries_path(), each.variable});
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "warpmat: " + std::string(each.message) + "\n");
  }
}

}  // namespace warpmat::errors_test
