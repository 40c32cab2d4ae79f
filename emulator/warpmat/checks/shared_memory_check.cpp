#include <warpmat/checks/shared_memory_check.h>

#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

using machine::BarrierEvent;
using machine::Event;
using machine::EventKinds;
using machine::SharedRange;
using machine::Synchronisation;

namespace {

constexpr EventKinds usual = EventKinds::copies | EventKinds::products;

/// Whether loads, stores and atomics are all that may access the program's shared memory.
bool has_usual_accesses_alone(const code::Program& program) {
  using enum catalogue::Semantics;
  std::uint64_t usual_ones = 0;
  for (const auto each : {compute, select, special, load, store, atomic, branch, return_, exit, trap, barrier, warp_barrier, exchange,
                          active_mask, elect, fence, sleep, nothing})
    usual_ones |= std::uint64_t{1} << static_cast<int>(each);
  return (program.executed & ~usual_ones) == 0;
}

/// No access of the program to shared memory reaches across a multiple of so many bytes: each is aligned to its size.
std::uint32_t widest_access(const code::Program& program) {
  if (!has_usual_accesses_alone(program)) return SharedShadow::cell_bytes;
  std::uint32_t widest = 1;
  const auto look = [&widest](const code::Access& access) {
    if (access.space == Space::shared || access.space == Space::generic)
      widest = std::max(widest, std::uint32_t{access.bytes} * access.vector);
  };
  program.for_each<code::LoadAccess>(look);
  program.for_each<code::StoreAccess>(look);
  program.for_each<code::AtomicAccess>(look);
  return std::bit_ceil(widest);
}

}  // namespace

SharedMemoryCheck::SharedMemoryCheck(const Setup& setup, std::uint64_t cluster)
    : ByteCheck(usual | EventKinds::shared_accesses), setup_(setup), cluster_(cluster), alignment_(setup.program.shared_alignment()) {
  has_copies_ = setup.copies_asynchronously;
  if (has_copies_) want(wanted() | EventKinds::synchronisation);
  if (setup_.follows_global) want(wanted() | EventKinds::accesses);
}

/// While a register holds an uninitialised value, its way through all operations is followed. Once all bytes are initialised, and no access
/// can reach across variables, accesses are of no interest.
void SharedMemoryCheck::choose_events() {
  const bool bytes = has_copies_ || std::ranges::any_of(blocks_, [](const BlockState& state) {
                       return !state.shadow.complete() || state.shadow.has_starts();
                     });
  EventKinds events = usual;
  if (has_copies_) events = events | EventKinds::synchronisation;  // which makes copies visible to other warps
  if (bytes) events = events | EventKinds::shared_accesses;
  if (setup_.follows_global) events = events | EventKinds::shared_accesses | EventKinds::accesses;
  if (following_ != 0)
    events = events | EventKinds::shared_accesses | EventKinds::accesses | EventKinds::operations | EventKinds::exchanges;
  want(events);
}

void SharedMemoryCheck::block_begins(const machine::BlockEvent& event) {
  BlockState& state = blocks_.emplace_back(BlockState{SharedShadow(event.shared.data(), event.shared.size()),
                                                      std::vector<UninitialisedValues>(static_cast<std::size_t>(event.warps)),
                                                      {},
                                                      {},
                                                      {}});
  if (const std::uint32_t reserved = setup_.program.reserved_shared; reserved != 0) state.shadow.define(0, reserved);  // by the system
  const auto& variables = setup_.program.shared_variables;
  const auto start_of = [this](const code::Variable& variable) { return variable.address - setup_.program.shared_base; };
  if (alignment_ == SharedShadow::cell_bytes) return;
  const std::uint32_t widest = widest_access(setup_.program);
  for (const code::Variable& variable : variables)
    if (start_of(variable) % widest != 0) state.shadow.add_start(start_of(variable));
}

void SharedMemoryCheck::set(const Event& event, std::size_t place, LaneMask mask, LaneMask uninitialised, const Origin& origin) {
  UninitialisedValues& all = values(event);
  const bool before = all.any();
  all.set(place, mask, uninitialised, origin);
  if (before == all.any()) return;
  following_ += before ? -1 : 1;
  choose_events();
}

std::uint64_t SharedMemoryCheck::shared_address(const Event& event, SharedShadow::Places places, int lane) {
  return setup_.program.shared_base + shadow(event).offset(places[static_cast<std::size_t>(lane)]);
}

