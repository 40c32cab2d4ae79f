#include <dlfcn.h>

#include "test.h"
#include "tools/command.h"

// The driver's interface: libcuda.so.1 as a client loads it that has no header of CUDA.

namespace {

struct Row {
  const char* symbol;
  bool supported;
};

constexpr Row rows[] = {
#define WARPMAT_CUDA_SUPPORTED(symbol, version, bytes) {#symbol, true},
#define WARPMAT_CUDA_UNSUPPORTED(symbol, version, bytes) {#symbol, false},
#include <warpmat/cuda/driver_functions.inc>
#undef WARPMAT_CUDA_SUPPORTED
#undef WARPMAT_CUDA_UNSUPPORTED
};

const std::string library = cuda_libraries_path() + "/libcuda.so.1";

/// The function of the newest version, by cuGetProcAddress as Triton and cuda-python ask for it.
template <typename... Parameters>
class Call {
 public:
  explicit Call(const char* name) {
    void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle != nullptr);
    using Find = int (*)(const char*, void**, int, std::uint64_t, int*);
    const auto find = reinterpret_cast<Find>(dlsym(handle, "cuGetProcAddress_v2"));
    REQUIRE(find != nullptr);
    int status = 9;
    REQUIRE(find(name, &function_, 12080, 0, &status) == 0);
    REQUIRE(status == 0);
  }
  int operator()(Parameters... parameters) const { return reinterpret_cast<int (*)(Parameters...)>(function_)(parameters...); }

 private:
  void* function_ = nullptr;
};

/// The primary context of device 0, current from here on.
void* current_context() {
  void* context = nullptr;
  Call<unsigned>("cuInit")(0);
  Call<void**, int>("cuDevicePrimaryCtxRetain")(&context, 0);
  Call<void*>("cuCtxSetCurrent")(context);
  return context;
}

const char* const text = R"(
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 factor = 3;
.visible .entry scale(.param .u64 numbers, .param .u32 count) {
  .reg .u64 %address; .reg .u32 %i, %n, %x, %f; .reg .pred %outside;
  ld.param.u64 %address, [numbers];
  ld.param.u32 %n, [count];
  mov.u32 %i, %tid.x;
  setp.ge.u32 %outside, %i, %n;
  @%outside ret;
  mad.wide.u32 %address, %i, 4, %address;
  ld.global.u32 %f, [factor];
  ld.global.u32 %x, [%address];
  mul.lo.u32 %x, %x, %f;
  st.global.u32 [%address], %x;
  ret;
}
)";

}  // namespace

TEST_CASE("the driver's library has every function of the table", "[cuda]") {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  for (const Row& row : rows) {
    INFO(row.symbol);
    CHECK(dlsym(handle, row.symbol) != nullptr);
  }
  for (const char* unsupported : {"cuGreenCtxCreate", "cuGLInit"}) {
    const auto function = reinterpret_cast<int (*)()>(dlsym(handle, unsupported));
    REQUIRE(function != nullptr);
    CHECK(function() == 801);
  }
}

TEST_CASE("the driver's calls need cuInit and a context", "[cuda]") {
  int device = 9;
  std::uint64_t address = 0;
  void* context = nullptr;
  CHECK(Call<int*, int>("cuDeviceGet")(&device, 0) == 3);  // CUDA_ERROR_NOT_INITIALIZED
  CHECK(Call<unsigned>("cuInit")(1) == 1);
  CHECK(Call<unsigned>("cuInit")(0) == 0);
  CHECK(Call<int*, int>("cuDeviceGet")(&device, 1) == 101);
  CHECK(Call<int*, int>("cuDeviceGet")(&device, 0) == 0);
  CHECK(Call<std::uint64_t*, std::size_t>("cuMemAlloc")(&address, 4) == 201);  // CUDA_ERROR_INVALID_CONTEXT
  CHECK(Call<void**, int>("cuDevicePrimaryCtxRetain")(&context, 0) == 0);
  CHECK(Call<void*>("cuCtxSetCurrent")(context) == 0);
  CHECK(Call<std::uint64_t*, std::size_t>("cuMemAlloc")(&address, 0) == 1);
  CHECK(Call<std::uint64_t*, std::size_t>("cuMemAlloc")(&address, 4) == 0);
  CHECK(Call<std::uint64_t>("cuMemFree")(address + 1) == 1);
  CHECK(Call<std::uint64_t>("cuMemFree")(address) == 0);
  const char* name = nullptr;
  CHECK(Call<int, const char**>("cuGetErrorName")(201, &name) == 0);
  CHECK(std::string(name) == "CUDA_ERROR_INVALID_CONTEXT");
  CHECK(Call<int, const char**>("cuGetErrorName")(12345, &name) == 1);
}

