#include <warpmat/checks/bulk_check.h>

#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/mbarrier.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

using machine::BulkEvent;
using machine::Event;
using machine::EventKinds;
using machine::SharedRange;

namespace {

/// Whether the program has bulk copies or warpgroup products that read shared memory, so that the visibility of stores matters.
bool reads_shared_asynchronously(const code::Program& program) {
  return program.executes(catalogue::Semantics::wgmma) || program.any<code::BulkCopy>([](const code::BulkCopy& copy) {
    return copy.kind == code::BulkCopy::Kind::store || copy.kind == code::BulkCopy::Kind::between_blocks;
  });
}

bool fences_mbarriers(const code::Program& program) {
  return std::ranges::any_of(
      program.statements, [](const syntax::Statement* each) { return std::string_view(each->opcode).starts_with("fence.mbarrier_init"); });
}

bool meet(const SharedRange& a, const SharedRange& b) {
  return a.rank == b.rank && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

BulkCheck::BulkCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::shared_accesses | EventKinds::copies | EventKinds::products | EventKinds::synchronisation |
               (setup.program.executes(catalogue::Semantics::tensor_map) ? EventKinds::operations : EventKinds::none)),
      setup_(setup),
      cluster_(cluster),
      fences_mbarriers_(fences_mbarriers(setup.program)) {}

void BulkCheck::block_begins(const machine::BlockEvent& event) {
  BlockState& state = blocks_.emplace_back(BlockState{event.shared.data(), event.shared.size(), std::nullopt});
  if (reads_shared_asynchronously(setup_.program)) state.proxies.emplace(event.shared.size(), event.warps);
}

/// Reports a tensor map in global memory that changes while a copy may still read it.
void BulkCheck::operation(const Event& event) {
  if (pending_.empty() || operation_of(event).semantics != catalogue::Semantics::tensor_map) return;
  if (setup_.program.of<code::TensorMapEdit>(operation_of(event)).space == Space::shared) return;
  const machine::WarpState& warp = warp_of(event);
  const std::uint64_t* const maps = warp.at<std::uint64_t>(warp.source_slot(operation_of(event), 0));
  for (LaneMask rest = event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const auto found = std::ranges::find(pending_, maps[lane], &Pending::map);
    if (found == pending_.end()) continue;
    const Trap::Reason reason{"a tensor map changes while a bulk copy may still read it",
                              {warp.note(fmt::format("the copy of warp {}", found->copy.warp), found->copy.statement)},
                              "a wait for the copy comes before the change: at its mbarrier, or cp.async.bulk.wait_group.read of a store"};
    if (!setup_.as_cards) event.trap(lane, maps[lane], reason, Trap::Kind::unordered);
    warn(setup_.reports.warnings, event.statement(), event, cluster_, lane, maps[lane], reason, Trap::Kind::unordered);
  }
}

/// A pending copy that must complete before these bytes are used; nullptr if there is none.
const BulkCheck::Pending* BulkCheck::overlapping(const SharedRange& range, Use use) const {
  for (const Pending& pending : pending_) {
    const BulkEvent& copy = pending.copy;
    const bool both_reduce = use == Use::reduce && copy.reduces;
    if (copy.writes && !both_reduce && meet(*copy.writes, range)) return &pending;
    if (use != Use::read && copy.reads && meet(*copy.reads, range)) return &pending;
  }
  return nullptr;
}

/// What keeps a pending copy from being there, as the end of a sentence, and what would help. The warp may have waited for a phase that was
/// over when the copy was issued.
Trap::Reason BulkCheck::awaited(const Event& event, const Pending& pending) const {
  const BulkEvent& copy = pending.copy;
  if (copy.reads)
    return {"may still read it: its group has not been waited for", {}, "cp.async.bulk.wait_group.read comes before the store"};
  const auto passed = std::ranges::find_if(passed_, [&](const Passed& each) {
    return each.rank == event.rank() && each.warp == event.warp() && copy.barrier && meet(each.mbarrier, *copy.barrier) &&
           each.phases == pending.phases && copy.number <= each.copies;
  });
  if (passed == passed_.end()) return {"has not been waited for", {}, "the wait at the copy's mbarrier comes before the access"};
  const std::uint64_t parity = pending.phases % 2;
  return {"has not been waited for",
          {warp_of(event).note(fmt::format("this wait at the copy's mbarrier is for parity {}, and went through at once", parity ^ 1),
                               passed->statement)},
          fmt::format("wait for parity {}: {} of the mbarrier's phases had ended when the copy was issued, and the first has parity 0",
                      parity, pending.phases)};
}

/// Whether a pending copy may write one of these chunks: it writes bytes between the first and the last of them.
bool BulkCheck::may_overlap(int rank, const machine::Chunks& chunks) const {
  return !pending_.empty() && chunks.bytes != 0 &&
         overlapping({rank, chunks.first - setup_.program.shared_base, chunks.bytes}, Use::read) != nullptr;
}

/// Traps if a pending copy conflicts with this access to these bytes.
void BulkCheck::report_overlap(const Event& event, int lane, const SharedRange& range, Use use, std::uint64_t begin) const {
  const Pending* const pending = overlapping(range, use);
  if (pending == nullptr) return;
  const BulkEvent& other = pending->copy;
  const machine::WarpState& warp = warp_of(event);
  const std::uint64_t address = setup_.program.shared_base + range.offset;
  Trap::Reason reason = awaited(event, *pending);
  const std::string copy = other.from_registers ? "asynchronous store" : "bulk copy";
  reason.headline = fmt::format("{} bytes of {} {}, which {}", use == Use::read ? "load of" : "store to", other.from_registers ? "an" : "a",
                                copy, reason.headline);
  reason.notes.insert(reason.notes.begin(),
                      {warp.note_of_shared(address), warp.note(fmt::format("the {} of warp {}", copy, other.warp), other.statement)});
  if (other.writes && begin < range.offset && begin < other.writes->offset && overlapping({range.rank, begin, 1}, use) == nullptr) {
    reason.headline = "the descriptor reads beyond its tile, into " + reason.headline.substr(std::string_view("load of ").size());
    reason.notes.push_back({fmt::format("the operand begins at {:#x}, {} bytes before the copy's destination",
                                        setup_.program.shared_base + begin, other.writes->offset - begin)});
    reason.help = "look at the descriptor's start address and its step along k; if these bytes are meant, wait at the copy's mbarrier";
  }
  event.trap(lane, address, reason);
}

void BulkCheck::access(const machine::AccessEvent& event) {
  BlockState& here = block(event.event.rank());
  if (event.space != Space::shared || (pending_.empty() && !here.proxies)) return;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const auto offset = offset_from(here.shared, event.places[static_cast<std::size_t>(lane)]);
    if (offset >= here.bytes) continue;
    report_overlap(event.event, lane, {event.event.rank(), offset, event.bytes}, event.writes ? Use::write : Use::read);
    if (event.writes && here.proxies)
      here.proxies->write(offset, event.bytes, {event.event.warp(), event.event.statement(), event.asynchronous});
  }
}

