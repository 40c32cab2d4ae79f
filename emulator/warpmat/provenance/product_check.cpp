#include <warpmat/provenance.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/machine/internals.h>
#include <warpmat/provenance/pairing.h>

namespace warpmat {

using namespace provenance;

namespace {

/// The number of the cluster to which a block belongs. Throws std::invalid_argument for one outside of the grid.
std::uint64_t cluster_of(Dim3 block, Dim3 grid, Dim3 size) {
  if (block.x >= grid.x || block.y >= grid.y || block.z >= grid.z)
    throw std::invalid_argument(
        fmt::format("there is no block ({}, {}, {}) in a grid of {}x{}x{}", block.x, block.y, block.z, grid.x, grid.y, grid.z));
  const std::uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
  return (block.z / size.z * rows + block.y / size.y) * columns + block.x / size.x;
}

/// Throws for scale factors and metadata that are not those of the elements with which they are multiplied.
void check_companions(const Gemm& gemm, const std::array<Companion, Gemm::companion_count>& companions, const DeviceMemory& memory) {
  const auto subject = [&](std::size_t i) {
    const CompanionMatrix& told = gemm.companions[i];
    return Companion::Subject{told.of_b ? gemm.b : gemm.a, told.of_b, told, memory};
  };
  for (std::size_t i = 0; i < companions.size(); ++i)
    if (const auto fault = companions[i].fault(subject(i))) throw *fault;
  if (const auto both = companions[0].common(subject(0), companions[1], subject(1))) throw *both;
}

}  // namespace

struct ProductCheck::State : PairedLaunch {
  State(const Kernel& kernel_, const DeviceMemory& memory_, Dim3 grid_)
      : PairedLaunch{.program = program_of(kernel_), .memory = memory_, .grid = grid_}, kernel(kernel_) {}

  Kernel kernel;
  std::vector<std::uint64_t> clusters;  ///< those that are followed; empty: all
};

ProductCheck::ProductCheck(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory, const std::vector<Argument>& arguments,
                           const ProductRequest& request)
    : state_(std::make_shared<State>(kernel, memory, config.grid)) {
  if (request.products.empty()) {
    if (!request.blocks.empty())
      throw std::invalid_argument("blocks to look at need the product that the kernel computes, as in C=A*B^T:128x128x64");
    if (request.element)
      throw std::invalid_argument("the way of an element needs the product that the kernel computes, as in C=A*B^T:128x128x64");
    return;
  }
  State& state = *state_;
  if (!Internals::modules(memory).contains(state.program.module)) place_variables(kernel, memory, {});
  state.gemms = find_gemms(request.products, memory, state.program, arguments);
  state.stores = decltype(state.stores)(state.gemms.size());
  state.companions = decltype(state.companions)(state.gemms.size());
  for (const Dim3 block : request.blocks)
    state.clusters.push_back(cluster_of(block, config.grid, state.program.limits.cluster(config.cluster)));
  if (request.element) state.element = find_element(*request.element, state.gemms);
}

void ProductCheck::observe(LaunchOptions& options) const {
  if (state_->gemms.empty()) return;
  options.observers_of_clusters.insert(options.observers_of_clusters.begin(), [state = state_](std::uint64_t cluster) {
    const bool followed = state->clusters.empty() || std::ranges::find(state->clusters, cluster) != state->clusters.end();
    return followed ? std::make_unique<Pairing>(*state) : nullptr;
  });
}

ProductLaunch ProductCheck::finish(LaunchResult result) const {
  State& state = *state_;
  ProductLaunch told{std::move(result)};
  const auto warn = [&](const Trap& warning) {
    told.warnings.emplace_back(warning.what());
    told.warned.push_back(warning);
  };
  for (std::size_t i = 0; i < state.gemms.size(); ++i)
    if (!state.stores[i].formed())
      warn({Trap::Kind::mispaired, std::nullopt, -1, std::nullopt,
            fmt::format("no matrix instruction multiplies elements of {} by elements of {}: that product was not looked at",
                        state.gemms[i].a.name, state.gemms[i].b.name)});
  for (auto& [block, way] : state.ways) told.ways.push_back(std::move(way));
  if (state.element) return told;
  for (std::size_t i = 0; state.clusters.empty() && i < state.gemms.size(); ++i)
    if (const auto missing = state.stores[i].missing(state.gemms[i], std::string(state.program.entry))) throw *missing;
  for (std::size_t i = 0; i < state.gemms.size(); ++i)
    if (const auto report = state.stores[i].without_products(state.gemms[i])) warn(*report);
  for (std::size_t i = 0; i < state.gemms.size(); ++i) check_companions(state.gemms[i], state.companions[i], state.memory);
  return told;
}

ProductLaunch launch_products(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory,
                              const std::vector<Argument>& arguments, const ProductRequest& request, const LaunchOptions& options) {
  const ProductCheck check(kernel, config, memory, arguments, request);
  LaunchOptions observed = options;
  check.observe(observed);
  return check.finish(launch(kernel, config, memory, arguments, observed));
}

}  // namespace warpmat
