// A program as CUDA 12's nvcc makes it: it calls libcudart.so.12 by the interface of CUDA 12, which is declared here from its headers, and
// launches a kernel by cudaLaunchKernel. It prints what it found.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Dim3 {
  unsigned x, y, z;
};

struct Location {
  int type, id;
};

struct PointerAttributes {
  int type, device;
  void* on_device;
  void* on_host;
};

struct ResourceDescription {  // of linear memory
  int type;
  void* memory;
  int bits[4], kind;
  std::size_t bytes, unused[2];
};

struct ResourceView {
  int format;
  std::size_t width, height, depth;
  unsigned first_level, last_level, first_layer, last_layer;
};

/// A struct and what lies behind it, which a call leaves alone.
template <typename Struct>
struct Followed {
  Struct value{};
  unsigned char behind[128];
  Followed() { std::memset(behind, 0xee, sizeof behind); }
  bool is_whole() const {
    for (const unsigned char each : behind)
      if (each != 0xee) return false;
    return true;
  }
};

struct KernelNode {
  void* function;
  Dim3 grid, block;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

}  // namespace

extern "C" {
using Stream = void*;
using Graph = void*;
using Node = void*;

void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device_host, const char* name, int limit, void*, void*, void*, void*,
                            int*);

int cudaRuntimeGetVersion(int* version);
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaMalloc(void** pointer, std::size_t bytes);
int cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
int cudaMemcpy(void* to, const void* from, std::size_t bytes, int kind);
int cudaMemPrefetchAsync(const void* pointer, std::size_t bytes, int device, Stream stream);
int cudaMemPrefetchAsync_v2(const void* pointer, std::size_t bytes, Location location, unsigned flags, Stream stream);
int cudaMemAdvise(const void* pointer, std::size_t bytes, int advice, int device);
int cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments, std::size_t shared_bytes, Stream stream);
int cudaThreadSynchronize();
int cudaDeviceSynchronize();
int cudaStreamCreate(Stream* stream);
int cudaStreamBeginCapture(Stream stream, int mode);
int cudaStreamGetCaptureInfo_v2(Stream stream, int* status, unsigned long long* id, Graph* graph, const Node** after, std::size_t* count);
int cudaStreamEndCapture(Stream stream, Graph* graph);
int cudaGraphAddKernelNode(Node* node, Graph graph, const Node* after, std::size_t count, const KernelNode* parameters);
int cudaGraphGetEdges(Graph graph, Node* from, Node* to, std::size_t* count);
int cudaGraphAddDependencies(Graph graph, const Node* from, const Node* to, std::size_t count);
int cudaGraphNodeGetDependencies(Node node, Node* nodes, std::size_t* count);
int cudaGraphInstantiate(void** executable, Graph graph, unsigned long long flags);
int cudaGraphLaunch(void* executable, Stream stream);
int cudaMemPoolExportPointer(void* handle, void* pointer);
int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer);
int cudaCreateTextureObject(unsigned long long* handle, const ResourceDescription* resource, const void* how, const ResourceView* view);
int cudaGetTextureObjectResourceDesc(ResourceDescription* resource, unsigned long long handle);
int cudaGetTextureObjectResourceViewDesc(ResourceView* view, unsigned long long handle);
int cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long flags, int* status);
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* status);
}

namespace {

constexpr char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 numbers) {
  .reg .u64 %address; .reg .u32 %i, %x;
  ld.param.u64 %address, [numbers];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %address, %i, 4, %address;
  ld.global.u32 %x, [%address];
  shl.b32 %x, %x, 1;
  st.global.u32 [%address], %x;
  ret;
}
)";

void check(int error, const char* what) {
  if (error == 0) return;
  std::printf("%s: error %d\n", what, error);
  std::exit(1);
}
#define CHECK(call) check(call, #call)

template <typename T>
void put(std::vector<std::uint64_t>& words, std::size_t at, T value) {
  std::memcpy(reinterpret_cast<char*>(words.data()) + at, &value, sizeof value);
}

/// A fatbinary with the PTX, not compressed.
std::vector<std::uint64_t> fatbinary() {
  constexpr std::size_t head = 16, entry = 64, padded = (sizeof ptx + 7) / 8 * 8;
  std::vector<std::uint64_t> words((head + entry + padded) / 8);
  put(words, 0, 0xba55ed50u);
  put(words, 4, std::uint16_t{1});
  put(words, 6, std::uint16_t{head});
  put(words, 8, std::uint64_t{entry + padded});
  put(words, head, std::uint16_t{1});  // PTX
  put(words, head + 2, std::uint16_t{0x101});
  put(words, head + 4, std::uint32_t{entry});
  put(words, head + 8, std::uint64_t{padded});
  put(words, head + 28, std::uint32_t{80});
  put(words, head + 40, std::uint64_t{0x11});
  std::memcpy(reinterpret_cast<char*>(words.data()) + head + entry, ptx, sizeof ptx);
  return words;
}

void twice() {}

