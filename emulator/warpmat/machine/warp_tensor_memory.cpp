// tcgen05: tensor memory, and products in it (PTX ISA 9.1 section 9.7.16). Asynchronous statements happen as late as the ISA allows: a
// store at its wait, a product when a thread waits for the mbarrier of its commit. What a program may not touch before that traps.

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>
#include <warpmat/machine/tensor_core.h>
#include <warpmat/machine/tensor_transfer.h>

namespace warpmat::machine {

using code::Operation;
using code::TensorStatement;
using TensorAction = code::TensorStatement::Action;

namespace {

/// Whether one lane issues the statement, which happens when a thread waits for a commit behind it.
bool is_asynchronous(TensorAction action) {
  return action == TensorAction::multiply || action == TensorAction::copy || action == TensorAction::shift ||
         action == TensorAction::commit;
}

}  // namespace

namespace {

/// The value of a source that must be the same in all lanes.
std::uint32_t uniform_word(WarpState& warp, const Operation& operation, int source, const char* what) {
  const auto* const words = warp.at<std::uint32_t>(warp.source_slot(operation, source));
  for (int lane = 1; lane < warp_size; ++lane)
    if (words[lane] != words[0])
      warp.trap(lane, std::nullopt,
                fmt::format("{} is {:#x}, and {:#x} in lane 0; all lanes must give the same", what, words[lane], words[0]));
  return words[0];
}

/// Meets the other block's warp in an allocation or a release of columns for both. Returns the first column once both have come.
std::optional<int> meet_pair(WarpState& warp, const PairRequest& request) {
  TensorCore& core = warp.block().tensor_core();
  if (core.request && core.request->warp != warp.index()) return std::nullopt;
  if (core.granted) {
    core.request.reset();
    return std::exchange(core.granted, std::nullopt);
  }
  if (!core.request) warp.block().make_progress();
  core.request = request;
  must_have_peer(warp, 2, 0);
  TensorCore& peer = warp.block().cluster().block(warp.block().rank() ^ 1).tensor_core();
  if (!peer.request || peer.granted) return std::nullopt;
  if (peer.request->allocates != request.allocates || peer.request->count != request.count || peer.request->first != request.first)
    warp.trap(0, std::nullopt,
              {fmt::format("the other block of the pair {} {} columns, and both blocks must do the same",
                           peer.request->allocates ? "allocates" : "frees", peer.request->count),
               {warp.note("the other block's statement", peer.request->statement)}});
  const std::optional<int> first = request.allocates ? core.find_free(request.count, &peer) : std::optional(request.first);
  if (!first) return std::nullopt;
  peer.granted = first;
  core.request.reset();
  warp.block().make_progress();
  return first;
}

/// Returns false if the columns are not free yet, or if the other block of a pair has not come.
bool allocate_columns(WarpState& warp, const Operation& operation) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  TensorCore& core = warp.block().tensor_core();
  const std::uint32_t count = uniform_word(warp, operation, 1, "the number of columns");
  if (count < 32 || count > tensor_columns || !std::has_single_bit(count))
    warp.trap(0, std::nullopt, fmt::format("the number of columns is 32, 64, 128, 256 or 512; it is {}", count));
  if (core.relinquished) warp.trap(0, std::nullopt, "the block has given up allocating by tcgen05.relinquish_alloc_permit");
  if (core.last_count() != 0 && count > static_cast<std::uint32_t>(core.last_count()))
    warp.trap(0, std::nullopt,
              fmt::format("{} columns are more than the {} of the allocation before; a block's allocations must not grow", count,
                          core.last_count()));
  const auto* const addresses = warp.at<std::uint64_t>(warp.source_slot(operation, 0));
  const SharedPlace place = shared_place(warp, 0, addresses[0], 4, 4, statement.space, false);
  for (int lane = 1; lane < warp_size; ++lane)
    if (addresses[lane] != addresses[0])
      warp.trap(lane, addresses[lane], "the address for the result of tcgen05.alloc is another one than in lane 0");
  const auto columns = static_cast<int>(count);
  const std::optional<int> first = statement.variant.group == 2
                                       ? meet_pair(warp, {.count = columns, .warp = warp.index(), .statement = operation.statement})
                                       : core.find_free(columns, nullptr);
  if (!first) return false;
  core.allocate(*first, columns, warp.index(), operation.statement);
  const auto address = static_cast<std::uint32_t>(*first);
  std::memcpy(host_of(warp, place), &address, sizeof address);
  warp.observers().tell(EventKinds::shared_accesses, &Observer::shared_written, SharedRange{place.rank, place.offset, 4});
  warp.forget_polls();
  warp.block().make_progress();
  return true;
}

/// Traps if asynchronous work that was not waited for touches `region` of this block: what writes it and stores; with `writes` also what
/// reads it.
void must_be_idle(WarpState& warp, const TensorRegion& region, bool writes) {
  const auto overlaps = [&](const TensorRegion& other) { return other.overlaps(region); };
  Cluster& cluster = warp.block().cluster();
  for (const int rank : {warp.block().rank(), warp.block().rank() ^ 1}) {
    if (rank >= cluster.size() || !cluster.block(rank).has_tensor_core()) continue;
    for (const PendingTensorWork& work : cluster.block(rank).tensor_core().work) {
      if (rank != warp.block().rank() && work.group == 1) continue;
      const bool written = std::ranges::any_of(work.writes, overlaps);
      if (written || (writes && std::ranges::any_of(work.reads, overlaps)))
        warp.trap(-1, std::nullopt,
                  {fmt::format("the {} may still {} these columns: no thread has waited for the mbarrier of a tcgen05.commit behind it",
                               work.noun(), written ? "write" : "read"),
                   {warp.note(fmt::format("the {}", work.noun()), work.statement)}});
    }
  }
  must_be_stored(warp, region, warp.block());
}

/// Returns false if the other block of a pair has not come: the ISA lets it wait, so that a program which relies on less shows it.
bool deallocate_columns(WarpState& warp, const Operation& operation) {
  TensorCore& core = warp.block().tensor_core();
  const TensorCell at = tensor_place(uniform_word(warp, operation, 0, "the address"));
  const auto count = static_cast<int>(uniform_word(warp, operation, 1, "the number of columns"));
  // Loads need no wait: what uses their registers waits for them (PTX ISA 9.1 section 9.7.16.6.4.5), as in CuTe's tutorials.
  must_be_idle(warp, all_lanes_of(at.column, count), true);
  if (at.lane != 0 || !core.is_allocated(at.column, count))
    warp.trap(0, std::nullopt,
              fmt::format("{} columns from lane {}, column {} on are none that tcgen05.alloc has given: {}", count, at.lane, at.column,
                          core.describe_allocations()));
  if (warp.program().of<code::TensorStatement>(operation).variant.group == 2 &&
      !meet_pair(warp, {.allocates = false, .first = at.column, .count = count, .warp = warp.index(), .statement = operation.statement}))
    return false;
  core.deallocate(at.column, count);
  warp.observers().tell(EventKinds::tensor_memory, &Observer::tensor_freed, warp.block().rank(), at.column, count);
  warp.forget_polls();
  warp.block().make_progress();
  return true;
}

/// A load happens at once: the ISA lets what reads its registers wait for them.
void write_registers(WarpState& warp, const Operation& operation, TensorCell from) {
  load_registers(warp.program().of<code::TensorStatement>(operation), from, warp.block().tensor_core().memory,
                 [&](int reg) { return warp.at<std::uint32_t>(warp.result_slot(operation, reg)); });
}

/// What warps have stored to cells that this one loads is written now, also without tcgen05.wait::st. The ISA does not promise that, but
/// CUTLASS relies on it (its stream-K, and between warps its attention); assumed: ld and st of a quarter keep their order.
/// checks/tensor_fence_check.h warns.
void finish_stores_to(WarpState& warp, const TensorRegion& region) {
  TensorCore& core = warp.block().tensor_core();
  const auto is_read = [&](const PendingStore& store) {
    return std::ranges::any_of(store.regions, [&](const TensorRegion& other) { return other.overlaps(region); });
  };
  for (const PendingStore& store : core.stores)
    if (is_read(store)) perform_store(store.words, core.memory);
  std::erase_if(core.stores, is_read);
}

void transfer_tensor(WarpState& warp, const Operation& operation, const TensorStatement& statement) {
  const Transfer& transfer = statement.transfer;
  const bool stores = statement.action == TensorAction::store;
  // checks/tensor_fence_check.h warns of an address in another warp's lanes.
  const TensorCell from = in_own_lanes(tensor_place(uniform_word(warp, operation, 0, "the address of tensor memory")), warp.index());
  if (const auto problem = transfer_problem(transfer, from, warp.index())) warp.trap(0, std::nullopt, *problem);
  const std::vector<TensorRegion> regions = regions_of(transfer, from);
  for (const TensorRegion& region : regions) {
    must_be_allocated(warp, {from.lane, region.first_column}, region.columns, stores ? "the store" : "the load", warp.block());
    if (!stores) finish_stores_to(warp, region);
    must_be_idle(warp, region, stores);
  }
  const std::span<const TensorRegion> touched = regions, none;
  tell_tensor_access(warp, operation, all_lanes, warp.block(), stores ? none : touched, stores ? touched : none);
  if (!stores) return write_registers(warp, operation, from);
  PendingStore store{.statement = operation.statement, .warp = warp.index(), .regions = regions, .words = {}};
  store.words = stored_words(transfer, from, [&](int reg, int lane) { return warp.source_word(operation, 1 + reg, lane); });
  warp.block().tensor_core().stores.push_back(std::move(store));
}

/// The warp waits for its stores: these write now.
void finish_tensor_stores(WarpState& warp) {
  TensorCore& core = warp.block().tensor_core();
  const auto is_done = [&](const PendingStore& store) { return store.warp == warp.index(); };
  for (const PendingStore& store : core.stores)
    if (is_done(store)) perform_store(store.words, core.memory);
  std::erase_if(core.stores, is_done);
}

}  // namespace

