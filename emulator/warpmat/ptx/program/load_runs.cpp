#include <warpmat/ptx/program/load_runs.h>

#include <algorithm>
#include <limits>
#include <span>

namespace warpmat::inline v0_1::code {
namespace {

/// A load that may be one of a run.
struct Load {
  Access* access = nullptr;  ///< nullptr: none
  Slot base = 0;
};

Load load_of(Program& program, const Operation& operation) {
  if (operation.semantics != catalogue::Semantics::load) return {};
  Access& access = program.of<Access>(operation);
  constexpr int widest = 8;  // bytes
  if (access.space != Space::shared || access.ordered || access.uniform || access.relative || access.bytes > widest) return {};
  return {&access, program.slots[operation.slots + operation.results]};
}

/// Whether the operation writes bytes of the register at `base`.
bool writes(const Program& program, const Operation& operation, const Access& access, Slot base) {
  constexpr Slot lane_count = 32, most_bytes = 8 * lane_count;  // of an address register
  const Slot bytes = access.register_bits / 8 * lane_count;
  const auto results = std::span(program.slots).subspan(operation.slots, operation.results);
  return std::ranges::any_of(results, [&](Slot slot) { return slot < base + most_bytes && base < slot + bytes; });
}

bool may_follow(const Load& before, const Load& next, const Operation& operation) {
  return before.access != nullptr && next.access != nullptr && !operation.guarded && !operation.converges && before.base == next.base &&
         before.access->narrow_address == next.access->narrow_address && before.access->bytes == next.access->bytes &&
         before.access->vector == next.access->vector;
}

}  // namespace

void mark_load_runs(Program& program, std::int32_t first) {
  const std::span<const Operation> operations = std::span(program.operations).subspan(static_cast<std::size_t>(first));
  Load next;
  for (std::size_t i = operations.size(); i-- > 0;) {
    const Load load = load_of(program, operations[i]);
    if (i + 1 < operations.size() && may_follow(load, next, operations[i + 1]) &&
        !writes(program, operations[i], *load.access, load.base)) {
      constexpr int most = std::numeric_limits<std::uint8_t>::max();
      load.access->run = static_cast<std::uint8_t>(std::min(std::max<int>(next.access->run, 1) + 1, most));
    }
    next = load;
  }
}

}  // namespace warpmat::inline v0_1::code