void BulkCheck::remote_access(const machine::RemoteAccess& event) {
  if (!event.ended) report_overlap(event.event, event.lane, event.range, event.writes ? Use::write : Use::read);
}

void BulkCheck::bulk_issues(const Event& event, const BulkEvent& copy) {
  any_block_ = &warp_of(event).block();
  if (copy.barrier && !fresh_.empty()) warn_of_fresh(event, copy);
  if (copy.writes) report_overlap(event, copy.lane, *copy.writes, copy.reduces ? Use::reduce : Use::write);
  if (copy.reads) check_source(event, copy);
  const machine::MbarrierHistory* const history = copy.barrier ? history_of(*copy.barrier) : nullptr;
  const machine::BulkTransfer& transfer = transfer_of(copy);
  pending_.push_back({copy, transfer.counted_bytes(), history == nullptr ? 0 : history->phases(), transfer.map_address});
}

/// nullptr if there is no mbarrier.
const machine::MbarrierHistory* BulkCheck::history_of(const SharedRange& mbarrier) const {
  const auto& all = any_block_->cluster().block(mbarrier.rank).mbarriers();
  const auto found = all.find(static_cast<std::uint32_t>(mbarrier.offset));
  return found == all.end() ? nullptr : &found->second;
}

/// Reports copies that the last phase of an mbarrier ended without: expect_tx announced fewer bytes than were issued in it. Which of its
/// copies a phase waits for is the hardware's choice, so any of them may be missing.
void BulkCheck::check_announced(const SharedRange& mbarrier) {
  const machine::MbarrierHistory* const history = history_of(mbarrier);
  if (history == nullptr) return;
  std::uint64_t late = 0;
  const Pending* first = nullptr;
  for (Pending& pending : pending_) {
    const auto& counted = pending.copy.barrier;
    if (!counted || counted->rank != mbarrier.rank || counted->offset != mbarrier.offset || pending.phases >= history->phases()) continue;
    late += pending.counted;
    pending.phases = history->phases();
    if (first == nullptr) first = &pending;
  }
  if (first == nullptr) return;
  const machine::MbarrierHistory::Phase& phase = history->last_phase();
  const bool announced = phase.statements != 0;
  const auto note = [&](std::string text, std::uint32_t statement) {
    return Trap::Note{std::move(text), machine::place_of(setup_.program, statement)};
  };
  Trap::Reason reason{
      announced ? fmt::format("expect_tx announces {} bytes too few: {} were issued on its mbarrier in the phase", late, phase.came + late)
                : fmt::format("no expect_tx announces the {} bytes of the phase that has ended", late),
      {note(fmt::format("this copy of {} bytes may still be on its way", first->counted), first->copy.statement)},
      "expect_tx announces the bytes of all copies of the phase"};
  if (announced && phase.statements > 1)
    reason.notes.push_back({fmt::format("{} statements announced bytes; this is the last", phase.statements)});
  const machine::Block& block = any_block_->cluster().block(announced ? mbarrier.rank : first->copy.rank);
  const Trap report = machine::kernel_trap(
      announced ? block.site_of(phase.announcer.warp, phase.announcer.statement) : block.site_of(first->copy.warp, first->copy.statement),
      setup_.program.shared_base + mbarrier.offset, reason, Trap::Kind::unordered);
  if (!setup_.as_cards) throw report;
  setup_.reports.warnings.add(announced ? phase.announcer.statement : first->copy.statement, cluster_, report);
}