Step body::tensor_memory(WarpState& warp, const Operation& operation, LaneMask mask) {
  const TensorStatement& statement = warp.program().of<code::TensorStatement>(operation);
  const bool before = statement.action == TensorAction::fence_before;
  if (before || statement.action == TensorAction::fence_after) {
    tell_tensor_order(warp, before ? TensorOrder::Kind::before_sync : TensorOrder::Kind::after_sync);
    return warp.advance();
  }
  if (is_asynchronous(statement.action)) {
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) issue_tensor_work(warp, operation, first_lane(rest));
    return warp.advance();
  }
  if (!warp.gather(warp.live(), mask, false)) return Step::leave_split;
  if (mask != all_lanes)
    warp.trap(first_lane(mask), std::nullopt,
              fmt::format("{} is for whole warps; lanes {:#010x} have exited or do not exist",
                          warp.program().statements[operation.statement]->opcode, ~mask));
  if (warp.observers().want(EventKinds::operations))
    warp.observers().tell(EventKinds::operations, &Observer::performs, warp.event(operation, mask));
  const bool waits = (statement.action == TensorAction::allocate && !allocate_columns(warp, operation)) ||
                     (statement.action == TensorAction::deallocate && !deallocate_columns(warp, operation));
  if (waits) {
    warp.note_wait(mask, true);
    return Step::yield;
  }
  switch (statement.action) {
    case TensorAction::relinquish: warp.block().tensor_core().relinquished = true; break;
    case TensorAction::load:
    case TensorAction::store: transfer_tensor(warp, operation, statement); break;
    case TensorAction::wait_load: tell_tensor_order(warp, TensorOrder::Kind::load_done); break;
    case TensorAction::wait_store:
      finish_tensor_stores(warp);
      tell_tensor_order(warp, TensorOrder::Kind::store_done);
      break;
    default: break;
  }
  return warp.advance_gathered(mask, false);
}

