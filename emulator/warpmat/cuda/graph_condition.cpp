// Conditional nodes of graphs: their conditions, and what they run.

#include <cstring>
#include <mutex>

#include <warpmat/cuda/context.h>
#include <warpmat/cuda/graph.h>

namespace warpmat::cuda {
namespace {

void write_condition(Context& context, std::uint64_t address, std::uint32_t value) {
  std::memcpy(context.space.memory().bytes(address, sizeof value).data(), &value, sizeof value);
}

std::uint32_t read_condition(Context& context, std::uint64_t address) {
  std::uint32_t value = 0;
  std::memcpy(&value, context.space.memory().bytes(address, sizeof value).data(), sizeof value);
  return value;
}

void run_conditional(Context& context, const Conditional& conditional) {
  const auto value = [&] { return read_condition(context, conditional.condition); };
  const auto run_body = [&](std::size_t i) {
    if (i < conditional.bodies.size()) run(context, *conditional.bodies[i]);
  };
  switch (conditional.kind) {
    case Conditional::Kind::when: run_body(value() != 0 ? 0 : 1); break;
    case Conditional::Kind::loop:
      while (value() != 0 && !context.has_fault()) run_body(0);
      break;
    case Conditional::Kind::choice: run_body(value()); break;
  }
}

}  // namespace

Condition::~Condition() {
  Context& state = context();
  const std::lock_guard lock(mutex());
  if (address != 0) state.space.memory().free(address);
}

Conditional::~Conditional() {
  for (Graph* const body : bodies) unpublish(body);
}

GraphNode conditional_node(Conditional::Kind kind, std::uint64_t condition, std::size_t count, Graph& parent, const Conditional* from) {
  const auto conditional = std::make_shared<Conditional>();
  conditional->kind = kind;
  conditional->condition = condition;
  for (std::size_t i = 0; i < count; ++i) {
    conditional->bodies.push_back(publish(from == nullptr ? make_fresh<Graph>() : copy_of(*from->bodies[i]), no_owner));
    conditional->bodies.back()->parent = &parent;
  }
  return {.type = NodeType::conditional,
          .work = [conditional](Context& state) { run_conditional(state, *conditional); },
          .made_from = conditional};
}

void set_conditions(Context& context, const Graph& graph) {
  for (const std::shared_ptr<Condition>& condition : graph.conditions)
    if (condition->at_launch) write_condition(context, condition->address, *condition->at_launch);
  for (const GraphNode& node : graph.nodes) {
    if (const auto* const child = std::get_if<std::shared_ptr<Graph>>(&node.made_from); child != nullptr && *child != nullptr)
      set_conditions(context, **child);
    if (const auto* const conditional = std::get_if<std::shared_ptr<Conditional>>(&node.made_from))
      for (const Graph* const body : (*conditional)->bodies) set_conditions(context, *body);
  }
}

WARPMAT_CUDA_API Error cudaGraphConditionalHandleCreate(unsigned long long* handle, Graph* graph, unsigned value, unsigned flags) {
  constexpr unsigned assign_default = 1;
  return call(__func__, [&](Context& context) {
    require(handle != nullptr && flags <= assign_default);
    Graph& owner = graph_of(graph);
    const auto condition = std::make_shared<Condition>();
    condition->address = context.space.memory().allocate(sizeof value, "the condition of a graph");
    if (flags == assign_default) condition->at_launch = value;
    write_condition(context, condition->address, 0);
    owner.conditions.push_back(condition);
    *handle = condition->address;
  });
}

}  // namespace warpmat::cuda
