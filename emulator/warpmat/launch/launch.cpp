#include <warpmat/launch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include <warpmat/assembler/assemble.h>
#include <warpmat/launch/running_launch.h>
#include <warpmat/lower/parameter_text.h>
#include <warpmat/lower/resolve.h>
#include <warpmat/machine/device_heap.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/stored_buffer.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/tables/hardware.h>

namespace warpmat {
namespace {

constexpr std::uint32_t most_shared_bytes = 227 << 10;

void check_limits(const code::Program& program, const LaunchConfig& config) {
  const Dim3 block = config.block;
  if (config.grid.count() == 0 || block.count() == 0)
    throw std::invalid_argument("grid and block have at least one block and one thread in each dimension");
  const Dim3 grid = config.grid;
  if (grid.x > max_grid[0] || grid.y > max_grid[1] || grid.z > max_grid[2])
    throw std::invalid_argument(fmt::format("a grid has at most {}, {} and {} blocks in the dimensions, not {}x{}x{}", max_grid[0],
                                            max_grid[1], max_grid[2], grid.x, grid.y, grid.z));
  if (block.count() > max_block_threads || block.x > max_block[0] || block.y > max_block[1] || block.z > max_block[2])
    throw std::invalid_argument(fmt::format("a block has at most {} threads ({}, {} and {} in the dimensions), not {}x{}x{}",
                                            max_block_threads, max_block[0], max_block[1], max_block[2], block.x, block.y, block.z));
  const code::Limits& limits = program.limits;
  if (static_cast<std::int64_t>(block.count()) > most_threads(limits))
    throw std::invalid_argument(fmt::format("'{}' is compiled for blocks of at most {} threads (.maxntid), not {}",
                                            readable_name(program.entry), most_threads(limits), block.count()));
  const std::int64_t* required = limits.required_threads;
  if (required[0] > 0 && (block.x != required[0] || block.y != required[1] || block.z != required[2]))
    throw std::invalid_argument(fmt::format("'{}' is compiled for blocks of {}x{}x{} threads (.reqntid), not {}x{}x{}",
                                            readable_name(program.entry), required[0], required[1], required[2], block.x, block.y,
                                            block.z));
  if (std::uint64_t{program.dynamic_offset} + config.shared_bytes > most_shared_bytes)
    throw std::invalid_argument(fmt::format("{} bytes of dynamic and {} of static shared memory: a block has at most {}",
                                            config.shared_bytes, program.shared_bytes, most_shared_bytes));
}

/// The cluster size: the launch's, or the one for which the entry is compiled.
Dim3 cluster_of(const code::Program& program, const LaunchConfig& config) {
  constexpr std::uint64_t max_blocks = 16;
  const Dim3 own = config.cluster, cluster = program.limits.cluster(own);
  if (own.count() != 1 && own != cluster)
    throw std::invalid_argument(fmt::format("'{}' is compiled for clusters of {}x{}x{} blocks (.reqnctapercluster), not {}x{}x{}",
                                            readable_name(program.entry), cluster.x, cluster.y, cluster.z, own.x, own.y, own.z));
  const std::uint64_t count = cluster.count();
  const auto most = static_cast<std::uint64_t>(program.limits.max_cluster_blocks);
  if (count == 0 || count > max_blocks || (most != 0 && count > most))
    throw std::invalid_argument(fmt::format("a cluster of {} blocks: there are from 1 to {}", count, most != 0 ? most : max_blocks));
  if (count > 1 && !hardware_traits(program.target->number).clusters)
    throw std::invalid_argument(fmt::format("clusters of blocks need sm_90 or later; the target is {}", program.target->name));
  const Dim3 grid = config.grid;
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    throw std::invalid_argument(fmt::format("a grid of {}x{}x{} blocks is not made of clusters of {}x{}x{}", grid.x, grid.y, grid.z,
                                            cluster.x, cluster.y, cluster.z));
  return cluster;
}

std::vector<std::uint8_t> place_arguments(const code::Program& program, const std::vector<Argument>& arguments) {
  if (arguments.size() != program.parameters.size())
    throw std::invalid_argument(fmt::format("'{}' has {} parameter{}{}; {} {} given", readable_name(program.entry),
                                            program.parameters.size(), program.parameters.size() == 1 ? "" : "s",
                                            code::parameter_text(program), arguments.size(),
                                            arguments.size() == 1 ? "argument is" : "arguments are"));
  std::vector<std::uint8_t> bytes(program.parameter_bytes);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const code::Parameter& parameter = program.parameters[i];
    const std::vector<std::uint8_t>& given = arguments[i].bytes();
    if (given.size() != parameter.bytes)
      throw std::invalid_argument(fmt::format("parameter {} of '{}' (.{} {}) has {} bytes, its argument has {}", i,
                                              readable_name(program.entry), parameter.type, readable_name(parameter.name), parameter.bytes,
                                              given.size()));
    std::ranges::copy(given, bytes.begin() + parameter.offset);
  }
  return bytes;
}

/// Allocates a buffer for each of the module's variables, but those that are `known` to lie in one, and returns the addresses of all. Where
/// an allocation fails it frees those before.
std::vector<std::uint64_t> allocate_variables(const code::Program& program, DeviceMemory& memory,
                                              const std::map<std::string, std::uint64_t>& known) {
  std::vector<std::uint64_t> addresses, made;
  try {
    for (const code::Variable& variable : program.module_variables) {
      const auto found = known.find(std::string(variable.name));
      if (found == known.end()) made.push_back(memory.allocate(variable.bytes, readable_name(variable.name)));
      addresses.push_back(found != known.end() ? found->second : made.back());
    }
  } catch (...) {
    for (const std::uint64_t address : made) memory.remove(address);
    throw;
  }
  return addresses;
}

/// Places the module's variables once in each memory, each in its own buffer with its initial contents, but those that are `known` to lie
/// in one. Returns their addresses.
const std::vector<std::uint64_t>& place_module(const code::Program& program, DeviceMemory& memory,
                                               const std::map<std::string, std::uint64_t>& known = {}) {
  auto& modules = Internals::modules(memory);
  if (const auto placed = modules.find(program.module); placed != modules.end()) return placed->second;
  std::vector<std::uint64_t> addresses = allocate_variables(program, memory, known);
  std::vector<std::uint8_t> contents = program.module_bytes;
  for (const code::Relocation& relocation : program.module_relocations) {
    const std::uint64_t address = (addresses[static_cast<std::size_t>(relocation.variable)] + relocation.addend) >> relocation.shift;
    std::memcpy(contents.data() + relocation.at, &address, static_cast<std::size_t>(relocation.bytes));
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const code::Variable& variable = program.module_variables[i];
    if (variable.contents != 0 && !known.contains(std::string(variable.name)))
      std::memcpy(memory.bytes(addresses[i], variable.contents).data(), contents.data() + variable.address, variable.contents);
  }
  return modules.emplace(program.module, std::move(addresses)).first->second;
}

/// Throws std::invalid_argument unless a buffer holds all of the module's variable `name` from `address` on.
void check_place(const code::Program& program, const DeviceMemory& memory, std::string_view name, std::uint64_t address) {
  const auto variable = std::ranges::find(program.module_variables, name, &code::Variable::name);
  if (std::ranges::count(program.module_variables, name, &code::Variable::name) > 1)
    throw std::invalid_argument(fmt::format("several variables of the module have the name '{}'", name));
  if (variable == program.module_variables.end())
    throw std::invalid_argument(fmt::format("the module has no .global or .const variable '{}': names are those of the PTX", name));
  if (variable->bytes != 0 && !find_range(memory, address, variable->bytes))
    throw std::invalid_argument(fmt::format("variable '{}' of {} bytes does not lie in one buffer at {:#x}: {}", name, variable->bytes,
                                            address, memory.describe(address)));
}

/// The bytes of `levels` levels of recursion, of a warp or lane. A GPU has fewer.
std::uint32_t bytes_of_levels(std::uint64_t bytes, std::uint64_t levels, const char* what) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (bytes > most / levels)
    throw std::invalid_argument(
        fmt::format("{} take {} bytes at {} levels of calls; warpmat holds {} bytes of them", what, bytes, levels, most));
  return static_cast<std::uint32_t>(bytes * levels);
}

