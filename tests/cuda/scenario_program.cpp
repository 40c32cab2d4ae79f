// Programs that a GPU's runtime would be hurt by, each in a process of its own: objects that are destroyed while others hold them, sizes
// that wrap, memory that the program takes back, callbacks, threads, numbers that are none. Each says what its calls returned; this prints
// what is not as expected, and how many there were of each kind.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <warpmat/cuda/types.h>

#include "by_name.h"
#include "cuda/host_code.h"

namespace {

using by_name::Argument;
using by_name::library;
using by_name::Word;
using by_name::word_of;
using namespace warpmat::cuda;

constexpr Word most = ~Word{0}, half = Word{1} << 63;

/// What a call returned: "Success", "InvalidValue", and a space. The driver's numbers have the runtime's names.
std::string call(const char* name, const std::vector<Argument>& arguments) {
  const int code = by_name::call(name, arguments);
  const auto name_of = reinterpret_cast<const char* (*)(int)>(dlsym(library(), "cudaGetErrorName"));
  std::string_view text = name_of(code);
  text.remove_prefix(text.starts_with("cudaError") ? 9 : text.starts_with("cuda") ? 4 : 0);
  return std::string(text) + " ";
}

/// Texts in the order in which they were made, each call before the next.
struct Said {
  std::string text;
  Said() = default;
  Said(std::string first) : text(std::move(first)) {}
  Said(const char* first) : text(first) {}
  operator std::string() const { return text; }
};

Said operator<<(Said said, const std::string& more) {
  said.text += more;
  return said;
}

Said& operator+=(Said& said, const Said& more) {
  said.text += more.text;
  return said;
}

Argument dim(unsigned x, unsigned y, unsigned z) {
  return Argument(std::vector<Word>{Word{y} << 32 | x, z});
}

const char* const module_text = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 status) __cudaCDP2MemcpyAsync_ptsz(.param .b64 to, .param .b64 from, .param .b64 bytes, .param .b32 kind, .param .b64 stream);
.extern .func (.param .b32 status) __cudaCDP2MemsetAsync_ptsz(.param .b64 to, .param .b32 value, .param .b64 bytes, .param .b64 stream);
.global .align 4 .u32 total = 5;
.visible .entry add(.param .u64 to, .param .u32 value) {
  .reg .u64 %address; .reg .u32 %value, %old;
  ld.param.u64 %address, [to];
  ld.param.u32 %value, [value];
  ld.global.u32 %old, [%address];
  add.u32 %old, %old, %value;
  st.global.u32 [%address], %old;
  ret;
}
.visible .entry read(.param .u64 from, .param .u64 to) {
  .reg .u64 %address; .reg .u32 %value;
  ld.param.u64 %address, [from];
  ld.global.u32 %value, [%address];
  ld.param.u64 %address, [to];
  st.global.u32 [%address], %value;
  ret;
}
.visible .entry copies(.param .u64 to, .param .u64 from) {
  .reg .u64 %to, %from;
  ld.param.u64 %to, [to];
  ld.param.u64 %from, [from];
  { .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; .param .b64 e; .param .b32 r;
    st.param.b64 [a], %to; st.param.b64 [b], %from; st.param.b64 [c], 4; st.param.b32 [d], 4; st.param.b64 [e], 0;
    call.uni (r), __cudaCDP2MemcpyAsync_ptsz, (a, b, c, d, e); }
  ret;
}
.visible .entry fills(.param .u64 to) {
  .reg .u64 %to;
  ld.param.u64 %to, [to];
  { .param .b64 a; .param .b32 b; .param .b64 c; .param .b64 d; .param .b32 r;
    st.param.b64 [a], %to; st.param.b32 [b], 1; st.param.b64 [c], 4; st.param.b64 [d], 0;
    call.uni (r), __cudaCDP2MemsetAsync_ptsz, (a, b, c, d); }
  ret;
}
)";

/// A program with the module, a stream, and memory that the host reads, too.
struct Program {
  Handle context = nullptr, module = nullptr, stream = nullptr, other = nullptr, event = nullptr, graph = nullptr, node = nullptr,
         executable = nullptr;
  std::uint32_t* memory = nullptr;
  std::map<std::string, Handle> functions;

  Program() {
    call("cuInit", {0});
    call("cuDevicePrimaryCtxRetain", {&context, 0});
    call("cuCtxSetCurrent", {context});
    call("cuModuleLoadData", {&module, module_text});
    for (const char* const name : {"add", "read", "copies", "fills"}) call("cuModuleGetFunction", {&functions[name], module, name});
    call("cudaStreamCreate", {&stream});
    call("cudaStreamCreate", {&other});
    call("cudaEventCreate", {&event});
    call("cudaGraphCreate", {&graph, 0});
    call("cudaMallocManaged", {&memory, 4096, 1});
  }

  std::string launch(const char* name, std::vector<Word> values, Handle on = nullptr) {
    std::vector<void*> arguments;
    for (Word& value : values) arguments.push_back(&value);
    return call("cudaLaunchKernel", {functions.at(name), dim(1, 1, 1), dim(1, 1, 1), arguments.data(), 0, on});
  }
  std::string add(const void* to, Word value = 1, Handle on = nullptr) { return launch("add", {word_of(to), value}, on); }
  std::string synchronise() { return call("cudaDeviceSynchronize", {}); }

  /// Adds a node to `to` that has graphs of its own, and returns the first.
  Handle add_conditional(Handle to, unsigned count = 1) {
    NodeParameters parameters{};
    call("cudaGraphConditionalHandleCreate", {&parameters.of.conditional.handle, to, 1, 1});
    parameters.type = 13;
    parameters.of.conditional.type = count == 1 ? 0 : 2;
    parameters.of.conditional.size = count;
    call("cudaGraphAddNode", {&node, to, nullptr, nullptr, 0, &parameters});
    return parameters.of.conditional.graphs == nullptr ? nullptr : parameters.of.conditional.graphs[0];
  }
  std::string capture_into(Handle to, Handle from) { return call("cudaStreamBeginCaptureToGraph", {from, to, nullptr, nullptr, 0, 2}); }
  std::string fill(Handle on) { return call("cudaMemsetAsync", {memory, 0, 4, on}); }
  std::string instantiate(Handle from) { return call("cudaGraphInstantiate", {&executable, from, 0}); }
  std::string run() { return call("cudaGraphLaunch", {executable, nullptr}); }
  std::string is_capturing(Handle which) {
    int status = 9;
    const std::string code = call("cudaStreamIsCapturing", {which, &status});
    return code + std::to_string(status) + " ";
  }
};

// ---- Objects that others hold ----

