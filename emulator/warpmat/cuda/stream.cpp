#include <warpmat/cuda/stream.h>

#include <algorithm>
#include <cstring>
#include <set>

#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/per_thread.h>

namespace warpmat::cuda {
namespace {

constexpr unsigned non_blocking = 1;
constexpr int lowest_priority = 0, highest_priority = -5, priority_attribute = 8;

std::set<Stream*>& streams() {
  static auto* const all = new std::set<Stream*>;
  return *all;
}

Stream* make_stream(unsigned flags, int priority) {
  static std::uint64_t count = 2;
  require((flags & ~non_blocking) == 0);
  auto* const made = new Stream{.flags = flags, .priority = std::min(std::max(priority, highest_priority), lowest_priority), .id = ++count};
  streams().insert(made);
  return made;
}

}  // namespace

Stream& stream_of(Stream* handle) {
  static Stream legacy{.id = 1}, per_thread{.flags = non_blocking, .id = 2};
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return legacy;  // null, cudaStreamLegacy
  if (number == 2) return per_thread;
  require(streams().contains(handle), cudaErrorInvalidResourceHandle);
  return *handle;
}

bool capture(Stream* handle, const std::function<GraphNode()>& make) {
  Stream& stream = stream_of(handle);
  if (stream.capture == nullptr) return false;
  stream.front = {&add_node(*stream.capture, stream.front, make())};
  return true;
}

void submit(Context& context, Stream* handle, GraphNode node) {
  if (!capture(handle, [&] { return std::move(node); })) node.work(context);
}

void leave_capture(const Graph* graph) {
  const auto leave = [&](Stream& stream) {
    if (stream.capture != graph) return;
    stream.capture = nullptr;
    stream.front.clear();
  };
  for (Stream* const stream : streams()) leave(*stream);
  leave(stream_of(reinterpret_cast<Stream*>(2)));
}

void refuse_capture(Stream* handle) {
  require(stream_of(handle).capture == nullptr, cudaErrorStreamCaptureUnsupported);
}

WARPMAT_CUDA_API Error cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  return call(__func__, [&](Context&) {
    require(stream != nullptr);
    *stream = make_stream(flags, priority);
  });
}

WARPMAT_CUDA_API Error cudaStreamCreate(Stream** stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

WARPMAT_CUDA_API Error cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

WARPMAT_CUDA_API Error cudaStreamDestroy(Stream* stream) {
  return call(__func__, [&](Context&) {
    require(streams().erase(stream) == 1, cudaErrorInvalidResourceHandle);
    delete stream;
  });
}

WARPMAT_CUDA_API Error cudaStreamSynchronize(Stream* stream) {
  return call(__func__, [&](Context&) { refuse_capture(stream); });
}

WARPMAT_CUDA_API Error cudaStreamQuery(Stream* stream) {
  return call(__func__, [&](Context&) { refuse_capture(stream); });
}

WARPMAT_CUDA_API Error cudaStreamGetFlags(Stream* stream, unsigned* flags) {
  return call(__func__, [&](Context&) {
    require(flags != nullptr);
    *flags = stream_of(stream).flags;
  });
}

WARPMAT_CUDA_API Error cudaStreamGetPriority(Stream* stream, int* priority) {
  return call(__func__, [&](Context&) {
    require(priority != nullptr);
    *priority = stream_of(stream).priority;
  });
}

WARPMAT_CUDA_API Error cudaStreamGetId(Stream* stream, unsigned long long* id) {
  return call(__func__, [&](Context&) {
    require(id != nullptr);
    *id = stream_of(stream).id;
  });
}

WARPMAT_CUDA_API Error cudaStreamGetDevice(Stream* stream, int* device) {
  return call(__func__, [&](Context&) {
    require(device != nullptr);
    stream_of(stream);
    *device = 0;
  });
}

/// The attributes of a stream (cudaStreamAttrID) are those of launches: hints about time, which are kept.
WARPMAT_CUDA_API Error cudaStreamSetAttribute(Stream* handle, int id, const void* value) {
  return call(__func__, [&](Context&) {
    require(value != nullptr && id > 0);
    Stream& stream = stream_of(handle);
    if (id == priority_attribute) std::memcpy(&stream.priority, value, sizeof stream.priority);
    std::memcpy(stream.attributes[id].data(), value, stream.attributes[id].size());
  });
}

WARPMAT_CUDA_API Error cudaStreamGetAttribute(Stream* handle, int id, void* value) {
  return call(__func__, [&](Context&) {
    require(value != nullptr && id > 0);
    const Stream& stream = stream_of(handle);
    const auto found = stream.attributes.find(id);
    std::array<char, 64> bytes{};
    if (found != stream.attributes.end()) bytes = found->second;
    if (id == priority_attribute) std::memcpy(bytes.data(), &stream.priority, sizeof stream.priority);
    std::memcpy(value, bytes.data(), bytes.size());
  });
}

WARPMAT_CUDA_API Error cudaStreamCopyAttributes(Stream* to, Stream* from) {
  return call(__func__, [&](Context&) { stream_of(to).attributes = stream_of(from).attributes; });
}

WARPMAT_CUDA_API Error cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return call(__func__, [&](Context&) {
    if (lowest != nullptr) *lowest = lowest_priority;
    if (highest != nullptr) *highest = highest_priority;
  });
}

/// The host function may call nothing of CUDA, so it runs without the lock being in its way.
WARPMAT_CUDA_API Error cudaLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  return enqueue(__func__, [&](Context& context) {
    require(function != nullptr);
    submit(context, stream, {.type = NodeType::host, .work = [=](Context&) { function(data); }, .made_from = HostCall{function, data}});
  });
}

WARPMAT_CUDA_API Error cudaStreamAddCallback(Stream* stream, void (*function)(Stream*, Error, void*), void* data, unsigned flags) {
  return enqueue(__func__, [&](Context& context) {
    require(function != nullptr && flags == 0);
    refuse_capture(stream);
    submit(context, stream, {.type = NodeType::host, .work = [=](Context&) { function(stream, cudaSuccess, data); }});
  });
}

WARPMAT_CUDA_PER_THREAD(cudaStreamSynchronize, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamQuery, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamGetFlags, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamGetPriority, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamGetId, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamGetDevice, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamSetAttribute, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamGetAttribute, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamCopyAttributes, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaLaunchHostFunc, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamAddCallback, ptsz)

}  // namespace warpmat::cuda