TEST_CASE("the driver loads PTX and launches its kernel", "[cuda]") {
  void *module = nullptr, *function = nullptr, *none = nullptr;
  std::uint64_t numbers = 0, factor = 0;
  std::size_t bytes = 0;
  unsigned count = 5;
  int value = 0;
  current_context();
  using Load = Call<void**, const void*>;
  CHECK(Load("cuModuleLoadData")(&module, "no PTX") == 218);
  CHECK(Load("cuModuleLoadData")(&module, "\177ELF is machine code") == 209);
  REQUIRE(Load("cuModuleLoadData")(&module, text) == 0);
  using GetFunction = Call<void**, void*, const char*>;
  CHECK(GetFunction("cuModuleGetFunction")(&function, module, "other") == 500);
  REQUIRE(GetFunction("cuModuleGetFunction")(&function, module, "scale") == 0);
  REQUIRE(Call<std::uint64_t*, std::size_t*, void*, const char*>("cuModuleGetGlobal")(&factor, &bytes, module, "factor") == 0);
  CHECK(bytes == 4);
  const std::vector<unsigned> start{1, 2, 3, 4, 5, 6};
  std::vector<unsigned> end(6);
  REQUIRE(Call<std::uint64_t*, std::size_t>("cuMemAlloc")(&numbers, 24) == 0);
  using ToDevice = Call<std::uint64_t, const void*, std::size_t>;
  REQUIRE(ToDevice("cuMemcpyHtoD")(numbers, start.data(), 24) == 0);
  CHECK(ToDevice("cuMemcpyHtoD")(numbers, start.data(), 28) == 1);
  const unsigned ten = 10;
  REQUIRE(ToDevice("cuMemcpyHtoD")(factor, &ten, 4) == 0);
  void* arguments[] = {&numbers, &count};
  using Launch = Call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**>;
  const Launch launch("cuLaunchKernel");
  CHECK(launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == 0);
  std::uint8_t packed[12];
  std::size_t packed_bytes = sizeof packed;
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&numbers), 8, packed);
  count = 2;
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&count), 4, packed + 8);
  void* extra[] = {reinterpret_cast<void*>(1), packed, reinterpret_cast<void*>(2), &packed_bytes, nullptr};
  CHECK(launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == 0);
  packed_bytes = 8;
  CHECK(launch(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == 1);
  CHECK(launch(function, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr) == 1);
  CHECK(launch(&none, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == 400);
  REQUIRE(Call<void*, std::uint64_t, std::size_t>("cuMemcpyDtoH")(end.data(), numbers, 24) == 0);
  CHECK(end == std::vector<unsigned>{100, 200, 30, 40, 50, 6});
  CHECK(Call<int*, int, void*>("cuFuncGetAttribute")(&value, 0, function) == 0);
  CHECK(value == 1024);
  CHECK(Call<std::uint64_t, unsigned, std::size_t>("cuMemsetD32")(numbers, 7, 6) == 0);
  CHECK(Call<std::uint64_t, unsigned, std::size_t>("cuMemsetD32")(numbers, 7, 7) == 1);
  CHECK(Call<void*>("cuModuleUnload")(module) == 0);
  CHECK(Call<void*>("cuModuleUnload")(module) == 400);
}

namespace {

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  void* function;
  unsigned grid[3], block[3], shared_bytes;
  void** arguments;
  void** extra;
  void *kernel, *context;
};

struct FillNode {  // CUDA_MEMSET_NODE_PARAMS
  std::uint64_t to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;
};

struct CopyEnd {
  std::size_t x = 0, y = 0, z = 0, level = 0;
  int memory = 0;
  void* host = nullptr;
  std::uint64_t device = 0;
  void *array = nullptr, *reserved = nullptr;
  std::size_t pitch = 0, height = 0;
};

struct CopyNode {  // CUDA_MEMCPY3D
  CopyEnd from, to;
  std::size_t width, height, depth;
};

}  // namespace