std::string captured_body(Program& p, const std::string& destroys) {
  const Handle body = p.add_conditional(p.graph);
  Said text = p.capture_into(body, p.stream) << p.fill(p.stream);
  if (destroys == "node") text += call("cudaGraphDestroyNode", {p.node});
  if (destroys == "graph") text += call("cudaGraphDestroy", {p.graph});
  if (destroys == "all") return text << call("cudaDeviceReset", {}) << p.is_capturing(p.stream);
  return text << p.is_capturing(p.stream) << p.fill(p.stream) << call("cudaStreamSynchronize", {p.stream});
}

std::string event_of_ended_capture(Program& p) {
  Said text = p.capture_into(p.graph, p.stream) << p.fill(p.stream) << call("cudaEventRecord", {p.event, p.stream});
  Handle nodes[1] = {}, ended = nullptr;
  std::size_t count = 1;
  text += Said() << call("cudaStreamEndCapture", {p.stream, &ended});
  text += Said() << call("cudaGraphGetNodes", {p.graph, nodes, &count}) << call("cudaGraphDestroyNode", {nodes[0]});
  return text << p.capture_into(p.graph, p.stream) << call("cudaStreamWaitEvent", {p.other, p.event, 0}) << p.is_capturing(p.other)
              << call("cudaStreamEndCapture", {p.stream, &ended}) << p.instantiate(p.graph) << p.run();
}

std::string legacy_stream_joins(Program& p) {
  Said text = p.capture_into(p.graph, p.stream) << call("cudaEventRecord", {p.event, p.stream});
  text += Said() << call("cudaStreamWaitEvent", {nullptr, p.event, 0}) << call("cudaStreamDestroy", {p.stream})
                 << call("cudaGraphDestroy", {p.graph});
  return text << p.fill(nullptr);
}

std::string captures_meet(Program& p) {
  Said text = call("cudaStreamBeginCapture", {p.stream, 0}) << call("cudaStreamBeginCapture", {p.other, 0});
  text += Said() << call("cudaEventRecord", {p.event, p.stream}) << call("cudaStreamWaitEvent", {p.other, p.event, 0});
  Handle first = nullptr, second = nullptr;
  return text << call("cudaStreamEndCapture", {p.stream, &first}) << call("cudaStreamEndCapture", {p.other, &second});
}

std::string two_captures_of_one_graph(Program& p) {
  Said text = p.capture_into(p.graph, p.stream) << p.capture_into(p.graph, p.other);
  Handle ended = nullptr;
  return text << call("cudaStreamEndCapture", {p.stream, &ended}) << call("cudaStreamEndCapture", {p.other, &ended})
              << call("cudaGraphDestroy", {p.graph});
}

std::string captures_have_numbers(Program& p) {
  Word numbers[2] = {};
  Handle ended = nullptr;
  int status = 0;
  for (Word& number : numbers) {
    p.capture_into(p.graph, p.stream);
    call("cudaStreamGetCaptureInfo", {p.stream, &status, &number, nullptr, nullptr, nullptr, nullptr});
    call("cudaStreamEndCapture", {p.stream, &ended});
  }
  return numbers[0] != numbers[1] ? "two numbers" : "one number";
}

/// The body of a graph's node, made while another context was current, stays with the graph.
std::string body_of_another_context(Program& p) {
  Handle context = nullptr, made = nullptr;
  Said text = call("cuCtxCreate_v2", {&context, 0, 0});
  const Handle body = p.add_conditional(p.graph);
  text += Said() << call("cudaGraphAddEmptyNode", {&made, body, nullptr, 0}) << call("cuCtxDestroy_v2", {context});
  text += Said() << call("cuCtxSetCurrent", {p.context});
  return text << p.instantiate(p.graph) << p.run() << p.synchronise() << call("cudaGraphDestroy", {p.graph});
}

/// A context that is destroyed with many objects of each kind, of which some hold others.
std::string full_context(Program& p, int rounds) {
  Said text;
  for (int round = 0; round < rounds; ++round) {
    Handle context = nullptr;
    call("cuCtxCreate_v2", {&context, 0, 0});
    for (int i = 0; i < 8; ++i) {
      Handle stream = nullptr, joined = nullptr, event = nullptr, graph = nullptr, captured = nullptr, executable = nullptr,
             module = nullptr, link = nullptr, pool = nullptr, mipmap = nullptr;
      Array* array = nullptr;
      Word texture = 0;
      const ChannelFormat format{32, 0, 0, 0, 2};
      call("cudaStreamCreate", {&stream});
      call("cudaStreamCreate", {&joined});
      call("cudaEventCreate", {&event});
      call("cudaGraphCreate", {&graph, 0});
      Handle inner = graph;
      for (int depth = 0; depth < 3; ++depth) inner = p.add_conditional(inner, 3);
      call("cudaGraphAddEventRecordNode", {&p.node, inner, nullptr, 0, event});
      call("cudaGraphInstantiate", {&executable, graph, 0});
      p.capture_into(inner, stream);
      call("cudaEventRecord", {event, stream});
      call("cudaStreamWaitEvent", {joined, event, 0});
      call("cudaStreamBeginCapture", {p.other, 0});  // of the primary context, into a graph of this one
      p.fill(p.other);
      call("cudaStreamEndCapture", {p.other, &captured});
      call("cuModuleLoadData", {&module, module_text});
      call("cuLinkCreate_v2", {0, nullptr, nullptr, &link});
      call("cudaMallocArray", {&array, &format, 16, 16, 0});
      call("cudaMallocMipmappedArray", {&mipmap, &format, Argument({16, 16, 0}, true), 3, 0});
      ResourceDescription resource{};
      resource.of.array = array;
      call("cudaCreateSurfaceObject", {&texture, &resource});
      PoolProperties properties{};
      properties.allocType = properties.location.type = 1;
      call("cudaMemPoolCreate", {&pool, &properties});
      call("cudaDeviceSetMemPool", {0, pool});
    }
    text = call("cuCtxDestroy_v2", {context}) << call("cuCtxSetCurrent", {p.context});
  }
  Handle from_pool = nullptr;
  return text << call("cudaMallocAsync", {&from_pool, 64, nullptr}) << p.add(p.memory) << p.synchronise();
}

std::string unloaded_kernel_in_graph(Program& p) {
  Said text = call("cudaStreamBeginCapture", {p.stream, 0}) << p.add(p.memory, 1, p.stream);
  Handle captured = nullptr;
  text += Said() << call("cudaStreamEndCapture", {p.stream, &captured}) << p.instantiate(captured) << call("cuModuleUnload", {p.module});
  return text << p.run() << p.add(p.memory) << call("cudaGraphExecDestroy", {p.executable});
}

