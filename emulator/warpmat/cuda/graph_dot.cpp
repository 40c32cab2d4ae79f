// cudaGraphDebugDotPrint: a graph as Graphviz's dot reads it. NVIDIA documents no layout of the file.

#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>

#include <fmt/core.h>

#include <warpmat/cuda/file_limit.h>
#include <warpmat/cuda/graph.h>
#include <warpmat/cuda/registration.h>
#include <warpmat/ptx/text/readable_name.h>

namespace warpmat::cuda {
namespace {

std::string label_of(const GraphNode& node) {
  switch (node.type) {
    case NodeType::kernel:
      if (const auto* const kernel = std::get_if<std::shared_ptr<KernelNode>>(&node.made_from); kernel != nullptr && *kernel != nullptr)
        return "kernel " + readable_name((*kernel)->request.function->name);
      return "kernel";
    case NodeType::copy: return "memcpy";
    case NodeType::fill: return "memset";
    case NodeType::host: return "host";
    case NodeType::child: return "child graph";
    case NodeType::empty: return "empty";
    case NodeType::event_wait: return "event wait";
    case NodeType::event_record: return "event record";
    case NodeType::allocation: return "mem alloc";
    case NodeType::free: return "mem free";
    case NodeType::memory_operations: return "batch mem op";
    case NodeType::conditional: return "conditional";
  }
  return {};
}

std::string dot_of(const Graph& graph) {
  std::unordered_map<const GraphNode*, std::size_t> numbers;
  std::string text = "digraph dot {\n";
  for (const GraphNode& node : graph.nodes) {
    numbers.emplace(&node, numbers.size());
    text += fmt::format("  node_{} [label=\"{}: {}\"];\n", numbers.at(&node), numbers.at(&node), label_of(node));
  }
  for (const GraphNode& node : graph.nodes)
    for (const GraphNode* const before : node.after) text += fmt::format("  node_{} -> node_{};\n", numbers.at(before), numbers.at(&node));
  return text + "}\n";
}

}  // namespace

WARPMAT_CUDA_API Error cudaGraphDebugDotPrint(Graph* graph, const char* path, unsigned flags) {
  return call(__func__, [&](Context&) {
    const std::string text = dot_of(graph_of(graph));
    require(path != nullptr && flags < 1 << 16);  // cudaGraphDebugDotFlags
    const FileLimit limit;
    std::ofstream out(path);
    require((out << text).flush().good(), cudaErrorOperatingSystem);
  });
}

}  // namespace warpmat::cuda
