// mbarriers: arrivals, bytes of copies, waits (PTX ISA 9.1 section 9.7.13.15).

#include <cstring>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/mbarrier.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/ptx/catalogue/mbarrier_state.h>
#include <warpmat/ptx/program/address_windows.h>

namespace warpmat::inline v0_1::machine {

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

}  // namespace

/// The bytes at an address of shared memory: the block's own or, if `remote`, those of another block of the cluster.
SharedPlace WarpState::shared_place(int lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment, Space space,
                                    bool remote) const {
  const std::uint64_t given = address;
  if (space == Space::generic) {
    if (address - code::shared_window >= code::window_bytes) trap(lane, given, "the address is none of shared memory");
    address -= code::shared_window;
  }
  address = static_cast<std::uint32_t>(address);
  const int rank = rank_of(address);
  Cluster& cluster = block_.cluster();
  if (rank >= cluster.size()) trap(lane, given, fmt::format("the address is one of block {} of a cluster of {}", rank, cluster.size()));
  if (rank != block_.rank() && !remote)
    trap(lane, given, fmt::format("the address is one of block {} of the cluster; the statement takes those of its own block", rank));
  if (cluster.block(rank).finished()) trap(lane, given, fmt::format("block {} of the cluster has ended: its shared memory is gone", rank));
  if (address % alignment != 0) trap(lane, given, fmt::format("the address is not a multiple of {}", alignment));
  const std::uint64_t offset = (address & ((1u << Cluster::rank_at) - 1)) - program_.shared_base;
  if (offset > launch_.shared_bytes || bytes > launch_.shared_bytes - offset)
    trap(lane, given,
         fmt::format("{} bytes outside of shared memory, which has {} bytes from {:#x} on", bytes, launch_.shared_bytes,
                     program_.shared_base));
  return {rank, static_cast<std::uint32_t>(offset)};
}

/// The rank of the block that owns an address of shared memory; a generic address counts with its low 32 bits.
int WarpState::rank_of(std::uint64_t address) const {
  const auto tag = static_cast<int>(static_cast<std::uint32_t>(address) >> Cluster::rank_at);
  return tag == 0 ? block_.rank() : tag - 1;
}

/// The rank of the mbarrier's block in a statement of .cta_group::2, `rank` by its address. An address without a block names the even one
/// of the pair (assumed): on a GPU, addresses have the rank of their block in bits 24 on, and CUTLASS clears bit 24 where it means that
/// one.
int WarpState::pair_rank(std::uint64_t address, int rank) const {
  return static_cast<std::uint32_t>(address) >> Cluster::rank_at == 0 ? rank & ~1 : rank;
}

/// Whether the statement arrives at an mbarrier of a block that has exited. No thread can observe that, and an H200 accepts it, so it is
/// ignored. Nothing orders the block's exit after the arrival, however; observers learn of it.
bool WarpState::arrives_in_vain(const Mbarrier& what, int rank) const {
  if (!what.remote || what.action != MbarrierAction::arrive) return false;
  return rank < block_.cluster().size() && block_.cluster().block(rank).finished();
}

void WarpState::tell_vain_arrival(const Operation& operation, int lane, std::uint64_t address, int rank) const {
  observers_.tell(EventKinds::shared_accesses, &Observer::remote_access,
                  RemoteAccess{Event(*this, operation, lane_bit(lane)), lane, {rank, 0, 8}, address, true, true});
}

std::uint8_t* WarpState::host_of(const SharedPlace& place) const {
  return block_.cluster().block(place.rank).shared().data() + place.offset;
}

WarpState::Step WarpState::mbarrier(const Operation& operation, LaneMask mask) {
  const Mbarrier& what = program_.mbarriers[operation.detail];
  std::array<std::uint8_t*, warp_size> words{};
  LaneMask acquired = 0, released = 0;
  bool failed = false;
  std::optional<PhaseWait> before;  // of the last lane that waits: nearly always the same in all
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint64_t address = at<std::uint64_t>(source_slot(operation, 0))[lane];
    if (before && before->address == address && before->phase == waited_phase(operation, what, lane)) {
      words[static_cast<std::size_t>(lane)] = before->word;
      write_word(operation, 0, lane, before->done);
      if (before->done) acquired |= lane_bit(lane);
      continue;
    }
    const int rank = what.even ? pair_rank(address, rank_of(address)) : rank_of(address);
    if (arrives_in_vain(what, rank)) {
      tell_vain_arrival(operation, lane, address, rank);
      continue;
    }
    SharedPlace place = shared_place(lane, address, 8, 8, what.space, what.remote);
    if (what.even) place.rank = rank;
    words[static_cast<std::size_t>(lane)] = host_of(place);
    if (what.action != MbarrierAction::wait) {
      change_mbarrier(operation, what, lane, place);
      released |= lane_bit(lane);
      continue;
    }
    const std::uint64_t phase = waited_phase(operation, what, lane);
    before = {address, phase, host_of(place), mbarrier_done(operation, phase, lane, place)};
    if (before->done)
      acquired |= lane_bit(lane);
    else
      failed = true;
  }
  const bool waits = what.action == MbarrierAction::wait;
  observers_.tell(EventKinds::synchronisation, &Observer::synchronises,
                  Synchronisation{Synchronisation::Kind::mbarrier, block_.rank(), index_, acquired, released, words, waits && !failed});
  if (waits) note_wait(operation, mask, failed);
  ++split().pc;
  return failed && what.may_suspend ? Step::yield : Step::next;
}