/// A kernel of four blocks that meet by the functions of libcudadevrt.a, as Numba's grid.sync() has them: each adds what the next has
/// stored.
const char* const meeting_text = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry meet(.param .u64 to) {
  .reg .b64 %to, %own, %next, %grid; .reg .b32 %r<6>;
  ld.param.u64 %to, [to];
  mov.u32 %r0, %ctaid.x; mul.wide.u32 %own, %r0, 4; add.s64 %own, %to, %own;
  add.u32 %r1, %r0, 1; and.b32 %r1, %r1, 3; mul.wide.u32 %next, %r1, 4; add.s64 %next, %to, %next;
  st.global.u32 [%own], %r1;
  { .param .b32 scope; .param .b64 handle; st.param.b32 [scope], 1; call.uni (handle), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %grid, [handle]; }
  { .param .b64 handle; .param .b32 flags; .param .b32 status; st.param.b64 [handle], %grid; st.param.b32 [flags], 0;
    call.uni (status), cudaCGSynchronize, (handle, flags); }
  ld.global.u32 %r2, [%next];
  { .param .b64 handle; .param .b32 flags; .param .b32 status; st.param.b64 [handle], %grid; st.param.b32 [flags], 0;
    call.uni (status), cudaCGSynchronize, (handle, flags); }
  mad.lo.u32 %r3, %r1, 10, %r2;
  st.global.u32 [%own], %r3;
  ret;
}
)";

std::string linked_with_the_device_runtime(Program&) {
  const char runtime[] = "!<arch>\ncuda_device_runtime.o/", other[] = "!<arch>\nother.o/";
  Handle link = nullptr, image = nullptr, module = nullptr, function = nullptr, memory = nullptr;
  std::size_t bytes = 0;
  Said text = call("cuLinkCreate_v2", {0, nullptr, nullptr, &link})
              << call("cuLinkAddData_v2", {link, 4, other, sizeof other, "other", 0, nullptr, nullptr})
              << call("cuLinkAddData_v2", {link, 4, runtime, sizeof runtime, "runtime", 0, nullptr, nullptr});
  text += Said() << call("cuLinkAddData_v2", {link, 1, meeting_text, std::strlen(meeting_text) + 1, "meet", 0, nullptr, nullptr})
                 << call("cuLinkComplete", {link, &image, &bytes}) << call("cuModuleLoadData", {&module, image});
  text += Said() << call("cuModuleGetFunction", {&function, module, "meet"}) << call("cuMemAlloc_v2", {&memory, 16});
  void* arguments[] = {&memory};
  text += Said() << call("cuLaunchCooperativeKernel", {function, 4, 1, 1, 32, 1, 1, 0, nullptr, arguments}) << call("cuCtxSynchronize", {});
  std::uint32_t got[4] = {};
  text += Said() << call("cuMemcpyDtoH_v2", {got, memory, sizeof got});
  for (const std::uint32_t each : got) text += Said() << std::to_string(each) + " ";
  return text;
}

std::string updated_from_destroyed(Program& p) {
  p.add_conditional(p.graph);
  Said text = p.instantiate(p.graph) << call("cudaGraphExecUpdate", {p.executable, p.graph, nullptr});
  text += Said() << call("cudaGraphExecUpdate", {p.executable, p.executable, nullptr}) << call("cudaGraphDestroy", {p.graph});
  return text << p.run() << p.synchronise();
}

std::string child_of_destroyed(Program& p) {
  Handle parent = nullptr, captured = nullptr;
  call("cudaStreamBeginCapture", {p.stream, 0});
  p.add(p.memory, 7, p.stream);
  Said text = call("cudaStreamEndCapture", {p.stream, &captured}) << call("cudaGraphCreate", {&parent, 0});
  text += Said() << call("cudaGraphAddChildGraphNode", {&p.node, parent, nullptr, 0, captured}) << call("cudaGraphDestroy", {captured});
  text += Said() << p.instantiate(parent) << call("cudaGraphDestroy", {parent}) << p.run() << p.synchronise();
  return text << std::to_string(*p.memory);
}

std::string nodes_of_other_graphs(Program& p) {
  Handle other = nullptr, first = nullptr, second = nullptr, stranger = nullptr;
  call("cudaGraphCreate", {&other, 0});
  call("cudaGraphAddEmptyNode", {&stranger, other, nullptr, 0});
  call("cudaGraphAddEmptyNode", {&first, p.graph, nullptr, 0});
  Said text = call("cudaGraphAddEmptyNode", {&second, p.graph, &stranger, 1});
  text += Said() << call("cudaStreamBeginCaptureToGraph", {p.stream, p.graph, &stranger, nullptr, 1, 0}) << p.is_capturing(p.stream);
  text += Said() << call("cudaGraphAddDependencies", {p.graph, &stranger, &first, nullptr, 1}) << call("cudaGraphDestroy", {other});
  text += Said() << call("cudaGraphAddEmptyNode", {&second, p.graph, &stranger, 1}) << call("cudaGraphDestroyNode", {stranger});
  return text << p.instantiate(p.graph) << p.run();
}

std::string edges_all_or_none(Program& p) {
  Handle nodes[3] = {};
  for (Handle& each : nodes) call("cudaGraphAddEmptyNode", {&each, p.graph, nullptr, 0});
  Handle from[2] = {nodes[0], nodes[0]}, to[2] = {nodes[1], nodes[1]};
  Handle twice[2] = {nodes[0], nodes[0]};
  std::size_t count = 9;
  Said text = call("cudaGraphAddDependencies", {p.graph, from, to, nullptr, 2});
  to[1] = nodes[2];
  text += Said() << call("cudaGraphAddEmptyNode", {&p.node, p.graph, twice, 2})
                 << call("cudaGraphAddDependencies", {p.graph, from, to, nullptr, 1});
  text += Said() << call("cudaGraphRemoveDependencies", {p.graph, from, to, nullptr, 2});
  text += Said() << call("cudaGraphGetEdges", {p.graph, nullptr, nullptr, nullptr, &count});
  return text << std::to_string(count);
}

Handle module_to_unload = nullptr;
std::size_t unloads(int) {
  by_name::call("cuModuleUnload", {module_to_unload});
  return 0;
}

std::string occupancy_unloads(Program& p) {
  int blocks = 0, threads = 0;
  module_to_unload = p.module;
  return call("cuOccupancyMaxPotentialBlockSize", {&blocks, &threads, p.functions["add"], unloads, 0, 0}) << p.add(p.memory);
}

