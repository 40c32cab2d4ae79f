#include <warpmat/c_program/observer.h>

#include <warpmat/c/accesses.h>

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

}  // namespace

CallbackObserver::CallbackObserver(const warpmat_observer& callbacks)
    : Observer((callbacks.operation != nullptr ? EventKinds::operations : EventKinds::none) |
               (callbacks.access != nullptr ? EventKinds::accesses : EventKinds::none)),
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

}  // namespace warpmat::inline v0_1::c
