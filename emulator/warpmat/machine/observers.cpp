#include <warpmat/machine/observers.h>

#include <algorithm>
#include <utility>

namespace warpmat::inline v0_1::machine {

Observers::Observers(const LaunchState& launch, std::uint64_t cluster) {
  if (launch.checks) own_ = launch.checks(cluster);
  checks_ = own_.size();
  if (launch.options.observer_of_cluster)
    if (std::unique_ptr<Observer> observer = launch.options.observer_of_cluster(cluster)) own_.push_back(std::move(observer));
  for (const auto& observer : own_)
    if (const auto* const check = dynamic_cast<const ByteCheck*>(observer.get())) bytes_ = check;
  for (const auto& observer : own_) all_.push_back(observer.get());
  all_.insert(all_.end(), launch.options.observers.begin(), launch.options.observers.end());
  refresh();
}

void Observers::tell_time(EventKinds events, std::uint64_t took) {
  for (std::size_t i = checks_; i < all_.size(); ++i)
    if (all_[i]->wants(EventKinds::check_time)) all_[i]->checks_told(events, took);
}

bool Observers::want_besides_checks(EventKinds events) const {
  return std::any_of(all_.begin() + static_cast<std::ptrdiff_t>(checks_), all_.end(),
                     [events](const Observer* observer) { return observer->wants(events); });
}

bool Observers::ignore(const SharedRange& range) const {
  constexpr EventKinds events = EventKinds::accesses | EventKinds::shared_accesses;
  const auto cares = [this](const Observer* observer) { return observer != bytes_ && observer->wants(events); };
  return bytes_ != nullptr && std::ranges::none_of(all_, cares) && bytes_->ignores(range);
}

void Observers::replace(std::vector<Observer*> others) {
  all_ = std::move(others);
  refresh();
}

void Observers::refresh() {
  wanted_ = EventKinds::none;
  for (const Observer* const observer : all_) wanted_ = wanted_ | observer->wanted();
}

}  // namespace warpmat::inline v0_1::machine
