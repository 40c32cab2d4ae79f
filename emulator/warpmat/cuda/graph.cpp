// Graphs by capture. A graph is a list of work in the order of the calls.

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/stream.h>

namespace warpmat::cuda {
namespace {

/// Streams that joined a capture, with the one that began it first.
struct Capture {
  Stream* origin = nullptr;
  Graph* graph = nullptr;
};

std::vector<Capture>& captures() {
  static auto* const all = new std::vector<Capture>;
  return *all;
}

std::set<Graph*>& graphs() {
  static auto* const all = new std::set<Graph*>;
  return *all;
}

Graph& graph_of(Graph* handle) {
  require(graphs().contains(handle));
  return *handle;
}

Graph* copy_of(Graph* handle) {
  auto* const made = new Graph(graph_of(handle));
  graphs().insert(made);
  return made;
}

void destroy(Graph* handle) {
  require(graphs().erase(handle) == 1);
  delete handle;
}

}  // namespace

WARPMAT_CUDA_API Error cudaStreamBeginCapture(Stream* handle, int mode) {
  return call(__func__, [&](Context&) {
    Stream& stream = stream_of(handle);
    require(mode >= 0 && mode <= 2);
    require(stream.id > 1, cudaErrorStreamCaptureUnsupported);  // the legacy stream
    require(stream.capture == nullptr, cudaErrorIllegalState);
    stream.capture = new Graph;
    captures().push_back({&stream, stream.capture});
  });
}

WARPMAT_CUDA_API Error cudaStreamEndCapture(Stream* handle, Graph** graph) {
  return call(__func__, [&](Context&) {
    require(graph != nullptr);
    Stream& stream = stream_of(handle);
    require(stream.capture != nullptr, cudaErrorIllegalState);
    const auto found =
        std::find_if(captures().begin(), captures().end(), [&](const Capture& capture) { return capture.origin == &stream; });
    require(found != captures().end(), cudaErrorStreamCaptureUnmatched);
    *graph = found->graph;
    captures().erase(found);
    leave_capture(*graph);
    graphs().insert(*graph);
  });
}

WARPMAT_CUDA_API Error cudaStreamIsCapturing(Stream* stream, int* status) {
  return enqueue(__func__, [&](Context&) {
    require(status != nullptr);
    *status = stream_of(stream).capture != nullptr ? 1 : 0;
  });
}

WARPMAT_CUDA_API Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call(__func__, [&](Context&) {
    static thread_local int current = 0;
    require(mode != nullptr && *mode >= 0 && *mode <= 2);
    std::swap(*mode, current);
  });
}

WARPMAT_CUDA_API Error cudaGraphInstantiate(Graph** executable, Graph* graph, unsigned long long) {
  return call(__func__, [&](Context&) {
    require(executable != nullptr);
    *executable = copy_of(graph);
  });
}

WARPMAT_CUDA_API Error cudaGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

WARPMAT_CUDA_API Error cudaGraphClone(Graph** clone, Graph* graph) {
  return cudaGraphInstantiate(clone, graph, 0);
}

WARPMAT_CUDA_API Error cudaGraphLaunch(Graph* executable, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    submit(context, stream, [work = graph_of(executable).work](Context& state) {
      for (const Work& each : work)
        if (!state.has_fault()) each(state);
    });
  });
}

WARPMAT_CUDA_API Error cudaGraphUpload(Graph* executable, Stream* stream) {
  return enqueue(__func__, [&](Context&) {
    graph_of(executable);
    stream_of(stream);
  });
}

WARPMAT_CUDA_API Error cudaGraphDestroy(Graph* graph) {
  return call(__func__, [&](Context&) { destroy(graph); });
}

WARPMAT_CUDA_API Error cudaGraphExecDestroy(Graph* executable) {
  return call(__func__, [&](Context&) { destroy(executable); });
}

WARPMAT_CUDA_PER_THREAD(cudaStreamBeginCapture, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamEndCapture, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamIsCapturing, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaGraphLaunch, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaGraphUpload, ptsz)

}  // namespace warpmat::cuda
