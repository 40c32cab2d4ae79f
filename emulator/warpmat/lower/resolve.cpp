#include <warpmat/lower/resolve.h>
#include <warpmat/text.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <warpmat/lower/context.h>
#include <warpmat/lower/emit.h>
#include <warpmat/lower/system_functions.h>
#include <warpmat/ptx/text/readable_name.h>
#include <warpmat/tables/hardware.h>

namespace warpmat::code {
namespace {

/// The numbers of targets of PTX ISA section 11.1.2 for GPUs that warpmat does not emulate: their code runs on every later GPU.
constexpr int other_targets[]{10, 11, 12, 13, 20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 72};

/// The family that a hardware's targets sm_Nf and sm_Na name; 0 if there is none.
int family_of(Hardware hardware) {
  const auto found = std::ranges::find_if(targets(), [&](const Target& t) { return t.hardware == hardware && t.family != 0; });
  return found == targets().end() ? 0 : found->family;
}

bool runs_on(const Target& own, const Target& wanted) {
  switch (own.features) {
    case Target::Features::baseline: return wanted.number >= own.number;
    case Target::Features::family: return family_of(wanted.hardware) == own.family && wanted.number >= own.number;
    case Target::Features::architecture: return wanted.number == own.number;
  }
  return false;
}

const Target& find_later_target(std::string_view module_target, const Target* wanted) {
  const int* const other = std::ranges::find(other_targets, module_target, [](int number) { return fmt::format("sm_{}", number); });
  if (other == std::end(other_targets))
    throw std::invalid_argument(fmt::format("warpmat knows no target '{}', which the module names", module_target));
  if (wanted == nullptr)
    throw std::invalid_argument(
        fmt::format("warpmat is no {}, which the module names: name a later target, for example sm_80", module_target));
  if (wanted->number < *other) throw std::invalid_argument(fmt::format("PTX for {} does not run on {}", module_target, wanted->name));
  return *wanted;
}

/// The registers that ptxas 13.0 gives a thread of a kernel with setmaxnreg, or 0 if undetermined: ptxas then ignores setmaxnreg.
std::int64_t registers_at_entry(const syntax::Function& entry, const Limits& limits) {
  constexpr std::int64_t of_multiprocessor = 65536, granule = 8, most_of_thread = 256;
  const auto number = [&](const char* name) {
    const syntax::Directive* directive = entry.find_directive(name);
    return directive == nullptr || directive->numbers.empty() ? std::int64_t{0} : std::int64_t{directive->numbers.front()};
  };
  if (const std::int64_t most = number(".maxnreg"); most > 0 && most < most_of_thread) return (most + granule - 1) / granule * granule;
  const std::int64_t* const size = limits.max_threads[0] != 0 ? limits.max_threads : limits.required_threads;
  std::int64_t registers = of_multiprocessor;
  // divided one by one, because a product may overflow
  for (const std::int64_t among : {size[0], size[1], size[2], number(".minnctapersm")}) {
    if (among <= 0) return 0;
    registers /= among;
  }
  return std::min(registers / granule * granule, most_of_thread);
}

void read_limits(const syntax::Function& entry, Limits& limits) {
  const auto read = [](const syntax::Directive* directive, std::int64_t* to) {
    if (directive == nullptr) return;
    for (const std::int64_t number : directive->numbers)
      if (!std::in_range<std::uint32_t>(number)) fail(directive->location, fmt::format("{} {} is no size", directive->name, number));
    for (std::size_t i = 0; i < 3; ++i) to[i] = i < directive->numbers.size() ? directive->numbers[i] : 1;
  };
  read(entry.find_directive(".maxntid"), limits.max_threads);
  read(entry.find_directive(".reqntid"), limits.required_threads);
  read(entry.find_directive(".reqnctapercluster"), limits.required_cluster);
  if (const syntax::Directive* most = entry.find_directive(".maxclusterrank"); most != nullptr && !most->numbers.empty())
    limits.max_cluster_blocks = most->numbers.front();
  limits.registers = registers_at_entry(entry, limits);
}

/// Whether or not the entry calls them.
void check_system_functions(const syntax::Module& module, std::vector<Diagnostic>& errors) {
  for (const syntax::Function& function : module.functions) {
    const SystemFunction* const known = find_system_function(function.name);
    if (known == nullptr || module.find_function(function.name)->defined) continue;
    try {
      check_declaration(*known, function);
    } catch (const StatementError& error) {
      errors.push_back(diagnose(*module.text, error.location, error.message));
    }
  }
}

/// The functions of the draft, and those that they call.
void resolve_all(ProgramDraft& draft, std::vector<Diagnostic>& errors, const std::function<void(ProgramDraft&)>& assemble) {
  check_system_functions(*draft.program.module, errors);
  for (std::size_t i = 0; i < draft.functions.size(); ++i) resolve_function(draft, static_cast<int>(i), errors);
  if (errors.empty()) assemble(draft);
}

}  // namespace

const syntax::Function& find_entry(const syntax::Module& module, std::string_view name) {
  std::vector<std::string_view> names;
  for (const syntax::Function& function : module.functions)
    if (function.entry && function.defined) names.push_back(function.name);
  if (names.empty()) throw std::invalid_argument("the module has no .entry");
  const std::string_view found = find_name(names, name);
  if (found.empty()) throw std::invalid_argument(fmt::format("the module has no entry '{}'; it has: {}", name, quoted_names(names)));
  return *std::ranges::find_if(module.functions, [&](const syntax::Function& f) { return f.entry && f.defined && f.name == found; });
}

const Target& find_run_target(const syntax::Module& module, const Target* wanted) {
  if (module.target.empty()) {
    if (wanted == nullptr) throw std::invalid_argument("the module has no .target: name one");
    return *wanted;
  }
  const Target* own = find_target(module.target);
  if (own == nullptr) return find_later_target(module.target, wanted);
  if (wanted == nullptr) return *own;
  if (!runs_on(*own, *wanted)) throw std::invalid_argument(fmt::format("PTX for {} does not run on {}", own->name, wanted->name));
  return own->features == Target::Features::baseline || wanted->number != own->number ? *wanted : *own;
}

std::int64_t most_threads(const Limits& limits) {
  std::int64_t most = 1;
  for (const std::int64_t size : limits.max_threads) most *= std::min<std::int64_t>(size, max_block_threads + 1);  // at most 2^31
  return most == 0 ? max_block_threads : std::min<std::int64_t>(most, max_block_threads);
}

std::size_t bytes(RegisterClass register_class) {
  switch (register_class) {
    case RegisterClass::word: return 4 * warp_size;
    case RegisterClass::wide: return 8 * warp_size;
    case RegisterClass::quad: return 16 * warp_size;
    case RegisterClass::predicate: return 4;
  }
  return 0;
}

Program resolve(std::shared_ptr<const syntax::Module> module, std::string_view entry, const Target* target,
                const std::function<void(ProgramDraft&)>& assemble, bool keep_registers) {
  const syntax::Function& function = find_entry(*module, entry);
  const Target& run_target = find_run_target(*module, target);
  return make_program(std::move(module), &run_target, [&](ProgramDraft& draft, std::vector<Diagnostic>& errors) {
    draft.program.entry = function.name;
    draft.program.keeps_registers = keep_registers;
    place_parameters(function, draft.program);
    read_limits(function, draft.program.limits);
    draft.function_index(function);
    resolve_all(draft, errors, assemble);
  });
}

Program resolve_functions(std::shared_ptr<const syntax::Module> module, const Target* target,
                          const std::function<void(ProgramDraft&)>& assemble) {
  const Target& run_target = find_run_target(*module, target);
  return make_program(std::move(module), &run_target, [&](ProgramDraft& draft, std::vector<Diagnostic>& errors) {
    for (const syntax::Function& function : draft.program.module->functions)
      if (function.defined && !function.entry) draft.function_index(function);
    resolve_all(draft, errors, assemble);
  });
}

}  // namespace warpmat::code
