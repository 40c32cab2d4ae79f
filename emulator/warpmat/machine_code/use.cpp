// Where machine code begins: whether this CPU can execute it, and what of asmjit is replaced.

#include <warpmat/machine_code/use.h>

#include <cpuid.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include <hwy/targets.h>
#include <warpmat/machine_code/writer.h>
#include <warpmat/numeric/kernels_reach.h>

namespace warpmat {
namespace {

using machine_code::Vectors;

/// Not every compiler's __builtin_cpu_supports() knows it.
bool has_lzcnt() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_LZCNT) != 0;
}

/// Of this CPU; nothing where it has neither.
std::optional<Vectors> best_vectors() {
  __builtin_cpu_init();
  const bool some = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && has_lzcnt();
  if (!some) return std::nullopt;
  const bool all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl");
  return all ? Vectors::avx512 : Vectors::avx2;
}

bool environment_has(std::string_view word) {
  const char* const set = std::getenv("WARPMAT_MACHINE_CODE");
  return set != nullptr && std::string_view(set).find(word) != std::string_view::npos;
}

/// As the kernels that the code calls: it has no instructions beyond theirs, and there is none where they have not AVX2.
template <Vectors best>
std::unique_ptr<const code::MachineCode> compile_for(const code::Program& program, bool all_lanes) {
  if (!kernels_reach(HWY_AVX2)) return nullptr;
  return machine_code::compile(program, all_lanes, kernels_reach(HWY_AVX3) ? best : Vectors::avx2);
}

}  // namespace

void use_machine_code() {
  if (!environment_has("never")) use_machine_code(environment_has("always") ? code::CompileWhen::at_once : code::CompileWhen::hot);
}

void use_machine_code(code::CompileWhen when) {
  const code::CompileProgram compile = find_program_compiler(environment_has("avx2"));
  if (compile != nullptr) code::set_program_compiler(compile, when);
}

code::CompileProgram find_program_compiler(bool avx2_alone) {
  const std::optional<Vectors> best = best_vectors();
  if (!best) return nullptr;
  return *best == Vectors::avx512 && !avx2_alone ? compile_for<Vectors::avx512> : compile_for<Vectors::avx2>;
}

}  // namespace warpmat

// The three functions by which asmjit prints. Debian's libasmjit.a is position-independent but for the file that has them, which would get
// into shared libraries. Errors go to a handler (compile.cpp).
ASMJIT_BEGIN_SUB_NAMESPACE(DebugUtils)

const char* errorAsString(Error) noexcept {
  return "";
}

void debugOutput(const char*) noexcept {}

void assertionFailed(const char*, int, const char*) noexcept {
  std::abort();
}

ASMJIT_END_SUB_NAMESPACE
