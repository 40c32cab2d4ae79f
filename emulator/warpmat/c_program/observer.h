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
  WARPMAT_OBSERVER_EVENTS(WARPMAT_OVERRIDE)
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
