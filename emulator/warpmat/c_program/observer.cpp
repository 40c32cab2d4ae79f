#include <warpmat/c_program/observer.h>

#include <algorithm>

#include <warpmat/c/accesses.h>
#include <warpmat/c/entry.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>

namespace warpmat::inline v0_1::c {

using machine::Event;
using machine::EventKinds;

namespace {

warpmat_event event_of(const Event& event) {
  const Dim3 block = event.block();
  return {sizeof(warpmat_event),
          event.opcode().data(),  // all of a string, which ends with a null
          event.line(),          event.statement(), {block.x, block.y, block.z}, event.warp(), event.lanes()};
}

void end_unless_zero(int result, const Event& event) {
  if (result != 0) event.trap(-1, std::nullopt, "an observer ended the launch", Trap::Kind::stopped);
}

/// Of programs that were compiled before there was such a callback, none.
bool wants_bulk_copies(const warpmat_observer& callbacks) {
  return WARPMAT_HAS_SIZE(&callbacks, bulk) && callbacks.bulk != nullptr;
}

}  // namespace

CallbackObserver::CallbackObserver(const warpmat_observer& callbacks)
    : Observer((callbacks.operation != nullptr ? EventKinds::operations : EventKinds::none) |
               (callbacks.access != nullptr ? EventKinds::accesses : EventKinds::none) |
               (wants_bulk_copies(callbacks) ? EventKinds::copies : EventKinds::none)),
      callbacks_(callbacks) {}

void CallbackObserver::operation(const Event& event) {
  if (event.prepares()) return;
  const warpmat_event given = event_of(event);
  end_unless_zero(callbacks_.operation(callbacks_.user, &given), event);
}

void CallbackObserver::access(const machine::AccessEvent& event) {
  const warpmat_access given{sizeof(warpmat_access), event_of(event.event), space_of(event.space),  event.reads,        event.writes,
                             event.asynchronous,     event.bytes,           event.addresses.data(), event.places.data()};
  end_unless_zero(callbacks_.access(callbacks_.user, &given), event.event);
}

void CallbackObserver::bulk_issues(const Event& event, const machine::BulkEvent& copy) {
  const machine::BulkTransfer& transfer = transfer_of(copy);
  if (!transfer.loads() && !transfer.stores()) return;
  const TensorMap::Encoded encoded = transfer.map ? transfer.map->encode_unchecked() : TensorMap::Encoded{};
  warpmat_bulk_copy given{};
  given.size = sizeof given;
  given.stores = transfer.stores();
  given.shared = transfer.shared.offset;
  given.rank = transfer.shared.rank;
  if (transfer.map) {
    given.map = encoded.data();
    std::ranges::copy(transfer.tensor_place.coordinates, given.coordinates);
    std::ranges::copy(transfer.tensor_place.offsets, given.offsets);
  } else {
    given.global = transfer.global;
    given.bytes = transfer.bytes;
  }
  const warpmat_event issued = event_of(event);
  end_unless_zero(callbacks_.bulk(callbacks_.user, &issued, &given), event);
}

}  // namespace warpmat::inline v0_1::c
