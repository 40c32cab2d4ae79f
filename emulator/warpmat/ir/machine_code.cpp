#include <warpmat/ir/machine_code.h>

#include <warpmat/ir/code.h>

namespace warpmat::code {
namespace {

// A compiled operation takes some 2 us to make and saves some 20 ns each time.
constexpr std::uint64_t executions_of_hot = 200, operations_of_hot = 20'000;
constexpr std::size_t most_compiled = 60'000;  // operations: their code takes some 20 MB

std::atomic<CompileProgram> compiler = nullptr;
std::atomic<CompileWhen> compiles_when = CompileWhen::hot;

}  // namespace

void set_program_compiler(CompileProgram compile, CompileWhen when) {
  compiler = compile;
  compiles_when = when;
}

bool compiles_at_once() {
  return compiles_when.load() == CompileWhen::at_once;
}

HotCode::~HotCode() {
  for (const auto& code : code_) delete code.load();
}

void HotCode::count(const Program& program, std::uint64_t operations) {
  if (begun_.load(std::memory_order_relaxed) >= variants) return;
  const CompileProgram compile = compiler;
  const CompileWhen when = compiles_when;
  if (compile == nullptr) return;
  const std::uint64_t executed = executed_.fetch_add(operations, std::memory_order_relaxed) + operations;
  const bool hot = executed >= operations_of_hot && executed / executions_of_hot >= program.operations.size();
  if (!hot && when != CompileWhen::at_once) return;
  if (program.operations.size() > most_compiled) {
    begun_ = variants;
    return;
  }
  // A block needs both, so two threads make one each.
  for (int next = begun_++; next < variants; next = begun_++) {
    const bool all_lanes = next == 0;
    code_[all_lanes].store(compile(program, all_lanes).release(), std::memory_order_release);
  }
}

}  // namespace warpmat::code
