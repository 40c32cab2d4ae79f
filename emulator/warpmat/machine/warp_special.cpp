// Special registers.

#include <algorithm>
#include <array>

#include <warpmat/machine/block.h>
#include <warpmat/machine/lane_rows.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

using code::Operation;
using code::SpecialRegister;

namespace {

constexpr std::uint32_t used_of_reserved = 0x120;  // bytes of the system's shared memory that an H200 uses

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

/// The value of all lanes.
std::uint64_t value_of(WarpState& warp, SpecialRegister special_register) {
  Block& owner = warp.block();
  const LaunchState& launch = warp.launch();
  const auto now = [&] {
    warp.note_clock_read();
    return owner.read_clock() + warp.operations();
  };
  const Dim3 &block = launch.config.block, &grid = launch.config.grid, &cluster = launch.config.cluster, &index = owner.index();
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
    case cluster_ctarank: return static_cast<std::uint64_t>(owner.rank());
    case cluster_nctarank: return cluster.count();
    case is_explicit_cluster: return launch.explicit_cluster;
    case warpid: return static_cast<std::uint32_t>(warp.index());
    case nwarpid: return 64;
    // Blocks are assigned round-robin to the multiprocessors in the order of their numbers.
    case smid: return (index.x + std::uint64_t{grid.x} * (index.y + std::uint64_t{grid.y} * index.z)) % multiprocessors;
    case nsmid: return multiprocessors;
    case gridid: return 1;
    // Clocks count the operations of the block: monotonic, and the same in every run.
    case clock:
    case globaltimer_lo: return static_cast<std::uint32_t>(now());
    case clock_hi:
    case globaltimer_hi: return now() >> 32;
    case clock64:
    case globaltimer: return now();
    // H200 values: only the second includes the system's reserved memory.
    case total_smem_size: return launch.shared_bytes - warp.program().reserved_shared;
    case aggr_smem_size: return launch.shared_bytes + warp.program().shared_base;
    case dynamic_smem_size: return launch.config.shared_bytes;
    // The system reserves the shared memory below the kernel's own, and uses the beginning.
    case reserved_smem_end: return warp.program().shared_base + std::min(used_of_reserved, warp.program().reserved_shared);
    case reserved_smem_cap: return warp.program().shared_base + warp.program().reserved_shared;
    case reserved_smem_begin:
    case reserved_smem_0:
    case reserved_smem_1: return 0;
    case grid_workspace_high: return launch.config.workspace >> 32;
    case grid_workspace_low: return static_cast<std::uint32_t>(launch.config.workspace);
    case current_graph_exec:  // no graph
    case environment:
    case counter:
    case fourth: return 0;
    case local_address: return warp.split().local;
  }
  return 0;
}

}  // namespace

void special(WarpState& warp, const Operation& operation, LaneMask mask) {
  const SpecialRegister special_register = warp.program().of<SpecialRegister>(operation);
  const std::uint32_t* const own = is_thread_index(special_register)
                                       ? warp.launch().thread_indices.row(warp.index(), special_register).data()
                                       : lane_row(special_register);
  if (operation.sources == 0 && operation.result_class(0) == code::RegisterClass::word) {
    auto* const row = warp.at<std::uint32_t>(warp.result_slot(operation, 0));
    if (own != nullptr) return copy_lanes(row, own, mask);
    return fill_lanes(row, static_cast<std::uint32_t>(value_of(warp, special_register)), mask);
  }
  const std::uint64_t offset = operation.sources > 0 ? *warp.at<std::uint64_t>(warp.source_slot(operation, 0)) : 0;
  std::array<std::uint64_t, warp_size> values;
  if (own != nullptr)
    std::copy_n(own, warp_size, values.begin());
  else
    values.fill(value_of(warp, special_register));
  for (std::uint64_t& value : values) value += offset;
  warp.write_words(operation, 0, values, mask);
}

}  // namespace warpmat::machine
