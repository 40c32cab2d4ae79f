// mbarriers: arrivals, bytes of copies, waits (PTX ISA 9.1 section 9.7.13.15).

#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/core.h>

#include <warpmat/ir/address_windows.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/each_lane.h>
#include <warpmat/machine/mbarrier.h>
#include <warpmat/machine/operations.h>
#include <warpmat/ptx/catalogue/mbarrier_state.h>

namespace warpmat::machine {

using code::Mbarrier;
using code::Operation;
using MbarrierAction = code::Mbarrier::Action;

namespace {

/// A lane's wait, and its result.
struct PhaseWait {
  std::uint64_t address, phase;
  std::uint8_t* word;
  bool done;
};

/// Whether the statement arrives at an mbarrier of a block that has exited. No thread can observe that, and an H200 accepts it, so it is
/// ignored. Nothing orders the block's exit after the arrival, however; observers learn of it.
bool arrives_in_vain(WarpState& warp, const Mbarrier& what, int rank) {
  if (!what.remote || what.action != MbarrierAction::arrive) return false;
  return rank < warp.block().cluster().size() && warp.block().cluster().block(rank).finished();
}

void tell_vain_arrival(WarpState& warp, const Operation& operation, int lane, std::uint64_t address, int rank) {
  warp.observers().tell(EventKinds::shared_accesses, &Observer::remote_access,
                        RemoteAccess{warp.event(operation, lane_bit(lane)), lane, {rank, 0, 8}, address, true, true});
}

/// The phase for which a lane waits.
std::uint64_t waited_phase(WarpState& warp, const Operation& operation, const Mbarrier& what, int lane) {
  return what.parity ? warp.source_word(operation, 1, lane) & 1
                     : MbarrierWord(warp.at<std::uint64_t>(warp.source_slot(operation, 1))[lane]).phase();
}

/// Whether these lanes wait for the same phase of the same mbarrier, as nearly always all do.
bool wait_alike(WarpState& warp, const Operation& operation, const Mbarrier& what, LaneMask lanes, const PhaseWait& wait) {
  const auto* const addresses = warp.at<std::uint64_t>(warp.source_slot(operation, 0));
  std::uint64_t others = 0;
  for (std::size_t lane = 0; lane < warp_size; ++lane) others |= (lanes >> lane & 1) != 0 ? addresses[lane] ^ wait.address : 0;
  if (others != 0) return false;
  for (; lanes != 0; lanes &= lanes - 1)
    if (waited_phase(warp, operation, what, first_lane(lanes)) != wait.phase) return false;
  return true;
}

/// Performs the arrivals of cp.async.mbarrier.arrive at `place`, after the lane's earlier copies. Returns false if there are none.
bool arrive_behind_copies(WarpState& warp, const SharedPlace& place) {
  bool any = false;
  for (std::size_t i = 0; i < warp.async().arrivals.size();) {
    const CopyArrival arrival = warp.async().arrivals[i];
    if (arrival.place != place) {
      ++i;
      continue;
    }
    warp.async().arrivals.erase(warp.async().arrivals.begin() + static_cast<std::ptrdiff_t>(i));
    finish_copies(warp, lane_bit(arrival.lane), arrival.copies);
    arrive_at_mbarrier(warp, place, arrival.lane, arrival.statement);
    any = true;
  }
  return any;
}

/// Performs the pending copies that `place` counts. Returns false if there are none.
bool arrive_copies(WarpState& warp, const SharedPlace& place) {
  bool any = warp.block().cluster().copies().arrive_at(place);
  for (WarpState* const other : warp.block().warps()) any |= arrive_behind_copies(*other, place);
  return any;
}

/// Whether the lane's phase is complete. Performs the copies for which it waits.
bool mbarrier_done(WarpState& warp, const Operation& operation, std::uint64_t phase, int lane, const SharedPlace& place) {
  must_be_mbarrier(warp, lane, place);
  const auto over = [&] {
    std::uint64_t bits;
    std::memcpy(&bits, host_of(warp, place), 8);
    return MbarrierWord(bits).phase() != phase;
  };
  bool done = over();
  if (!done && arrive_copies(warp, place)) done = over();
  while (!done && arrive_products(warp, place)) done = over();
  warp.write_word(operation, 0, lane, done);
  if (!done) warp.note_mbarrier(place);
  return done;
}

[[noreturn]] void report_mbarrier(WarpState& warp, int lane, const SharedPlace& place, const std::string& problem) {
  Block& owner = warp.block().cluster().block(place.rank);
  std::vector<Trap::Note> notes{{owner.describe_mbarrier(place.offset)}};
  std::ranges::move(owner.mbarrier_changes(place.offset), std::back_inserter(notes));
  warp.trap(lane, warp.program().shared_base + place.offset, {problem, std::move(notes)});
}

void change_mbarrier(WarpState& warp, const Operation& operation, const Mbarrier& what, int lane, const SharedPlace& place) {
  Block& owner = warp.block().cluster().block(place.rank);
  std::uint8_t* const host = host_of(warp, place);
  std::uint64_t count = what.has_count ? warp.source_word(operation, 1, lane) : 1;
  if (what.action == MbarrierAction::init) {
    if (count == 0 || count > max_mbarrier_count)
      warp.trap(lane, std::nullopt, fmt::format("an mbarrier of {} arrivals: there are from 1 to {}", count, max_mbarrier_count));
    owner.mbarriers()[place.offset] = MbarrierHistory({warp.index(), operation.statement, count});
    const std::uint64_t bits = MbarrierWord::begin(count).bits();
    std::memcpy(host, &bits, 8);
    warp.observers().tell(EventKinds::shared_accesses, &Observer::shared_written, SharedRange{place.rank, place.offset, 8});
    return warp.block().make_progress();
  }
  must_be_mbarrier(warp, lane, place);
  if (what.action == MbarrierAction::invalidate) {
    owner.mbarriers().erase(place.offset);
    return;
  }
  std::uint64_t before;
  std::memcpy(&before, host, 8);
  MbarrierWord word(before);
  std::optional<std::string> problem;
  if (what.action == MbarrierAction::expect || what.expects) problem = word.expect(count);
  if (what.expects) count = 1;
  switch (what.action) {
    case MbarrierAction::complete: problem = word.complete(count); break;
    case MbarrierAction::arrive:
    case MbarrierAction::arrive_and_drop:
      if (!what.completes && count >= word.missing()) problem = "an arrival with .noComplete completes the phase";
      if (!problem) problem = what.action == MbarrierAction::arrive ? word.arrive(count) : word.arrive_and_drop(count);
      break;
    case MbarrierAction::copies_arrive:
      if (!warp.program().has(operation, ".noinc")) problem = word.add_missing();
      check_waiting(warp, lane, warp.async().arrivals.size(), "arrivals of the warp");
      warp.async().arrivals.push_back({place, lane, warp.async().issued, operation.statement});
      break;
    default: break;
  }
  if (problem) report_mbarrier(warp, lane, place, *problem);
  const std::uint64_t after = word.bits();
  std::memcpy(host, &after, 8);
  MbarrierHistory& history = owner.mbarriers()[place.offset];
  if (what.action == MbarrierAction::expect || what.expects)
    history.announce(warp.index(), operation.statement, warp.source_word(operation, 1, lane));
  if (what.action == MbarrierAction::complete) history.come(count);
  history.add(warp.index(), operation.statement, word.phase() != MbarrierWord(before).phase());
  if (operation.results > 0) warp.write_word(operation, 0, lane, before);
  warp.block().make_progress();
}

}  // namespace

/// The bytes at an address of shared memory: the block's own or, if `remote`, those of another block of the cluster.
SharedPlace shared_place(WarpState& warp, int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment, Space space,
                         bool remote) {
  const std::uint64_t given = address;
  if (space == Space::generic) {
    if (address - code::shared_window >= code::window_bytes) warp.trap(lane, given, "the address is none of shared memory");
    address -= code::shared_window;
  }
  address = static_cast<std::uint32_t>(address);
  const int rank = code::rank_in(address);
  Cluster& cluster = warp.block().cluster();
  if (rank >= cluster.size())
    warp.trap(lane, given, fmt::format("the address is one of block {} of a cluster of {}", rank, cluster.size()));
  if (rank != warp.block().rank() && !remote)
    warp.trap(lane, given, fmt::format("the address is one of block {} of the cluster; the statement takes those of its own block", rank));
  if (cluster.block(rank).finished())
    warp.trap(lane, given, fmt::format("block {} of the cluster has ended: its shared memory is gone", rank));
  if (address % alignment != 0)
    warp.trap(lane, given, fmt::format("the address is not a multiple of {}", alignment), Trap::Kind::misaligned);
  const std::uint64_t offset = address % code::block_window_bytes - warp.program().shared_base;
  if (offset > warp.launch().shared_bytes || bytes > warp.launch().shared_bytes - offset)
    warp.trap(lane, given,
              fmt::format("{} bytes outside of shared memory, which has {} bytes from {:#x} on", bytes, warp.launch().shared_bytes,
                          warp.program().shared_base),
              Trap::Kind::out_of_range);
  return {rank, static_cast<std::uint32_t>(offset)};
}

std::uint8_t* host_of(WarpState& warp, const SharedPlace& place) {
  return warp.block().cluster().block(place.rank).shared().data() + place.offset;
}

Step body::mbarrier(WarpState& warp, const Operation& operation, LaneMask mask) {
  const Mbarrier& what = warp.program().of<code::Mbarrier>(operation);
  std::array<std::uint8_t*, warp_size> words{};
  LaneMask acquired = 0, released = 0, begun = 0;
  bool failed = false;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint64_t address = warp.at<std::uint64_t>(warp.source_slot(operation, 0))[lane];
    if (const int rank = code::rank_in(address); arrives_in_vain(warp, what, rank)) {
      tell_vain_arrival(warp, operation, lane, address, rank);
      continue;
    }
    const SharedPlace place = shared_place(warp, lane, address, 8, 8, what.space, what.remote);
    words[static_cast<std::size_t>(lane)] = host_of(warp, place);
    if (what.action != MbarrierAction::wait) {
      change_mbarrier(warp, operation, what, lane, place);
      (what.action == MbarrierAction::init || what.action == MbarrierAction::invalidate ? begun : released) |= lane_bit(lane);
      continue;
    }
    const std::uint64_t phase = waited_phase(warp, operation, what, lane);
    const PhaseWait wait{address, phase, host_of(warp, place), mbarrier_done(warp, operation, phase, lane, place)};
    if (wait.done)
      acquired |= lane_bit(lane);
    else
      failed = true;
    if (const LaneMask others = rest & (rest - 1); wait_alike(warp, operation, what, others, wait)) {
      for_each_lane(others, [&](std::size_t other) { words[other] = wait.word; });
      warp.write_bits(operation, 0, wait.done ? others : 0, others);
      if (wait.done) acquired |= others;
      break;
    }
  }
  const bool waits = what.action == MbarrierAction::wait;
  if (warp.observers().want(EventKinds::synchronisation)) {
    const Event event = warp.event(operation, mask);
    warp.observers().tell(EventKinds::synchronisation, &Observer::synchronises,
                          Synchronisation{Synchronisation::Kind::mbarrier, warp.block().rank(), warp.index(), acquired, released, words,
                                          waits && !failed, begun, &event});
  }
  if (waits) warp.note_wait(mask, failed);
  ++warp.split().pc;
  return failed && warp.program().has(operation, ".try_wait") ? Step::yield : Step::next;
}