/// What blocks of all launches use. Never destroyed: launches may come from destructors at exit.
machine::SpareStorage& spare_storage() {
  static auto* const spare = new machine::SpareStorage;
  return *spare;
}

}  // namespace

Module::Module(std::string text) : syntax_(std::make_shared<const syntax::Module>(syntax::parse_module(std::move(text)))) {}

std::vector<std::string> Module::entries() const {
  std::vector<std::string> names;
  for (const syntax::Function& function : syntax_->functions)
    if (function.entry && function.defined) names.emplace_back(function.name);
  return names;
}

Kernel::Kernel(const Module& module, std::string_view entry, const KernelOptions& options) {
  code::AssemblerOptions assembler = code::parse_assembler_options(options.assembler_options);
  assembler.contract = assembler.contract && options.contract;
  const Target* const target = options.target.empty() ? nullptr : &warpmat::target(options.target);
  program_ = std::make_shared<const code::Program>(code::resolve(
      Internals::syntax(module), entry, target, [&](code::ProgramDraft& draft) { code::assemble(draft, assembler, options.decisions); },
      options.keep_registers));
}

std::string Kernel::entry() const {
  return std::string(program_->entry);
}

std::string Kernel::target() const {
  return std::string(program_->target->name);
}

std::vector<Kernel::Parameter> Kernel::parameters() const {
  std::vector<Parameter> all;
  for (const code::Parameter& p : program_->parameters)
    all.push_back({std::string(p.name), p.offset, p.bytes, p.alignment, std::string(p.type), p.pointer});
  return all;
}