TEST_CASE("graphs of the driver have nodes of kernels, fills and copies", "[cuda]") {
  void *module = nullptr, *function = nullptr, *graph = nullptr, *executable = nullptr;
  void *fill = nullptr, *kernel = nullptr, *copy = nullptr;
  std::uint64_t numbers = 0;
  unsigned count = 5;
  std::vector<unsigned> end(6);
  void* context = current_context();
  REQUIRE(Call<void**, const void*>("cuModuleLoadData")(&module, text) == 0);
  REQUIRE(Call<void**, void*, const char*>("cuModuleGetFunction")(&function, module, "scale") == 0);
  REQUIRE(Call<std::uint64_t*, std::size_t>("cuMemAlloc")(&numbers, 24) == 0);
  void* arguments[] = {&numbers, &count};
  KernelNode launch{nullptr, {1, 1, 1}, {32, 1, 1}, 0, arguments, nullptr, function, nullptr};  // a kernel where there is no function
  FillNode twos{numbers, 0, 2, 4, 6, 1};
  CopyNode back{{.memory = 2, .device = numbers, .pitch = 24}, {.memory = 1, .host = end.data(), .pitch = 24}, 24, 1, 1};
  REQUIRE(Call<void**, unsigned>("cuGraphCreate")(&graph, 0) == 0);
  using AddFill = Call<void**, void*, void**, std::size_t, const FillNode*, void*>;
  REQUIRE(AddFill("cuGraphAddMemsetNode")(&fill, graph, nullptr, 0, &twos, context) == 0);
  using AddKernel = Call<void**, void*, void**, std::size_t, const KernelNode*>;
  REQUIRE(AddKernel("cuGraphAddKernelNode")(&kernel, graph, &fill, 1, &launch) == 0);
  CHECK(AddKernel("cuGraphAddKernelNode")(&copy, graph, &fill, 1, nullptr) == 1);
  using AddCopy = Call<void**, void*, void**, std::size_t, const CopyNode*, void*>;
  REQUIRE(AddCopy("cuGraphAddMemcpyNode")(&copy, graph, &kernel, 1, &back, context) == 0);
  REQUIRE(Call<void**, void*, unsigned long long>("cuGraphInstantiateWithFlags")(&executable, graph, 0) == 0);
  const auto result = [&] {
    CHECK(Call<void*, void*>("cuGraphLaunch")(executable, nullptr) == 0);
    CHECK(Call<>("cuCtxSynchronize")() == 0);
    return end;
  };
  CHECK(result() == std::vector<unsigned>{6, 6, 6, 6, 6, 2});
  KernelNode found{};
  CHECK(Call<void*, KernelNode*>("cuGraphKernelNodeGetParams")(kernel, &found) == 0);
  CHECK((found.function == function && found.block[0] == 32 && found.kernel == nullptr));
  twos.value = 4;
  count = 2;
  CHECK(Call<void*, void*, const FillNode*, void*>("cuGraphExecMemsetNodeSetParams")(executable, fill, &twos, context) == 0);
  CHECK(Call<void*, void*, const KernelNode*>("cuGraphExecKernelNodeSetParams")(executable, kernel, &launch) == 0);
  CHECK(result() == std::vector<unsigned>{12, 12, 4, 4, 4, 4});
  CHECK(Call<void*>("cuGraphExecDestroy")(executable) == 0);
  CHECK(Call<void*>("cuGraphDestroy")(graph) == 0);
  Call<std::uint64_t>("cuMemFree")(numbers);
}

TEST_CASE("the driver keeps the size of malloc()'s heap behind the launch of a module that calls malloc()", "[cuda]") {
  const char* const with_malloc = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 bytes);
