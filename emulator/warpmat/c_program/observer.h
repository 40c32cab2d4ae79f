#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <warpmat/c_observer.h>
#include <warpmat/c_program/events.h>
#include <warpmat/observer.h>

/// The events that one struct describes: X(callback, C++'s struct). Observer has the same names.
// clang-format off
#define WARPMAT_CALLBACK_EVENTS(X)                                                                         \
  X(block_begins, BlockEvent)       X(block_ends, BlockEvent)            X(registers_differ, RegistersEvent) \
  X(run, RunEvent)                  X(performs, Event)                   X(lanes_meet, Event)                \
  X(calls, CallEvent)               X(returns, CallEvent)                X(exchange, ExchangeEvent)          \
  X(access, AccessEvent)            X(remote_access, RemoteAccess)       X(shared_written, SharedRange)      \
  X(copies_land, CopiesEvent)       X(copies_complete, Event)            X(synchronises, Synchronisation)    \
  X(bulk_reads, BulkEvent)          X(bulk_completes, BulkEvent)         X(product_issues, ProductEvent)     \
  X(product_completes, ProductEvent) X(tensor_accessed, TensorAccess)    X(tensor_ordered, TensorOrder)      \
  X(barrier_arrives, BarrierEvent)  X(barrier_completes, BarrierEvent)   X(barrier_leaves, BarrierEvent)
// clang-format on

namespace warpmat::c {

/// Hands events to the callbacks of a warpmat_observer, which outlives it.
class CallbackObserver : public machine::Observer {
 public:
  /// Throws std::invalid_argument for kinds of events that are not known.
  explicit CallbackObserver(const warpmat_observer& callbacks);
  ~CallbackObserver() override;
  CallbackObserver(const CallbackObserver&) = delete;
  CallbackObserver& operator=(const CallbackObserver&) = delete;

#define WARPMAT_OVERRIDE(event, type) void event(const machine::type& told) override;
  WARPMAT_CALLBACK_EVENTS(WARPMAT_OVERRIDE)
#undef WARPMAT_OVERRIDE
  void operation(const machine::Event& event) override;
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override;
  void products_read(const machine::Event& event, std::span<const machine::Product> products) override;
  void tensor_freed(int rank, int first, int count) override;

 private:
  template <typename... Given>
  void tell(int (*callback)(void*, Given...), const machine::Event* at, std::type_identity_t<Given>... given);
  template <typename Callback, typename Told>
  void hand(Callback callback, const Told& told);
  void tell_copy(const machine::Event& event, const warpmat_event* given, const machine::BulkEvent& copy);

  machine::EventKinds kinds() const;

  const warpmat_observer& of_the_caller_;
  const warpmat_observer callbacks_;  ///< the same, with nulls where its size ends
  std::string kernel_ = {};           ///< its name, once a block has begun
  unsigned events_;                   ///< that of the caller which wanted() has
  std::optional<Ending> ending_;      ///< what the callback asked for by warpmat_event_end
};

/// The observer with `callbacks`. Throws std::invalid_argument, naming `what`, for one that is none.
std::unique_ptr<CallbackObserver> observer_of(const warpmat_observer* callbacks, const char* what);

/// Those of an array of the caller, which messages call `what`, and pointers to them.
struct CallbackObservers {
  CallbackObservers(const warpmat_observer* const* callbacks, std::size_t count, const char* what);

  std::vector<std::unique_ptr<machine::Observer>> own;
  std::vector<machine::Observer*> all;
};

}  // namespace warpmat::c
