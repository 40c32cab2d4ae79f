#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/checks/lane_runs.h>
#include <warpmat/checks/race_detector.h>
#include <warpmat/checks/stored_value.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/warp_state.h>
#include <warpmat/machine/warpgroup.h>

namespace warpmat::checks {

namespace {

/// Reports data races in the shared memory of each block.
class RaceCheck : public machine::Observer {
 public:
  explicit RaceCheck(const Setup& setup);

  void block_begins(const machine::BlockEvent& event) override;
  void access(const machine::AccessEvent& event) override;
  void remote_access(const machine::RemoteAccess& event) override;
  void copies_land(const machine::CopiesEvent& event) override;
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void bulk_reads(const machine::BulkEvent& copy) override;
  void bulk_completes(const machine::BulkEvent& copy) override;
  void product_issues(const machine::ProductEvent& event) override;
  void products_read(const machine::Event& event, std::span<const machine::Product> products) override;
  void synchronises(const machine::Synchronisation& event) override;
  void barrier_arrives(const machine::BarrierEvent& event) override;
  void barrier_completes(const machine::BarrierEvent& event) override;
  void barrier_leaves(const machine::BarrierEvent& event) override;

 private:
  struct BlockState {
    const std::uint8_t* shared;
    std::size_t bytes;
    RaceDetector races;
  };

  BlockState& block(int rank) { return blocks_[static_cast<std::size_t>(rank)]; }
  void check_mbarriers(const machine::Synchronisation& event);
  bool stores_same(const machine::AccessEvent& event, int lane) const;
  void read_chunks(const machine::Event& event, const std::vector<std::uint32_t>& chunks);
  [[noreturn]] void report(const machine::Event& event, int lane, std::size_t offset, bool writes,
                           const RaceDetector::Conflict& conflict) const;