void must_be_mbarrier(WarpState& warp, int lane, const SharedPlace& place) {
  if (!warp.block().cluster().block(place.rank).mbarriers().contains(place.offset))
    warp.trap(lane, warp.program().shared_base + place.offset,
              fmt::format("there is no mbarrier that mbarrier.init has made: {}",
                          warp.describe_shared(warp.program().shared_base + place.offset)));
}

/// An arrival for asynchronous work that `lane` issued by `statement`.
void arrive_at_mbarrier(WarpState& warp, const SharedPlace& place, int lane, std::uint32_t statement) {
  std::array<std::uint8_t*, warp_size> words{};
  words[static_cast<std::size_t>(lane)] = host_of(warp, place);
  warp.observers().tell(EventKinds::synchronisation, &Observer::synchronises,
                        Synchronisation{Synchronisation::Kind::mbarrier, warp.block().rank(), warp.index(), 0, lane_bit(lane), words});
  std::uint64_t bits;
  std::memcpy(&bits, host_of(warp, place), 8);
  MbarrierWord word(bits);
  Block& owner = warp.block().cluster().block(place.rank);
  if (const auto problem = word.arrive(1)) report_mbarrier(warp, lane, place, *problem);
  const bool completes = word.phase() != MbarrierWord(bits).phase();
  bits = word.bits();
  std::memcpy(host_of(warp, place), &bits, 8);
  owner.mbarriers()[place.offset].add(warp.index(), statement, completes);
  warp.block().make_progress();
}

}  // namespace warpmat::machine