/// The initialised bytes, where no register may hold an uninitialised value and no access of `bytes` may reach across variables.
const std::uint16_t* SharedMemoryCheck::plain_bytes(int rank, std::uint32_t bytes) const {
  const SharedShadow& shadow = blocks_[static_cast<std::size_t>(rank)].shadow;
  return following_ != 0 || may_cross(shadow, bytes) ? nullptr : shadow.map();
}

/// Whether an access of so many bytes may reach across variables.
bool SharedMemoryCheck::may_cross(const SharedShadow& shadow, std::uint32_t bytes) const {
  return shadow.has_starts() && bytes > alignment_;
}

/// No cp.async writes them, so that a store does nothing but initialise them.
bool SharedMemoryCheck::lets_stores_enter(int rank) {
  if (has_copies_) return false;
  block(rank).shadow.let_others_define();
  return true;
}

/// False where a register may hold an uninitialised value, where the access may reach across variables, while a cp.async may write the
/// bytes of a store, and where the last byte is initialised, or was before: access() then no longer asks for events.
bool SharedMemoryCheck::note(const machine::SharedLanes& access) {
  SharedShadow& shadow = block(access.rank).shadow;
  if (following_ != 0 || may_cross(shadow, access.bytes) || (shadow.complete() && !has_copies_)) return false;
  const bool defines = access.writes && !has_copies_;
  if (access.consecutive) {
    const std::size_t first = access.offsets[0], all = std::size_t{access.bytes} * warp_size;
    if (shadow.surely_defined(first, all)) return true;
    if (!defines) return false;
    shadow.define(first, all);
  } else {
    if (!SharedShadow::are_in_cells(access.offsets, access.bytes)) return false;
    if (shadow.lanes_defined(access.offsets, access.bytes)) return true;
    if (!defines) return false;
    shadow.define_lanes(access.offsets, access.bytes);
  }
  return !shadow.complete();
}

void SharedMemoryCheck::begin_with(int rank, const std::uint16_t* plain) {
  SharedShadow& shadow = block(rank).shadow;
  for (std::size_t at = 0; at < shadow.size(); at += SharedShadow::cell_bytes, ++plain)
    for (std::size_t byte = 0; byte < SharedShadow::cell_bytes;) {
      const auto count = static_cast<std::size_t>(std::countr_one(static_cast<std::uint16_t>(*plain >> byte)));
      if (count != 0) shadow.define(at + byte, count);
      byte += count + 1;  // the next byte is none
    }
  choose_events();
}

void SharedMemoryCheck::access(const machine::AccessEvent& event) {
  LaneMask undefined = 0;
  if (event.space == Space::shared) {
    const Use use = event.asynchronous ? Use::copy : !event.writes ? Use::load : event.reads ? Use::atomic : Use::store;
    undefined = check_bytes(event.event, event.places, event.bytes, event.event.lanes(), use, warp_of(event.event).told_places());
    if (use == Use::copy && setup_.follows_global) std::ranges::copy(event.places, copied_to_.begin());
  } else if (event.space == Space::global && setup_.follows_global) {
    undefined = check_global(event);
  }
  // An atomic of initialised bytes may exchange them; otherwise only an uninitialised value is of interest.
  if (undefined != 0 || following_ != 0 || (event.reads && event.writes)) follow_access(event, undefined);
  if (event.space == Space::global && setup_.follows_global && exchanges(event)) write_global(event);
  if (event.writes && !has_copies_ && following_ == 0 && shadow(event.event).complete()) choose_events();
}

/// Checks an access of the lanes of `mask` to shared memory. Returns the lanes that read uninitialised bytes, if these are checked.
LaneMask SharedMemoryCheck::check_bytes(const Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, Use use,
                                        const Lanes& lanes) {
  SharedShadow& bytes_of_block = shadow(event);
  if (may_cross(bytes_of_block, bytes))
    if (const LaneMask crossing = bytes_of_block.crossing(places, bytes, mask); crossing != 0) {
      const int lane = first_lane(crossing);
      const std::uint64_t address = shared_address(event, places, lane);
      const machine::WarpState& warp = warp_of(event);
      event.trap(
          lane, address,
          {fmt::format("{} bytes reach across two variables", bytes),
           {{fmt::format("the first is {}, the last {}", warp.describe_shared(address), warp.describe_shared(address + bytes - 1))}}},
          Trap::Kind::out_of_range);
    }
  if (use == Use::copy) {
    begin_copies(event, places, bytes, mask, lanes);
    return 0;
  }
  return defines_or_has_defined(bytes_of_block, bytes, mask, use, lanes) ? 0 : check_defined(event, places, bytes, mask, use);
}

