// Object files, as those of ptxas: one is refused with a sentence, or what its machine code says of a module's sums is read.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <warpmat/assembler/cubin.h>
#include <warpmat/assembler/fused_sums.h>
#include <warpmat/assembler/immediates.h>
#include <warpmat/assembler/numbered_module.h>
#include <warpmat/ptx/syntax/module.h>

namespace {

using namespace warpmat;

/// What tests/fuzz/seeds compiles the seeds from.
constexpr const char* text =
#include "fuzz/cubin_module.inc"
    ;

const syntax::Module& module() {
  static const syntax::Module parsed = syntax::parse_module(text);
  return parsed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const NumberedModule sums = number_statements(module()), results = number_statements(module(), is_approximate);
  try {
    const std::vector<MachineFunction> code = read_cubin({reinterpret_cast<const char*>(data), size});
    AssemblerDecisions decisions;
    read_sums(sums, code, "kernel", decisions);
    read_results(results, code, "kernel");
  } catch (const std::runtime_error&) {
  }
  return 0;
}
