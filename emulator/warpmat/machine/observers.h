#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <warpmat/machine/launch_state.h>
#include <warpmat/machine/ticks.h>
#include <warpmat/observer.h>

namespace warpmat::machine {

/// A load or store of shared memory by lanes of a warp, each of `bytes` bytes, without an error.
struct SharedLanes {
  int rank;                      ///< of the block
  const std::uint32_t* offsets;  ///< 32, aligned to 64 bytes; lanes that do not access have that of one that does
  std::uint32_t bytes;           ///< a power of two
  bool consecutive;              ///< all lanes access, each the bytes behind those of the lane before
  bool writes;
};

/// A check which accesses to shared memory concern only where bytes may be uninitialised.
class ByteCheck : public Observer {
 public:
  using Observer::Observer;

  /// The map (scalar::map_has_lanes) of the bytes of a block's shared memory whose loads and stores do not concern the check, if they have
  /// at most so many `bytes` of a lane; nullptr if all concern it. Another 16 words behind it may be read.
  virtual const std::uint16_t* plain_bytes(int rank, std::uint32_t bytes) const = 0;
  /// Whether a store to other bytes, of which nobody is told, may enter them in that map: all that the check wants of it. The map may then
  /// change at any time.
  virtual bool lets_stores_enter(int rank) = 0;
  /// Notes a load or store in place of access(). False if access() must be called, too.
  virtual bool note(const SharedLanes& access) = 0;
  /// After block_begins(): these bytes have been written since, as plain_bytes() has them.
  virtual void begin_with(int rank, const std::uint16_t* plain) = 0;
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

  /// ByteCheck::plain_bytes() where no other observer asks for accesses; else nullptr.
  const std::uint16_t* plain_bytes(int rank, std::uint32_t bytes) const {
    return bytes_ == nullptr || others_want_accesses_ ? nullptr : bytes_->plain_bytes(rank, bytes);
  }

  /// ByteCheck::lets_stores_enter(), where plain_bytes() has a map.
  bool lets_stores_enter(int rank) { return bytes_->lets_stores_enter(rank); }

  /// ByteCheck::begin_with(), where there is such a check.
  void begin_with(int rank, const std::uint16_t* plain) {
    if (bytes_ == nullptr) return;
    bytes_->begin_with(rank, plain);
    refresh();
  }

  /// Whether the only observer that asks for a load or store of shared memory has noted it, so that nobody is to be told.
  bool note(const SharedLanes& access);

  /// Calls `call` of those that ask for any of these events.
  template <typename Call, typename... Arguments>
  void tell(EventKinds events, Call call, const Arguments&... arguments) {
    if (!want(events)) return;
    const std::uint64_t start = want(EventKinds::check_time) ? ticks() : 0;
    bool checked = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (i == checks_ && checked && start != 0) tell_time(events, ticks() - start);
      if (all_[i]->wants(events)) {
        tell_one(*all_[i], call, arguments...);
        checked = true;
      }
    }
    refresh();
  }

  /// Calls `call` of all.
  template <typename Call, typename... Arguments>
  void tell_all(Call call, const Arguments&... arguments) {
    const std::uint64_t start = want(EventKinds::check_time) ? ticks() : 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (i == checks_ && checks_ != 0 && start != 0) tell_time(EventKinds::none, ticks() - start);
      tell_one(*all_[i], call, arguments...);
    }
    refresh();
  }

  /// Of a list of statements, whose warp gets others between two of them.
  void replace(std::vector<Observer*> others);

  /// To be called after events of other clusters, which some of the observers may share.
  void refresh() {
    EventKinds others = EventKinds::none;
    for (const Observer* const observer : all_)
      if (observer != bytes_) others = others | observer->wanted();
    others_want_accesses_ = (others & (EventKinds::accesses | EventKinds::shared_accesses)) != EventKinds::none;
    wanted_ = bytes_ == nullptr ? others : others | bytes_->wanted();
  }

 private:
  /// Calls `call` of one of all_. LaunchOptions::suppresses decides whether its report counts.
  template <typename Call, typename... Arguments>
  void tell_one(Observer& observer, Call call, const Arguments&... arguments) {
    if (suppresses_ == nullptr) return (observer.*call)(arguments...);
    try {
      (observer.*call)(arguments...);
    } catch (const Trap& report) {
      if (!(*suppresses_)(report)) throw;
    }
  }
  void tell_time(EventKinds events, std::uint64_t took);

  const std::function<bool(const Trap&)>* suppresses_;  ///< LaunchOptions::suppresses, if it is there
  std::vector<std::unique_ptr<Observer>> own_;
  std::vector<Observer*> all_;
  ByteCheck* bytes_ = nullptr;            ///< one of own_, if it is there
  std::size_t checks_ = 0;                ///< the first ones of all_
  EventKinds wanted_ = EventKinds::none;  ///< of all of them, after the last event
  bool others_want_accesses_ = false;     ///< whether an observer other than bytes_ asks for accesses
};

}  // namespace warpmat::machine
