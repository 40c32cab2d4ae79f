#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include <warpmat/cuda/context.h>

namespace warpmat::cuda {

// All work runs in the calling thread when it is enqueued, in the order of the calls. That is a legal order for all streams.

using Work = std::function<void(Context&)>;

/// Work that a capture recorded.
struct Graph {
  std::vector<Work> work;
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  Graph* capture = nullptr;  ///< work is recorded there instead of run
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  Graph* capture = nullptr;  ///< recorded in a stream that captures
};

/// The stream of a handle: of cudaStreamCreate, or one of the default ones. Throws ApiError with cudaErrorInvalidResourceHandle.
Stream& stream_of(Stream* handle);

/// Runs `work`, or records it if the stream captures.
void submit(Context& context, Stream* handle, Work work);

/// Ends the part that all streams have in the capture of `graph`.
void leave_capture(const Graph* graph);

/// Throws ApiError with cudaErrorStreamCaptureUnsupported if the stream captures.
void refuse_capture(Stream* handle);

}  // namespace warpmat::cuda
