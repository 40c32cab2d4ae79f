#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/ticks.h>
#include <warpmat/observer.h>

namespace warpmat::inline v0_1::machine {

/// A check which accesses to shared memory concern only where bytes may be uninitialised.
class ByteCheck : public Observer {
 public:
  using Observer::Observer;

  /// Whether a load or store of these bytes is of no interest.
  virtual bool ignores(const SharedRange& range) const = 0;
};

/// The observers of a cluster, in the order in which they are told.
class Observers {
 public:
  Observers(const LaunchState& launch, std::uint64_t cluster);

  /// Whether this cluster has none; that never changes while it runs.
  bool none() const { return all_.empty(); }

  /// Whether one of them asks for any of these events.
  bool want(EventKinds events) const { return (wanted_ & events) != EventKinds::none; }

  /// The same of those behind warpmat's own checks.
  bool want_besides_checks(EventKinds events) const;

  /// Whether a load or store of these bytes of shared memory is of no interest to those that ask for it.
  bool ignore(const SharedRange& range) const;

  /// Calls `call` of those that ask for any of these events.
  template <typename Call, typename... Arguments>
  void tell(EventKinds events, Call call, const Arguments&... arguments) {
    if (!want(events)) return;
    EventKinds wanted = EventKinds::none;
    const std::uint64_t start = want(EventKinds::check_time) ? ticks() : 0;
    bool checked = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (i == checks_ && checked && start != 0) tell_time(events, ticks() - start);
      if (all_[i]->wants(events)) {
        (all_[i]->*call)(arguments...);
        checked = true;
      }
      wanted = wanted | all_[i]->wanted();
    }
    wanted_ = wanted;
  }

  /// Calls `call` of all.
  template <typename Call, typename... Arguments>
  void tell_all(Call call, const Arguments&... arguments) {
    const std::uint64_t start = want(EventKinds::check_time) ? ticks() : 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (i == checks_ && checks_ != 0 && start != 0) tell_time(EventKinds::none, ticks() - start);
      (all_[i]->*call)(arguments...);
    }
    refresh();
  }

  /// Of a list of statements, whose warp gets others between two of them.
  void replace(std::vector<Observer*> others);

  /// To be called after events of other clusters, which some of the observers may share.
  void refresh();

 private:
  void tell_time(EventKinds events, std::uint64_t took);

  std::vector<std::unique_ptr<Observer>> own_;
  std::vector<Observer*> all_;
  const ByteCheck* bytes_ = nullptr;      ///< one of own_, if it is there
  std::size_t checks_ = 0;                ///< the first ones of all_
  EventKinds wanted_ = EventKinds::none;  ///< of all of them, after the last event
};

}  // namespace warpmat::inline v0_1::machine
