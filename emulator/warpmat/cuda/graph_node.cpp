// The nodes of a graph one by one: made, asked, changed, in a graph and in an executable one.

#include <algorithm>
#include <cstring>
#include <utility>

#include <warpmat/cuda/copy.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/registration.h>

namespace warpmat::cuda {
namespace {

using Nodes = GraphNode* const*;

using Edge = std::pair<GraphNode*, GraphNode*>;

/// The edges that are given by their ends, each once. Throws ApiError unless they are between nodes of `graph`.
std::vector<Edge> edges_of(const Graph& graph, Nodes from, Nodes to, std::size_t count) {
  require(count == 0 || (from != nullptr && to != nullptr));
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const Edge edge{from[i], to[i]};
    require(has_node(graph, from[i]) && has_node(graph, to[i]) && std::ranges::find(edges, edge) == edges.end());
    edges.push_back(edge);
  }
  return edges;
}

bool is_after(const GraphNode& node, const GraphNode* before) {
  return std::ranges::find(node.after, before) != node.after.end();
}

/// Adds the node that `make(context)` gives.
template <typename Make>
Error add(const char* name, GraphNode** handle, Graph* graph, Nodes after, std::size_t count, Make make) {
  return call(name, [&](Context& context) {
    require(handle != nullptr);
    Graph& to = graph_of(graph);
    std::vector<GraphNode*> before = nodes_of(to, after, count);
    *handle = &add_node(to, std::move(before), make(context));
  });
}

/// Gives a node the work of another of its type.
template <typename Make>
Error change(const char* name, GraphNode* handle, Make make) {
  return call(name, [&](Context& context) {
    GraphNode& node = node_of(handle);
    GraphNode made = make(context);
    require(made.type == node.type);
    count_levels(*node.graph, made);
    node.work = std::move(made.work);
    node.made_from = std::move(made.made_from);
  });
}

/// The node of an executable graph that was made from `node`.
GraphNode& instance(Graph* executable, const GraphNode* node) {
  Graph& graph = graph_of(executable);
  const auto found = std::ranges::find(graph.nodes, node, &GraphNode::origin);
  require(found != graph.nodes.end());
  return *found;
}

template <typename Make>
Error change_in(const char* name, Graph* executable, GraphNode* handle, Make make) {
  GraphNode* node = nullptr;
  const Error error = call(name, [&](Context&) { node = &instance(executable, handle); });
  return error != cudaSuccess ? error : change(name, node, make);
}

template <typename Value>
const Value& made_from(GraphNode* handle) {
  const auto* const value = std::get_if<Value>(&node_of(handle).made_from);
  require(value != nullptr);
  return *value;
}

GraphNode kernel_of(Context& context, const KernelCall* asked) {
  require(asked != nullptr);
  if (asked->extra != nullptr) throw ApiError(cudaErrorNotSupported, "a kernel node with arguments in `extra` is not supported");
  return kernel_node(
      context,
      {.function = &function_of(asked->func), .grid = asked->gridDim, .block = asked->blockDim, .shared_bytes = asked->sharedMemBytes},
      asked->kernelParams);
}

GraphNode copy_of(Context& context, const Copy3D* asked) {
  require(asked != nullptr);
  return copy_node(context, *asked);
}

GraphNode copy_1d(Context& context, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  Copy3D copy{};
  copy.dstPtr = {to, bytes, bytes, 1};  // one row, whose pitch is none
  copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return copy_node(context, copy);
}

GraphNode fill_of(Context& context, const Fill* asked) {
  require(asked != nullptr);
  return fill_node(context, *asked);
}

GraphNode host_of(const HostCall* asked) {
  require(asked != nullptr && asked->fn != nullptr);
  return {.type = NodeType::host, .work = host_work([call = *asked] { call.fn(call.userData); }), .made_from = *asked};
}

GraphNode child_of(Graph* child) {
  if (std::ranges::find(graph_of(child).nodes, NodeType::conditional, &GraphNode::type) != graph_of(child).nodes.end())
    throw ApiError(cudaErrorNotSupported, "a child graph with a conditional node is not supported, nor is it by an H100");
  const std::shared_ptr<Graph> copy = cuda::copy_of(graph_of(child));
  in_order(*copy);
  return {.type = NodeType::child, .work = [copy](Context& context) { run(context, *copy); }, .made_from = copy};
}

GraphNode event_of_type(NodeType type, Event* event) {
  event_of(event);
  const auto record = [event](Context&) {
    event_of(event).recorded = true;
    event_of(event).time = std::chrono::steady_clock::now();
  };
  return {.type = type, .work = type == NodeType::event_record ? Work(record) : Work(), .made_from = event};
}

/// A conditional node of `graph`; its bodies go into `asked`.
GraphNode conditional_of(Graph& graph, NodeParameters& asked) {
  auto& [handle, type, size, bodies] = asked.of.conditional;
  const auto kind = static_cast<Conditional::Kind>(type);
  require(type >= 0 && type <= static_cast<int>(Conditional::Kind::choice) && size >= 1);
  require(size <= (kind == Conditional::Kind::when ? 2 : kind == Conditional::Kind::loop ? 1 : size));
  const auto is_it = [address = std::uint64_t{handle}](const std::shared_ptr<Condition>& each) { return each->address == address; };
  const Graph* owner = &graph;  // a condition is of the node's graph, or of one that has that in a body
  while (owner != nullptr && std::ranges::none_of(owner->conditions, is_it)) owner = owner->parent;
  require(owner != nullptr);
  GraphNode node = conditional_node(kind, handle, size, graph);
  bodies = std::get<std::shared_ptr<Conditional>>(node.made_from)->bodies.data();
  return node;
}

/// What cudaGraphAddNode is given.
GraphNode node_of_parameters(Context& context, NodeParameters* asked) {
  require(asked != nullptr);
  switch (static_cast<NodeType>(asked->type)) {
    case NodeType::kernel: return kernel_of(context, &asked->of.kernel);
    case NodeType::copy: return copy_of(context, &asked->of.copy.parameters);
    case NodeType::fill: return fill_of(context, &asked->of.fill);
    case NodeType::host: return host_of(&asked->of.host);
    case NodeType::child: return child_of(asked->of.child);
    case NodeType::empty: return {};
    case NodeType::event_wait:
    case NodeType::event_record: return event_of_type(static_cast<NodeType>(asked->type), asked->of.event);
    case NodeType::allocation: return allocation_node(context, asked->of.allocation);
    case NodeType::free: return free_node(context, asked->of.pointer);
    case NodeType::memory_operations:   // of the driver alone
    case NodeType::conditional: break;  // has to be known which graph it is for
  }
  throw ApiError(cudaErrorNotSupported, "graph nodes of type " + std::to_string(asked->type) + " are not supported");
}

/// Writes as many of `nodes` as the program has room for, and how many there are.
void list(const std::vector<GraphNode*>& nodes, GraphNode** to, std::size_t* count) {
  require(count != nullptr);
  if (to != nullptr)
    for (std::size_t i = 0; i < *count; ++i) to[i] = i < nodes.size() ? nodes[i] : nullptr;
  *count = to == nullptr ? nodes.size() : std::min(*count, nodes.size());
}

}  // namespace