std::string occupancy_of_nothing(Program& p) {
  int blocks = 0, threads = 0;
  char stub = 0;
  return call("cuOccupancyMaxPotentialBlockSize", {&blocks, &threads, &stub, nullptr, 0, 0})
         << call("cuOccupancyMaxPotentialBlockSize", {&blocks, &threads, p.graph, nullptr, 0, 0});
}

std::string pool_of_destroyed(Program&) {
  Handle pool = nullptr, memory = nullptr;
  PoolProperties properties{};
  properties.allocType = properties.location.type = 1;
  Said text = call("cudaMemPoolCreate", {&pool, &properties}) << call("cudaDeviceSetMemPool", {0, pool});
  text += Said() << call("cudaMallocAsync", {&memory, 64, nullptr}) << call("cudaMemPoolDestroy", {pool})
                 << call("cudaFreeAsync", {memory, nullptr});
  return text << call("cudaMallocAsync", {&memory, 64, nullptr}) << call("cudaDeviceSetMemPool", {0, pool});
}

// ---- Sizes ----

std::string nested_children(Program& p) {
  Handle inner = p.graph;
  int levels = 0;
  std::string last;
  for (; levels < 100000; ++levels) {
    Handle outer = nullptr;
    call("cudaGraphCreate", {&outer, 0});
    last = call("cudaGraphAddChildGraphNode", {&p.node, outer, nullptr, 0, inner});
    if (last != "Success ") break;
    inner = outer;
  }
  return Said() << std::to_string(levels + 1) << " " << last << p.instantiate(inner) << p.run() << call("cudaGraphDestroy", {inner});
}

std::string nested_captures(Program& p) {
  Handle inner = p.graph;
  int levels = 0;
  std::string last;
  for (; levels < 1000; ++levels) {
    Handle outer = nullptr;
    p.instantiate(inner);
    call("cudaStreamBeginCapture", {p.stream, 0});
    last = call("cudaGraphLaunch", {p.executable, p.stream});
    call("cudaStreamEndCapture", {p.stream, &outer});
    if (last != "Success ") break;
    inner = outer;
  }
  return Said() << std::to_string(levels + 1) << " " << last << p.run();
}

std::string nested_bodies(Program& p) {
  Handle inner = p.graph;
  int levels = 0;
  for (; levels < 1000; ++levels) {
    const Handle body = p.add_conditional(inner);
    if (body == nullptr) break;
    inner = body;
  }
  return Said() << std::to_string(levels + 1) << " " << p.instantiate(p.graph) << p.run() << call("cudaGraphDestroy", {p.graph});
}

std::string occupancy_sizes(Program& p) {
  int blocks = 9;
  const Handle add = p.functions["add"];
  Said text;
  const auto ask = [&](int threads, Word bytes) {
    const std::string code = call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", {&blocks, add, threads, bytes});
    text += Said() << code << (code == "Success " ? std::to_string(blocks) << " " : "");
  };
  for (const int threads : {std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), -1, 0, 1025}) ask(threads, 0);
  for (const Word bytes : {most, half, most - 1024}) ask(32, bytes);
  return text;
}

std::string cluster_sizes(Program& p) {
  Said text;
  int clusters = 9;
  const Handle add = p.functions["add"];
  const auto ask = [&](GridSize block, GridSize cluster) {
    LaunchAttribute attribute{};
    attribute.id = 4;
    attribute.value.cluster[0] = cluster.x;
    attribute.value.cluster[1] = cluster.y;
    attribute.value.cluster[2] = cluster.z;
    LaunchConfiguration config{};
    config.gridDim = {1, 1, 1};
    config.blockDim = block;
    config.attrs = &attribute;
    config.numAttrs = 1;
    text += Said() << call("cudaOccupancyMaxActiveClusters", {&clusters, add, &config});
  };
  ask({0, 0, 0}, {1, 1, 1});
  ask({1u << 31, 2, 1}, {1, 1, 1});
  ask({65536, 65537, 1}, {1, 1, 1});
  ask({32, 1, 1}, {0, 1, 1});
  ask({32, 1, 1}, {65536, 65536, 1});
  ask({32, 1, 1}, {17, 1, 1});
  ask({32, 1, 1}, {2, 1, 1});
  return text;
}

std::string launch_sizes(Program& p) {
  Word to = word_of(p.memory), value = 1;
  void* arguments[] = {&to, &value};
  Said text;
  const auto launch = [&](Argument grid, Argument block, Word shared) {
    text += Said() << call("cudaLaunchKernel", {p.functions["add"], grid, block, arguments, shared, nullptr});
  };
  launch(dim(1, 1, 1), dim(1u << 31, 2, 1), 0);
  launch(dim(1, 1, 1), dim(1024, 1024, 64), 0);
  launch(dim(1u << 31, 1, 1), dim(1, 1, 1), 0);
  launch(dim(~0u, ~0u, ~0u), dim(1, 1, 1), 0);
  launch(dim(1, 1, 1), dim(1, 1, 1), most);
  launch(dim(1, 1, 1), dim(1, 1, 1), Word{1} << 32);
  return text;
}

std::string copy_sizes(Program& p) {
  Said text;
  char host[64] = {};
  text += Said() << call("cudaMemcpy", {p.memory, most - 2, 16, 1}) << call("cudaMemcpy", {most - 2, p.memory, 16, 2});
  text += Said() << call("cudaMemcpy", {host, most - 2, 16, 0}) << call("cudaMemcpy", {p.memory, host, most, 4});
  text += Said() << call("cudaMemPrefetchAsync", {p.memory, most, 1, 0, nullptr}) << call("cudaMemAdvise", {p.memory, most, 1, 1});
  Handle node = nullptr;
  text += Said() << call("cudaGraphAddMemcpyNode1D", {&node, p.graph, nullptr, 0, p.memory, host, most, 1});
  Fill fill{p.memory, 4, 0, 4, most / 4 + 1, 1};
  text += Said() << call("cudaGraphAddMemsetNode", {&node, p.graph, nullptr, 0, &fill});
  fill = {p.memory, most, 0, 1, 4, 2};
  text += Said() << call("cudaGraphAddMemsetNode", {&node, p.graph, nullptr, 0, &fill});
  GraphAllocation allocation{};
  allocation.bytesize = most;
  text += Said() << call("cudaGraphAddMemAllocNode", {&node, p.graph, nullptr, 0, &allocation});
  return text << call("cudaMallocFromPoolAsync", {&node, most, nullptr, nullptr}) << call("cudaMallocAsync", {&node, most, nullptr});
}

