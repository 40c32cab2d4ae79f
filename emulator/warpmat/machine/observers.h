#pragma once

#include <memory>
#include <vector>

#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/observer.h>

namespace warpmat::machine {

/// The observers of a cluster, in the order in which they are told.
class Observers {
 public:
  Observers(const LaunchState& launch, std::uint64_t cluster);

  /// Whether one of them asks for any of these events.
  bool want(EventKinds events) const { return (wanted_ & events) != EventKinds::none; }

  /// Calls `call` of those that ask for any of these events.
  template <typename Call, typename... Arguments>
  void tell(EventKinds events, Call call, const Arguments&... arguments) {
    if (!want(events)) return;
    EventKinds wanted = EventKinds::none;
    for (Observer* const observer : all_) {
      if (observer->wants(events)) (observer->*call)(arguments...);
      wanted = wanted | observer->wanted();
    }
    wanted_ = wanted;
  }

  /// Calls `call` of all.
  template <typename Call, typename... Arguments>
  void tell_all(Call call, const Arguments&... arguments) {
    for (Observer* const observer : all_) (observer->*call)(arguments...);
    refresh();
  }

  /// To be called after events of other clusters, which some of the observers may share.
  void refresh();

 private:
  std::vector<std::unique_ptr<Observer>> own_;
  std::vector<Observer*> all_;
  EventKinds wanted_ = EventKinds::none;  ///< of all of them, after the last event
};

}  // namespace warpmat::machine
