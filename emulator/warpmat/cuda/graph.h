#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <variant>
#include <vector>

#include <warpmat/cuda/launch.h>
#include <warpmat/cuda/stream.h>
#include <warpmat/cuda/types.h>
#include <warpmat/cuda/user_object.h>

namespace warpmat::cuda {

/// A kernel with its arguments, as a node keeps it.
struct KernelNode {
  Request request;
  std::shared_ptr<const Function> function;  ///< keeps the request's
  std::vector<std::vector<std::uint8_t>> arguments;
  std::vector<void*> pointers;  ///< to `arguments`
};

/// Memory of a graph: allocated when its node is added, until the last graph that has the node is destroyed.
struct GraphMemory {
  GraphAllocation asked = {};
  GraphMemory() = default;
  GraphMemory(const GraphMemory&) = delete;
  ~GraphMemory();
};

struct Graph;

/// cudaGraphNodeType.
enum class NodeType : int {
  kernel,
  copy,
  fill,
  host,
  child,
  empty,
  event_wait,
  event_record,
  allocation = 10,
  free = 11,
  memory_operations = 12,
  conditional = 13
};

/// A number in device memory that kernels set (cudaGraphSetConditional) and conditional nodes read. Its handle is its address.
struct Condition {
  std::uint64_t address = 0;
  std::optional<std::uint32_t> at_launch = {};  ///< the number that a launch of the graph begins with
  Condition() = default;
  Condition(const Condition&) = delete;
  ~Condition();
};

/// A node that runs graphs as a condition says. The graphs are handles, which the program fills.
struct Conditional {
  enum class Kind : int { when, loop, choice };  ///< cudaGraphConditionalNodeType
  Kind kind = Kind::when;
  std::uint64_t condition = 0;  ///< an address
  std::vector<Graph*> bodies = {};
  Conditional() = default;
  Conditional(const Conditional&) = delete;
  ~Conditional();
};

struct GraphNode {
  NodeType type = NodeType::empty;
  Work work = {};                      ///< empty: nothing is done
  Owner owner = current_owner();       ///< the context that it runs in
  std::vector<GraphNode*> after = {};  ///< of the same graph: their work comes before
  Graph* graph = nullptr;
  const GraphNode* origin = nullptr;  ///< the node that this is a copy of; only compared
  bool enabled = true;
  /// What the node was made from, for the calls that ask for it: none of a captured copy.
  std::variant<std::monostate, std::shared_ptr<KernelNode>, Copy3D, Fill, HostCall, std::shared_ptr<Graph>, Event*,
               std::shared_ptr<GraphMemory>, void*, std::shared_ptr<Conditional>>
      made_from = {};
};

struct Graph {
  std::pmr::list<GraphNode> nodes{&fresh_memory()};  ///< in the order in which they were added
  std::vector<std::shared_ptr<Condition>> conditions = {};
  UserReferences user_objects = {};
  Graph* parent = nullptr;  ///< of a body of a conditional node: the node's graph
  unsigned levels = 1;      ///< of graphs in graphs, itself the first
  Graph() = default;
  Graph(const Graph&) = delete;
  ~Graph();  ///< streams leave a capture into it
};

/// The node that allocates what is asked for, now: its address goes into `asked`. Throws ApiError.
GraphNode allocation_node(Context& context, GraphAllocation& asked);
/// The node that frees memory of a graph. Its bytes stay until the graph is destroyed, as another launch of it has them again.
GraphNode free_node(Context& context, void* pointer);
/// Whether memory of a graph begins at `pointer`.
bool is_of_graph(Context& context, const void* pointer);

/// A conditional node of `parent` with `count` bodies, which are empty, or copies of those of `from`.
GraphNode conditional_node(Conditional::Kind kind, std::uint64_t condition, std::size_t count, Graph& parent,
                           const Conditional* from = nullptr);
/// Gives the conditions of the graph and of those in its nodes the numbers that they have at a launch.
void set_conditions(Context& context, const Graph& graph);

/// Counts the levels of graphs that are `node`'s as those of `graph`. Throws ApiError for more than a program's stack can hold.
void count_levels(Graph& graph, const GraphNode& node);
/// Adds a node behind `after`, which are nodes of the graph.
GraphNode& add_node(Graph& graph, std::vector<GraphNode*> after, GraphNode node);
/// Its copy, whose nodes have those of `graph` as their origins.
Fresh<Graph> copy_of(const Graph& graph);
/// The nodes, each behind those that it comes after. Throws ApiError with cudaErrorInvalidValue if they form a circle.
std::vector<const GraphNode*> in_order(const Graph& graph);
/// The work of all nodes that are enabled.
void run(Context& context, const Graph& graph);

/// The graph of a handle: of graphs, of executable ones, and of one that is being captured. Throws ApiError with cudaErrorInvalidValue.
Graph& graph_of(Graph* handle);
/// Makes `graph` a handle of the program.
Graph* publish(Fresh<Graph> graph, Owner owner = current_owner());
/// Destroys the graph of a handle. Returns whether there was one.
bool unpublish(Graph* handle);
/// The node of a handle. Throws ApiError with cudaErrorInvalidValue.
GraphNode& node_of(GraphNode* handle);
bool has_node(const Graph& graph, const GraphNode* handle);
/// Nodes of `graph`, each once. Throws ApiError with cudaErrorInvalidValue.
std::vector<GraphNode*> nodes_of(const Graph& graph, GraphNode* const* handles, std::size_t count);

}  // namespace warpmat::cuda
