#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <warpmat/checks/global_races.h>
#include <warpmat/checks/product_registers.h>
#include <warpmat/checks/warnings.h>
#include <warpmat/ir/code.h>
#include <warpmat/launch.h>
#include <warpmat/observer.h>

namespace warpmat::checks {

// The checks of kernels. Each is an observer of the machine (observer.h), which knows none of them:
//
//     shared_memory_check   bytes of shared memory that are uninitialised, or that cp.async writes; bytes of global memory that nobody has
//                           written; registers with values of such bytes
//     bulk_check            bulk copies that overlap other accesses, or that read bytes without a proxy fence
//     bulk_store_check      bulk stores that nobody waits for, or only until they have read
//     race_check            two warps access a byte, and nothing orders them
//     lane_race_check       two lanes of a warp do
//     global_race_check     two blocks access a byte of global memory, and nothing can have ordered them
//     wgmma_check           registers and bytes of wgmma.mma_async that change before the wait
//     rows_check            ldmatrix that reads a row twice into one matrix
//     tensor_fence_check    tcgen05 statements of two warps on the same cells, without tcgen05.fence between them
//     tensor_load_check     registers of tcgen05.ld that are used before the wait
//     tile_check            descriptors of wgmma that read a tile otherwise than its tensor map wrote it
//     lanes_check           shuffles that read lanes which take no part
//
// explain.h counts the wavefronts of an access; its observer is tools/report/bank_report.h.

/// What the checks of all clusters of a launch report without ending it.
struct Reports {
  // LaunchResult::warnings. Of a statement each has one; a check that has none of its own shares the first.
  Warnings warnings, tensor_fences, late_stores, unwritten_stores, lane_races, global_race_warnings;
  std::array<const Warnings*, 6> all_warnings() const {
    return {&warnings, &tensor_fences, &late_stores, &unwritten_stores, &lane_races, &global_race_warnings};
  }
  /// Whether none of them has one.
  bool none() const {
    return absent_lanes.empty() && std::ranges::all_of(all_warnings(), [](const Warnings* some) { return some->empty(); });
  }
  GlobalRaces global_races;
  FirstReports<std::string> absent_lanes;  ///< LaunchResult::absent_lanes
};

/// What the checks know of a launch.
struct Setup {
  const code::Program& program;
  Checks checks;
  std::uint32_t shared_bytes;  ///< of a block: reserved, static and dynamic
  std::uint32_t frame_bytes;   ///< of a warp's registers
  Reports& reports;
  bool copies_asynchronously = program.executes(catalogue::Semantics::cp_async);
  Dim3 grid = {}, cluster = {};
  const DeviceMemory* memory = nullptr;
  bool as_cards = false;        ///< Timing::card
  bool follows_global = false;  ///< Checks::global, and some bytes of the memory may be ones that nobody has written
  ProductRegisters product_registers{program};

  bool has_shared() const { return shared_bytes != 0; }
};
using Observers = std::vector<std::unique_ptr<machine::Observer>>;

/// Adds what a trap of `event` would say, unless there is a report of `statement`: the event's, or one that stands for it.
void warn(Warnings& warnings, std::uint32_t statement, const machine::Event& event, std::uint64_t cluster, int lane,
          std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind = Trap::Kind::misuse);

/// What was warned of, as a note of another error.
Trap::Note note_of(const Trap& warning);

/// Adds a warning to both lists of them.
void add_warning(LaunchResult& result, const Trap& warning);

/// Looks at what the clusters' checks have left. Before the warnings are read.
void finish_races(const Setup& setup);

/// What the checks say when all clusters have ended. Throws Trap.
void finish(const Setup& setup, LaunchResult& result);

/// The checks of cluster `cluster`, in the order in which they are told. `setup` outlives them.
Observers make(const Setup& setup, std::uint64_t cluster);

}  // namespace warpmat::checks