std::vector<Kernel::Variable> Kernel::variables() const {
  std::vector<Variable> all;
  for (const code::Variable& v : program_->module_variables) all.push_back({std::string(v.name), v.bytes, v.space == Space::constant});
  return all;
}

std::uint64_t variable_address(const Kernel& kernel, DeviceMemory& memory, std::string_view name) {
  const std::vector<code::Variable>& variables = program_of(kernel).module_variables;
  std::vector<std::string_view> names;
  for (const code::Variable& variable : variables) names.push_back(variable.name);
  const std::string_view full = find_name(names, name);
  if (full.empty()) throw std::invalid_argument(fmt::format("the module has no .global or .const variable '{}'", name));
  const auto found = std::ranges::find(variables, full, &code::Variable::name);
  return place_module(program_of(kernel), memory)[static_cast<std::size_t>(found - variables.begin())];
}

void place_variables(const Kernel& kernel, DeviceMemory& memory, const std::map<std::string, std::uint64_t>& addresses) {
  const code::Program& program = program_of(kernel);
  if (Internals::modules(memory).contains(program.module))
    throw std::invalid_argument("variables of the kernel's module lie in this memory already: they are placed before a launch, and once");
  for (const auto& [name, address] : addresses) check_place(program, memory, name, address);
  static_cast<void>(place_module(program, memory, addresses));
}

namespace {

Kernel checked(Kernel kernel, const LaunchConfig& config, const LaunchOptions& options) {
  if (options.jobs < 0) throw std::invalid_argument(fmt::format("{} jobs: 0 or more", options.jobs));
  check_limits(program_of(kernel), config);
  return kernel;
}

/// Places the module and the heap, where the kernel uses it. Returns the addresses of the variables.
const std::vector<std::uint64_t>& place_all(const code::Program& program, DeviceMemory& memory) {
  const std::vector<std::uint64_t>* const variables = &place_module(program, memory);
  if (program.any<code::Call>([](const code::Call& call) {
        using Called = code::Call::Target;
        return call.target == Called::allocate || call.target == Called::prepare_launch || call.target == Called::put_memory;
      }))
    static_cast<void>(heap_of(memory));
  return *variables;
}

LaunchConfig with_cluster(const code::Program& program, LaunchConfig config) {
  config.cluster = cluster_of(program, config);
  return config;
}

std::uint32_t shared_bytes_of(const code::Program& program, const LaunchConfig& config) {
  return program.reserved_shared + std::max(program.shared_bytes, program.dynamic_offset + config.shared_bytes);
}

/// So many seconds; nothing without a limit. Throws std::invalid_argument.
std::optional<std::chrono::steady_clock::duration> time_of(double seconds) {
  constexpr double most = 1e9;  // time points of the clock end in 292 years
  if (!(seconds >= 0)) throw std::invalid_argument(fmt::format("a launch has a limit of {:g} s: it would be 0 or more", seconds));
  if (seconds == 0) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(std::min(seconds, most)));
}

}  // namespace

