#include <warpmat/machine/cluster.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/operations.h>

namespace warpmat::machine {

Dim3 place_in_cluster(const Dim3& cluster, std::uint32_t rank) {
  return {rank % cluster.x, rank / cluster.x % cluster.y, rank / cluster.x / cluster.y};
}

Dim3 cluster_index(const LaunchConfig& config, std::uint64_t number) {
  const std::uint64_t columns = config.grid.x / config.cluster.x, rows = config.grid.y / config.cluster.y;
  return {static_cast<std::uint32_t>(number % columns), static_cast<std::uint32_t>(number / columns % rows),
          static_cast<std::uint32_t>(number / columns / rows)};
}

Cluster::Cluster(const LaunchState& launch, std::uint64_t number, Cancel cancel, std::unique_ptr<BlockStorage> storage)
    : launch_(launch),
      number_(number),
      cancel_(std::move(cancel)),
      index_(cluster_index(launch.config, number)),
      observers_(launch, number),
      copies_(*this) {
  const Dim3 shape = launch.config.cluster;
  for (std::uint32_t rank = 0; rank < shape.count(); ++rank) {
    const Dim3 place = place_in_cluster(shape, rank);
    const Dim3 index{index_.x * shape.x + place.x, index_.y * shape.y + place.y, index_.z * shape.z + place.z};
    blocks_.push_back(std::make_unique<Block>(*this, index, static_cast<int>(rank), std::move(storage)));
  }
}

Cluster::~Cluster() = default;

std::optional<Dim3> Cluster::cancel_another() {
  const std::optional<std::uint64_t> other = cancel_ ? cancel_() : std::nullopt;
  if (!other) return std::nullopt;
  const Dim3 index = cluster_index(launch_.config, *other), shape = launch_.config.cluster;
  return Dim3{index.x * shape.x, index.y * shape.y, index.z * shape.z};
}

std::uint64_t Cluster::operations() const {
  std::uint64_t sum = 0;
  for (const auto& block : blocks_) sum += block->operations();
  return sum;
}

std::string Cluster::take_printed() {
  std::string text;
  for (const auto& block : blocks_) text += block->printed();
  return text;
}

std::size_t Cluster::warps() const {
  return blocks_.size() * blocks_.front()->warps().size();
}

Cluster::Status Cluster::run(bool has_reservation) {
  progress_before_ = progress_;
  observers_.refresh();
  for (const auto& block : blocks_) block->begin_reservation(has_reservation);
  std::size_t waiting = 0;  // consecutive blocks that could not continue
  std::uint64_t seen = progress_;
  while (ended_ < blocks_.size()) {
    Block& block = *blocks_[next_];
    if (!block.finished()) {
      switch (block.run()) {
        case Block::Status::needs_reservation: return Status::needs_reservation;
        case Block::Status::reservation_is_over: return Status::reservation_is_over;
        case Block::Status::finished: ++ended_; [[fallthrough]];
        case Block::Status::yielded: waiting = 0; break;
        case Block::Status::waits: waiting = progress_ == seen ? waiting + 1 : 1; break;
      }
      seen = progress_;
      if (waiting > 2 * blocks_.size()) {
        if (!leap()) report_deadlock();
        waiting = 0;
      }
    }
    next_ = (next_ + 1) % blocks_.size();
  }
  return Status::finished;
}

void Cluster::forget_accesses() {
  for (const auto& block : blocks_) block->forget_accesses();
}

bool Cluster::idle_reservation() const {
  return progress_ == progress_before_ && std::ranges::all_of(blocks_, [](const auto& block) { return block->only_waits(); });
}

std::uint64_t Cluster::used_accesses() const {
  int most = 0;
  for (const auto& block : blocks_) most = std::max(most, block->used_accesses());
  return static_cast<std::uint64_t>(most);
}

bool Cluster::only_polls() const {
  return std::ranges::all_of(blocks_, [](const auto& block) { return block->only_polls(); });
}

bool Cluster::leap() {
  const std::optional<std::uint64_t> ticks = take_clock_reads() != 0 ? leaps_.next(progress_) : std::nullopt;
  if (!ticks) return false;
  own_leaps_ += *ticks;
  for (const auto& block : blocks_)
    for (WarpState* const warp : block->warps()) warp->poll_on();
  return true;
}

void Cluster::check_barrier() {
  const auto has_arrived = [](const auto& warp) { return has_arrived_at_cluster(*warp); };
  if (!arrived_) return;
  for (const auto& block : blocks_)
    if (!std::ranges::all_of(block->warps(), has_arrived)) return;
  arrived_ = false;
  ++barrier_phases_;
  make_progress();
  observers_.tell(EventKinds::synchronisation, &Observer::barrier_completes,
                  BarrierEvent{BarrierEvent::Scope::cluster, 0, static_cast<int>(barrier_phases_ - 1), 0});
  for (const auto& block : blocks_)
    for (const auto& warp : block->warps()) leave_cluster_barrier(*warp);
}

void Cluster::report_deadlock() {
  Block* first = nullptr;
  for (const auto& block : blocks_) {
    if (block->finished()) continue;
    if (first == nullptr || (!first->polls() && block->polls())) first = block.get();
  }
  struct Alike {
    std::vector<Trap::Note> notes;
    std::string text, blocks;
  };
  std::vector<Alike> alike;  // where blocks wait, and which these are
  for (const auto& block : blocks_) {
    if (block->finished() || block.get() == first) continue;
    const std::string name = fmt::format("({}, {}, {})", block->index().x, block->index().y, block->index().z);
    std::vector<Trap::Note> notes = block->describe_waiting().notes;
    const std::string text = Trap::Reason("", notes).text();
    const auto same = std::ranges::find(alike, text, &Alike::text);
    if (same == alike.end())
      alike.push_back({std::move(notes), text, name});
    else
      same->blocks += ", " + name;
  }
  constexpr std::size_t most = 4;
  std::vector<Trap::Note> others;
  for (Alike& each : std::span(alike).first(std::min(alike.size(), most)))
    for (Trap::Note& note : each.notes) others.push_back({fmt::format("block {}: {}", each.blocks, note.text), std::move(note.at)});
  if (alike.size() > most) others.push_back({fmt::format("and {} blocks more", alike.size() - most)});
  first->report_deadlock(std::move(others));
}

}  // namespace warpmat::machine
