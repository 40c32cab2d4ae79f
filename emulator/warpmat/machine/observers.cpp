#include <warpmat/machine/observers.h>

#include <algorithm>
#include <utility>

namespace warpmat::machine {

Observers::Observers(const LaunchState& launch, std::uint64_t cluster)
    : suppresses_(launch.options.suppresses ? &launch.options.suppresses : nullptr) {
  if (launch.checks) own_ = launch.checks(cluster);
  checks_ = own_.size();
  for (const auto& make : launch.options.observers_of_clusters)
    if (std::unique_ptr<Observer> observer = make(cluster)) own_.push_back(std::move(observer));
  for (const auto& observer : own_)
    if (auto* const check = dynamic_cast<ByteCheck*>(observer.get())) bytes_ = check;
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

bool Observers::note(const SharedLanes& access) {
  if (bytes_ == nullptr || others_want_accesses_) return false;
  const std::uint64_t start = want(EventKinds::check_time) ? ticks() : 0;
  const bool noted = bytes_->note(access);
  if (start != 0) {
    tell_time(EventKinds::accesses | EventKinds::shared_accesses, ticks() - start);
    refresh();
  }
  return noted;
}

void Observers::replace(std::vector<Observer*> others) {
  all_ = std::move(others);
  bytes_ = nullptr;
  refresh();
}

}  // namespace warpmat::machine
