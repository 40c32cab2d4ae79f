#include <warpmat/cuda/stream.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/launch.h>
#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/waiting.h>

namespace warpmat::cuda {
namespace {

constexpr unsigned non_blocking = 1;
constexpr int lowest_priority = 0, highest_priority = -5, priority_attribute = 8;
/// cudaLaunchAttributeID that are of streams: access policy window, synchronisation, priority, memory domains and their map, NVLink.
constexpr std::array stream_attributes{1, 3, priority_attribute, 9, 10, 16};

bool is_stream_attribute(int id) {
  return std::ranges::find(stream_attributes, id) != stream_attributes.end();
}

/// Of each context.
struct DefaultStreams {
  Stream legacy{.id = 1}, per_thread{.flags = non_blocking, .id = 2};
};

struct Streams {
  std::map<Owner, DefaultStreams> defaults;
  Handles<Stream> made;
  std::uint64_t last_id = 2;

  void leave(Context&, Owner owner) {
    made.drop(owner, abandon_capture);
    const auto found = defaults.find(owner);
    if (found == defaults.end()) return;
    abandon_capture(found->second.per_thread);
    defaults.erase(found);
  }
};

Streams& streams() {
  return context().part<Streams>();
}

Stream* make_stream(unsigned flags, int priority) {
  require((flags & ~non_blocking) == 0);
  Streams& all = streams();
  return all.made.make(Stream{.flags = flags, .priority = std::clamp(priority, highest_priority, lowest_priority), .id = ++all.last_id});
}

}  // namespace

bool& null_is_per_thread() {
  static thread_local bool is = false;
  return is;
}

Stream& stream_of(Stream* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  Streams& all = streams();
  constexpr std::uintptr_t legacy = 1, per_thread = 2;  // cudaStreamLegacy, cudaStreamPerThread
  if (number > per_thread) return all.made.at(handle);
  DefaultStreams& own = all.defaults[current_owner()];
  return number == per_thread || (number != legacy && null_is_per_thread()) ? own.per_thread : own.legacy;
}

Owner owner_of_stream(Stream* handle) {
  static_cast<void>(stream_of(handle));
  const Owner owner = streams().made.owner_of(handle);
  return owner == 0 ? current_owner() : owner;
}

bool captures(Stream* handle) {
  return stream_of(handle).capture != nullptr;
}

bool capture(Stream* handle, const std::function<GraphNode()>& make) {
  Stream& stream = stream_of(handle);
  if (stream.capture == nullptr) return false;
  const AsOwner as(owner_of_stream(handle));
  stream.front = {&add_node(*stream.capture, stream.front, make())};
  return true;
}

void submit(Context& context, Stream* handle, GraphNode node) {
  if (!capture(handle, [&] { return std::move(node); })) run_in_order(context, handle, node.work);
}

void leave_capture(const Graph* graph) {
  const auto leave = [&](Stream& stream) {
    if (stream.capture != graph) return;
    stream.capture = nullptr;
    stream.capture_number = 0;
    stream.front.clear();
  };
  streams().made.for_each(leave);
  for (auto& [owner, own] : streams().defaults) leave(own.per_thread);
}

Work host_work(std::function<void()> function) {
  return [function = std::move(function)](Context&) {
    struct Inside {
      Inside() { in_host_function() = true; }
      Inside(const Inside&) = delete;
      ~Inside() { in_host_function() = false; }
    } const inside;
    function();
  };
}

void refuse_capture(Stream* handle) {
  require(!captures(handle), cudaErrorStreamCaptureUnsupported);
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
    const Fresh<Stream> destroyed = streams().made.take(stream);
    require(destroyed != nullptr, cudaErrorInvalidResourceHandle);
    abandon_capture(*destroyed);
  });
}

WARPMAT_CUDA_API Error cudaStreamSynchronize(Stream* stream) {
  return call(__func__, [&](Context& context) {
    refuse_capture(stream);
    finish(context, stream);
  });
}

WARPMAT_CUDA_API Error cudaStreamQuery(Stream* stream) {
  return call(__func__, [&](Context& context) {
    refuse_capture(stream);
    look_at_paused(context);
    require(!is_busy(context, stream), cudaErrorNotReady);
  });
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
    *device = gpu_of(owner_of_stream(stream));
  });
}

/// The attributes of a stream (cudaStreamAttrID) are those of launches: hints about time, which are kept.
WARPMAT_CUDA_API Error cudaStreamSetAttribute(Stream* handle, int id, const void* value) {
  return call(__func__, [&](Context&) {
    require(value != nullptr && is_stream_attribute(id));
    Stream& stream = stream_of(handle);
    check_attribute(id, value);
    if (id == priority_attribute) {
      std::memcpy(&stream.priority, value, sizeof stream.priority);
      stream.priority = std::clamp(stream.priority, highest_priority, lowest_priority);
    }
    std::memcpy(stream.attributes[id].data(), value, stream.attributes[id].size());
  });
}

WARPMAT_CUDA_API Error cudaStreamGetAttribute(Stream* handle, int id, void* value) {
  return call(__func__, [&](Context&) {
    require(value != nullptr && is_stream_attribute(id));
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

WARPMAT_CUDA_API Error cudaLaunchHostFunc(Stream* stream, void (*function)(void*), void* data) {
  return enqueue(__func__, [&](Context& context) {
    require(function != nullptr);
    submit(context, stream, {.type = NodeType::host, .work = host_work([=] { function(data); }), .made_from = HostCall{function, data}});
  });
}

WARPMAT_CUDA_API Error cudaStreamAddCallback(Stream* stream, void (*function)(Stream*, Error, void*), void* data, unsigned flags) {
  return enqueue(__func__, [&](Context& context) {
    require(function != nullptr && flags == 0);
    refuse_capture(stream);
    submit(context, stream, {.type = NodeType::host, .work = host_work([=] { function(stream, cudaSuccess, data); })});
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
