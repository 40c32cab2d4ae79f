#include <algorithm>
#include <chrono>

#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/cuda/waiting.h>

namespace warpmat::cuda {
namespace {

constexpr unsigned known_flags = 1 | untimed_event | interprocess_event;

struct Events {
  Handles<Event> made;
  void leave(Context&, Owner owner) { made.drop(owner); }
};

Handles<Event>& events() {
  return context().part<Events>().made;
}

/// An event is recorded in streams of its context alone.
void require_same_context(Event* event, Stream* stream) {
  require(events().find(event) != nullptr && events().owner_of(event) == owner_of_stream(stream), cudaErrorInvalidResourceHandle);
}

/// The time of an event is that at which what it is recorded behind has ended.
Ticket record_in_order(Context& context, Event* handle, Stream* stream) {
  if (!is_busy(context)) return 0;
  return run_in_order(context, stream, [handle](Context&) {
    if (Event* const event = events().find(handle)) event->time = std::chrono::steady_clock::now();
  });
}

}  // namespace

Event& event_of(Event* handle) {
  return events().at(handle);
}

WARPMAT_CUDA_API Error cudaEventCreateWithFlags(Event** event, unsigned flags) {
  return call(__func__, [&](Context&) {
    require(event != nullptr && (flags & ~known_flags) == 0);
    require((flags & interprocess_event) == 0 || (flags & untimed_event) != 0);
    *event = events().make(Event{.flags = flags, .recorded = false, .time = {}});
  });
}

WARPMAT_CUDA_API Error cudaEventCreate(Event** event) {
  return cudaEventCreateWithFlags(event, 0);
}

WARPMAT_CUDA_API Error cudaEventDestroy(Event* event) {
  return call(__func__, [&](Context&) { require(events().take(event) != nullptr, cudaErrorInvalidResourceHandle); });
}

WARPMAT_CUDA_API Error cudaEventRecord(Event* handle, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    Event& event = event_of(handle);
    require_same_context(handle, stream);
    event.capture_number = stream_of(stream).capture_number;
    event.front = stream_of(stream).front;
    event.recorded = event.capture_number == 0;
    event.time = std::chrono::steady_clock::now();
    if (event.recorded) event.ticket = record_in_order(context, handle, stream);
  });
}

WARPMAT_CUDA_API Error cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
  constexpr unsigned external = 1;
  const Error error = enqueue(__func__, [&](Context&) { require(flags <= external); });
  return error == cudaSuccess ? cudaEventRecord(event, stream) : error;
}

/// Of an event that is recorded in a capture, the stream joins the capture.
WARPMAT_CUDA_API Error cudaStreamWaitEvent(Stream* handle, Event* event, unsigned flags) {
  return enqueue(__func__, [&](Context& context) {
    require(flags <= 1);
    const Event& waited = event_of(event);
    Stream& stream = stream_of(handle);
    if (waited.capture_number == 0) {
      if (!has_ended(context, waited.ticket)) run_in_order(context, handle, [](Context&) {}, {waited.ticket});
      return;
    }
    require(stream.id > 1, cudaErrorStreamCaptureImplicit);  // the legacy stream
    Graph* const graph = graph_of_capture(waited.capture_number);
    require(graph != nullptr, cudaErrorCapturedEvent);
    require(stream.capture_number == 0 || stream.capture_number == waited.capture_number, cudaErrorStreamCaptureMerge);
    stream.capture = graph;
    stream.capture_number = waited.capture_number;
    for (GraphNode* const node : waited.front)
      if (std::ranges::find(stream.front, node) == stream.front.end()) stream.front.push_back(node);
  });
}

WARPMAT_CUDA_API Error cudaEventSynchronize(Event* event) {
  return call(__func__, [&](Context& context) {
    require(event_of(event).capture_number == 0, cudaErrorCapturedEvent);
    finish(context, event_of(event).ticket);
  });
}

WARPMAT_CUDA_API Error cudaEventQuery(Event* event) {
  return call(__func__, [&](Context& context) {
    require(event_of(event).capture_number == 0, cudaErrorCapturedEvent);
    look_at_paused(context);
    require(has_ended(context, event_of(event).ticket), cudaErrorNotReady);
  });
}

/// The time that the emulation took, more than zero.
WARPMAT_CUDA_API Error cudaEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  return call(__func__, [&](Context& context) {
    require(milliseconds != nullptr);
    const Event &first = event_of(start), &last = event_of(end);
    require(events().owner_of(start) == events().owner_of(end), cudaErrorInvalidResourceHandle);
    require(first.recorded && last.recorded && ((first.flags | last.flags) & untimed_event) == 0, cudaErrorInvalidResourceHandle);
    require(has_ended(context, first.ticket) && has_ended(context, last.ticket), cudaErrorNotReady);
    const std::chrono::duration<float, std::milli> between = last.time - first.time;
    *milliseconds = std::max(between.count(), 1e-3f);
  });
}

WARPMAT_CUDA_PER_THREAD(cudaEventRecord, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaEventRecordWithFlags, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamWaitEvent, ptsz)

}  // namespace warpmat::cuda
