// Where machine code begins: whether this CPU can execute it, and what of asmjit is replaced.

#include <warpmat/machine_code/use.h>

#include <cstdlib>
#include <string_view>

#include <hwy/targets.h>
#include <warpmat/machine_code/writer.h>
#include <warpmat/numeric/kernels_reach.h>

namespace warpmat {
namespace {

using machine_code::Vectors;

bool environment_has(std::string_view word) {
  const char* const set = std::getenv("WARPMAT_MACHINE_CODE");
  return set != nullptr && std::string_view(set).find(word) != std::string_view::npos;
}

/// As the kernels that the code calls: it has no instructions beyond theirs, and there is none where they have not AVX2.
template <bool avx2_alone>
std::unique_ptr<const code::MachineCode> compile_for(const code::Program& program, bool all_lanes) {
  if (!kernels_reach(HWY_AVX2)) return nullptr;
  return machine_code::compile(program, all_lanes, !avx2_alone && kernels_reach(HWY_AVX3) ? Vectors::avx512 : Vectors::avx2);
}

}  // namespace

void use_machine_code() {
  if (!environment_has("never")) use_machine_code(environment_has("always") ? code::CompileWhen::at_once : code::CompileWhen::hot);
}

void use_machine_code(code::CompileWhen when) {
  const code::CompileProgram compile = chosen_program_compiler();
  if (compile != nullptr) code::set_program_compiler(compile, when);
}

code::CompileProgram chosen_program_compiler() {
  return find_program_compiler(environment_has("avx2"));
}

code::CompileProgram find_program_compiler(bool avx2_alone) {
  if ((hwy::SupportedTargets() & HWY_AVX2) == 0) return nullptr;
  return avx2_alone ? compile_for<true> : compile_for<false>;
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