std::string extra_arguments(Program& p) {
  Said text;
  Word to = word_of(p.memory), value = 1;
  std::size_t bytes = 12;
  struct {
    Word to;
    std::uint32_t value;
  } buffer{to, 1};
  const auto launch = [&](std::vector<Word> extra) {
    text += Said() << call("cuLaunchKernel", {p.functions["add"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra.data()});
  };
  launch({1, word_of(&buffer), 2, 0, 0});
  launch({1, 0, 2, word_of(&bytes), 0});
  launch({7, word_of(&buffer), 0});
  launch({1, word_of(&buffer), 0});
  launch({2, word_of(&bytes), 0});
  bytes = 11;
  launch({1, word_of(&buffer), 2, word_of(&bytes), 0});
  bytes = most;
  launch({1, word_of(&buffer), 2, word_of(&bytes), 0});
  void* arguments[] = {&to, nullptr};
  text += Said() << call("cuLaunchKernel", {p.functions["add"], 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr});
  static_cast<void>(value);
  return text;
}

std::string virtual_sizes(Program&) {
  Word address = 0, handle = 0;
  struct {
    int type = 1, handles = 0;
    MemoryLocation location{1, 0};
    void* metadata = nullptr;
    unsigned char flags[8] = {};
  } properties;
  constexpr Word piece = 2 << 20;
  Said text = call("cuMemAddressReserve", {&address, piece, 0, 0, 0}) << call("cuMemCreate", {&handle, piece, &properties, 0});
  text += Said() << call("cuMemMap", {address, piece, most - piece + 1, handle, 0})
                 << call("cuMemMap", {address + piece, piece, 0, handle, 0});
  text += Said() << call("cuMemMap", {address, piece, 0, handle, 0}) << call("cuMemUnmap", {address, 0})
                 << call("cuMemUnmap", {address, piece / 2});
  PoolAccess access{{1, 0}, 2};
  text += Said() << call("cuMemSetAccess", {address, piece, &access, 1});
  access.flags = 3;
  text += Said() << call("cuMemSetAccess", {address, 0, &access, 1}) << call("cuMemSetAccess", {address, piece, &access, 1});
  properties.handles = 1;  // files may name it, until it is exported
  text += call("cuMemCreate", {&handle, most / piece * piece, &properties, 0});
  properties.handles = 8;
  return text << call("cuMemCreate", {&handle, most / piece * piece, &properties, 0}) << call("cuMemUnmap", {address, piece})
              << call("cuMemAddressFree", {address, piece});
}

std::string tensor_map_sizes(Program& p) {
  alignas(64) char map[128];
  Said text;
  const auto encode = [&](int type, unsigned rank, std::vector<Word> dims, std::vector<Word> strides, std::vector<std::uint32_t> box,
                          int interleave, int swizzle) {
    std::vector<std::uint32_t> steps(5, 1);
    text += Said() << call("cuTensorMapEncodeTiled",
                           {map, type, rank, p.memory, dims.data(), strides.data(), box.data(), steps.data(), interleave, swizzle, 0, 0});
  };
  encode(7, 2, {16, 16}, {64}, {16, 16}, 0, 0);
  encode(7, 0, {16, 16}, {64}, {16, 16}, 0, 0);
  encode(7, 6, {16, 16, 1, 1, 1, 1}, {64, 64, 64, 64, 64}, {16, 16, 1, 1, 1, 1}, 0, 0);
  encode(7, 2, {most, 16}, {64}, {16, 16}, 0, 0);
  encode(7, 2, {0, 16}, {64}, {16, 16}, 0, 0);
  encode(7, 2, {16, 16}, {most - 15}, {16, 16}, 0, 0);
  encode(7, 2, {16, 16}, {64}, {257, 16}, 0, 0);
  encode(7, 2, {16, 16}, {64}, {0, 16}, 0, 0);
  encode(99, 2, {16, 16}, {64}, {16, 16}, 0, 0);
  encode(-1, 2, {16, 16}, {64}, {16, 16}, 0, 0);
  encode(7, 2, {16, 16}, {64}, {16, 16}, 9, 0);
  encode(7, 2, {16, 16}, {64}, {16, 16}, 0, -1);
  return text;
}

// ---- The program's memory ----

constexpr std::size_t page = 4096;

std::uint32_t* pages(int protection = PROT_READ | PROT_WRITE, int file = -1) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  return static_cast<std::uint32_t*>(mmap(nullptr, 4 * page, protection, kind, file, 0));
}

bool is_mapped(const void* at) {
  unsigned char in_core = 0;
  return mincore(const_cast<void*>(at), page, &in_core) == 0;
}

std::string unmapped(Program& p, bool writes) {
  std::uint32_t* const memory = pages();
  Said text = call("cudaHostRegister", {memory, 4 * page, 0});
  munmap(memory + page / 4, page);
  text += Said() << p.add(memory) << p.synchronise() << std::to_string(*memory) << " ";
  text += Said() << (writes ? p.add(memory + page / 4) : p.launch("read", {word_of(memory + page / 4), word_of(p.memory)}));
  return text << p.synchronise() << (is_mapped(memory + page / 4) ? "mapped" : "unmapped");
}

std::string made_read_only(Program& p, bool as_registered) {
  std::uint32_t* const memory = pages();
  *memory = 8;
  if (as_registered) mprotect(memory, 4 * page, PROT_READ);
  Said text = call("cudaHostRegister", {memory, 4 * page, as_registered ? 8 : 0});
  if (!as_registered) mprotect(memory, 4 * page, PROT_READ);
  text += Said() << p.launch("read", {word_of(memory), word_of(p.memory)}) << p.synchronise() << std::to_string(*p.memory) << " ";
  text += Said() << p.add(memory) << p.synchronise() << std::to_string(*memory);
  const int ends = open("/dev/zero", O_RDONLY);  // read() into memory that is not the program's to write fails
  return text << (read(ends, memory, 4) < 0 ? " read-only" : " writable");
}

std::string made_inaccessible(Program& p) {
  std::uint32_t* const memory = pages();
  *memory = 8;
  Said text = call("cudaHostRegister", {memory, 4 * page, 0});
  mprotect(memory, 4 * page, PROT_NONE);
  text += Said() << p.add(memory) << p.synchronise();
  mprotect(memory, 4 * page, PROT_READ);
  return text << std::to_string(*memory);
}

std::string truncated(Program& p) {
  const int file = memfd_create("scenario", 0);
  if (ftruncate(file, 4 * page) != 0) return "no file";
  std::uint32_t* const memory = pages(PROT_READ | PROT_WRITE, file);
  Said text = call("cudaHostRegister", {memory, 4 * page, 0});
  if (ftruncate(file, page) != 0) return "no file";
  text += Said() << p.add(memory) << p.synchronise() << std::to_string(*memory) << " " << p.add(memory + page / 2) << p.synchronise();
  if (ftruncate(file, 4 * page) != 0) return "no file";
  return text << std::to_string(memory[page / 2]);
}

