// Graphs: captures of streams, execution. A node's work is what the call would have done; graph_node.cpp makes nodes one by one.

#include <warpmat/cuda/graph.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/core.h>

#include <warpmat/cuda/per_thread.h>
#include <warpmat/cuda/waiting.h>

namespace warpmat::cuda {
namespace {

/// A capture that has not ended, and the stream that began it.
struct Capture {
  const Stream* origin = nullptr;
  Graph* graph = nullptr;
  std::uint64_t number = 0;
  Fresh<Graph> own = {};  ///< of a capture that began without a graph of the program
};

struct Graphs {
  std::vector<Capture> captures;  ///< streams end theirs
  Handles<Graph> made;
  std::uint64_t last_number = 0;  ///< of a capture

  void leave(Context&, Owner owner) { made.drop(owner); }
};

std::vector<Capture>& captures() {
  return context().part<Graphs>().captures;
}

Handles<Graph>& graphs() {
  return context().part<Graphs>().made;
}

void begin_capture(Stream* handle, int mode, Graph* into, std::vector<GraphNode*> after) {
  Stream& stream = stream_of(handle);
  require(mode >= 0 && mode <= 2);
  require(stream.id > 1, cudaErrorStreamCaptureUnsupported);  // the legacy stream
  require(stream.capture == nullptr && (into == nullptr || !is_active(into)), cudaErrorIllegalState);
  Fresh<Graph> own = into == nullptr ? make_fresh<Graph>() : nullptr;
  stream.capture = into == nullptr ? own.get() : &graph_of(into);
  stream.capture_number = ++context().part<Graphs>().last_number;
  stream.front = std::move(after);
  captures().push_back({&stream, stream.capture, stream.capture_number, std::move(own)});
}

/// What an executable graph becomes by `graph`: cudaGraphExecUpdate.
enum class Update : int { success = 0, topology_changed = 2, type_changed = 3 };

/// The node at which `graph` differs from `executable` in a way that no update allows, and how.
std::pair<Update, GraphNode*> compare(const Graph& executable, Graph& graph) {
  std::map<const GraphNode*, std::size_t> old_places, new_places;
  for (const GraphNode& node : executable.nodes) old_places.emplace(&node, old_places.size());
  for (const GraphNode& node : graph.nodes) new_places.emplace(&node, new_places.size());
  if (old_places.size() != new_places.size()) return {Update::topology_changed, nullptr};
  auto old = executable.nodes.begin();
  for (GraphNode& node : graph.nodes) {
    std::set<std::size_t> before, now;
    for (const GraphNode* const each : old->after) before.insert(old_places.at(each));
    for (const GraphNode* const each : node.after) now.insert(new_places.at(each));
    if (before != now) return {Update::topology_changed, &node};
    if (old++->type != node.type) return {Update::type_changed, &node};
  }
  return {Update::success, nullptr};
}

/// Gives a copy of a conditional node graphs of its own.
void copy_bodies(GraphNode& node) {
  const auto* const conditional = std::get_if<std::shared_ptr<Conditional>>(&node.made_from);
  if (conditional == nullptr) return;
  const Conditional& old = **conditional;
  GraphNode own = conditional_node(old.kind, old.condition, old.bodies.size(), *node.graph, &old);
  node.work = std::move(own.work);
  node.made_from = std::move(own.made_from);
}

/// Destroys a graph of the program: not one that is captured into, nor a body, which its node destroys.
void destroy(Graph* handle) {
  require(!is_active(handle), cudaErrorIllegalState);
  require(graphs().at(handle, cudaErrorInvalidValue).parent == nullptr);
  unpublish(handle);
}

}  // namespace

bool is_active(const Graph* graph) {
  return std::ranges::find(captures(), graph, &Capture::graph) != captures().end();
}

Graph* graph_of_capture(std::uint64_t number) {
  const auto found = std::ranges::find(captures(), number, &Capture::number);
  return found == captures().end() ? nullptr : found->graph;
}

Graph::~Graph() {
  if (std::erase_if(captures(), [&](const Capture& each) { return each.graph == this; }) != 0) leave_capture(this);
}

void count_levels(Graph& graph, const GraphNode& node) {
  constexpr unsigned most_levels = 128;
  unsigned below = 0;
  if (const auto* const child = std::get_if<std::shared_ptr<Graph>>(&node.made_from); child != nullptr && *child != nullptr)
    below = (*child)->levels;
  if (const auto* const conditional = std::get_if<std::shared_ptr<Conditional>>(&node.made_from))
    for (const Graph* const body : (*conditional)->bodies) below = std::max(below, body->levels);
  unsigned above = 0;
  for (const Graph* each = graph.parent; each != nullptr; each = each->parent) ++above;
  if (above + 1 + below > most_levels)
    throw ApiError(cudaErrorNotSupported, fmt::format("more than {} graphs, each in the next, are not supported", most_levels));
  for (Graph* each = &graph; each != nullptr; each = each->parent) each->levels = std::max(each->levels, ++below);
}

GraphNode& add_node(Graph& graph, std::vector<GraphNode*> after, GraphNode node) {
  count_levels(graph, node);
  GraphNode& added = graph.nodes.emplace_back(std::move(node));
  added.graph = &graph;
  added.after = std::move(after);
  return added;
}

Fresh<Graph> copy_of(const Graph& graph) {
  auto copy = make_fresh<Graph>();
  copy->conditions = graph.conditions;
  copy->user_objects = graph.user_objects;
  std::map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode& node : graph.nodes) {
    GraphNode& made = add_node(*copy, {}, node);
    copy_bodies(made);
    made.origin = &node;
    copies[&node] = &made;
  }
  for (const GraphNode& node : graph.nodes)
    for (GraphNode* const each : node.after) copies.at(&node)->after.push_back(copies.at(each));
  return copy;
}