/// Whether all bytes of an access are initialised, or were no copy's and are now, as far as it is known where the lanes access.
bool SharedMemoryCheck::defines_or_has_defined(SharedShadow& shadow, std::uint32_t bytes, LaneMask mask, Use use, const Lanes& lanes) {
  if (shadow.complete()) return true;
  if (!lanes) return false;
  const scalar::LaneRange& range = lanes->range;
  if (use == Use::store && mask != all_lanes) return shadow.surely_defined(range.first, range.last - range.first + bytes);  // some lanes
  if (shadow.surely_defined(*lanes, bytes)) return true;
  if (use != Use::store || mask != all_lanes || shadow.has_copies()) return false;
  shadow.define(*lanes, bytes);
  return true;
}

LaneMask SharedMemoryCheck::check_defined(const Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, Use use) {
  SharedShadow& bytes_of_block = shadow(event);
  const bool reads = use == Use::load || use == Use::atomic;
  const bool conflicts = bytes_of_block.has_copies();
  const LaneMask undefined = reads || conflicts ? bytes_of_block.undefined(places, bytes, mask) : 0;
  if (undefined != 0 && conflicts) check_copies(event, places, bytes, undefined, !reads);
  if (use == Use::store) bytes_of_block.define(places, bytes, mask);
  return reads && setup_.checks.uninitialised ? undefined : 0;
}

/// Traps if one of these lanes accesses bytes of a cp.async that is pending, or visible only to another warp.
void SharedMemoryCheck::check_copies(const Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask, bool writes) {
  using State = SharedShadow::Copy::State;
  const machine::WarpState& warp = warp_of(event);
  for (; mask != 0; mask &= mask - 1) {
    const int lane = first_lane(mask);
    const std::uint64_t address = shared_address(event, places, lane);
    const auto copy = shadow(event).conflict(shadow(event).offset(places[static_cast<std::size_t>(lane)]), bytes, event.warp(), writes);
    if (copy.state == State::none) continue;
    const std::vector<Trap::Note> notes{warp.note_of_shared(address),
                                        warp.note(fmt::format("copied here by warp {}", copy.warp), copy.statement)};
    if (copy.state == State::pending && copy.warp != event.warp() && std::ranges::count(issued(event, copy.warp), copy.statement) != 0)
      event.trap(
          lane, address,
          {fmt::format("nothing orders this {} and the cp.async of warp {}", writes ? "store" : "load", copy.warp), notes,
           "__syncthreads() comes between the last use of a tile and the copies that fill it again; and before a use the wait, then a "
           "barrier"},
          Trap::Kind::unordered);
    if (copy.state == State::pending)
      event.trap(lane, address,
                 {fmt::format("{} the destination of a cp.async that has not been waited for", writes ? "store to" : "load from"), notes,
                  "cp.async.wait_group comes before the access, in the warp that copied, and a barrier before other warps'"},
                 Trap::Kind::unordered);
    event.trap(lane, address,
               {fmt::format("warp {} has waited for its cp.async, but no barrier since then lets other warps read it", copy.warp), notes,
                "__syncthreads() comes between the wait and this load"},
               Trap::Kind::unordered);
  }
}

void SharedMemoryCheck::begin_copies(const Event& event, SharedShadow::Places places, std::uint32_t bytes, LaneMask mask,
                                     const Lanes& lanes) {
  SharedShadow& bytes_of_block = shadow(event);
  if (!setup_.checks.copies) return bytes_of_block.define(places, bytes, mask);
  if (std::vector<std::uint32_t>& all = issued(event, event.warp()); std::ranges::find(all, event.statement()) == all.end())
    all.push_back(event.statement());
  if (lanes && mask == all_lanes) return bytes_of_block.begin_copies(*lanes, bytes, event.warp(), event.statement());
  bytes_of_block.begin_copies(places, bytes, mask, event.warp(), event.statement());
}

