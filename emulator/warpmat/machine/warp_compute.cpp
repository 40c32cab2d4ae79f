#include <algorithm>
#include <array>
#include <cstring>

#include <warpmat/machine/block.h>
#include <warpmat/machine/execute_row.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::inline v0_1::machine {

using code::Operation;
using code::RegisterClass;
using code::SpecialRegister;

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

using Row = std::array<std::uint32_t, warp_size>;

/// A row of value(lane).
template <typename Value>
constexpr Row row_of(Value value) {
  Row row{};
  for (int lane = 0; lane < warp_size; ++lane) row[static_cast<std::size_t>(lane)] = value(lane);
  return row;
}

/// Of special registers of which lanes have different values, in every warp the same: null for all others.
const std::uint32_t* lane_row(SpecialRegister special_register) {
  static constexpr Row lanes = row_of([](int lane) { return static_cast<std::uint32_t>(lane); });
  static constexpr Row equal = row_of([](int lane) { return lane_bit(lane); });
  static constexpr Row less = row_of([](int lane) { return lane_bit(lane) - 1; });
  static constexpr Row less_or_equal = row_of([](int lane) { return lane_bit(lane) | (lane_bit(lane) - 1); });
  static constexpr Row greater = row_of([](int lane) { return ~(lane_bit(lane) | (lane_bit(lane) - 1)); });
  static constexpr Row greater_or_equal = row_of([](int lane) { return ~(lane_bit(lane) - 1); });
  using enum SpecialRegister;
  switch (special_register) {
    case laneid: return lanes.data();
    case lanemask_eq: return equal.data();
    case lanemask_lt: return less.data();
    case lanemask_le: return less_or_equal.data();
    case lanemask_gt: return greater.data();
    case lanemask_ge: return greater_or_equal.data();
    default: return nullptr;
  }
}

}  // namespace

/// Computes an operation of the function whose registers are `frame`. Live lanes outside `mask` keep their results; results of exited lanes
/// are not preserved.
void WarpState::compute(const Operation& operation, LaneMask mask, std::uint8_t* frame) {
  const Operands operands(operation, slots(operation), frame, launch_.constants);
  if ((live_ & ~mask) == 0)
    execute_row(program_, operation, operands.results, operands.sources);
  else
    call_masked(program_, operation, operands.results, operands.sources, mask);
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

void WarpState::special(const Operation& operation, LaneMask mask) {
  const SpecialRegister special_register = program_.of<SpecialRegister>(operation);
  const std::uint32_t* const own =
      is_thread_index(special_register) ? launch_.thread_indices.row(index_, special_register).data() : lane_row(special_register);
  if (operation.sources == 0 && operation.result_class(0) == RegisterClass::word) {
    auto* const row = at<std::uint32_t>(result_slot(operation, 0));
    if (own != nullptr) return copy_lanes(row, own, mask);
    return fill_lanes(row, static_cast<std::uint32_t>(special_value(special_register)), mask);
  }
  const std::uint64_t offset = operation.sources > 0 ? *at<std::uint64_t>(source_slot(operation, 0)) : 0;
  std::array<std::uint64_t, warp_size> values;
  if (own != nullptr)
    std::copy_n(own, warp_size, values.begin());
  else
    values.fill(special_value(special_register));
  for (std::uint64_t& value : values) value += offset;
  write_words(operation, 0, values, mask);
}

/// The value of all lanes.
std::uint64_t WarpState::special_value(SpecialRegister special_register) const {
  const Dim3 block = launch_.config.block, grid = launch_.config.grid, cluster = launch_.config.cluster, index = block_.index();
  constexpr std::uint32_t multiprocessors = 132;
  using enum SpecialRegister;
  switch (special_register) {
    case tid_x:
    case tid_y:
    case tid_z:  // ThreadIndices
    case laneid:
    case lanemask_eq:
    case lanemask_le:
    case lanemask_lt:
    case lanemask_ge:
    case lanemask_gt: return 0;  // lane_row
    case ntid_x: return block.x;
    case ntid_y: return block.y;
    case ntid_z: return block.z;
    case ctaid_x: return index.x;
    case ctaid_y: return index.y;
    case ctaid_z: return index.z;
    case nctaid_x: return grid.x;
    case nctaid_y: return grid.y;
    case nctaid_z: return grid.z;
    case clusterid_x: return index.x / cluster.x;
    case clusterid_y: return index.y / cluster.y;
    case clusterid_z: return index.z / cluster.z;
    case nclusterid_x: return grid.x / cluster.x;
    case nclusterid_y: return grid.y / cluster.y;
    case nclusterid_z: return grid.z / cluster.z;
    case cluster_ctaid_x: return index.x % cluster.x;
    case cluster_ctaid_y: return index.y % cluster.y;
    case cluster_ctaid_z: return index.z % cluster.z;
    case cluster_nctaid_x: return cluster.x;
    case cluster_nctaid_y: return cluster.y;
    case cluster_nctaid_z: return cluster.z;
    case cluster_ctarank: return static_cast<std::uint64_t>(block_.rank());
    case cluster_nctarank: return cluster.count();
    case is_explicit_cluster: return launch_.explicit_cluster;
    case warpid: return static_cast<std::uint32_t>(index_);
    case nwarpid: return 64;
    // Blocks are assigned round-robin to the multiprocessors in the order of their numbers.
    case smid: return (index.x + std::uint64_t{grid.x} * (index.y + std::uint64_t{grid.y} * index.z)) % multiprocessors;
    case nsmid: return multiprocessors;
    case gridid: return 1;
    // Clocks count the operations of the block: monotonic, and the same in every run.
    case clock:
      // A loop that polls the clock ends by itself.
      block_.make_progress();
      return static_cast<std::uint32_t>(block_.clock() + operations_);
    case clock_hi: return (block_.clock() + operations_) >> 32;
    case clock64:
    case globaltimer: block_.make_progress(); return block_.clock() + operations_;
    case globaltimer_lo: block_.make_progress(); return static_cast<std::uint32_t>(block_.clock() + operations_);
    case globaltimer_hi: return (block_.clock() + operations_) >> 32;
    // H200 values: only the second includes the system's reserved memory.
    case total_smem_size: return launch_.shared_bytes;
    case aggr_smem_size: return launch_.shared_bytes + program_.shared_base;
    case dynamic_smem_size: return launch_.config.shared_bytes;
    // The system reserves the shared memory below the kernel's own; an H200 used 0x120 bytes of it.
    case reserved_smem_end:
    case reserved_smem_cap: return program_.shared_base;
    case reserved_smem_begin:
    case reserved_smem_0:
    case reserved_smem_1: return 0;
    case grid_workspace_high: return launch_.config.workspace >> 32;
    case grid_workspace_low: return static_cast<std::uint32_t>(launch_.config.workspace);
    case current_graph_exec:  // no graph
    case environment:
    case counter:
    case fourth: return 0;
    case local_address: return split().local;
  }
  return 0;
}

}  // namespace warpmat::inline v0_1::machine