std::string own_unmapped(Program& p, const char* allocate, bool flags) {
  std::uint32_t* memory = nullptr;
  Said text = flags ? call(allocate, {&memory, 4 * page, 1}) : call(allocate, {&memory, 4 * page});
  munmap(memory, 4 * page);
  return text << call("cudaMemset", {memory, 0, 64}) << p.add(memory) << p.synchronise();
}

std::string copies_of_no_memory(Program& p) {
  std::uint32_t *const gone = pages(), *const constant = pages(PROT_READ);
  munmap(gone, 4 * page);
  Said text = call("cudaMemcpy", {p.memory, gone, 64, 1}) << call("cudaMemcpy", {gone, p.memory, 64, 2});
  text += Said() << call("cudaMemcpy", {constant, p.memory, 64, 2}) << call("cudaMemcpy", {p.memory, 16, 64, 4})
                 << call("cudaMemcpy", {16, gone, 64, 0});
  text += Said() << call("cudaMemcpy2D", {p.memory, 64, gone, 64, 64, 8, 1}) << call("cuMemcpyHtoD_v2", {p.memory, gone, 64});
  return text << p.add(p.memory) << p.synchronise();
}

std::string graph_of_no_memory(Program& p) {
  std::uint32_t* const host = pages();
  Handle captured = nullptr;
  Said text = call("cudaStreamBeginCapture", {p.stream, 0}) << call("cudaMemcpyAsync", {p.memory, host, 64, 1, p.stream});
  text += Said() << call("cudaStreamEndCapture", {p.stream, &captured}) << p.instantiate(captured) << p.run();
  munmap(host, 4 * page);
  return text << p.run() << p.add(p.memory) << p.synchronise();
}

volatile int handled = 0;
void* handled_page = nullptr;

void own_handler(int) {
  handled = handled + 1;
  mprotect(handled_page, page, PROT_READ | PROT_WRITE);
}

/// The program's handler of faults stays its own.
std::string own_handler_stays(Program& p) {
  handled_page = pages(PROT_NONE);
  std::signal(SIGSEGV, own_handler);
  Said text = p.add(p.memory) << call("cudaMemcpy", {p.memory, 16, 64, 1});
  *static_cast<volatile int*>(handled_page) = 3;
  return text << std::to_string(handled);
}

std::string registered_twice(Program& p) {
  std::uint32_t* const memory = pages();
  Handle pinned = nullptr, device = nullptr;
  call("cudaMallocHost", {&pinned, page});
  call("cudaMalloc", {&device, page});
  Said text = call("cudaHostRegister", {p.memory, 64, 0}) << call("cudaHostRegister", {pinned, 64, 0});
  text += Said() << call("cudaHostRegister", {device, 64, 0}) << call("cudaHostRegister", {memory, page, 0})
                 << call("cudaHostRegister", {memory, page, 0});
  return text << call("cudaHostRegister", {memory + 1, 8, 0}) << call("cudaHostUnregister", {memory + 1})
              << call("cudaHostUnregister", {memory}) << call("cudaHostUnregister", {memory});
}

std::uint32_t of_host = 21;

std::string kernel_copies_host(Program& p, bool into) {
  const Word host = word_of(&of_host), memory = word_of(p.memory);
  Said text = p.launch("copies", {into ? host : memory, into ? memory : host}) << p.synchronise();
  return text << std::to_string(of_host) << " " << std::to_string(*p.memory);
}

std::string kernel_fills_host(Program& p) {
  Said text = p.launch("fills", {word_of(&of_host)}) << p.synchronise();
  return text << std::to_string(of_host);
}

std::string kernel_copies_its_own(Program& p) {
  p.memory[1] = 6;
  Said text = p.launch("copies", {word_of(p.memory), word_of(p.memory + 1)}) << p.launch("fills", {word_of(p.memory + 2)});
  return text << p.synchronise() << std::to_string(p.memory[0]) << " " << std::to_string(p.memory[2]);
}

// ---- Callbacks, threads and processes ----

std::string from_callback;
Program* program = nullptr;

void calls_driver(void*) {
  Handle made = nullptr;
  from_callback = call("cuStreamCreate", {&made, 0})
                  << call("cuCtxSynchronize", {}) << call("cuCtxCreate_v2", {&made, 0, 0}) << call("cuModuleUnload", {program->module})
                  << call("cudaGraphExecDestroy", {program->executable}) << call("cuMemAlloc_v2", {&made, 64})
                  << call("cudaHostRegister", {program, 8, 0});
}

std::string callback_calls(Program& p) {
  program = &p;
  HostCall host{calls_driver, nullptr};
  Said text = call("cudaGraphAddHostNode", {&p.node, p.graph, nullptr, 0, &host}) << p.instantiate(p.graph) << p.run();
  return text << from_callback << p.run() << p.synchronise();
}

void throws(void*) {
  throw std::string("of the program");
}

std::string callback_throws(Program& p) {
  Said text;
  try {
    text = call("cudaLaunchHostFunc", {nullptr, throws, nullptr});
  } catch (const std::string& thrown) {
    text += thrown + " ";
  }
  return text << p.add(p.memory) << p.synchronise();
}

void forks(void* status) {
  const pid_t child = fork();
  if (child == 0) {
    Handle memory = nullptr;
    _exit(by_name::call("cudaMalloc", {&memory, 4}) == 0 ? 1 : 0);
  }
  waitpid(child, static_cast<int*>(status), 0);
}

std::string callback_forks(Program& p) {
  int status = -1;
  Said text = call("cudaLaunchHostFunc", {nullptr, forks, &status});
  return text << std::to_string(status) << " " << p.add(p.memory) << p.synchronise();
}

std::string many_threads(Program& p, bool of_driver) {
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Handle context = nullptr;
      if (of_driver && by_name::call("cuCtxCreate_v2", {&context, 0, 0}) != 0) ++failed;
      for (int i = 0; i < 20; ++i) {
        Handle stream = nullptr, event = nullptr, graph = nullptr, executable = nullptr, memory = nullptr;
        int code = by_name::call("cudaStreamCreate", {&stream}) | by_name::call("cudaEventCreate", {&event});
        code |= by_name::call("cudaMallocAsync", {&memory, 64, stream}) | by_name::call("cudaStreamBeginCapture", {stream, 2});
        code |= by_name::call("cudaMemsetAsync", {memory, t, 64, stream}) | by_name::call("cudaStreamEndCapture", {stream, &graph});
        code |= by_name::call("cudaGraphInstantiate", {&executable, graph, 0}) | by_name::call("cudaGraphLaunch", {executable, stream});
        code |= by_name::call("cudaEventRecord", {event, stream}) | by_name::call("cudaFreeAsync", {memory, stream});
        code |= by_name::call("cudaGraphExecDestroy", {executable}) | by_name::call("cudaGraphDestroy", {graph});
        if (code != 0) ++failed;
      }
      if (of_driver && by_name::call("cuCtxDestroy_v2", {context}) != 0) ++failed;
    });
  for (std::thread& thread : threads) thread.join();
  return Said() << std::to_string(failed) << " failed " << p.add(p.memory) << p.synchronise();
}