void SharedMemoryCheck::remote_access(const machine::RemoteAccess& event) {
  if (event.writes && !event.ended) shared_written(event.range);
}

void SharedMemoryCheck::shared_written(const SharedRange& range) {
  SharedShadow& shadow = block(range.rank).shadow;
  shadow.define(range.offset, range.bytes);
  if (!has_copies_ && following_ == 0 && shadow.complete()) choose_events();
}

void SharedMemoryCheck::copies_land(const machine::CopiesEvent& event) {
  if (setup_.checks.copies) block(event.rank).shadow.land_copies(event.places, event.bytes, event.lanes, event.warp);
  if (!block(event.rank).late.empty()) land_late_copies(event);
}

/// A block of one warp needs no barrier after its wait.
void SharedMemoryCheck::copies_complete(const Event& event) {
  if (block(event.rank()).values.size() == 1) publish(event.rank(), 1);
}

/// The offset of uninitialised bytes that a bulk copy reads in shared memory. Of a box what lies outside of the tensor is not read.
std::optional<std::size_t> SharedMemoryCheck::uninitialised_source(const Event& event, const machine::BulkEvent& copy) {
  std::optional<std::size_t> found;
  const auto look = [&](std::uint64_t offset, std::uint64_t, std::uint64_t bytes) {
    if (!found && shadow(event).undefined(offset, bytes)) found = offset;
  };
  if (copy.map == nullptr)
    look(copy.reads->offset, 0, copy.reads->bytes);
  else
    machine::for_each_moved(transfer_of(copy), setup_.program.shared_base, look);
  return found;
}

void SharedMemoryCheck::bulk_issues(const Event& event, const machine::BulkEvent& copy) {
  if (!setup_.checks.copies || !setup_.checks.uninitialised || !copy.reads || copy.reads->bytes == 0) return;
  const std::optional<std::size_t> lacks = uninitialised_source(event, copy);
  if (!lacks || origin_in_shared(event, *lacks).global) return;  // it moves what global memory had
  const std::uint64_t address = setup_.program.shared_base + *lacks;
  const Trap::Reason reason("the copy reads uninitialised shared memory", {warp_of(event).note_of_shared(address)});
  const bool stores = !copy.writes && !copy.reduces;  // to global memory, as a store would
  if (setup_.checks.stores || !stores) event.trap(copy.lane, address, reason);
  warn(setup_.reports.unwritten_stores, line_of(event.statement()), event, cluster_, copy.lane, address, reason);
}

void SharedMemoryCheck::bulk_completes(const machine::BulkEvent& copy) {
  for (const SharedRange& range : copy.written) shared_written(range);
  if (setup_.follows_global) follow_bulk(copy);
}

/// What these warps have copied and waited for is visible to all warps.
void SharedMemoryCheck::publish(int rank, std::uint64_t warps) {
  for (; warps != 0; warps &= warps - 1) publish_warp(rank, std::countr_zero(warps));
}

void SharedMemoryCheck::publish_warp(int rank, int warp) {
  block(rank).shadow.publish(warp);
  if (auto& issued = block(rank).issued; !issued.empty()) issued[static_cast<std::size_t>(warp)].clear();
  if (!block(rank).late.empty()) publish_late_copies(rank, warp);
}

void SharedMemoryCheck::synchronises(const Synchronisation& event) {
  using Kind = Synchronisation::Kind;
  if (event.kind == Kind::ordered_store || event.kind == Kind::mbarrier || event.kind == Kind::fence)
    publish(event.rank, std::uint64_t{1} << event.warp);
}

void SharedMemoryCheck::barrier_arrives(const BarrierEvent& event) {
  if (event.scope == BarrierEvent::Scope::cluster) publish(event.rank, event.warps);
}

void SharedMemoryCheck::barrier_completes(const BarrierEvent& event) {
  if (event.scope != BarrierEvent::Scope::cluster) return publish(event.rank, event.warps | event.exited);
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
    for (std::size_t warp = 0; warp < blocks_[rank].values.size(); ++warp) publish_warp(static_cast<int>(rank), static_cast<int>(warp));
}

void add_shared_memory_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if ((setup.has_shared() && (setup.checks.uninitialised || setup.checks.copies || setup.checks.races)) || setup.follows_global)
    all.push_back(std::make_unique<SharedMemoryCheck>(setup, cluster));
}

}  // namespace warpmat::checks
