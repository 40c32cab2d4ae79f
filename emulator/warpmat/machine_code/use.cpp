// Where machine code begins: whether this CPU can execute it, and what of asmjit is replaced.

#include <warpmat/machine_code/use.h>

#include <cstdlib>
#include <string_view>

#include <warpmat/machine_code/writer.h>

namespace warpmat {
namespace {

bool has_instructions() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
}

}  // namespace

void use_machine_code() {
  const char* const set = std::getenv("WARPMAT_MACHINE_CODE");
  const std::string_view how = set == nullptr ? "" : set;
  if (how == "never") return;
  use_machine_code(how == "always" ? code::CompileWhen::at_once : code::CompileWhen::hot);
}

void use_machine_code(code::CompileWhen when) {
  if (has_instructions()) code::set_program_compiler(machine_code::compile, when);
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
