#include <dlfcn.h>

#include <warpmat/cuda/errors.h>

#include "test.h"
#include "tools/command.h"

namespace {

struct Row {
  const char* name;
  bool supported;
};

constexpr Row rows[] = {
#define WARPMAT_CUDA_SUPPORTED(name) {#name, true},
#define WARPMAT_CUDA_UNSUPPORTED(name) {#name, false},
#include <warpmat/cuda/runtime_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
};

constexpr Row driver_rows[] = {
#define WARPMAT_CUDA_SUPPORTED(name, ...) {#name, true},
#define WARPMAT_CUDA_UNSUPPORTED(name, ...) {#name, false},
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
};

const std::string library = cuda_libraries_path() + "/libcudart.so.13";

}  // namespace

TEST_CASE("the library exports every function of the table, with NVIDIA's version", "[cuda]") {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  for (const Row& row : rows) {
    INFO(row.name);
    CHECK(dlvsym(handle, row.name, "libcudart.so.13") != nullptr);
  }
}

TEST_CASE("a function for --default-stream per-thread is supported where the function itself is", "[cuda]") {
  const auto check = [](std::span<const Row> all) {
    std::map<std::string, bool> supported;
    for (const Row& row : all) supported[row.name] = row.supported;
    int count = 0;
    for (const auto& [name, is_supported] : supported) {
      if (!name.ends_with("_ptsz") && !name.ends_with("_ptds")) continue;
      INFO(name);
      ++count;
      CHECK(is_supported == supported.at(name.substr(0, name.size() - 5)));
    }
    return count;
  };
  CHECK(check(rows) > 50);
  CHECK(check(driver_rows) > 50);
}

TEST_CASE("a function that is not supported says so by its code", "[cuda]") {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  int count = 0;
  for (const Row& row : rows) {
    if (row.supported || ++count > 20) continue;
    INFO(row.name);
    void* const function = dlsym(handle, row.name);
    REQUIRE(function != nullptr);
    CHECK(reinterpret_cast<int (*)()>(function)() == 801);
  }
}

TEST_CASE("a graph is printed as dot reads it", "[cuda]") {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  const auto create = reinterpret_cast<int (*)(void**, unsigned)>(dlsym(handle, "cudaGraphCreate"));
  const auto add = reinterpret_cast<int (*)(void**, void*, void* const*, std::size_t)>(dlsym(handle, "cudaGraphAddEmptyNode"));
  const auto print = reinterpret_cast<int (*)(void*, const char*, unsigned)>(dlsym(handle, "cudaGraphDebugDotPrint"));
  const warpmat::TemporaryDirectory folder;
  void *graph = nullptr, *first = nullptr, *second = nullptr;
  REQUIRE(create(&graph, 0) == 0);
  REQUIRE(add(&first, graph, nullptr, 0) == 0);
  REQUIRE(add(&second, graph, &first, 1) == 0);
  CHECK(print(graph, folder.path("graph.dot").c_str(), 0) == 0);
  CHECK(warpmat::read_text(folder.path("graph.dot")) ==
        "digraph dot {\n  node_0 [label=\"0: empty\"];\n  node_1 [label=\"1: empty\"];\n  node_0 -> node_1;\n}\n");
  CHECK(print(graph, folder.path("none/graph.dot").c_str(), 0) == 304);  // cudaErrorOperatingSystem
  CHECK(print(graph, nullptr, 0) == 1);
  CHECK(print(nullptr, folder.path("graph.dot").c_str(), 0) == 1);
}

TEST_CASE("the table has the names of the toolkit's library", "[cuda][slow]") {
  std::FILE* const nm =
      popen("nm -D --defined-only \"$(dirname \"$(readlink -f \"$(command -v nvcc)\")\")/../lib64/libcudart.so.13\" 2>/dev/null", "r");
  REQUIRE(nm != nullptr);
  std::set<std::string> theirs, ours;
  char line[512];
  while (std::fgets(line, sizeof line, nm) != nullptr) {
    char kind = 0, name[400] = {};
    if (std::sscanf(line, "%*s %c %399[^@\n]", &kind, name) == 2 && kind == 'T') theirs.insert(name);
  }
  pclose(nm);
  if (theirs.empty()) {
    WARN("skipped: no toolkit 13 with nvcc in PATH");
    return;
  }
  for (const Row& row : rows) ours.insert(row.name);
  CHECK(ours == theirs);
}

TEST_CASE("errors have the runtime's names and codes", "[cuda]") {
  using namespace warpmat::cuda;
  CHECK(std::string(error_name(0)) == "cudaSuccess");
  CHECK(std::string(error_name(700)) == "cudaErrorIllegalAddress");
  CHECK(std::string(error_text(0)) == "no error");
  CHECK(std::string(error_text(700)) == "illegal address");
  CHECK(std::string(error_text(214)) == "ecc uncorrectable");
  CHECK(std::string(error_name(123456)) == "unrecognized error code");
  CHECK(error_text(700) == error_text(700));  // programs keep the pointer
}