/// An mbarrier is ready for copies behind a fence of the warp that has initialised it. A barrier alone is enough on GPUs, and right kernels
/// have no more. Kernels that have the fence for it are not looked at: the machine tells nobody of that.
void BulkCheck::note_fresh(const machine::Synchronisation& event) {
  BlockState& here = block(event.rank);
  for (LaneMask rest = event.begun; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = offset_from(here.shared, event.words[static_cast<std::size_t>(first_lane(rest))]);
    if (offset < here.bytes) fresh_.push_back({{event.rank, offset, sizeof(std::uint64_t)}, event.warp, event.event->statement()});
  }
}

void BulkCheck::settle(int rank, std::uint64_t warps) {
  std::erase_if(fresh_, [&](const Fresh& each) { return each.mbarrier.rank == rank && (warps >> each.warp & 1) != 0; });
}

void BulkCheck::warn_of_fresh(const Event& event, const BulkEvent& copy) {
  const auto found = std::ranges::find_if(fresh_, [&](const Fresh& each) { return meet(each.mbarrier, *copy.barrier); });
  if (found == fresh_.end()) return;
  const machine::WarpState& warp = warp_of(event);
  const std::uint64_t address = setup_.program.shared_base + copy.barrier->offset;
  warn(setup_.reports.warnings, event.statement(), event, cluster_, copy.lane, address,
       {"the copy counts at an mbarrier of which no fence since its initialisation tells the asynchronous proxy",
        {warp.note_of_shared(address), warp.note(fmt::format("warp {} initialises it", found->warp), found->statement)},
        "fence.mbarrier_init.release.cluster or fence.proxy.async comes after mbarrier.init, and a barrier behind it"},
       Trap::Kind::unordered);
}

