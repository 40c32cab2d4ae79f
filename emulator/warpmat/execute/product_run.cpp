#include <warpmat/execute/product_run.h>

#include <warpmat/execute/fast/fast.h>

namespace warpmat {

const FastPath* find_product_kernel(const Instruction& instruction) {
  return instruction.form().mnemonic == Mnemonic::mma ? find_fast_path(instruction.form(), instruction.lowering()) : nullptr;
}

std::size_t execute(const FastPath& kernel, const ProductRun& run) {
  Warps warps = run.first.warps(nullptr, run.count);
  warps.apart = true;
  warps.step = run.step;
  warps.same_a = run.same_a;
  warps.same_b = run.same_b;
  return kernel.execute(warps);
}

}  // namespace warpmat
