#include <warpmat/c_program/observer.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/c/entry.h>
#include <warpmat/c_program/handles.h>
#include <warpmat/machine/bulk_copies.h>
#include <warpmat/machine/internals.h>

namespace warpmat::c {

using machine::Event;
using machine::EventKinds;

namespace {

// Kinds of C have the bits of C++.
constexpr bool is_kind(unsigned bit, EventKinds kind) {
  return bit == static_cast<unsigned>(kind);
}
static_assert(is_kind(WARPMAT_EVENTS_OPERATIONS, EventKinds::operations) && is_kind(WARPMAT_EVENTS_ACCESSES, EventKinds::accesses));
static_assert(is_kind(WARPMAT_EVENTS_SHARED_ACCESSES, EventKinds::shared_accesses));
static_assert(is_kind(WARPMAT_EVENTS_EXCHANGES, EventKinds::exchanges) && is_kind(WARPMAT_EVENTS_COPIES, EventKinds::copies));
static_assert(is_kind(WARPMAT_EVENTS_PRODUCTS, EventKinds::products));
static_assert(is_kind(WARPMAT_EVENTS_SYNCHRONISATION, EventKinds::synchronisation));
static_assert(is_kind(WARPMAT_EVENTS_ABSENT_LANES, EventKinds::absent_lanes));
static_assert(is_kind(WARPMAT_EVENTS_TENSOR_MEMORY, EventKinds::tensor_memory) && is_kind(WARPMAT_EVENTS_RUNS, EventKinds::runs));

constexpr unsigned known_events = static_cast<unsigned>(EventKinds::all) | WARPMAT_EVENTS_RUNS | WARPMAT_EVENTS_NONE;

unsigned events_of(const warpmat_observer& callbacks) {
  return WARPMAT_HAS_SIZE(&callbacks, events) ? callbacks.events : 0;
}

/// What the callbacks are told that are not null.
EventKinds kinds_of_callbacks(const warpmat_observer& c) {
  const auto if_any = [](EventKinds kinds, auto... callbacks) { return (... || (callbacks != nullptr)) ? kinds : EventKinds::none; };
  const EventKinds operations = if_any(EventKinds::operations, c.operation, c.preparation, c.performs, c.calls, c.returns);
  return (c.run != nullptr ? EventKinds::runs : operations) | if_any(EventKinds::accesses, c.access) |
         if_any(EventKinds::exchanges, c.exchange) | if_any(EventKinds::shared_accesses, c.remote_access, c.shared_written) |
         if_any(EventKinds::copies, c.bulk, c.copies_land, c.copies_complete, c.bulk_issues, c.bulk_reads, c.bulk_completes) |
         if_any(EventKinds::products, c.product_issues, c.products_read, c.product_completes) |
         if_any(EventKinds::tensor_memory, c.tensor_accessed, c.tensor_ordered, c.tensor_freed) |
         if_any(EventKinds::synchronisation, c.synchronises, c.lanes_meet, c.barrier_arrives, c.barrier_completes, c.barrier_leaves);
}

constexpr const char* ended = "an observer ended the launch";

/// Ends the launch at an event that no statement has.
[[noreturn]] void end_without_place() {
  throw Trap(Trap::Kind::stopped, {}, std::nullopt, ended, fmt::format("{}, at an event that belongs to no statement", ended));
}

}  // namespace

CallbackObserver::CallbackObserver(const warpmat_observer& callbacks)
    : Observer(EventKinds::none), of_the_caller_(callbacks), callbacks_(whole(callbacks)), events_(events_of(callbacks)) {
  want(kinds());
}

CallbackObserver::~CallbackObserver() {
  if (callbacks_.finished != nullptr) callbacks_.finished(callbacks_.user);
}

EventKinds CallbackObserver::kinds() const {
  if (events_ == 0) return kinds_of_callbacks(callbacks_);
  return static_cast<EventKinds>(events_ & ~WARPMAT_EVENTS_NONE);
}

/// Calls `callback` unless it is null, and does what it asks for: to end the launch at `at`, or to be told of other events.
template <typename... Given>
void CallbackObserver::tell(int (*callback)(void*, Given...), const Event* at, std::type_identity_t<Given>... given) {
  if (callback == nullptr) return;
  const int result = callback(callbacks_.user, given...);
  if (const unsigned events = events_of(of_the_caller_); events != events_) {
    events_ = events & known_events;
    want(kinds());
  }
  if (result == 0) {
    ending_.reset();
    return;
  }
  if (at == nullptr) end_without_place();
  const Ending ending = ending_.value_or(Ending{.reason = ended});
  at->trap(ending.lane, ending.address, ending.reason, ending.kind);
}

/// Tells `callback` what C++ is told, as C's struct, with its place where it has one.
template <typename Callback, typename Told>
void CallbackObserver::hand(Callback callback, const Told& told) {
  constexpr bool of_a_block = std::is_same_v<Told, machine::BlockEvent>;
  if constexpr (of_a_block)
    if (kernel_.empty()) kernel_ = told.kernel();
  if (callback == nullptr) return;
  if constexpr (std::is_same_v<Told, Event>) {
    const GivenEvent event(told, kernel_, ending_);
    tell(callback, &told, event.get());
  } else if constexpr (std::is_same_v<Told, machine::ProductEvent>) {
    const GivenEvent event(told.event, kernel_, ending_);
    const warpmat_async_product product = given(told.product);
    tell(callback, &told.event, event.get(), &product);
  } else if constexpr (requires { told.event.lanes(); }) {
    const GivenEvent event(told.event, kernel_, ending_);
    auto fields = given(told);
    fields.event = event.get();
    tell(callback, &told.event, &fields);
  } else {
    auto fields = given(told);
    if constexpr (of_a_block) fields.kernel = kernel_.c_str();
    tell(callback, nullptr, &fields);
  }
}

#define WARPMAT_HAND(event, type)                           \
  void CallbackObserver::event(const machine::type& told) { \
    hand(callbacks_.event, told);                           \
  }
WARPMAT_OBSERVER_EVENTS(WARPMAT_HAND)
#undef WARPMAT_HAND

void CallbackObserver::operation(const Event& event) {
  hand(event.prepares() ? callbacks_.preparation : callbacks_.operation, event);
}

void CallbackObserver::bulk_issues(const Event& event, const machine::BulkEvent& copy) {
  const GivenEvent given(event, kernel_, ending_);
  if (callbacks_.bulk != nullptr) tell_copy(event, given.get(), copy);
  if (callbacks_.bulk_issues == nullptr) return;
  const GivenBulk bulk(copy);
  tell(callbacks_.bulk_issues, &event, given.get(), &bulk);
}

/// `bulk` of copies between global and shared memory.
void CallbackObserver::tell_copy(const Event& event, const warpmat_event* given, const machine::BulkEvent& copy) {
  const machine::BulkTransfer& transfer = transfer_of(copy);
  if (!transfer.loads() && !transfer.stores()) return;
  const TensorMap::Encoded encoded = transfer.map ? transfer.map->encode() : TensorMap::Encoded{};
  warpmat_bulk_copy described{};
  described.size = sizeof described;
  described.stores = transfer.stores();
  described.shared = transfer.shared.offset;
  described.rank = transfer.shared.rank;
  if (transfer.map) {
    described.map = encoded.data();
    std::ranges::copy(transfer.tensor_place.coordinates, described.coordinates);
    std::ranges::copy(transfer.tensor_place.offsets, described.offsets);
  } else {
    described.global = transfer.global;
    described.bytes = transfer.bytes;
  }
  tell(callbacks_.bulk, &event, given, &described);
}

void CallbackObserver::products_read(const Event& event, std::span<const machine::Product> products) {
  if (callbacks_.products_read == nullptr) return;
  const GivenEvent place(event, kernel_, ending_);
  std::vector<warpmat_async_product> all;
  for (const machine::Product& product : products) all.push_back(given(product));
  tell(callbacks_.products_read, &event, place.get(), all.data(), all.size());
}

void CallbackObserver::tensor_freed(int rank, int first, int count) {
  const warpmat_tensor_freed given{sizeof given, rank, first, count};
  tell(callbacks_.tensor_freed, nullptr, &given);
}

namespace {

void check_callbacks(const warpmat_observer* callbacks, const char* what) {
  if (callbacks == nullptr) throw std::invalid_argument(fmt::format("{} is null", what));
  if (!WARPMAT_HAS_SIZE(callbacks, access))
    throw std::invalid_argument(fmt::format("the size of {} is not that of a warpmat_observer", what));
  if (const unsigned unknown = events_of(*callbacks) & ~known_events; unknown != 0)
    throw std::invalid_argument(fmt::format("the events {:#x} of {} are not known", unknown, what));
}

/// A refused call tells no `finished`: all are checked before one is made.
void check_callbacks(const warpmat_observer* const* callbacks, std::size_t count, const char* what) {
  if (count != 0) need(callbacks, what);
  for (std::size_t i = 0; i < count; ++i) check_callbacks(callbacks[i], fmt::format("observer {}", i).c_str());
}

}  // namespace

std::unique_ptr<CallbackObserver> observer_of(const warpmat_observer* callbacks, const char* what) {
  check_callbacks(callbacks, what);
  return std::make_unique<CallbackObserver>(*callbacks);
}

CallbackObservers::CallbackObservers(const warpmat_observer* const* callbacks, std::size_t count, const char* what) {
  check_callbacks(callbacks, count, what);
  for (std::size_t i = 0; i < count; ++i) {
    own.push_back(std::make_unique<CallbackObserver>(*callbacks[i]));
    all.push_back(own.back().get());
  }
}

}  // namespace warpmat::c

using namespace warpmat;
using namespace warpmat::c;

warpmat_status warpmat_warp_observe(warpmat_warp* warp, const warpmat_observer* const* observers, size_t count, warpmat_error* error) {
  return done(error, [&] {
    need(warp, "the warp");
    const char* const what = "the array of observers";
    check_callbacks(observers, count, what);
    try {
      warp->warp.observe({});
    } catch (const std::invalid_argument&) {  // in a call of one of them: they stay
      throw;
    } catch (...) {  // one refused the end of its block
      warp->observers.clear();
      throw;
    }
    warp->observers.clear();  // finished
    CallbackObservers given(observers, count, what);
    warp->warp.observe(std::move(given.all));
    warp->observers = std::move(given.own);
  });
}