/// Checks that the copy's source in shared memory has arrived and is visible to it.
void BulkCheck::check_source(const Event& event, const BulkEvent& copy) {
  report_overlap(event, copy.lane, *copy.reads, Use::read);
  const std::uint64_t address = setup_.program.shared_base + copy.reads->offset;
  const auto& proxies = block(copy.rank).proxies;
  const auto store = proxies ? proxies->unfenced(copy.reads->offset, std::max<std::uint64_t>(copy.reads->bytes, 1)) : std::nullopt;
  if (!store) return;
  report_unfenced(
      event, copy.lane, address,
      unfenced(event,
               fmt::format("the copy reads what warp {} has stored, and no fence.proxy.async since then lets it see that", store->warp),
               *store, address));
}

/// A store that asynchronous work reads without a proxy fence between them.
Trap::Reason BulkCheck::unfenced(const Event& event, std::string headline, const ProxyShadow::Store& store, std::uint64_t address) {
  const machine::WarpState& warp = warp_of(event);
  return {std::move(headline),
          {warp.note_of_shared(address), warp.note(fmt::format("stored here by warp {}", store.warp), store.statement)},
          "fence.proxy.async comes after the store, in the warp that stores, and a barrier behind it"};
}

/// Reports a copy that reads stores without a proxy fence: a trap, or a warning if `fences` is off.
void BulkCheck::report_unfenced(const Event& event, int lane, std::uint64_t address, const Trap::Reason& reason) const {
  if (setup_.checks.fences) event.trap(lane, address, reason, Trap::Kind::unordered);
  warn(setup_.reports.warnings, event.statement(), event, cluster_, lane, address, reason, Trap::Kind::unordered);
}

void BulkCheck::bulk_reads(const BulkEvent& copy) {
  const auto found = std::ranges::find(pending_, copy.number, [](const Pending& pending) { return pending.copy.number; });
  if (found == pending_.end()) return;
  found->copy.reads.reset();
  found->map = 0;
}

void BulkCheck::bulk_completes(const BulkEvent& copy) {
  for (const SharedRange& range : copy.written)
    if (auto& proxies = block(range.rank).proxies) proxies->clear(range.offset, range.bytes);
  std::erase_if(pending_, [&](const Pending& other) { return other.copy.number == copy.number; });
  if (copy.barrier && !pending_.empty()) check_announced(*copy.barrier);
}

/// A store that wgmma reads needs a proxy fence. Without one a GPU has the bytes nevertheless, so that is a warning: of 135,168,000 sums on
/// an H200 none was wrong. Bytes of cp.async do not: an H200 shows them to wgmma without one, and CuTe's wgmma_sm90
/// relies on it.
void BulkCheck::check_chunks(const machine::ProductEvent& event, OperandName operand) {
  const Event& at = event.event;
  const machine::Chunks& list = chunks_of(pending_of(event.product), operand);
  const std::vector<std::uint32_t>& chunks = list.addresses;
  const auto& proxies = block(at.rank()).proxies;
  bool stores = proxies->has_stores();
  const bool overlap = may_overlap(at.rank(), list);
  for (std::size_t i = 0; (stores || overlap) && i < chunks.size(); ++i) {
    const std::uint32_t offset = chunks[i] - setup_.program.shared_base;
    if (const auto store = stores ? proxies->unfenced(offset, machine::Product::chunk_bytes) : std::nullopt; store && !store->copied) {
      stores = false;  // one report for each operand
      if (setup_.reports.warnings.wants(at.statement(), cluster_))
        warn(setup_.reports.warnings, at.statement(), at, cluster_, -1, chunks[i],
             unfenced(at,
                      fmt::format("operand {} has been stored by warp {}, and no fence.proxy.async since then lets wgmma see that",
                                  name(operand), store->warp),
                      *store, chunks[i]),
             Trap::Kind::unordered);
    }
    if (overlap)
      report_overlap(at, static_cast<int>(i % warp_size), {at.rank(), offset, machine::Product::chunk_bytes}, Use::read,
                     list.first - setup_.program.shared_base);
  }
}

void BulkCheck::product_issues(const machine::ProductEvent& event) {
  check_chunks(event, OperandName::a);
  check_chunks(event, OperandName::b);
}

