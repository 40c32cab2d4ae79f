// Asks the tables everything that a list of forms shows: nothing of how an instruction is executed is linked for that (tables_alone.cmake).

#include <warpmat/forms.h>
#include <warpmat/wgmma.h>

#include <cstdio>

int main() {
  using namespace warpmat;
  std::size_t rows = 0;
  for (const Form& form : forms())
    for (const Target& target : targets()) {
      if (unavailable(form, target)) continue;
      const Lowering* const lowering = find_lowering(form, target.hardware);
      if (lowering == nullptr || machine_name(form, *lowering).empty() || name(label_of(*lowering)).empty()) return 1;
      ++rows;
    }
  std::printf("%zu rows, %zu forms of wgmma\n", rows, wgmma_forms().size());
  return rows > forms().size() && find_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") != nullptr ? 0 : 1;
}