std::vector<const GraphNode*> in_order(const Graph& graph) {
  std::vector<const GraphNode*> order;
  std::set<const GraphNode*> placed;
  for (std::size_t before = SIZE_MAX; before != order.size() && order.size() < graph.nodes.size();) {
    before = order.size();
    for (const GraphNode& node : graph.nodes) {
      const auto is_placed = [&](const GraphNode* each) { return placed.contains(each); };
      if (is_placed(&node) || !std::ranges::all_of(node.after, is_placed)) continue;
      order.push_back(&node);
      placed.insert(&node);
    }
  }
  require(order.size() == graph.nodes.size());
  return order;
}

void run(Context& context, const Graph& graph) {
  for (const GraphNode* const node : in_order(graph))
    if (node->enabled && node->work && !context.has_fault()) {
      const AsOwner as(node->owner);
      node->work(context);
      end_paused_part(context);
    }
}

namespace {

GraphNode child_node(const std::shared_ptr<Graph>& graph) {
  const auto work = [graph](Context& context) {
    set_conditions(context, *graph);
    run(context, *graph);
  };
  return {.type = NodeType::child, .work = work, .made_from = graph};
}

/// The work of a graph in a stream: each node comes behind those that it names alone, and what the stream gets next behind all.
void launch_graph(Context& context, Stream* stream, const std::shared_ptr<const Graph>& graph) {
  const Ticket begin = run_in_order(context, stream, [graph](Context& state) { set_conditions(state, *graph); });
  std::map<const GraphNode*, std::vector<Ticket>> ends;  // what comes behind a node comes behind these
  std::vector<Ticket> all;
  for (const GraphNode* const node : in_order(*graph)) {
    std::vector<Ticket> after{begin};
    for (const GraphNode* const each : node->after) std::ranges::copy(ends[each], std::back_inserter(after));
    if (node->enabled && node->work && !context.has_fault()) {
      const AsOwner as(node->owner);
      const Ticket ticket = run_behind(context, node->work, after);
      after.assign(ticket != 0 ? 1 : 0, ticket);
      std::ranges::copy(after, std::back_inserter(all));
    }
    ends[node] = std::move(after);
  }
  if (!all.empty())
    run_in_order(
        context, stream, [](Context&) {}, all);
}

}  // namespace