void BulkCheck::products_read(const Event& event, std::span<const machine::Product> products) {
  if (pending_.empty()) return;
  for (const machine::Product& product : products)
    for (const OperandName operand : {OperandName::b, OperandName::a}) {
      const machine::Chunks& chunks = chunks_of(pending_of(product), operand);
      if (!may_overlap(event.rank(), chunks)) continue;
      for (const std::uint32_t chunk : chunks.addresses)
        if (const Pending* const other =
                overlapping({event.rank(), chunk - setup_.program.shared_base, machine::Product::chunk_bytes}, Use::read))
          event.trap(-1, chunk,
                     {fmt::format("the bulk copy of warp {} overwrites what a product may read until here", other->copy.warp),
                      {warp_of(event).note_of_shared(chunk), warp_of(event).note("the bulk copy", other->copy.statement),
                       warp_of(event).note("the product", product.statement())},
                      "wgmma.wait_group comes before the copy into the same bytes"},
                     Trap::Kind::unordered);
    }
}

void BulkCheck::synchronises(const machine::Synchronisation& event) {
  using Kind = machine::Synchronisation::Kind;
  if (event.begun != 0 && !fences_mbarriers_) note_fresh(event);
  if (event.kind == Kind::fence || event.kind == Kind::proxy_fence) settle(event.rank, std::uint64_t{1} << event.warp);
  if (event.kind == Kind::mbarrier && !pending_.empty()) {
    check_arrivals(event);
    if (event.waited) note_passed(event);
  }
  auto& proxies = block(event.rank).proxies;
  if (!proxies) return;
  if (event.kind == Kind::proxy_fence) proxies->fence(event.warp);
  if (event.waited) proxies->synchronise(event.warp);
}

void BulkCheck::note_passed(const machine::Synchronisation& event) {
  if (event.acquired == 0) return;
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
    const std::uint64_t offset = offset_from(blocks_[rank].shared, event.words[static_cast<std::size_t>(first_lane(event.acquired))]);
    if (offset >= blocks_[rank].bytes) continue;
    const SharedRange mbarrier{static_cast<int>(rank), offset, sizeof(std::uint64_t)};
    const machine::MbarrierHistory* const history = history_of(mbarrier);
    if (history == nullptr) return;
    const Passed passed{mbarrier, event.rank, event.warp, event.event->statement(), history->phases(), pending_.back().copy.number};
    const auto before = std::ranges::find_if(
        passed_, [&](const Passed& each) { return each.rank == passed.rank && each.warp == passed.warp && meet(each.mbarrier, mbarrier); });
    if (before == passed_.end())
      passed_.push_back(passed);
    else
      *before = passed;
  }
}

/// Arrivals, too, end phases.
void BulkCheck::check_arrivals(const machine::Synchronisation& event) {
  for (LaneMask rest = event.released; rest != 0; rest &= rest - 1)
    for (std::size_t rank = 0; rank < blocks_.size(); ++rank) {
      const std::uint64_t offset = offset_from(blocks_[rank].shared, event.words[static_cast<std::size_t>(first_lane(rest))]);
      if (offset < blocks_[rank].bytes) check_announced({static_cast<int>(rank), offset, sizeof(std::uint64_t)});
    }
}

void BulkCheck::barrier_arrives(const machine::BarrierEvent& event) {
  if (event.scope == machine::BarrierEvent::Scope::cluster) settle(event.rank, event.warps);
}

void BulkCheck::barrier_completes(const machine::BarrierEvent& event) {
  if (event.scope != machine::BarrierEvent::Scope::block) return;
  settle(event.rank, event.warps);
  if (auto& proxies = block(event.rank).proxies)
    for (std::uint64_t rest = event.waiting; rest != 0; rest &= rest - 1) proxies->synchronise(std::countr_zero(rest));
}

void BulkCheck::barrier_leaves(const machine::BarrierEvent& event) {
  if (auto& proxies = block(event.rank).proxies) proxies->synchronise(std::countr_zero(event.warps));
}

void add_bulk_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if ((setup.program.executes(catalogue::Semantics::bulk_copy) || setup.program.executes(catalogue::Semantics::wgmma)) &&
      setup.has_shared() && setup.checks.copies)
    all.push_back(std::make_unique<BulkCheck>(setup, cluster));
}

}  // namespace warpmat::checks
