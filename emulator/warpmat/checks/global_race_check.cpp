#include <warpmat/checks/global_race_check.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/core.h>

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

constexpr std::size_t widest = 16;  // bytes of a lane's access
using Value = std::array<std::uint8_t, widest>;

/// What a lane stores; false where the statement is no plain store.
bool value_of(const machine::WarpState& warp, const code::Operation& operation, const code::Access& access, int lane, Value& value) {
  if (operation.semantics != Semantics::store || std::size_t{access.bytes} * access.vector > widest) return false;
  for (int e = 0; e < access.vector; ++e) {
    const code::Slot slot = warp.source_slot(operation, 1 + e);
    std::uint8_t* const to = value.data() + static_cast<std::size_t>(e) * access.bytes;
    if (access.bytes == widest) {
      std::memcpy(to, warp.at<std::uint64_t>(slot) + lane, 8);
      std::memcpy(to + 8, warp.at<std::uint64_t>(slot) + warp_size + lane, 8);
    } else if (access.register_bits <= 32) {
      std::memcpy(to, warp.at<std::uint32_t>(slot) + lane, access.bytes);
    } else {
      std::memcpy(to, warp.at<std::uint64_t>(slot) + lane, access.bytes);
    }
  }
  return true;
}

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
  local_.for_each([&](std::uint64_t number, const GlobalCell&) {
    GlobalCell& cell = *local_.cell(number);
    cell.read.released = cell.read.releases < releases_;
    cell.write.released = cell.write.releases < releases_;
    cell.read.counts = cell.write.counts = cell.read.counts || cell.write.counts;
  });
  setup_.reports.global_races.add(cluster_, std::move(local_), [this](std::uint64_t cluster, const GlobalRaces::Conflict& conflict) {
    report(setup_, cluster, conflict);
  });
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
            {fmt::format("block ({},{},{}), warp {} {} here", other.x, other.y, other.z, conflict.other.warp,
                         conflict.other_writes ? "stores" : "loads"),
             machine::place_of(setup.program, conflict.other.statement)}},
           "atomics, or __threadfence() and a flag, or two launches order the blocks"},
          Trap::Kind::unordered));
}

/// Bytes of one access in the cells where they lie. `value` may be nullptr: it is not known.
void GlobalRaceCheck::note(std::uint64_t address, std::uint64_t bytes, bool writes, GlobalAccess access, const std::uint8_t* before,
                           const std::uint8_t* value) {
  constexpr std::uint64_t cell_bytes = GlobalRaces::Local::cell_bytes;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t inside = (address + done) % cell_bytes, count = std::min(cell_bytes - inside, bytes - done);
    GlobalCell* const cell = local_.cell((address + done) / cell_bytes);
    if (cell == nullptr) return;
    GlobalAccess& kept = writes ? cell->write : cell->read;
    const auto mask = static_cast<std::uint8_t>(((1u << count) - 1) << inside);
    const bool silent = writes && value != nullptr && std::memcmp(before + done, value + done, count) == 0;
    const std::uint8_t old = kept.bytes;
    const bool counts = kept.counts || access.strong;
    if (old == 0 || (kept.strong && !access.strong) || (kept.silent && !silent)) {
      kept = access;
      kept.silent = silent;
    }
    kept.bytes = static_cast<std::uint8_t>(old | mask);
    kept.counts = counts;
    if (writes && value != nullptr) {
      std::array<std::uint8_t, cell_bytes> all;
      std::memcpy(all.data(), &cell->value, cell_bytes);
      std::memcpy(all.data() + inside, value + done, count);
      std::memcpy(&cell->value, all.data(), cell_bytes);
    }
    done += count;
  }
}

void GlobalRaceCheck::access(const machine::AccessEvent& event) {
  if (event.space != Space::global) return;
  const code::Operation& operation = operation_of(event.event);
  const bool plain = operation.semantics == Semantics::load || operation.semantics == Semantics::store;
  const code::Access* const access =
      plain || operation.semantics == Semantics::atomic ? &setup_.program.of<code::Access>(operation) : nullptr;
  GlobalAccess made{.statement = operation.statement,
                    .releases = releases_,
                    .warp = static_cast<std::uint8_t>(event.event.warp()),
                    .rank = static_cast<std::uint8_t>(event.event.rank()),
                    .strong = (event.reads && event.writes) || (access != nullptr && access->ordered),
                    .acquired = acquired_};
  const machine::WarpState& warp = warp_of(event.event);
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint64_t address = event.addresses[static_cast<std::size_t>(lane)];
    const std::uint8_t* const before = event.places[static_cast<std::size_t>(lane)];
    Value value;
    const bool known = event.writes && access != nullptr && value_of(warp, operation, *access, lane, value);
    if (event.reads) note(address, event.bytes, false, made, before, nullptr);
    if (event.writes) note(address, event.bytes, true, made, before, known ? value.data() : nullptr);
  }
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
  if (setup_.program.of<code::Access>(operation).within_block) return;
  const std::string_view opcode = event.event->opcode();
  const auto has = [&](std::string_view qualifier) { return opcode.find(qualifier) != std::string_view::npos; };
  const bool both = has(".acq_rel");
  if (both || has(".release")) ++releases_;
  if (both || has(".acquire")) acquired_ = true;
}

}  // namespace warpmat::checks