std::string context_of_another_thread(Program& p) {
  Handle context = nullptr, memory = nullptr;
  call("cuCtxCreate_v2", {&context, 0, 0});
  Said text;
  std::atomic<int> step{0};
  std::thread other([&] {
    text += Said() << call("cuCtxSetCurrent", {context});
    step = 1;
    while (step != 2) std::this_thread::yield();
    text += Said() << call("cuMemAlloc_v2", {&memory, 64}) << call("cuCtxGetDevice", {&memory}) << call("cuCtxSynchronize", {});
  });
  while (step != 1) std::this_thread::yield();
  const std::string destroyed = call("cuCtxDestroy_v2", {context});
  step = 2;
  other.join();
  return text << destroyed << call("cuCtxSetCurrent", {p.context}) << p.add(p.memory);
}

std::string context_stack(Program& p) {
  std::string last;
  int pushed = 0;
  while (last == "" || last == "Success ") last = call("cuCtxPushCurrent_v2", {p.context}), ++pushed;
  Said text = std::to_string(pushed) << " " << last;
  Handle popped = nullptr;
  while (call("cuCtxPopCurrent_v2", {&popped}) == "Success ") --pushed;
  return text << call("cuCtxPopCurrent_v2", {&popped}) << call("cuCtxPushCurrent_v2", {nullptr}) << call("cuMemAlloc_v2", {&popped, 64})
              << call("cuCtxDestroy_v2", {p.context});
}

std::string callback_unregisters(Program& p) {
  static host_code::Wrapper wrapper{.data = module_text};
  const auto add = reinterpret_cast<void** (*)(void*)>(dlsym(library(), "__cudaRegisterFatBinary"));
  static void** const handle = add(&wrapper);
  const auto unregister = [](void*) { reinterpret_cast<void (*)(void**)>(dlsym(library(), "__cudaUnregisterFatBinary"))(handle); };
  return call("cudaLaunchHostFunc", {nullptr, static_cast<void (*)(void*)>(unregister), nullptr}) << p.add(p.memory) << p.synchronise();
}

std::string ipc_of_itself(Program&) {
  Handle device = nullptr, event = nullptr;
  std::vector<Word> handle(8);
  Said text = call("cudaMalloc", {&device, 64}) << call("cudaIpcGetMemHandle", {handle.data(), device});
  text += Said() << call("cudaIpcOpenMemHandle", {&device, Argument(handle, true), 1})
                 << call("cudaIpcOpenEventHandle", {&event, Argument(handle, true)});
  for (Word& word : handle) word = most;
  text += Said() << call("cudaIpcOpenMemHandle", {&device, Argument(handle, true), 1})
                 << call("cudaIpcOpenEventHandle", {&event, Argument(handle, true)});
  return text << call("cudaIpcCloseMemHandle", {device}) << call("cudaIpcGetMemHandle", {handle.data(), &handle});
}

// ---- Numbers that are none ----

std::string launch_attributes(Program& p) {
  Word to = word_of(p.memory), value = 1;
  void* arguments[] = {&to, &value};
  Said text;
  for (const int id : {-1, 17, 99, std::numeric_limits<int>::max(), 7, 0}) {
    LaunchAttribute attribute{};
    attribute.id = id;
    LaunchConfiguration config{{1, 1, 1}, {1, 1, 1}, 0, nullptr, &attribute, 1};
    text += Said() << call("cudaLaunchKernelExC", {&config, p.functions["add"], arguments});
  }
  LaunchConfiguration config{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 1};
  return text << call("cudaLaunchKernelExC", {&config, p.functions["add"], arguments});
}

std::string resources(Program&) {
  Array* array = nullptr;
  Word texture = 0;
  Said text;
  const auto allocate = [&](ChannelFormat format) { text += call("cudaMallocArray", {&array, &format, 16, 16, 0}); };
  allocate({-8, 0, 0, 0, 0});
  allocate({32, 0, 0, 0, 9});
  allocate({32, 32, 32, 0, 2});
  allocate({8, 0, 0, 0, 2});
  allocate({32, 0, 0, 0, 2});
  const auto create = [&](int type, int TextureDescription::*member, int value, int view_format) {
    ResourceDescription resource{};
    resource.type = static_cast<ResourceDescription::Type>(type);
    resource.of.array = array;
    TextureDescription how{};
    if (member != nullptr) how.*member = value;
    ResourceView view{};
    view.format = view_format;
    text += Said() << call("cudaCreateTextureObject", {&texture, &resource, &how, view_format == 0 ? nullptr : &view});
  };
  for (const int type : {-1, 4, 99}) create(type, nullptr, 0, 0);
  for (int TextureDescription::*const member : {&TextureDescription::filter, &TextureDescription::read, &TextureDescription::level_filter})
    create(0, member, 9, 0);
  create(0, nullptr, 0, 999);
  create(0, nullptr, 0, 0);
  return text;
}

std::string parameters_of_nodes(Program& p) {
  Said text;
  Handle node = nullptr;
  for (const int type : {-1, 9, 12, 14, 99, 13}) {
    NodeParameters parameters{};
    parameters.type = type;
    text += Said() << call("cudaGraphAddNode", {&node, p.graph, nullptr, nullptr, 0, &parameters});
  }
  for (const int kind : {-1, 3, 99}) {
    NodeParameters parameters{};
    call("cudaGraphConditionalHandleCreate", {&parameters.of.conditional.handle, p.graph, 1, 1});
    parameters.type = 13;
    parameters.of.conditional.type = kind;
    parameters.of.conditional.size = 1;
    text += Said() << call("cudaGraphAddNode", {&node, p.graph, nullptr, nullptr, 0, &parameters});
  }
  Copy3D copy{};
  copy.kind = static_cast<CopyKind>(9);
  return text << call("cudaGraphAddMemcpyNode", {&node, p.graph, nullptr, 0, &copy}) << call("cudaMemcpy3D", {&copy});
}