.visible .entry uses_heap() {
  .reg .u64 %held;
  {
    .param .b64 bytes; .param .b64 result;
    st.param.b64 [bytes], 8;
    call.uni (result), malloc, (bytes);
    ld.param.b64 %held, [result];
  }
  ret;
}
.visible .entry uses_none() { ret; }
)";
  constexpr int heap_bytes = 2;
  void *module = nullptr, *other = nullptr, *function = nullptr;
  std::size_t bytes = 0;
  current_context();
  const Call<int, std::size_t> set_limit("cuCtxSetLimit");
  const auto launch_of = [&](void* of, const char* kernel) {
    REQUIRE(Call<void**, void*, const char*>("cuModuleGetFunction")(&function, of, kernel) == 0);
    using Launch = Call<void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**>;
    return Launch("cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  };
  REQUIRE(Call<void**, const void*>("cuModuleLoadData")(&module, with_malloc) == 0);
  REQUIRE(Call<void**, const void*>("cuModuleLoadData")(
              &other, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }") == 0);
  CHECK(launch_of(other, "k") == 0);
  CHECK(set_limit(heap_bytes, 16 << 20) == 0);
  CHECK(launch_of(module, "uses_none") == 0);
  CHECK(set_limit(heap_bytes, 32 << 20) == 1);
  CHECK(Call<std::size_t*, int>("cuCtxGetLimit")(&bytes, heap_bytes) == 0);
  CHECK(bytes == 16 << 20);
  CHECK(launch_of(module, "uses_heap") == 0);
}

TEST_CASE("the driver loads a module from a file", "[cuda]") {
  void *module = nullptr, *function = nullptr;
  current_context();
  const warpmat::TemporaryDirectory folder;
  const Call<void**, const char*> load("cuModuleLoad");
  const auto loaded = [&](const std::string& contents) {
    const std::string file = folder.path("module");
    warpmat::write_text(file, contents);
    return load(&module, file.c_str());
  };
  REQUIRE(loaded(text) == 0);
  CHECK(Call<void**, void*, const char*>("cuModuleGetFunction")(&function, module, "scale") == 0);
  CHECK(Call<void*>("cuModuleUnload")(module) == 0);
  CHECK(load(&module, folder.path("none").c_str()) == 301);
  CHECK(load(&module, nullptr) == 1);
  CHECK(loaded("") == 200);
  CHECK(loaded("no PTX") == 218);
  CHECK(loaded("\177ELF is machine code") == 209);
  const std::string fatbinary("\x50\xed\x55\xba\x01\x00\x10\x00\xff\x00\x00\x00\x00\x00\x00\x00", 16);
  CHECK(loaded(fatbinary) == 200);  // its header says 255 bytes more
  CHECK(loaded(fatbinary.substr(0, 12)) == 200);
  using FromFile = Call<void**, const char*, void*, void**, unsigned, void*, void**, unsigned>;
  REQUIRE(loaded(text) == 0);
  void* library_of_file = nullptr;
  CHECK(FromFile("cuLibraryLoadFromFile")(&library_of_file, folder.path("module").c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) == 0);
  CHECK((Call<>("cuProfilerStart")() == 0 && Call<>("cuProfilerStop")() == 0));
}

TEST_CASE("the driver says what its handles are", "[cuda]") {
  void *module = nullptr, *function = nullptr, *found = nullptr, *stream = nullptr;
  const char* name = nullptr;
  std::size_t offset = 9, bytes = 9;
  unsigned count = 0, flags = 9;
  unsigned long long id = 0, other_id = 0;
  int value = 9;
  void* context = current_context();
  REQUIRE(Call<void**, const void*>("cuModuleLoadData")(&module, text) == 0);
  REQUIRE(Call<void**, void*, const char*>("cuModuleGetFunction")(&function, module, "scale") == 0);

  for (const char* const get_name : {"cuFuncGetName", "cuKernelGetName"}) {
    CHECK(Call<const char**, void*>(get_name)(&name, function) == 0);
    CHECK(std::string(name) == "scale");
    CHECK(Call<const char**, void*>(get_name)(&name, &context) == 400);
  }
  using ParamInfo = Call<void*, std::size_t, std::size_t*, std::size_t*>;
  for (const char* const get_info : {"cuFuncGetParamInfo", "cuKernelGetParamInfo"}) {
    CHECK(ParamInfo(get_info)(function, 1, &offset, &bytes) == 0);
    CHECK((offset == 8 && bytes == 4));
    CHECK(ParamInfo(get_info)(function, 2, &offset, &bytes) == 1);
  }
  for (const char* const get_module : {"cuFuncGetModule", "cuKernelGetLibrary"}) {
    CHECK(Call<void**, void*>(get_module)(&found, function) == 0);
    CHECK(found == module);
  }
  for (const char* const get_count : {"cuModuleGetFunctionCount", "cuLibraryGetKernelCount"}) {
    CHECK(Call<unsigned*, void*>(get_count)(&count, module) == 0);
    CHECK(count == 1);
  }
  for (const char* const enumerate : {"cuModuleEnumerateFunctions", "cuLibraryEnumerateKernels"}) {
    void* functions[2] = {};
    CHECK(Call<void**, unsigned, void*>(enumerate)(functions, 2, module) == 0);
    CHECK((functions[0] == function && functions[1] == nullptr));
  }
  CHECK(Call<int*, int, void*, int>("cuKernelGetAttribute")(&value, 0, function, 0) == 0);
  CHECK(value == 1024);
  CHECK(Call<int*, int, void*, int>("cuKernelGetAttribute")(&value, 0, function, 1) == 101);
  CHECK(Call<int*, void*>("cuFuncIsLoaded")(&value, function) == 0);
  CHECK(value == 1);

  REQUIRE(Call<void**, unsigned>("cuStreamCreate")(&stream, 0) == 0);
  for (void* const each : {stream, static_cast<void*>(nullptr)}) {
    CHECK(Call<void*, void**, void**>("cuStreamGetCtx")(each, &found, nullptr) == 0);
    CHECK(found == context);
    CHECK(Call<void*, int*>("cuStreamGetDevice")(each, &value) == 0);
    CHECK(value == 0);
  }
  CHECK(Call<void*, void**, void**>("cuStreamGetCtx")(&context, &found, nullptr) == 400);
  CHECK(Call<void*, unsigned long long*>("cuStreamGetId")(stream, &id) == 0);
  CHECK(Call<void*, unsigned long long*>("cuStreamGetId")(nullptr, &other_id) == 0);
  CHECK(id != other_id);
  CHECK(Call<void*, unsigned long long*>("cuCtxGetId")(nullptr, &id) == 0);
  CHECK(Call<void*, unsigned long long*>("cuCtxGetId")(context, &other_id) == 0);
  CHECK(id == other_id);
  CHECK(Call<void*, unsigned long long*>("cuCtxGetId")(&context, &id) == 201);
  CHECK(Call<unsigned*>("cuCtxGetFlags")(&flags) == 0);
  CHECK(Call<void*>("cuModuleUnload")(module) == 0);
}

TEST_CASE("the driver says what lies at an address, and of which pool it is", "[cuda]") {
  void* pool = nullptr;
  std::uint64_t address = 0, pooled = 0;
  void* context = current_context();
  REQUIRE(Call<std::uint64_t*, std::size_t>("cuMemAlloc")(&address, 64) == 0);
  REQUIRE(Call<void**, int>("cuDeviceGetDefaultMemPool")(&pool, 0) == 0);
  REQUIRE(Call<std::uint64_t*, std::size_t, void*, void*>("cuMemAllocFromPoolAsync")(&pooled, 64, pool, nullptr) == 0);
  int attributes[] = {1, 2, 3, 8, 9, 11, 12, 17};  // context, kind, address, managed, device, start, bytes, pool
  std::uint64_t answers[std::size(attributes)];
  void* to[std::size(attributes)];
  for (std::size_t i = 0; i < std::size(to); ++i) to[i] = &answers[i];
  using Ask = Call<unsigned, int*, void**, std::uint64_t>;
  const auto ask = [&](std::uint64_t of) {
    std::ranges::fill(answers, 0);
    CHECK(Ask("cuPointerGetAttributes")(std::size(attributes), attributes, to, of) == 0);
    return std::vector<std::uint64_t>(std::begin(answers), std::end(answers));
  };
  const auto number = [](const void* pointer) { return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer)); };
  CHECK(ask(address + 4) == std::vector<std::uint64_t>{number(context), 2, address + 4, 0, 0, address, 64, 0});
  CHECK(ask(pooled) == std::vector<std::uint64_t>{number(context), 2, pooled, 0, 0, pooled, 64, number(pool)});
  CHECK(ask(number(&context)) == std::vector<std::uint64_t>(std::size(attributes)));
  attributes[0] = 999;
  CHECK(Ask("cuPointerGetAttributes")(1, attributes, to, address) == 801);
  CHECK(Call<std::uint64_t>("cuMemFree")(address) == 0);
  CHECK(Call<std::uint64_t>("cuMemFree")(pooled) == 0);
}

