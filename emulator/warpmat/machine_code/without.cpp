// Where asmjit is not there: the interpreter executes all.

#include <warpmat/machine_code/use.h>

namespace warpmat {

void use_machine_code() {}
void use_machine_code(code::CompileWhen) {}
code::CompileProgram chosen_program_compiler() {
  return nullptr;
}
code::CompileProgram find_program_compiler(bool) {
  return nullptr;
}

}  // namespace warpmat