  const Setup& setup_;
  std::vector<BlockState> blocks_;  ///< by rank
};

}  // namespace

using catalogue::Semantics;
using machine::BarrierEvent;
using machine::Event;
using machine::EventKinds;
using machine::Synchronisation;

namespace {

/// A number for each barrier: a block's, a warpgroup's, and each phase of the cluster's, because warps may leave one phase while others
/// arrive in the next.
int key(BarrierEvent::Scope scope, int number) {
  constexpr int cluster_barrier = 1 << 16;
  switch (scope) {
    case BarrierEvent::Scope::block: return number;
    case BarrierEvent::Scope::warpgroup: return static_cast<int>(machine::block_barriers) + number;
    case BarrierEvent::Scope::cluster: break;
  }
  return cluster_barrier + number;
}

template <typename Visit>
void for_each_warp(std::uint64_t warps, Visit visit) {
  for (; warps != 0; warps &= warps - 1) visit(std::countr_zero(warps));
}

}  // namespace

RaceCheck::RaceCheck(const Setup& setup)
    : Observer(EventKinds::shared_accesses | EventKinds::copies | EventKinds::products | EventKinds::synchronisation), setup_(setup) {}

void RaceCheck::block_begins(const machine::BlockEvent& event) {
  blocks_.push_back({event.shared.data(), event.shared.size(), RaceDetector(event.shared.size(), event.warps)});
}

void RaceCheck::report(const Event& event, int lane, std::size_t offset, bool writes, const RaceDetector::Conflict& conflict) const {
  const machine::WarpState& warp = warp_of(event);
  const std::uint64_t address = setup_.program.shared_base + offset;
  const int outside = blocks_[static_cast<std::size_t>(event.rank())].races.outside();
  const std::string who = conflict.warp == outside ? "another block" : fmt::format("warp {}", conflict.warp);
  event.trap(lane, address,
             {fmt::format("race at {:#x}: nothing orders this {} and the {} of {}", address, writes ? "store" : "load",
                          conflict.wrote ? "store" : "load", who),
              {warp.note_of_shared(address),
               warp.note(fmt::format("{} here by {}", conflict.wrote ? "stored" : "loaded", who), conflict.statement)},
              "a barrier between the two orders them: __syncthreads(), or the mbarrier that both use"},
             Trap::Kind::unordered);
}

/// Whether a lane's store leaves the bytes as the stores before have left them: whichever comes last, their values stay.
bool RaceCheck::stores_same(const machine::AccessEvent& event, int lane) const {
  const code::Operation& operation = operation_of(event.event);
  if (event.asynchronous || operation.semantics != Semantics::store) return false;
  const code::Access& access = setup_.program.access(operation);
  if (!is_plain_store(operation, &access)) return false;
  std::array<std::uint8_t, widest_store> value;
  stored_value(warp_of(event.event), operation, access, lane, value.data());
  return std::equal(value.begin(), value.begin() + event.bytes, event.places[static_cast<std::size_t>(lane)]);
}

void RaceCheck::access(const machine::AccessEvent& event) {
  if (event.space != Space::shared) return;
  BlockState& here = block(event.event.rank());
  const code::Operation& operation = operation_of(event.event);
  const int warp = event.event.warp();
  const bool ordered = (event.reads && event.writes) ||
                       (!event.asynchronous && operation.semantics != Semantics::matrix && orders_others(setup_.program.access(operation)));
  const auto kind = ordered ? RaceDetector::Kind::synchronising : RaceDetector::Kind::plain;
  const SharedAccess lanes = shared_access(event, here.shared, here.bytes);
  if (event.reads && !ordered && here.races.defer(warp, lanes)) return;
  const auto note = [&](std::size_t offset, std::size_t bytes) {
    std::optional<RaceDetector::Conflict> conflict;
    if (event.writes)  // of an atomic, too: what races with its read races with its write
      conflict = here.races.write(warp, offset, bytes, operation.statement, kind);
    else
      conflict = here.races.read(warp, offset, bytes, operation.statement, kind);
    if (event.asynchronous) here.races.begin_copy(warp, offset, bytes);
    return conflict;
  };
  const auto offset_of = [&](int lane) { return lanes.offsets[static_cast<std::size_t>(lane)]; };
  for_each_run(lanes.lanes, lanes.bytes, !event.asynchronous, offset_of, [&](int first, int count) {
    if (!note(offset_of(first), static_cast<std::size_t>(count) * lanes.bytes)) return;
    for (int lane = first; lane < first + count; ++lane) {  // which one has the race
      auto conflict = note(offset_of(lane), lanes.bytes);
      if (conflict && conflict->wrote && stores_same(event, lane))
        conflict = here.races.write_again(warp, offset_of(lane), lanes.bytes, operation.statement);
      if (conflict) report(event.event, lane, offset_of(lane), event.writes, *conflict);
    }
  });
}

/// Nothing orders the exit of a block after an arrival at its mbarrier for which no warp waits.
void RaceCheck::remote_access(const machine::RemoteAccess& event) {
  if (event.ended)
    event.event.trap(event.lane, event.address,
                     fmt::format("block {} of the cluster has ended: its shared memory is gone", event.range.rank));
}

void RaceCheck::copies_land(const machine::CopiesEvent& event) {
  BlockState& here = block(event.rank);
  for (LaneMask rest = event.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(first_lane(rest));
    here.races.land_copy(event.warp, offset_from(here.shared, event.places[lane]), event.bytes);
  }
}

/// A bulk copy's accesses to its own block's shared memory; other blocks of the cluster are not checked.
void RaceCheck::bulk_issues(const Event& event, const machine::BulkEvent& copy) {
  RaceDetector& races = block(copy.rank).races;
  std::optional<RaceDetector::Conflict> conflict;
  if (copy.reads) conflict = races.read(copy.warp, copy.reads->offset, copy.reads->bytes, copy.statement, RaceDetector::Kind::plain);
  if (conflict) report(event, copy.lane, copy.reads->offset, false, *conflict);
  if (!copy.writes || copy.writes->rank != copy.rank) return;
  const auto kind = copy.reduces ? RaceDetector::Kind::synchronising : RaceDetector::Kind::plain;
  conflict = races.write(copy.warp, copy.writes->offset, copy.writes->bytes, copy.statement, kind);
  if (conflict) report(event, copy.lane, copy.writes->offset, true, *conflict);
  races.begin_copy(copy.warp, copy.writes->offset, copy.writes->bytes);
}

void RaceCheck::bulk_reads(const machine::BulkEvent& copy) {
  block(copy.reads->rank).races.read(copy.warp, copy.reads->offset, copy.reads->bytes, copy.statement, RaceDetector::Kind::plain);
}

/// The bytes in shared memory become visible to threads that wait at the copy's mbarrier.
void RaceCheck::bulk_completes(const machine::BulkEvent& copy) {
  if (!copy.writes) return;
  BlockState& there = block(copy.writes->rank);
  const int warp = copy.rank == copy.writes->rank ? copy.warp : there.races.outside();
  there.races.land_bulk(warp, copy.writes->offset, copy.writes->bytes, copy.statement,
                        reinterpret_cast<std::uintptr_t>(there.shared + copy.barrier->offset));
}

void RaceCheck::read_chunks(const Event& event, const std::vector<std::uint32_t>& chunks) {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const std::size_t offset = chunks[i] - setup_.program.shared_base;
    const auto conflict =
        block(event.rank()).races.read(event.warp(), offset, machine::Product::chunk_bytes, event.statement(), RaceDetector::Kind::plain);
    if (conflict) report(event, static_cast<int>(i % warp_size), offset, false, *conflict);
  }
}

