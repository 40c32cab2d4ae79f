// An allocation that fails while an instruction is made is reported, and leaves nothing behind: the next instruction of that form is as
// fast as any. Each allocation fails once.

#include <warpmat/execute/fast/fast.h>

#include "lifetime/check.h"
#include "replaced_allocation.h"

using namespace warpmat;

namespace {

constexpr long never = -1;
long allocations_left = never;  ///< until one fails

void before_allocation() {
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
}

/// Makes an instruction of `form` with one allocation after the other failing, until none does; returns how many failed.
int make_with_failures(const Form& form, const Target& target) {
  for (int failures = 0;; ++failures) {
    allocations_left = failures;
    try {
      const Instruction made(form, target);
      allocations_left = never;
      return failures;
    } catch (const std::bad_alloc&) {
      allocations_left = never;
    }
  }
}

}  // namespace

int main() {
  int failures = make_with_failures(*find_form(lifetime::mma_opcode), target("sm_90"));
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      if (unavailable(form, target)) continue;
      failures += make_with_failures(form, target);
      const Lowering& lowering = *find_lowering(form, target.hardware);
      if (moves_matrix(form) || (form.mnemonic == Mnemonic::wmma_mma && !tile_plan(form, lowering))) continue;  // have none
      if (find_fast_path(form, lowering) == nullptr) lifetime::fail(form.opcode + " lost its fast path on " + std::string(target.name));
    }
  if (failures < 100) lifetime::fail("no allocation failed: the test tests nothing");
  if (!lifetime::library_works()) lifetime::fail("wrong results afterwards");
}