TEST_CASE("the driver makes, asks and launches graphs", "[cuda]") {
  void *graph = nullptr, *executable = nullptr, *first = nullptr, *second = nullptr;
  std::size_t count = 2;
  int type = 9;
  current_context();
  REQUIRE(Call<void**, unsigned>("cuGraphCreate")(&graph, 0) == 0);
  using AddEmpty = Call<void**, void*, void* const*, std::size_t>;
  REQUIRE(AddEmpty("cuGraphAddEmptyNode")(&first, graph, nullptr, 0) == 0);
  REQUIRE(AddEmpty("cuGraphAddEmptyNode")(&second, graph, &first, 1) == 0);
  void* nodes[2] = {};
  CHECK(Call<void*, void**, std::size_t*>("cuGraphGetNodes")(graph, nodes, &count) == 0);
  CHECK((count == 2 && nodes[0] == first && nodes[1] == second));
  CHECK(Call<void*, int*>("cuGraphNodeGetType")(second, &type) == 0);
  CHECK(type == 5);
  CHECK(Call<void**, void*, unsigned long long>("cuGraphInstantiateWithFlags")(&executable, graph, 0) == 0);
  CHECK(Call<void*, void*>("cuGraphLaunch")(executable, nullptr) == 0);
  CHECK(Call<void*>("cuGraphExecDestroy")(executable) == 0);
  CHECK(Call<void*, void*>("cuGraphLaunch")(executable, nullptr) == 1);
  CHECK(Call<void*>("cuGraphDestroy")(graph) == 0);
  CHECK(Call<void*, int*>("cuGraphNodeGetType")(second, &type) == 1);
}