void print_properties() {
  std::vector<unsigned char> properties(1032 + 8, 0xee);
  CHECK(cudaGetDeviceProperties_v2(properties.data(), 0));
  const auto number = [&](std::size_t at) {
    int value = 0;
    std::memcpy(&value, properties.data() + at, sizeof value);
    return value;
  };
  // offsets of cudaDeviceProp in driver_types.h of CUDA 12
  std::printf(
      "%s, %d.%d, %d threads a block, clock %s, %d processors, 1D texture %d, bus %d bits, L2 %d bytes, %d to set aside, "
      "cluster %d, behind it %x\n",
      reinterpret_cast<const char*>(properties.data()), number(360), number(364), number(320), number(348) > 0 ? "known" : "0", number(388),
      number(408), number(612), number(616), number(620), number(772), properties[1032]);
}

void print_structs(void* managed) {
  Followed<PointerAttributes> attributes;
  CHECK(cudaPointerGetAttributes(&attributes.value, managed));
  const bool is_there = attributes.value.type == 3 && attributes.value.on_device == managed && attributes.value.on_host == managed;
  std::printf("attributes %s, behind them %s\n", is_there ? "right" : "wrong", attributes.is_whole() ? "right" : "wrong");
  std::printf("attributes without a place: error %d\n", cudaPointerGetAttributes(nullptr, managed));

  Followed<ResourceDescription> resource, again;
  resource.value = {2, managed, {32, 0, 0, 0}, 1, 16, {}};
  Followed<ResourceView> view, same;
  for (unsigned char* const behind : {resource.behind, view.behind}) std::memset(behind, 0x11, sizeof resource.behind);  // not read
  const int how[18] = {};  // cudaTextureDesc: all zero
  unsigned long long texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource.value, how, &view.value));
  CHECK(cudaGetTextureObjectResourceDesc(&again.value, texture));
  CHECK(cudaGetTextureObjectResourceViewDesc(&same.value, texture));
  const bool is_same = again.value.type == 2 && again.value.memory == managed && again.value.bytes == 16 && same.value.width == 0;
  std::printf("texture %s, behind it %s\n", is_same ? "right" : "wrong", again.is_whole() && same.is_whole() ? "right" : "wrong");
}

}  // namespace

int main() {
  static std::vector<std::uint64_t> code = fatbinary();
  static struct {
    int magic, version;
    const void* data;
    void* extra;
  } wrapper{0x466243b1, 1, code.data(), nullptr};
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&twice), nullptr, "twice", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);

  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  std::printf("version %d\n", version / 1000);
  print_properties();

  std::uint32_t* numbers = nullptr;
  constexpr std::size_t bytes = 4 * sizeof *numbers;
  CHECK(cudaMallocManaged(reinterpret_cast<void**>(&numbers), bytes, 1));
  for (std::uint32_t i = 0; i < 4; ++i) numbers[i] = i + 1;
  print_structs(numbers);
  CHECK(cudaMemAdvise(numbers, bytes, 3, 0));
  CHECK(cudaMemPrefetchAsync(numbers, bytes, 0, nullptr));
  CHECK(cudaMemPrefetchAsync_v2(numbers, bytes, {1, 0}, 0, nullptr));
  void* arguments[] = {&numbers};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&twice), {1, 1, 1}, {4, 1, 1}, arguments, 0, nullptr));
  CHECK(cudaThreadSynchronize());
  CHECK(cudaMemPrefetchAsync(numbers, bytes, -1, nullptr));

  Stream stream = nullptr;
  Graph graph = nullptr, captured = nullptr;
  unsigned long long id = 0;
  int status = 0;
  std::size_t count = 0;
  const Node* after = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, 0));
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(&twice), {1, 1, 1}, {4, 1, 1}, arguments, 0, stream));
  CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &captured, &after, &count));
  std::printf("capture: status %d, %zu nodes to wait for\n", status, count);
  const Node first = *after;
  CHECK(cudaStreamEndCapture(stream, &graph));
  Node second = nullptr;
  const KernelNode again{reinterpret_cast<void*>(&twice), {1, 1, 1}, {4, 1, 1}, 0, arguments, nullptr};
  CHECK(cudaGraphAddKernelNode(&second, graph, nullptr, 0, &again));
  CHECK(cudaGraphAddDependencies(graph, &first, &second, 1));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &count));
  Node before = nullptr;
  std::size_t befores = 1;
  CHECK(cudaGraphNodeGetDependencies(second, &before, &befores));
  std::printf("graph: %zu edges, %s\n", count, before == first && befores == 1 ? "from the first node" : "wrong");
  void* executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaDeviceSynchronize());
  std::printf("numbers:");
  for (int i = 0; i < 4; ++i) std::printf(" %u", numbers[i]);
  void* synchronise = nullptr;
  CHECK(cudaGetDriverEntryPoint("cuCtxSynchronize", &synchronise, 0, nullptr));  // CUDA 13 has a second version, which has a parameter
  std::printf("\ncuCtxSynchronize: %d", reinterpret_cast<int (*)()>(synchronise)());
  CHECK(cudaGetDriverEntryPoint_ptsz("cuCtxSynchronize", &synchronise, 0, nullptr));
  char ipc[64];
  std::printf("\nIPC: error %d\n", cudaMemPoolExportPointer(ipc, numbers));
}