/// The blocks whose tensor memory a statement of .cta_group::`group` touches; of a pair the even one first.
std::vector<Block*> tensor_blocks(WarpState& warp, int group, int lane) {
  if (group == 1) return {&warp.block()};
  Cluster& cluster = warp.block().cluster();
  if (cluster.size() % 2 != 0)
    warp.trap(
        lane, std::nullopt,
        fmt::format(".cta_group::2 is for pairs of blocks, in clusters of an even number of blocks; the cluster has {}", cluster.size()));
  const int even = warp.block().rank() & ~1;
  return {&cluster.block(even), &cluster.block(even + 1)};
}

/// Traps if the other block of a pair has ended: it must take part as long as statements for the pair are issued.
void must_have_peer(WarpState& warp, int group, int lane) {
  if (group == 2 && tensor_blocks(warp, 2, lane)[static_cast<std::size_t>(~warp.block().rank() & 1)]->finished())
    warp.trap(lane, std::nullopt, fmt::format("the other block of the pair, block {} of the cluster, has ended", warp.block().rank() ^ 1));
}

/// Traps if a store to `region` of `block` has not been waited for: before statements other than loads. A load is over where
/// its registers are used, which nothing here knows: checks/tensor_fence_check.h warns of loads without a wait.
void must_be_stored(WarpState& warp, const TensorRegion& region, Block& block) {
  for (const PendingStore& store : block.tensor_core().stores)
    if (std::ranges::any_of(store.regions, [&](const TensorRegion& other) { return other.overlaps(region); }))
      warp.trap(-1, std::nullopt,
                {fmt::format("the store of warp {}{} may still be under way: tcgen05.wait::st has not followed it", store.warp,
                             &block == &warp.block() ? "" : " of the other block"),
                 {warp.note("the store", store.statement)}});
}

/// Traps unless `columns` from `at` on are allocated in `block`.
void must_be_allocated(WarpState& warp, TensorCell at, int columns, const char* what, Block& block) {
  const TensorCore& core = block.tensor_core();
  if (at.column < 0 || !core.has(at.column, columns))
    warp.trap(-1, std::nullopt,
              fmt::format("{} takes {} columns from column {} on, and {}{}", what, columns, at.column, core.describe_allocations(),
                          &block == &warp.block() ? "" : " in the other block"));
}

void tell_tensor_order(WarpState& warp, TensorOrder::Kind kind, std::uint64_t issued) {
  warp.observers().tell(EventKinds::tensor_memory, &Observer::tensor_ordered, TensorOrder{kind, warp.block().rank(), warp.index(), issued});
}

/// Of work that lanes `executing` issue: all of them of ld and st, one of the rest.
void tell_tensor_access(WarpState& warp, const Operation& operation, LaneMask executing, const Block& block,
                        std::span<const TensorRegion> reads, std::span<const TensorRegion> writes, std::uint64_t issued) {
  warp.observers().tell(EventKinds::tensor_memory, &Observer::tensor_accessed,
                        TensorAccess{warp.event(operation, executing), block.rank(), executing != all_lanes, reads, writes, issued});
}

}  // namespace warpmat::machine