Graph& graph_of(Graph* handle) {
  require(graphs().find(handle) != nullptr || is_active(handle));
  return *handle;
}

Graph* publish(Fresh<Graph> graph, Owner owner) {
  return graphs().add(std::move(graph), owner);
}

bool unpublish(Graph* handle) {
  return graphs().take(handle) != nullptr;  // destroyed when it is out of the table: its nodes may have graphs of their own there
}

void abandon_capture(const Stream& origin) {
  const auto found = std::ranges::find(captures(), &origin, &Capture::origin);
  if (found == captures().end()) return;
  const Capture abandoned = std::move(*found);  // a graph that goes with it is no one's any more
  captures().erase(found);
  leave_capture(abandoned.graph);
}

bool has_node(const Graph& graph, const GraphNode* handle) {
  return std::ranges::any_of(graph.nodes, [&](const GraphNode& node) { return &node == handle; });
}

GraphNode& node_of(GraphNode* handle) {
  bool found = std::ranges::any_of(captures(), [&](const Capture& each) { return has_node(*each.graph, handle); });
  graphs().for_each([&](const Graph& graph) { found = found || has_node(graph, handle); });
  require(found);
  return *handle;
}

std::vector<GraphNode*> nodes_of(const Graph& graph, GraphNode* const* handles, std::size_t count) {
  require(count == 0 || handles != nullptr);
  std::vector<GraphNode*> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    require(has_node(graph, handles[i]) && std::ranges::find(nodes, handles[i]) == nodes.end());
    nodes.push_back(handles[i]);
  }
  return nodes;
}

WARPMAT_CUDA_API Error cudaStreamBeginCapture(Stream* stream, int mode) {
  return call(__func__, [&](Context&) { begin_capture(stream, mode, nullptr, {}); });
}

WARPMAT_CUDA_API Error cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph, GraphNode* const* after, const void*, std::size_t count,
                                                     int mode) {
  return call(__func__, [&](Context&) { begin_capture(stream, mode, graph, nodes_of(graph_of(graph), after, count)); });
}

WARPMAT_CUDA_API Error cudaStreamEndCapture(Stream* handle, Graph** graph) {
  return call(__func__, [&](Context&) {
    Stream& stream = stream_of(handle);
    require(stream.capture != nullptr, cudaErrorIllegalState);
    const auto found = std::ranges::find(captures(), &stream, &Capture::origin);
    require(found != captures().end(), cudaErrorStreamCaptureUnmatched);
    require(graph != nullptr || found->own == nullptr);  // a graph of the program needs no name for it
    Capture ended = std::move(*found);
    captures().erase(found);
    leave_capture(ended.graph);
    if (graph != nullptr) *graph = ended.own != nullptr ? publish(std::move(ended.own)) : ended.graph;
  });
}

WARPMAT_CUDA_API Error cudaStreamIsCapturing(Stream* stream, int* status) {
  return enqueue(__func__, [&](Context&) {
    require(status != nullptr);
    *status = stream_of(stream).capture != nullptr ? 1 : 0;
  });
}

WARPMAT_CUDA_API Error cudaStreamGetCaptureInfo(Stream* handle, int* status, unsigned long long* id, Graph** graph,
                                                GraphNode* const** after, const void** edges, std::size_t* count) {
  return enqueue(__func__, [&](Context&) {
    require(status != nullptr);
    const Stream& stream = stream_of(handle);
    *status = stream.capture != nullptr ? 1 : 0;
    if (edges != nullptr) *edges = nullptr;
    if (stream.capture == nullptr) return;
    if (id != nullptr) *id = stream.capture_number;
    if (graph != nullptr) *graph = stream.capture;
    if (after != nullptr) *after = stream.front.data();
    if (count != nullptr) *count = stream.front.size();
  });
}

WARPMAT_CUDA_API Error cudaStreamUpdateCaptureDependencies(Stream* handle, GraphNode* const* after, const void*, std::size_t count,
                                                           unsigned flags) {
  return call(__func__, [&](Context&) {
    constexpr unsigned set = 1;
    Stream& stream = stream_of(handle);
    require(stream.capture != nullptr, cudaErrorIllegalState);
    require(flags <= set);
    const std::vector<GraphNode*> nodes = nodes_of(*stream.capture, after, count);
    if (flags == set) stream.front.clear();
    stream.front.insert(stream.front.end(), nodes.begin(), nodes.end());
  });
}

