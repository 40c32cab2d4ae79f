#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <warpmat/cuda/context.h>

namespace warpmat::cuda {

// Work runs in the calling thread when it is enqueued, in the order of the calls, unless it comes behind a kernel that waits: waiting.h.
// That is a legal order for all streams.

using Work = std::function<void(Context&)>;

struct Graph;
struct GraphNode;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  Graph* capture = nullptr;                             ///< work is recorded there instead of run
  std::uint64_t capture_number = 0;                     ///< of that capture; no two have one
  std::vector<GraphNode*> front = {};                   ///< of the capture: what the next work of this stream comes after
  std::map<int, std::array<char, 64>> attributes = {};  ///< those that were set, which change no result
};

constexpr unsigned untimed_event = 2, interprocess_event = 4;  ///< cudaEventDisableTiming, cudaEventInterprocess

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  std::uint64_t capture_number = 0;    ///< of the capture that it is recorded in; 0: of none
  std::vector<GraphNode*> front = {};  ///< and behind these nodes
  std::uint64_t ticket = 0;            ///< of what it is recorded behind, as long as that has not ended (waiting.h)
};

/// The stream of a handle: of cudaStreamCreate, or one of the default ones. Throws ApiError with cudaErrorInvalidResourceHandle.
Stream& stream_of(Stream* handle);
/// The context that has it; of a default stream the current one.
Owner owner_of_stream(Stream* handle);

bool captures(Stream* handle);
/// If the stream captures, adds the node that `make` gives to the graph. Returns whether it does.
bool capture(Stream* handle, const std::function<GraphNode()>& make);
/// Runs `node.work` in the order of the stream, or adds the node to the graph if the stream captures.
void submit(Context& context, Stream* handle, GraphNode node);
/// Whether a capture into `graph` has not ended.
bool is_active(const Graph* graph);
/// The graph of a capture that has not ended, or nullptr.
Graph* graph_of_capture(std::uint64_t number);
/// The event of a handle. Throws ApiError with cudaErrorInvalidResourceHandle.
Event& event_of(Event* handle);

/// Ends the part that all streams have in the capture of `graph`.
void leave_capture(const Graph* graph);
/// Ends the capture that `origin` began, if it is in one. Its graph is lost, unless it is the program's.
void abandon_capture(const Stream& origin);
/// The host function that a stream or a graph calls. It may not use CUDA.
Work host_work(std::function<void()> function);

/// Throws ApiError with cudaErrorStreamCaptureUnsupported if the stream captures.
void refuse_capture(Stream* handle);

}  // namespace warpmat::cuda
