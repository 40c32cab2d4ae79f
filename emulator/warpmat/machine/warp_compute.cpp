// Scalar operations, and how lanes get results.

#include <array>

#include <warpmat/machine/execute_row.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::Operation;
using code::RegisterClass;

namespace {

constexpr int max_operands = 17;  // one more than any row has: a null pointer ends the list
constexpr int max_results = 9;

struct alignas(64) Scratch {
  std::uint64_t bits[2 * warp_size];
};

/// execute_row() for the lanes of `mask`; other lanes keep their results. A function of its own, because the common case needs no stack for
/// temporary results.
[[gnu::noinline]] void call_masked(const code::Program& program, const Operation& operation, void* const* results,
                                   const void* const* sources, LaneMask mask) {
  Scratch scratch[max_results];
  void* fresh[max_results];
  for (int i = 0; i < operation.results; ++i) fresh[i] = scratch[i].bits;
  fresh[operation.results] = nullptr;
  execute_row(program, operation, fresh, sources);
  for (int i = 0; i < operation.results; ++i) copy_lanes(operation.result_class(i < 4 ? i : 3), results[i], fresh[i], mask);
}

/// Pointers to the operands of an operation of any number. Null pointers end both lists, because kernels test for a second result or a last
/// source that the row may lack.
struct Operands {
  void* results[max_results];
  const void* sources[max_operands];

  Operands(const Operation& operation, const code::Slot* slot, std::uint8_t* frame, const std::uint8_t* constants) {
    if (operation.results == 1 && operation.sources < code::fewest_slots) {  // the common case: there are fewest_slots slots
      results[0] = frame + slot[0];
      results[1] = nullptr;
      for (std::size_t i = 0; i + 1 < code::fewest_slots; ++i) sources[i] = place_of(slot[1 + i], frame, constants);
      sources[operation.sources] = nullptr;
      return;
    }
    for (int i = 0; i < operation.results; ++i) results[i] = frame + slot[i];  // constants are never results
    for (int i = 0; i < operation.sources; ++i) sources[i] = place_of(slot[operation.results + i], frame, constants);
    results[operation.results] = nullptr;
    sources[operation.sources] = nullptr;
  }
};

}  // namespace

/// Live lanes outside `mask` keep their results; results of exited lanes are not preserved.
void compute(WarpState& warp, const Operation& operation, LaneMask mask) {
  const Operands operands(operation, warp.slots(operation), warp.registers() + warp.split().frame, warp.constants());
  if ((warp.live() & ~mask) == 0)
    execute_row(warp.program(), operation, operands.results, operands.sources);
  else
    call_masked(warp.program(), operation, operands.results, operands.sources, mask);
}

void WarpState::write_word(const Operation& operation, int result, int lane, std::uint64_t value) {
  const code::Slot slot = result_slot(operation, result);
  switch (operation.result_class(result)) {
    case RegisterClass::word: at<std::uint32_t>(slot)[lane] = static_cast<std::uint32_t>(value); break;
    case RegisterClass::wide: at<std::uint64_t>(slot)[lane] = value; break;
    case RegisterClass::quad: break;
    case RegisterClass::predicate: {
      LaneMask& mask = *at<LaneMask>(slot);
      mask = value != 0 ? mask | lane_bit(lane) : mask & ~lane_bit(lane);
      break;
    }
  }
}

/// write_word() for the lanes of `mask`.
void WarpState::write_words(const Operation& operation, int result, const std::array<std::uint64_t, warp_size>& values, LaneMask mask) {
  if (operation.result_class(result) == RegisterClass::word) {
    auto* const row = at<std::uint32_t>(result_slot(operation, result));
    for (std::size_t lane = 0; lane < warp_size; ++lane)
      row[lane] = (mask >> lane & 1) != 0 ? static_cast<std::uint32_t>(values[lane]) : row[lane];
    return;
  }
  for (int lane = 0; lane < warp_size; ++lane)
    if ((mask & lane_bit(lane)) != 0) write_word(operation, result, lane, values[static_cast<std::size_t>(lane)]);
}

/// The same of 0 or 1 for each lane.
void WarpState::write_bits(const Operation& operation, int result, LaneMask bits, LaneMask mask) {
  if (operation.result_class(result) == RegisterClass::predicate) {
    LaneMask& out = *at<LaneMask>(result_slot(operation, result));
    out = (out & ~mask) | (bits & mask);
    return;
  }
  for (int lane = 0; lane < warp_size; ++lane)
    if ((mask & lane_bit(lane)) != 0) write_word(operation, result, lane, bits >> lane & 1);
}

/// Gives the lanes of `mask` one value.
void WarpState::write_same(const Operation& operation, int result, std::uint32_t value, LaneMask mask) {
  if (operation.result_class(result) == RegisterClass::predicate)
    write_bits(operation, result, value != 0 ? all_lanes : 0, mask);
  else
    fill_lanes(at<std::uint32_t>(result_slot(operation, result)), value, mask);
}

}  // namespace warpmat::machine
