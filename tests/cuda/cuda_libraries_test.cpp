#include <dlfcn.h>

#include "test.h"
#include "tools/command.h"

// The stand-ins for cuBLAS, cuBLASLt, cuRAND and NVML.

namespace warpmat::cuda_libraries_test {
namespace {

std::string library_program() {
  return (std::filesystem::path(cuda_program_path()).parent_path() / "warpmat_cuda_library_program").string();
}

struct Row {
  const char* library;
  const char* name;
};
constexpr Row rows[] = {
#define WARPMAT_LIBRARY_SUPPORTED(result, name, ...) {"libcublas.so.13", #name},
#define WARPMAT_LIBRARY_UNSUPPORTED(name) {"libcublas.so.13", #name},
#include <warpmat/cuda/libraries/blas_functions.inc>
#undef WARPMAT_LIBRARY_SUPPORTED
#undef WARPMAT_LIBRARY_UNSUPPORTED
#define WARPMAT_LIBRARY_SUPPORTED(result, name, ...) {"libcublasLt.so.13", #name},
#define WARPMAT_LIBRARY_UNSUPPORTED(name) {"libcublasLt.so.13", #name},
#include <warpmat/cuda/libraries/blas_lt_functions.inc>
#undef WARPMAT_LIBRARY_SUPPORTED
#undef WARPMAT_LIBRARY_UNSUPPORTED
#define WARPMAT_LIBRARY_SUPPORTED(result, name, ...) {"libcurand.so.10", #name},
#define WARPMAT_LIBRARY_UNSUPPORTED(name) {"libcurand.so.10", #name},
#include <warpmat/cuda/libraries/random_functions.inc>
#undef WARPMAT_LIBRARY_SUPPORTED
#undef WARPMAT_LIBRARY_UNSUPPORTED
#define WARPMAT_LIBRARY_SUPPORTED(result, name, ...) {"libnvidia-ml.so.1", #name},
#define WARPMAT_LIBRARY_UNSUPPORTED(name) {"libnvidia-ml.so.1", #name},
#include <warpmat/cuda/libraries/management_functions.inc>
#undef WARPMAT_LIBRARY_SUPPORTED
#undef WARPMAT_LIBRARY_UNSUPPORTED
};

TEST_CASE("every function of a library's table is in the library", "[cuda]") {
  for (const Row& row : rows) {
    void* const library = dlopen((cuda_libraries_path() + "/" + row.library).c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO(row.library << " " << row.name);
    REQUIRE(library != nullptr);
    CHECK(dlsym(library, row.name) != nullptr);
  }
}

TEST_CASE("the libraries' routines give what loops give", "[cuda]") {
  for (const std::string jobs : {"1", "3"}) {
    const Outcome outcome = run_command({"cuda", "--jobs", jobs, library_program()});
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_THAT(outcome.out, !ContainsSubstring(": wrong"));
    CHECK_THAT(outcome.out, ContainsSubstring("Sgemm: right\n"));
    CHECK_THAT(outcome.out, ContainsSubstring("NVML: right\n"));
    CHECK_THAT(outcome.err, ContainsSubstring("cublas"));  // how its bits are known
    CHECK_THAT(outcome.err, ContainsSubstring("assumed"));
  }
  CHECK(run_command({"cuda", "--require", "measured", library_program()}).status == 1);
}

TEST_CASE("what a program does wrong with a library is a status, or a fault as a kernel's", "[cuda]") {
  const Outcome outcome = run_command({"cuda", library_program(), "misuse"});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.out ==
        "no handle: CUBLAS_STATUS_NOT_INITIALIZED\n"
        "a short leading dimension: CUBLAS_STATUS_INVALID_VALUE\n"
        "no function: CUBLAS_STATUS_NOT_SUPPORTED\n"
        "types: CUBLAS_STATUS_NOT_SUPPORTED\n"
        "beyond an allocation: CUBLAS_STATUS_SUCCESS\n"
        "then: 700\n"
        "and: CUBLAS_STATUS_EXECUTION_FAILED\n");
  CHECK_THAT(outcome.err, ContainsSubstring("cublasSgelsBatched is not supported"));
  CHECK_THAT(outcome.err, ContainsSubstring("cublasSgemm_v2: "));
}

TEST_CASE("a program that is linked with another library of NVIDIA's is told so", "[cuda]") {
  const TemporaryDirectory directory;
  write_text(directory.path("empty.c"), "");
  write_text(directory.path("main.c"), "int main(void) { return 0; }\n");
  const std::string library = directory.path("libnvshmem.so"), program = directory.path("program");
  REQUIRE(run_program("cc", {"-shared", "-fPIC", "-Wl,-soname,libnvshmem_host.so.3", "-o", library, directory.path("empty.c")}).status ==
          0);
  REQUIRE(run_program("cc", {"-Wl,--no-as-needed", "-o", program, directory.path("main.c"), library}).status == 0);
  const Outcome outcome = run_command({"cuda", program});
  CHECK(outcome.status == 127);
  CHECK_THAT(outcome.err, ContainsSubstring("libnvshmem_host.so.3 (NVSHMEM)"));

  // NVIDIA's own is there, and the program ignores that its calls fail.
  std::filesystem::rename(library, directory.path("libnvshmem_host.so.3"));
  REQUIRE(run_program("cc", {"-Wl,--no-as-needed", "-Wl,-rpath," + directory.path("."), "-o", program, directory.path("main.c"),
                             directory.path("libnvshmem_host.so.3")})
              .status == 0);
  const Outcome found = run_command({"cuda", program});
  CHECK(found.status == 0);
  CHECK_THAT(found.err, ContainsSubstring("so their results may be wrong: libnvshmem_host.so.3 (NVSHMEM)"));
}

TEST_CASE("the tables of the libraries' functions are what the toolkit's headers say", "[cuda]") {
  if (!std::filesystem::exists("/usr/local/cuda/include/cublas_v2.h")) {
    WARN("skipped: no toolkit in /usr/local/cuda");
    return;
  }
  const Outcome outcome = run_program("python3", {source_path("emulator/warpmat/cuda/libraries/functions.py"), "--check"});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
}

TEST_CASE("NVML knows each GPU, and a library's work is that of the current one", "[cuda]") {
  const Outcome outcome = run_command({"cuda", "--gpus", "3", library_program(), "gpus"});
  INFO(outcome.err);
  CHECK(outcome.out ==
        "card 0: 64 bytes used\ncard 1: 4096 bytes used\ncard 2: 0 bytes used\n"
        "its memory: CUBLAS_STATUS_SUCCESS\nthen: 0\nbehind another's: 700\n");
  CHECK_THAT(outcome.err, ContainsSubstring("which is of GPU 0: GPU 1 has no access to it"));
}

}  // namespace
}  // namespace warpmat::cuda_libraries_test
