#include <warpmat/checks/global_race_check.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <warpmat/checks/lane_runs.h>
#include <warpmat/checks/stored_value.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

using catalogue::Semantics;
using machine::Event;
using machine::EventKinds;
using machine::Synchronisation;

namespace {

using StoredBytes = std::array<std::uint8_t, widest_store * warp_size>;

/// The block whose rank in its cluster is `rank`.
Dim3 block_of(const Setup& setup, std::uint64_t cluster, int rank) {
  const Dim3 size = setup.cluster;
  const std::uint64_t columns = setup.grid.x / size.x, rows = setup.grid.y / size.y;
  const Dim3 place = machine::place_in_cluster(size, static_cast<std::uint32_t>(rank));
  return {static_cast<std::uint32_t>(cluster % columns) * size.x + place.x,
          static_cast<std::uint32_t>(cluster / columns % rows) * size.y + place.y,
          static_cast<std::uint32_t>(cluster / columns / rows) * size.z + place.z};
}

}  // namespace

GlobalRaceCheck::GlobalRaceCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::accesses | EventKinds::synchronisation), setup_(setup), cluster_(cluster) {}

GlobalRaceCheck::~GlobalRaceCheck() = default;

void GlobalRaceCheck::block_begins(const machine::BlockEvent& /*event*/) {
  ++begun_;
}

void GlobalRaceCheck::block_ends(const machine::BlockEvent& /*event*/) {
  if (++ended_ != begun_) return;
  setup_.reports.global_races.add(
      cluster_, releases_, std::move(local_),
      [this](std::uint64_t cluster, const GlobalRaces::Conflict& conflict) { report(setup_, cluster, conflict); });
}

void GlobalRaceCheck::report(const Setup& setup, std::uint64_t cluster, const GlobalRaces::Conflict& conflict) {
  Warnings& warnings = setup.reports.global_race_warnings;
  if (!warnings.wants(conflict.access.statement, cluster)) return;
  const auto verb = [](bool writes) { return writes ? "store" : "load"; };
  const Dim3 other = block_of(setup, conflict.other_cluster, conflict.other.rank);
  warnings.add(
      conflict.access.statement, cluster,
      machine::kernel_trap(
          machine::site_at({.kernel = std::string(setup.program.entry),
                            .block = block_of(setup, cluster, conflict.access.rank),
                            .warp = conflict.access.warp},
                           setup.program, conflict.access.statement),
          conflict.address,
          {fmt::format("race between blocks: nothing orders this {} and the {} of another block to the same bytes of global memory",
                       verb(conflict.writes), verb(conflict.other_writes)),
           {{setup.memory->describe(conflict.address)},
            {fmt::format("block ({},{},{}) {}s here", other.x, other.y, other.z, verb(conflict.other_writes)),
             machine::place_of(setup.program, conflict.other.statement)}},
           "atomics, or __threadfence() and a flag, or two launches order the blocks"},
          Trap::Kind::unordered));
}

/// `value` may be nullptr: it is not known.
void GlobalRaceCheck::note(std::uint64_t address, std::uint64_t bytes, bool writes, GlobalAccess access, const std::uint8_t* before,
                           const std::uint8_t* value) {
  access.unknown = writes && value == nullptr;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t first = (address + done) % GlobalRaces::page_bytes, count = std::min(GlobalRaces::page_bytes - first, bytes - done);
    note_in_page((address + done) / GlobalRaces::page_bytes, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first + count),
                 writes, access, before + done, value == nullptr ? nullptr : value + done);
    done += count;
  }
}

void GlobalRaceCheck::note_in_page(std::uint64_t number, std::uint32_t first, std::uint32_t end, bool writes, GlobalAccess access,
                                   const std::uint8_t* before, const std::uint8_t* value) {
  GlobalRaces::LocalPage* const page = local_.page(number);
  if (page == nullptr) return;
  if (writes) access.silent = !page->store(first, end, before, value);
  local_.count(page->bytes.update(first, end, scratch_, [&](GlobalRaces::Touched& touched, std::uint32_t, std::uint32_t) {
    touched.counts = touched.counts || access.strong;
    GlobalAccess& kept = writes ? touched.write : touched.read;
    if (kept.made && (!kept.strong || access.strong) && (!kept.silent || access.silent)) return;
    kept = access;
    (writes ? touched.write_releases : touched.read_releases) = releases_;
  }));
}

void GlobalRaceCheck::access(const machine::AccessEvent& event) {
  if (event.space != Space::global) return;
  const code::Operation& operation = operation_of(event.event);
  const bool plain = operation.semantics == Semantics::load || operation.semantics == Semantics::store;
  const code::Access* const access = plain || operation.semantics == Semantics::atomic ? &setup_.program.access(operation) : nullptr;
  const GlobalAccess made{.statement = operation.statement,
                          .warp = static_cast<std::uint8_t>(event.event.warp()),
                          .rank = static_cast<std::uint8_t>(event.event.rank()),
                          .made = true,
                          .strong = (event.reads && event.writes) || (access != nullptr && orders_others(*access)),
                          .acquired = acquired_};
  const bool known = event.writes && is_plain_store(operation, access);
  StoredBytes values;
  const auto place = [&](int lane) { return event.places[static_cast<std::size_t>(lane)]; };
  for_each_run(event.event.lanes(), event.bytes, !event.writes, place, [&](int lane, int count) {
    for (int i = 0; known && i < count; ++i)
      stored_value(warp_of(event.event), operation, *access, lane + i, values.data() + static_cast<std::size_t>(i) * event.bytes);
    const std::uint64_t address = event.addresses[static_cast<std::size_t>(lane)];
    const std::uint64_t bytes = std::uint64_t{event.bytes} * static_cast<unsigned>(count);
    const std::uint8_t* const before = place(lane);
    if (event.reads) note(address, bytes, false, made, before, nullptr);
    if (event.writes) note(address, bytes, true, made, before, known ? values.data() : nullptr);
  });
}

/// Fences, and accesses that acquire or release, if their scope is wider than the block.
void GlobalRaceCheck::synchronises(const Synchronisation& event) {
  using Kind = Synchronisation::Kind;
  if (event.event == nullptr || event.kind == Kind::mbarrier || event.kind == Kind::proxy_fence) return;
  const code::Operation& operation = operation_of(*event.event);
  if (event.kind == Kind::fence) {
    if (!setup_.program.of<code::Fence>(operation).orders_clusters) return;
    ++releases_;
    acquired_ = true;
    return;
  }
  if (setup_.program.access(operation).within_block) return;
  const std::string_view opcode = event.event->opcode();
  const auto has = [&](std::string_view qualifier) { return opcode.find(qualifier) != std::string_view::npos; };
  const bool both = has(".acq_rel");
  if (both || has(".release")) ++releases_;
  if (both || has(".acquire")) acquired_ = true;
}

void add_global_race_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.checks.races && setup.grid.count() > setup.cluster.count()) all.push_back(std::make_unique<GlobalRaceCheck>(setup, cluster));
}

}  // namespace warpmat::checks