TEST_CASE("cuGetProcAddress gives the version that was asked for", "[cuda]") {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(handle != nullptr);
  const auto find = reinterpret_cast<int (*)(const char*, void**, int, std::uint64_t, int*)>(dlsym(handle, "cuGetProcAddress_v2"));
  void* const core = dlopen((cuda_libraries_path() + "/libwarpmat_cuda.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(core != nullptr);
  const auto found = [&](const char* name, int version, std::uint64_t flags, const char* symbol) {
    void* function = nullptr;
    int status = 9;
    find(name, &function, version, flags, &status);
    return status == 0 && function == dlsym(core, symbol);
  };
  CHECK(found("cuMemAlloc", 12000, 0, "cuMemAlloc_v2"));
  CHECK(found("cuMemAlloc", 3000, 0, "cuMemAlloc"));
  CHECK(found("cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds"));
  CHECK(found("cuCtxCreate", 11000, 0, "cuCtxCreate_v2"));
  void* function = nullptr;
  int status = 9;
  CHECK(find("cuNoSuchThing", &function, 12000, 0, &status) == 500);
  CHECK(status == 1);
  CHECK(find("cuTensorMapEncodeTiled", &function, 11000, 0, &status) == 500);
  CHECK(status == 2);
}

namespace {

/// Of the functions for OpenGL, EGL and VDPAU, which NVIDIA's driver exports and the toolkit's stub does not.
bool is_of_graphics(const std::string& name) {
  constexpr std::array interfaces{
      "cuGL", "cuEGL", "cuVDPAU", "cuGraphicsGL", "cuGraphicsEGL", "cuGraphicsVDPAU", "cuGraphicsResourceGetMappedEgl"};
  return std::ranges::any_of(interfaces, [&](const char* prefix) { return name.starts_with(prefix); });
}

}  // namespace

// On some machines the driver's library lies in the stub's place: it has the functions of graphics and those of the debugger, cudbg, too.
TEST_CASE("the driver's table has the names of the toolkit's stub, and those of graphics", "[cuda][slow]") {
  std::FILE* const nm =
      popen("nm -D --defined-only \"$(dirname \"$(readlink -f \"$(command -v nvcc)\")\")/../lib64/stubs/libcuda.so\" 2>/dev/null", "r");
  REQUIRE(nm != nullptr);
  std::set<std::string> theirs, ours;
  char line[512];
  while (std::fgets(line, sizeof line, nm) != nullptr) {
    char kind = 0, name[400] = {};
    if (std::sscanf(line, "%*s %c %399s", &kind, name) == 2 && kind == 'T') theirs.insert(name);
  }
  pclose(nm);
  if (theirs.empty()) {
    WARN("skipped: no toolkit with nvcc in PATH");
    return;
  }
  std::erase_if(theirs, [](const std::string& name) { return name.starts_with("cudbg"); });
  for (const Row& row : rows) ours.insert(row.symbol);
  CHECK(std::ranges::count_if(ours, is_of_graphics) == 34);
  if (std::ranges::none_of(theirs, is_of_graphics)) std::erase_if(ours, is_of_graphics);
  CHECK(ours == theirs);
}

TEST_CASE("the driver's library is unloaded after a launch on threads, also on one core", "[cuda]") {
  const std::string program = std::filesystem::path(cuda_program_path()).replace_filename("warpmat_cuda_unload_program");
  for (const char* const jobs : {"4", "0"})
    for (const bool one_core : {false, true}) {
      INFO(jobs << " jobs, " << (one_core ? "one core" : "all cores"));
      std::vector<std::string> arguments{library};
      if (one_core) arguments.push_back("one");
      const auto outcome = warpmat::run_program(program, arguments, {std::string("WARPMAT_CUDA_JOBS=") + jobs});
      CHECK(outcome.status == 0);
      CHECK(outcome.out == "ended\n");
      CHECK(outcome.err == "");
    }
}