GraphNode allocation_node(Context& context, GraphAllocation& asked) {
  require(asked.bytesize != 0);
  require(asked.poolProps.location.id == 0, cudaErrorInvalidDevice);
  auto memory = std::make_shared<GraphMemory>();
  const std::uint64_t address = context.space.allocate(asked.bytesize, Allocation::Kind::graph, "memory of a graph");
  asked.dptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  memory->asked = asked;
  return {.type = NodeType::allocation, .work = {}, .made_from = std::move(memory)};
}

GraphNode free_node(Context& context, void* pointer) {
  require(is_of_graph(context, pointer));
  return {.type = NodeType::free, .work = {}, .made_from = pointer};
}

bool is_of_graph(Context& context, const void* pointer) {
  const Allocation* const found = context.space.find(pointer);
  return found != nullptr && found->kind == Allocation::Kind::graph && reinterpret_cast<void*>(found->address) == pointer;
}

GraphMemory::~GraphMemory() {
  Context& state = context();
  const std::lock_guard lock(mutex());
  const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(asked.dptr));
  if (state.space.find(asked.dptr) != nullptr) state.space.release(address, {Allocation::Kind::graph}, cudaErrorInvalidValue);
}

WARPMAT_CUDA_API Error cudaGraphAddKernelNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, const KernelCall* asked) {
  return add(__func__, node, graph, after, count, [&](Context& context) { return kernel_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphKernelNodeGetParams(GraphNode* node, KernelCall* asked) {
  return call(__func__, [&](Context&) {
    require(asked != nullptr);
    KernelNode& kernel = *made_from<std::shared_ptr<KernelNode>>(node);
    const Request& request = kernel.request;
    *asked = {name_of(*request.function), request.grid, request.block, static_cast<unsigned>(request.shared_bytes),
              kernel.pointers.data(),     nullptr};
  });
}

WARPMAT_CUDA_API Error cudaGraphKernelNodeSetParams(GraphNode* node, const KernelCall* asked) {
  return change(__func__, node, [&](Context& context) { return kernel_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphExecKernelNodeSetParams(Graph* executable, GraphNode* node, const KernelCall* asked) {
  return change_in(__func__, executable, node, [&](Context& context) { return kernel_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, const Copy3D* asked) {
  return add(__func__, node, graph, after, count, [&](Context& context) { return copy_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph, Nodes after, std::size_t count, void* to, const void* from,
                                                std::size_t bytes, CopyKind kind) {
  return add(__func__, node, graph, after, count, [&](Context& context) { return copy_1d(context, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphAddMemcpyNodeToSymbol(GraphNode** node, Graph* graph, Nodes after, std::size_t count, const void* symbol,
                                                      const void* from, std::size_t bytes, std::size_t offset, CopyKind kind) {
  return add(__func__, node, graph, after, count,
             [&](Context& context) { return copy_1d(context, variable_at(context, symbol, offset, bytes), from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph, Nodes after, std::size_t count, void* to,
                                                        const void* symbol, std::size_t bytes, std::size_t offset, CopyKind kind) {
  return add(__func__, node, graph, after, count,
             [&](Context& context) { return copy_1d(context, to, variable_at(context, symbol, offset, bytes), bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphMemcpyNodeGetParams(GraphNode* node, Copy3D* asked) {
  return call(__func__, [&](Context&) {
    require(asked != nullptr);
    *asked = made_from<Copy3D>(node);
  });
}

WARPMAT_CUDA_API Error cudaGraphMemcpyNodeSetParams(GraphNode* node, const Copy3D* asked) {
  return change(__func__, node, [&](Context& context) { return copy_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return change(__func__, node, [&](Context& context) { return copy_1d(context, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphExecMemcpyNodeSetParams(Graph* executable, GraphNode* node, const Copy3D* asked) {
  return change_in(__func__, executable, node, [&](Context& context) { return copy_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphExecMemcpyNodeSetParams1D(Graph* executable, GraphNode* node, void* to, const void* from, std::size_t bytes,
                                                          CopyKind kind) {
  return change_in(__func__, executable, node, [&](Context& context) { return copy_1d(context, to, from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphExecMemcpyNodeSetParamsToSymbol(Graph* executable, GraphNode* node, const void* symbol, const void* from,
                                                                std::size_t bytes, std::size_t offset, CopyKind kind) {
  return change_in(__func__, executable, node,
                   [&](Context& context) { return copy_1d(context, variable_at(context, symbol, offset, bytes), from, bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphExecMemcpyNodeSetParamsFromSymbol(Graph* executable, GraphNode* node, void* to, const void* symbol,
                                                                  std::size_t bytes, std::size_t offset, CopyKind kind) {
  return change_in(__func__, executable, node,
                   [&](Context& context) { return copy_1d(context, to, variable_at(context, symbol, offset, bytes), bytes, kind); });
}

WARPMAT_CUDA_API Error cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, const Fill* asked) {
  return add(__func__, node, graph, after, count, [&](Context& context) { return fill_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphMemsetNodeGetParams(GraphNode* node, Fill* asked) {
  return call(__func__, [&](Context&) {
    require(asked != nullptr);
    *asked = made_from<Fill>(node);
  });
}

WARPMAT_CUDA_API Error cudaGraphMemsetNodeSetParams(GraphNode* node, const Fill* asked) {
  return change(__func__, node, [&](Context& context) { return fill_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphExecMemsetNodeSetParams(Graph* executable, GraphNode* node, const Fill* asked) {
  return change_in(__func__, executable, node, [&](Context& context) { return fill_of(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphAddHostNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, const HostCall* asked) {
  return add(__func__, node, graph, after, count, [&](Context&) { return host_of(asked); });
}

WARPMAT_CUDA_API Error cudaGraphHostNodeGetParams(GraphNode* node, HostCall* asked) {
  return call(__func__, [&](Context&) {
    require(asked != nullptr);
    *asked = made_from<HostCall>(node);
  });
}

WARPMAT_CUDA_API Error cudaGraphHostNodeSetParams(GraphNode* node, const HostCall* asked) {
  return change(__func__, node, [&](Context&) { return host_of(asked); });
}

WARPMAT_CUDA_API Error cudaGraphExecHostNodeSetParams(Graph* executable, GraphNode* node, const HostCall* asked) {
  return change_in(__func__, executable, node, [&](Context&) { return host_of(asked); });
}

WARPMAT_CUDA_API Error cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, Graph* child) {
  return add(__func__, node, graph, after, count, [&](Context&) { return child_of(child); });
}

WARPMAT_CUDA_API Error cudaGraphExecChildGraphNodeSetParams(Graph* executable, GraphNode* node, Graph* child) {
  return change_in(__func__, executable, node, [&](Context&) { return child_of(child); });
}

WARPMAT_CUDA_API Error cudaGraphEventRecordNodeGetEvent(GraphNode* node, Event** event) {
  return call(__func__, [&](Context&) {
    require(event != nullptr);
    *event = made_from<Event*>(node);
  });
}

WARPMAT_CUDA_API Error cudaGraphEventWaitNodeGetEvent(GraphNode* node, Event** event) {
  return cudaGraphEventRecordNodeGetEvent(node, event);
}

WARPMAT_CUDA_API Error cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) {
  return change(__func__, node, [&](Context&) { return event_of_type(NodeType::event_record, event); });
}

WARPMAT_CUDA_API Error cudaGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) {
  return change(__func__, node, [&](Context&) { return event_of_type(NodeType::event_wait, event); });
}

WARPMAT_CUDA_API Error cudaGraphExecEventRecordNodeSetEvent(Graph* executable, GraphNode* node, Event* event) {
  return change_in(__func__, executable, node, [&](Context&) { return event_of_type(NodeType::event_record, event); });
}

WARPMAT_CUDA_API Error cudaGraphExecEventWaitNodeSetEvent(Graph* executable, GraphNode* node, Event* event) {
  return change_in(__func__, executable, node, [&](Context&) { return event_of_type(NodeType::event_wait, event); });
}

WARPMAT_CUDA_API Error cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count) {
  return add(__func__, node, graph, after, count, [](Context&) { return GraphNode{}; });
}

WARPMAT_CUDA_API Error cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, Event* event) {
  return add(__func__, node, graph, after, count, [&](Context&) { return event_of_type(NodeType::event_record, event); });
}

WARPMAT_CUDA_API Error cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, Event* event) {
  return add(__func__, node, graph, after, count, [&](Context&) { return event_of_type(NodeType::event_wait, event); });
}

WARPMAT_CUDA_API Error cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, GraphAllocation* asked) {
  return add(__func__, node, graph, after, count, [&](Context& context) {
    require(asked != nullptr);
    return allocation_node(context, *asked);
  });
}

WARPMAT_CUDA_API Error cudaGraphMemAllocNodeGetParams(GraphNode* node, GraphAllocation* asked) {
  return call(__func__, [&](Context&) {
    require(asked != nullptr);
    *asked = made_from<std::shared_ptr<GraphMemory>>(node)->asked;
  });
}

WARPMAT_CUDA_API Error cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, Nodes after, std::size_t count, void* pointer) {
  return add(__func__, node, graph, after, count, [&](Context& context) { return free_node(context, pointer); });
}

WARPMAT_CUDA_API Error cudaGraphMemFreeNodeGetParams(GraphNode* node, void** pointer) {
  return call(__func__, [&](Context&) {
    require(pointer != nullptr);
    *pointer = made_from<void*>(node);
  });
}

WARPMAT_CUDA_API Error cudaGraphAddNode(GraphNode** node, Graph* graph, Nodes after, const void*, std::size_t count,
                                        NodeParameters* asked) {
  bool made_bodies = false;
  const Error error = add(__func__, node, graph, after, count, [&](Context& context) {
    require(asked != nullptr);
    if (static_cast<NodeType>(asked->type) != NodeType::conditional) return node_of_parameters(context, asked);
    GraphNode made = conditional_of(*graph, *asked);
    made_bodies = true;
    return made;
  });
  if (error != cudaSuccess && made_bodies) asked->of.conditional.graphs = nullptr;  // they are gone
  return error;
}

WARPMAT_CUDA_API Error cudaGraphNodeSetParams(GraphNode* node, NodeParameters* asked) {
  return change(__func__, node, [&](Context& context) { return node_of_parameters(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphExecNodeSetParams(Graph* executable, GraphNode* node, NodeParameters* asked) {
  return change_in(__func__, executable, node, [&](Context& context) { return node_of_parameters(context, asked); });
}

WARPMAT_CUDA_API Error cudaGraphNodeGetType(GraphNode* node, int* type) {
  return call(__func__, [&](Context&) {
    require(type != nullptr);
    *type = static_cast<int>(node_of(node).type);
  });
}

WARPMAT_CUDA_API Error cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return call(__func__, [&](Context&) {
    std::vector<GraphNode*> all;
    for (GraphNode& node : graph_of(graph).nodes) all.push_back(&node);
    list(all, nodes, count);
  });
}

WARPMAT_CUDA_API Error cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return call(__func__, [&](Context&) {
    std::vector<GraphNode*> roots;
    for (GraphNode& node : graph_of(graph).nodes)
      if (node.after.empty()) roots.push_back(&node);
    list(roots, nodes, count);
  });
}

WARPMAT_CUDA_API Error cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, void*, std::size_t* count) {
  return call(__func__, [&](Context&) {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    std::vector<GraphNode*> starts, ends;
    for (GraphNode& node : graph_of(graph).nodes)
      for (GraphNode* const before : node.after) {
        starts.push_back(before);
        ends.push_back(&node);
      }
    std::size_t places = *count;
    list(starts, from, &places);
    list(ends, to, count);
  });
}

WARPMAT_CUDA_API Error cudaGraphNodeGetDependencies(GraphNode* node, GraphNode** nodes, void*, std::size_t* count) {
  return call(__func__, [&](Context&) { list(node_of(node).after, nodes, count); });
}

WARPMAT_CUDA_API Error cudaGraphNodeGetDependentNodes(GraphNode* handle, GraphNode** nodes, void*, std::size_t* count) {
  return call(__func__, [&](Context&) {
    std::vector<GraphNode*> behind;
    for (GraphNode& node : node_of(handle).graph->nodes)
      if (std::ranges::find(node.after, handle) != node.after.end()) behind.push_back(&node);
    list(behind, nodes, count);
  });
}

WARPMAT_CUDA_API Error cudaGraphAddDependencies(Graph* graph, Nodes from, Nodes to, const void*, std::size_t count) {
  return call(__func__, [&](Context&) {
    const std::vector<Edge> edges = edges_of(graph_of(graph), from, to, count);
    for (const auto& [before, behind] : edges) require(before != behind && !is_after(*behind, before));
    for (const auto& [before, behind] : edges) behind->after.push_back(before);
  });
}

WARPMAT_CUDA_API Error cudaGraphRemoveDependencies(Graph* graph, Nodes from, Nodes to, const void*, std::size_t count) {
  return call(__func__, [&](Context&) {
    const std::vector<Edge> edges = edges_of(graph_of(graph), from, to, count);
    for (const auto& [before, behind] : edges) require(is_after(*behind, before));
    for (const auto& [before, behind] : edges) std::erase(behind->after, before);
  });
}

WARPMAT_CUDA_API Error cudaGraphDestroyNode(GraphNode* handle) {
  return call(__func__, [&](Context&) {
    Graph& graph = *node_of(handle).graph;
    require(!is_active(&graph), cudaErrorIllegalState);
    for (GraphNode& node : graph.nodes) std::erase(node.after, handle);
    std::erase_if(graph.nodes, [&](const GraphNode& node) { return &node == handle; });
  });
}

WARPMAT_CUDA_API Error cudaGraphNodeFindInClone(GraphNode** found, GraphNode* node, Graph* clone) {
  return call(__func__, [&](Context&) {
    require(found != nullptr);
    *found = &instance(clone, node);
  });
}

WARPMAT_CUDA_API Error cudaGraphNodeSetEnabled(Graph* executable, GraphNode* node, unsigned enabled) {
  return call(__func__, [&](Context&) { instance(executable, node).enabled = enabled != 0; });
}

WARPMAT_CUDA_API Error cudaGraphNodeGetEnabled(Graph* executable, GraphNode* node, unsigned* enabled) {
  return call(__func__, [&](Context&) {
    require(enabled != nullptr);
    *enabled = instance(executable, node).enabled ? 1 : 0;
  });
}

}  // namespace warpmat::cuda