RunningLaunch::RunningLaunch(Kernel kernel, const LaunchConfig& config, DeviceMemory& memory, const std::vector<Argument>& arguments,
                             const LaunchOptions& options)
    : kernel_(checked(std::move(kernel), config, options)),
      options_(options),
      state_{.program = program_of(kernel_),
             .config = with_cluster(program_of(kernel_), config),
             .options = options,
             .memory = memory,
             .thread_indices{program_of(kernel_), config.block},
             .parameters = place_arguments(program_of(kernel_), arguments),
             .shared_bytes = shared_bytes_of(program_of(kernel_), config),
             .frame_bytes = bytes_of_levels(program_of(kernel_).call_tree.level_bytes, program_of(kernel_).call_tree.levels(),
                                            "the registers of a warp's functions"),
             .local_bytes = bytes_of_levels(program_of(kernel_).call_tree.local_bytes, program_of(kernel_).call_tree.levels(),
                                            "the local memory of a lane's functions"),
             .spare = &spare_storage(),
             .printed_bytes = &printed_bytes_,
             .checks = [this](std::uint64_t cluster) { return checks::make(setup_, cluster); }},
      constants_(state_.program, place_all(state_.program, memory), state_.parameters, state_.config.cluster.count(), state_.spare),
      setup_{state_.program, options.checks, state_.shared_bytes, state_.frame_bytes, reports_},
      time_left_(time_of(options.most_seconds)) {
  const code::Program& program = state_.program;
  state_.constants = constants_.begin();
  state_.constants_of_rank = constants_.of_rank();
  state_.explicit_cluster = state_.config.cluster.count() > 1 || program.limits.required_cluster[0] > 0;
  if (program.executes(catalogue::Semantics::wgmma)) state_.chunk_lists = &chunk_lists_.emplace();
  setup_.memory = &memory;
  setup_.grid = state_.config.grid;
  setup_.cluster = state_.config.cluster;
  follow_writes(memory, options.checks.uninitialised && options.checks.global);
  setup_.as_cards = options.timing == Timing::card;
  setup_.follows_global = options.checks.uninitialised && options.checks.global && has_unwritten(memory);
  grid_ = machine::make_grid(state_);
}

bool RunningLaunch::run(machine::Patience patience) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = time_left_ ? Clock::now() : Clock::time_point();
  if (time_left_) state_.end = begin + *time_left_;
  try {
    const bool ended = grid_->run(patience);
    if (time_left_) *time_left_ -= Clock::now() - begin;
    return ended;
  } catch (const Trap& trap) {
    if (trap.kind != Trap::Kind::mispaired) throw;
    Trap::Reason reason = trap.parts;  // what was warned of before is often the cause
    for (const Trap& warning : reports_.warnings.all()) reason.notes.push_back(checks::note_of(warning));
    throw trap.because(reason);
  }
}

LaunchResult RunningLaunch::result() {
  LaunchResult result = grid_->result();
  checks::finish_races(setup_);
  for (const checks::Warnings* const some : reports_.all_warnings())
    for (const Trap& warning : some->all())
      if (!options_.suppresses || !options_.suppresses(warning)) checks::add_warning(result, warning);
  result.absent_lanes = reports_.absent_lanes.all();
  checks::finish(setup_, result);
  return result;
}

bool RunningLaunch::can_repeat() const {
  const Checks& checks = options_.checks;
  const bool keeps_state = checks.races || checks.global || chunk_lists_ || time_left_;
  return !keeps_state && reports_.none() && grid_->can_repeat();
}

void RunningLaunch::begin_again(void* const* arguments) {
  const code::Program& program = state_.program;
  for (const code::Parameter& parameter : program.parameters)
    std::memcpy(state_.parameters.data() + parameter.offset, *arguments++, parameter.bytes);
  constants_.insert(program, place_all(program, state_.memory), state_.parameters);
  follow_writes(state_.memory, false);
  state_.number = machine::next_launch_number();
  printed_bytes_ = 0;
  grid_->begin_again();
}

LaunchResult launch(const Kernel& kernel, const LaunchConfig& config, DeviceMemory& memory, const std::vector<Argument>& arguments,
                    const LaunchOptions& options) {
  RunningLaunch running(kernel, config, memory, arguments, options);
  while (!running.run(machine::Patience::last)) continue;
  return running.result();
}

}  // namespace warpmat