void RaceCheck::product_issues(const machine::ProductEvent& event) {
  for (const OperandName operand : {OperandName::a, OperandName::b})
    read_chunks(event.event, chunks_of(pending_of(event.product), operand).addresses);
}

/// The products have read their operands until here.
void RaceCheck::products_read(const Event& event, std::span<const machine::Product> products) {
  RaceDetector& races = block(event.rank()).races;
  for (const machine::Product& product : products)
    for (const OperandName operand : {OperandName::b, OperandName::a})
      for (const std::uint32_t chunk : chunks_of(pending_of(product), operand).addresses)
        races.read(event.warp(), chunk - setup_.program.shared_base, machine::Product::chunk_bytes, product.statement(),
                   RaceDetector::Kind::plain);
}

/// An mbarrier is ready for other warps when something orders its initialisation before them; what waits at it does not.
void RaceCheck::check_mbarriers(const Synchronisation& event) {
  constexpr std::size_t bytes = 8;
  BlockState& here = block(event.rank);
  const Event& at = *event.event;
  for (LaneMask rest = event.acquired | event.released | event.begun; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const auto offset = offset_from(here.shared, event.words[static_cast<std::size_t>(lane)]);
    if (offset >= here.bytes) continue;  // another block's
    const bool begins = (event.begun & lane_bit(lane)) != 0;
    const auto conflict = begins ? here.races.write(event.warp, offset, bytes, at.statement(), RaceDetector::Kind::plain)
                                 : here.races.read(event.warp, offset, bytes, at.statement(), RaceDetector::Kind::synchronising);
    if (!conflict) continue;
    const machine::WarpState& warp = warp_of(at);
    const std::uint64_t address = setup_.program.shared_base + offset;
    at.trap(lane, address,
            {fmt::format("race at {:#x}: nothing orders this {} the use of the mbarrier by warp {}", address, begins ? "and" : "after",
                         conflict->warp),
             {warp.note_of_shared(address), warp.note(fmt::format("warp {} uses it here", conflict->warp), conflict->statement)},
             "a barrier between them is missing: __syncthreads() after mbarrier.init"},
            Trap::Kind::unordered);
  }
}

void RaceCheck::synchronises(const Synchronisation& event) {
  if (event.kind == Synchronisation::Kind::mbarrier && event.event != nullptr) check_mbarriers(event);
  block(event.rank).races.synchronise(event.warp, event.words, event.acquired, event.released);
}

void RaceCheck::barrier_arrives(const BarrierEvent& event) {
  for_each_warp(event.warps, [&](int warp) { block(event.rank).races.arrive(warp, key(event.scope, event.number)); });
}

void RaceCheck::barrier_completes(const BarrierEvent& event) {
  if (event.scope == BarrierEvent::Scope::cluster) {  // all have left the phase before
    for (BlockState& state : blocks_) state.races.complete(key(event.scope, event.number - 1));
    return;
  }
  RaceDetector& races = block(event.rank).races;
  const int barrier = key(event.scope, event.number);
  for_each_warp(event.exited, [&](int warp) { races.arrive(warp, barrier); });
  for_each_warp(event.waiting, [&](int warp) { races.leave(warp, barrier); });
  races.complete(barrier);
}

void RaceCheck::barrier_leaves(const BarrierEvent& event) {
  for_each_warp(event.warps, [&](int warp) { block(event.rank).races.leave(warp, key(event.scope, event.number)); });
}

void add_race_check(Observers& all, const Setup& setup, std::uint64_t) {
  if (setup.has_shared() && setup.checks.races) all.push_back(std::make_unique<RaceCheck>(setup));
}

}  // namespace warpmat::checks