/// The phase for which a lane waits.
std::uint64_t WarpState::waited_phase(const Operation& operation, const Mbarrier& what, int lane) const {
  return what.parity ? source_word(operation, 1, lane) & 1 : MbarrierWord(at<std::uint64_t>(source_slot(operation, 1))[lane]).phase();
}

/// Whether the lane's phase is complete. Performs the copies for which it waits.
bool WarpState::mbarrier_done(const Operation& operation, std::uint64_t phase, int lane, const SharedPlace& place) {
  must_be_mbarrier(lane, place);
  const auto over = [&] {
    std::uint64_t bits;
    std::memcpy(&bits, host_of(place), 8);
    return MbarrierWord(bits).phase() != phase;
  };
  bool done = over();
  if (!done && arrive_copies(place)) done = over();
  while (!done && arrive_products(place)) done = over();
  write_word(operation, 0, lane, done);
  if (!done) waits_for_ = place;
  return done;
}

/// Performs the pending copies that `place` counts. Returns false if there are none.
bool WarpState::arrive_copies(const SharedPlace& place) {
  bool any = block_.cluster().copies().arrive_at(place);
  for (const auto& warp : block_.warps()) any |= warp->arrive_behind_copies(place);
  return any;
}

void WarpState::must_be_mbarrier(int lane, const SharedPlace& place) const {
  if (!block_.cluster().block(place.rank).mbarriers().contains(place.offset))
    trap(lane, program_.shared_base + place.offset,
         fmt::format("there is no mbarrier that mbarrier.init has made: {}", describe_shared(program_.shared_base + place.offset)));
}

void WarpState::change_mbarrier(const Operation& operation, const Mbarrier& what, int lane, const SharedPlace& place) {
  Block& owner = block_.cluster().block(place.rank);
  std::uint8_t* const host = host_of(place);
  std::uint64_t count = what.has_count ? source_word(operation, 1, lane) : 1;
  if (what.action == MbarrierAction::init) {
    if (count == 0 || count > max_mbarrier_count)
      trap(lane, std::nullopt, fmt::format("an mbarrier of {} arrivals: there are from 1 to {}", count, max_mbarrier_count));
    owner.mbarriers()[place.offset] = {};
    const std::uint64_t bits = MbarrierWord::begin(count).bits();
    std::memcpy(host, &bits, 8);
    observers_.tell(EventKinds::shared_accesses, &Observer::shared_written, SharedRange{place.rank, place.offset, 8});
    return block_.make_progress();
  }
  must_be_mbarrier(lane, place);
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
      if (!what.counted) problem = word.add_missing();
      arrivals_.push_back({place, lane, issued_copies_, operation.statement});
      break;
    default: break;
  }
  if (problem) trap(lane, program_.shared_base + place.offset, fmt::format("{}: {}", *problem, owner.describe_mbarrier(place.offset)));
  const std::uint64_t after = word.bits();
  std::memcpy(host, &after, 8);
  owner.mbarriers()[place.offset].add(index_, operation.statement, word.phase() != MbarrierWord(before).phase());
  if (operation.results > 0) write_word(operation, 0, lane, before);
  block_.make_progress();
}

/// An arrival for asynchronous work that `lane` issued by `statement`.
void WarpState::arrive_at_mbarrier(const SharedPlace& place, int lane, std::uint32_t statement) {
  std::array<std::uint8_t*, warp_size> words{};
  words[static_cast<std::size_t>(lane)] = host_of(place);
  observers_.tell(EventKinds::synchronisation, &Observer::synchronises,
                  Synchronisation{Synchronisation::Kind::mbarrier, block_.rank(), index_, 0, lane_bit(lane), words});
  std::uint64_t bits;
  std::memcpy(&bits, host_of(place), 8);
  MbarrierWord word(bits);
  Block& owner = block_.cluster().block(place.rank);
  if (const auto problem = word.arrive(1))
    trap(lane, program_.shared_base + place.offset, fmt::format("{}: {}", *problem, owner.describe_mbarrier(place.offset)));
  const bool completes = word.phase() != MbarrierWord(bits).phase();
  bits = word.bits();
  std::memcpy(host_of(place), &bits, 8);
  owner.mbarriers()[place.offset].add(index_, statement, completes);
  block_.make_progress();
}

/// Performs the arrivals of cp.async.mbarrier.arrive at `place`, after the lane's earlier copies. Returns false if there are none.
bool WarpState::arrive_behind_copies(const SharedPlace& place) {
  bool any = false;
  for (std::size_t i = 0; i < arrivals_.size();) {
    const CopyArrival arrival = arrivals_[i];
    if (arrival.place != place) {
      ++i;
      continue;
    }
    arrivals_.erase(arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
    finish_copies(lane_bit(arrival.lane), arrival.copies);
    arrive_at_mbarrier(place, arrival.lane, arrival.statement);
    any = true;
  }
  return any;
}

}  // namespace warpmat::inline v0_1::machine