WARPMAT_CUDA_API Error cudaThreadExchangeStreamCaptureMode(int* mode) {
  return call(__func__, [&](Context&) {
    static thread_local int current = 0;
    require(mode != nullptr && *mode >= 0 && *mode <= 2);
    std::swap(*mode, current);
  });
}

WARPMAT_CUDA_API Error cudaGraphCreate(Graph** graph, unsigned flags) {
  return call(__func__, [&](Context&) {
    require(graph != nullptr && flags == 0);
    *graph = publish(make_fresh<Graph>());
  });
}

WARPMAT_CUDA_API Error cudaGraphInstantiate(Graph** executable, Graph* graph, unsigned long long flags) {
  constexpr unsigned long long known_flags = 1 | 2 | 4 | 8;  // cudaGraphInstantiateFlags
  return call(__func__, [&](Context&) {
    require(executable != nullptr && (flags & ~known_flags) == 0);
    in_order(graph_of(graph));
    *executable = publish(copy_of(graph_of(graph)));
  });
}

WARPMAT_CUDA_API Error cudaGraphInstantiateWithFlags(Graph** executable, Graph* graph, unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

WARPMAT_CUDA_API Error cudaGraphInstantiateWithParams(Graph** executable, Graph* graph, GraphInstantiation* parameters) {
  if (parameters == nullptr) return last_error() = cudaErrorInvalidValue;
  const Error error = cudaGraphInstantiate(executable, graph, parameters->flags);
  parameters->node = nullptr;
  parameters->result = error == cudaSuccess ? 0 : 2;  // success, invalid structure
  return error;
}

WARPMAT_CUDA_API Error cudaGraphExecGetFlags(Graph* executable, unsigned long long* flags) {
  return call(__func__, [&](Context&) {
    graph_of(executable);
    require(flags != nullptr);
    *flags = 0;
  });
}

WARPMAT_CUDA_API Error cudaGraphClone(Graph** clone, Graph* graph) {
  return cudaGraphInstantiate(clone, graph, 0);
}

WARPMAT_CUDA_API Error cudaGraphExecUpdate(Graph* executable, Graph* graph, GraphUpdate* result) {
  return call(__func__, [&](Context&) {
    Graph& old = graph_of(executable);
    const auto [how, where] = compare(old, graph_of(graph));
    if (result != nullptr) *result = {static_cast<int>(how), where, nullptr};
    require(how == Update::success, cudaErrorGraphExecUpdateFailure);
    auto from = graph->nodes.begin();
    for (GraphNode& node : old.nodes) {
      node.work = from->work;
      node.made_from = from++->made_from;
      copy_bodies(node);
    }
    old.conditions = graph->conditions;
    old.levels = std::max(old.levels, graph->levels);
  });
}

WARPMAT_CUDA_API Error cudaGraphLaunch(Graph* executable, Stream* stream) {
  return enqueue(__func__, [&](Context& context) {
    const Graph& graph = graph_of(executable);
    if (stream_of(stream).capture == nullptr && !is_busy(context))
      return launch_graph(context, stream, std::shared_ptr<const Graph>(std::shared_ptr<void>(), &graph));
    const std::shared_ptr<Graph> copy = copy_of(graph);  // the program may destroy its own before it runs
    if (!capture(stream, [&] { return child_node(copy); })) launch_graph(context, stream, copy);
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
WARPMAT_CUDA_PER_THREAD(cudaStreamBeginCaptureToGraph, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamEndCapture, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamIsCapturing, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamGetCaptureInfo, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaStreamUpdateCaptureDependencies, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaGraphInstantiateWithParams, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaGraphLaunch, ptsz)
WARPMAT_CUDA_PER_THREAD(cudaGraphUpload, ptsz)

}  // namespace warpmat::cuda