std::string pool_numbers(Program&) {
  Handle pool = nullptr;
  Said text;
  constexpr int cases[][3] = {{0, 1, 0}, {2, 1, 0}, {1, 0, 0}, {1, 9, 0}, {1, 1, 8}, {1, 1, 0}};
  for (const auto& [allocation, location, handles] : cases) {
    PoolProperties properties{};
    properties.allocType = allocation;
    properties.location.type = location;
    properties.handleTypes = handles;
    text += Said() << call("cudaMemPoolCreate", {&pool, &properties});
  }
  for (const int flags : {2, -1, 7}) {
    const PoolAccess access{{1, 0}, flags};
    text += Said() << call("cudaMemPoolSetAccess", {pool, &access, 1});
  }
  const PoolAccess nowhere{{0, 0}, 3};
  return text << call("cudaMemPoolSetAccess", {pool, &nowhere, 1});
}

std::string endless_modules(Program&) {
  Handle module = nullptr;
  Said text;
  for (const char* const file : {"/dev/zero", "/dev/null", "/", "/none"}) text += call("cuModuleLoad", {&module, file});
  return text << call("cuLibraryLoadFromFile", {&module, "/dev/zero", nullptr, nullptr, 0, nullptr, nullptr, 0});
}

std::string graph_files(Program& p) {
  return call("cudaGraphDebugDotPrint", {p.graph, "/dev/full", 0})
         << call("cudaGraphDebugDotPrint", {p.graph, "/", 0}) << call("cudaGraphDebugDotPrint", {p.graph, "/dev/null", 1 << 16});
}

std::string nothing_registered(Program& p) {
  using Register = void** (*)(void*);
  using AddFunction = void (*)(void**, const void*, char*, const char*, int, void*, void*, void*, void*, void*);
  static char stub = 0;
  void** const module = reinterpret_cast<Register>(dlsym(library(), "__cudaRegisterFatBinary"))(nullptr);
  const auto add = reinterpret_cast<AddFunction>(dlsym(library(), "__cudaRegisterFunction"));
  add(module, &stub, nullptr, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  Said text = call("cudaLaunchKernel", {&stub, dim(1, 1, 1), dim(1, 1, 1), nullptr, 0, nullptr});
  add(module, &stub, nullptr, "add", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  text += call("cudaLaunchKernel", {&stub, dim(1, 1, 1), dim(1, 1, 1), nullptr, 0, nullptr});
  return text << call("__cudaPopCallConfiguration", {nullptr, nullptr, nullptr, nullptr}) << p.add(p.memory) << p.synchronise();
}

struct Row {
  const char* name;
  std::string (*run)(Program&);
};

const Row rows[] = {
    {"captured body, its node destroyed", [](Program& p) { return captured_body(p, "node"); }},
    {"captured body, its graph destroyed", [](Program& p) { return captured_body(p, "graph"); }},
    {"captured body, the device reset", [](Program& p) { return captured_body(p, "all"); }},
    {"event of an ended capture", event_of_ended_capture},
    {"the legacy stream joins a capture", legacy_stream_joins},
    {"two captures meet", captures_meet},
    {"two captures of one graph", two_captures_of_one_graph},
    {"numbers of captures", captures_have_numbers},
    {"body made in another context", body_of_another_context},
    {"a full context is destroyed", [](Program& p) { return full_context(p, 10); }},
    {"a graph has a kernel of an unloaded module", unloaded_kernel_in_graph},
    {"a module is linked with the device runtime", linked_with_the_device_runtime},
    {"a graph is updated from one that is destroyed", updated_from_destroyed},
    {"a child of a destroyed graph", child_of_destroyed},
    {"nodes of other graphs", nodes_of_other_graphs},
    {"edges", edges_all_or_none},
    {"a callback unloads the module that is asked for", occupancy_unloads},
    {"occupancy of no kernel", occupancy_of_nothing},
    {"the current pool is destroyed", pool_of_destroyed},
    {"child graphs", nested_children},
    {"captured launches of graphs", nested_captures},
    {"bodies in bodies", nested_bodies},
    {"occupancy", occupancy_sizes},
    {"clusters", cluster_sizes},
    {"launches", launch_sizes},
    {"copies", copy_sizes},
    {"arguments in a buffer", extra_arguments},
    {"virtual memory", virtual_sizes},
    {"tensor maps", tensor_map_sizes},
    {"unmapped and read", [](Program& p) { return unmapped(p, false); }},
    {"unmapped and written", [](Program& p) { return unmapped(p, true); }},
    {"registered as read-only", [](Program& p) { return made_read_only(p, true); }},
    {"made read-only", [](Program& p) { return made_read_only(p, false); }},
    {"made inaccessible", made_inaccessible},
    {"truncated file", truncated},
    {"managed memory unmapped", [](Program& p) { return own_unmapped(p, "cudaMallocManaged", true); }},
    {"pinned memory unmapped", [](Program& p) { return own_unmapped(p, "cudaMallocHost", false); }},
    {"copies of no memory", copies_of_no_memory},
    {"a graph copies what is unmapped", graph_of_no_memory},
    {"the program handles its own faults", own_handler_stays},
    {"registered twice", registered_twice},
    {"a kernel copies from the host", [](Program& p) { return kernel_copies_host(p, false); }},
    {"a kernel copies into the host", [](Program& p) { return kernel_copies_host(p, true); }},
    {"a kernel fills the host", kernel_fills_host},
    {"a kernel copies what is its own", kernel_copies_its_own},
    {"modules without an end", endless_modules},
    {"files of graphs", graph_files},
    {"nothing is registered", nothing_registered},
    {"the driver in a callback", callback_calls},
    {"an exception", callback_throws},
    {"fork", callback_forks},
    {"a callback unregisters a module", callback_unregisters},
    {"eight threads", [](Program& p) { return many_threads(p, false); }},
    {"eight threads with contexts", [](Program& p) { return many_threads(p, true); }},
    {"a context of another thread", context_of_another_thread},
    {"contexts on a stack", context_stack},
    {"handles of its own process", ipc_of_itself},
    {"attributes of launches", launch_attributes},
    {"resources", resources},
    {"nodes", parameters_of_nodes},
    {"pools", pool_numbers},
};

/// Runs a scenario in a child process. Returns what it said, or how it ended.
std::string outcome_of(const Row& row) {
  int ends[2] = {};
  if (pipe(ends) != 0) return "no pipe";
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    Program p;
    const std::string text = row.run(p);
    const bool written = write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  return status == 0 ? text : "status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  library() = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library() == nullptr) return static_cast<void>(std::puts(dlerror())), 2;
  for (const Row& row : rows)
    if (argc == 2 || std::strcmp(argv[2], row.name) == 0) std::printf("%s: %s\n", row.name, outcome_of(row).c_str());
}
