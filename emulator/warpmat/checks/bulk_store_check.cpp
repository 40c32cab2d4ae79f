#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

#include <warpmat/checks/checks.h>
#include <warpmat/machine/block.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/kernel_trap.h>
#include <warpmat/machine/warp_state.h>

namespace warpmat::checks {

namespace {

/// Warns of bulk stores to global memory that end later than the kernel thinks: those in flight when their lane exits, and bytes that the
/// block accesses where only wait_group.read has waited for them.
class BulkStoreCheck : public machine::Observer {
 public:
  BulkStoreCheck(const Setup& setup, std::uint64_t cluster);

  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void bulk_completes(const machine::BulkEvent& copy) override;
  void copies_complete(const machine::Event& event) override;
  void access(const machine::AccessEvent& event) override;

 private:
  struct Store {
    std::uint64_t number;
    int rank, warp, lane;
    std::uint32_t statement;
    std::uint32_t group;  ///< the number of groups that the lane had committed before
    const machine::WarpState* state;
  };
  /// Bytes in global memory that only a wait for the source has waited for.
  struct Written {
    Store store;
    std::uint64_t first, bytes;
  };
  static constexpr std::size_t most_written = 1024;  ///< kept: the latest

  void keep_written(const Store& store, const machine::BulkEvent& copy);
  void warn_of_exit(const Store& store);

  const Setup& setup_;
  std::uint64_t cluster_;
  std::vector<Store> stores_;  ///< in flight
  std::vector<Written> written_;
};

}  // namespace

using catalogue::Semantics;
using machine::BulkEvent;
using machine::Event;
using machine::EventKinds;

BulkStoreCheck::BulkStoreCheck(const Setup& setup, std::uint64_t cluster)
    : Observer(EventKinds::copies), setup_(setup), cluster_(cluster) {}

void BulkStoreCheck::bulk_issues(const Event& event, const BulkEvent& copy) {
  const machine::BulkTransfer& transfer = transfer_of(copy);
  if (transfer.stores()) stores_.push_back({copy.number, copy.rank, copy.warp, copy.lane, copy.statement, transfer.group, &warp_of(event)});
}

/// A store completes where its lane waits for it, or exits.
void BulkStoreCheck::bulk_completes(const BulkEvent& copy) {
  const auto found = std::ranges::find(stores_, copy.number, &Store::number);
  if (found == stores_.end()) return;
  const Store store = *found;
  stores_.erase(found);
  const auto pc = static_cast<std::size_t>(store.state->split().pc);
  const code::Operation& operation = setup_.program.operations[pc];
  if (operation.semantics == Semantics::exit) return warn_of_exit(store);
  if (operation.semantics == Semantics::bulk_wait && setup_.program.has(operation, ".read")) keep_written(store, copy);
}

void BulkStoreCheck::warn_of_exit(const Store& store) {
  if (!setup_.reports.late_stores.wants(store.statement, cluster_)) return;
  setup_.reports.late_stores.add(
      store.statement, cluster_,
      machine::kernel_trap(store.state->block().site_of(store.warp, store.statement), std::nullopt,
                           {"the bulk store is in flight when its thread exits: it may read shared memory that the "
                            "next block has",
                            {},
                            "cp.async.bulk.wait_group.read comes before the exit, behind cp.async.bulk.commit_group"},
                           Trap::Kind::unordered));
}

void BulkStoreCheck::keep_written(const Store& store, const BulkEvent& copy) {
  machine::for_each_moved(transfer_of(copy), setup_.program.shared_base, [&](std::uint64_t, std::uint64_t address, std::uint64_t bytes) {
    if (!written_.empty() && written_.back().store.number == store.number && written_.back().first + written_.back().bytes == address)
      written_.back().bytes += bytes;
    else
      written_.push_back({store, address, bytes});
  });
  if (written_.size() > most_written) written_.erase(written_.begin(), written_.end() - static_cast<std::ptrdiff_t>(most_written));
  if (!written_.empty()) want(EventKinds::copies | EventKinds::accesses);
}

/// A wait without .read ends what that lane's stores of the waited groups had left open.
void BulkStoreCheck::copies_complete(const Event& event) {
  const code::Operation& operation = operation_of(event);
  if (written_.empty() || operation.semantics != Semantics::bulk_wait) return;
  if (setup_.program.has(operation, ".read")) return;
  const std::uint32_t pending = setup_.program.of<code::WaitGroups>(operation).pending;
  const machine::WarpState& warp = warp_of(event);
  std::erase_if(written_, [&](const Written& each) {
    return each.store.state == &warp && (event.lanes() >> each.store.lane & 1) != 0 &&
           std::uint64_t{each.store.group} + pending < warp.bulk_groups(each.store.lane);
  });
  if (written_.empty()) want(EventKinds::copies);
}

void BulkStoreCheck::access(const machine::AccessEvent& event) {
  if (event.space != Space::global) return;
  for (LaneMask rest = event.event.lanes(); rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const std::uint64_t address = event.addresses[static_cast<std::size_t>(lane)];
    const auto found = std::ranges::find_if(
        written_, [&](const Written& each) { return address < each.first + each.bytes && each.first < address + event.bytes; });
    if (found == written_.end()) continue;
    const machine::WarpState& warp = warp_of(event.event);
    return warn(
        setup_.reports.late_stores, event.event.statement(), event.event, cluster_, lane, address,
        {fmt::format("{} bytes that a bulk store writes, for which only wait_group.read has waited", event.writes ? "store to" : "load of"),
         {warp.note(fmt::format("the bulk store of warp {}", found->store.warp), found->store.statement)},
         "cp.async.bulk.wait_group without .read waits until the bytes are written"},
        Trap::Kind::unordered);
  }
}

namespace {

bool stores_in_bulk(const code::Program& program) {
  return program.any<code::BulkCopy>([](const code::BulkCopy& copy) { return copy.kind == code::BulkCopy::Kind::store; });
}

}  // namespace

void add_bulk_store_check(Observers& all, const Setup& setup, std::uint64_t cluster) {
  if (setup.has_shared() && setup.checks.copies && !setup.as_cards && stores_in_bulk(setup.program))
    all.push_back(std::make_unique<BulkStoreCheck>(setup, cluster));
}

}  // namespace warpmat::checks
