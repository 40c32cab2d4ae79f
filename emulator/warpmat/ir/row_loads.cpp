#include <warpmat/ir/row_loads.h>

#include <algorithm>
#include <span>

#include <warpmat/execute/row_load.h>

namespace warpmat::code {
namespace {

bool repeats(std::span<const Slot> slots) {
  for (std::size_t i = 1; i < slots.size(); ++i)
    if (std::ranges::find(slots.first(i), slots[i]) != slots.begin() + static_cast<std::ptrdiff_t>(i)) return true;
  return false;
}

}  // namespace

void mark_row_loads(Program& program, std::int32_t first) {
  for (const Operation& operation : std::span(program.operations).subspan(static_cast<std::size_t>(first))) {
    if (operation.semantics != catalogue::Semantics::matrix) continue;
    Matrix& matrix = program.of<Matrix>(operation);
    if (matrix.generic || matrix.kernel != nullptr || repeats(std::span(program.slots).subspan(operation.slots, operation.results)))
      continue;
    matrix.kernel = find_row_kernel(matrix.instruction);
  }
}

}  // namespace warpmat::code
