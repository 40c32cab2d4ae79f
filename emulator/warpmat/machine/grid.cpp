#include <warpmat/machine/grid.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <warpmat/machine/block.h>
#include <warpmat/machine/cluster.h>
#include <warpmat/machine/quick_blocks.h>
#include <warpmat/machine/threads.h>
#include <warpmat/numeric/checked_size.h>
#include <warpmat/numeric/rounding_mode.h>

namespace warpmat::machine {
namespace {

std::uint64_t clusters_of(const LaunchState& launch) {
  return launch.config.grid.count() / launch.config.cluster.count();
}

/// Runs the loops of `jobs` threads.
template <typename Clusters>
void run_loops(Clusters& clusters, int jobs) {
  run_on_threads(
      jobs, [](void* data) { static_cast<Clusters*>(data)->work(); }, &clusters);
}

/// The order of `count` clusters that a schedule's seed decides: a step through their numbers that meets each once.
class ClusterOrder {
 public:
  ClusterOrder(std::uint64_t seed, std::uint64_t count) : count_(count) {
    constexpr std::uint64_t most = std::uint64_t{1} << 32;  // no product overflows
    if (seed == 0 || count >= most) return;
    const std::uint64_t mixed = seed * 0x9e3779b97f4a7c15;
    first_ = (mixed >> 32) % count;
    step_ = (mixed & (most - 1)) % count;
    while (std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
  }
  std::uint64_t operator[](std::uint64_t place) const { return count_ == 0 ? place : (first_ + place * step_) % count_; }

 private:
  std::uint64_t count_ = 0, first_ = 0, step_ = 1;
};

/// Throws MemoryLimit where so many clusters at once exceed LaunchOptions::most_block_bytes.
void check_room(const LaunchState& launch, std::uint64_t clusters) {
  const std::uint64_t most = launch.options.most_block_bytes, blocks = clusters * launch.config.cluster.count();
  if (most == 0) return;
  const std::uint64_t warps = (launch.config.block.count() + warp_size - 1) / warp_size;
  const std::uint64_t warp_bytes = launch.frame_bytes + std::uint64_t{warp_size} * launch.local_bytes;
  const CheckedSize bytes = CheckedSize(blocks) * (warps * warp_bytes + launch.shared_bytes);
  if (!bytes.fits(most))
    throw MemoryLimit(
        fmt::format("{} blocks at once, each with {} bytes of registers, local and shared memory, exceed the limit of {} bytes", blocks,
                    warps * warp_bytes + launch.shared_bytes, most));
}

/// How many threads the launch has now. Throws MemoryLimit.
int jobs_of(const LaunchState& launch) {
  int jobs = launch.options.jobs > 0 ? launch.options.jobs : static_cast<int>(usable_cores());
  if (!launch.options.observers.empty()) jobs = 1;
  jobs = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(jobs), clusters_of(launch)));
  check_room(launch, static_cast<std::uint64_t>(jobs));
  return jobs;
}

/// Schedules the clusters of a grid whose operations have no order among them: each thread takes the next ones, without a lock. It takes
/// fewer as fewer are left, so that all threads end at nearly the same time.
class UnorderedGrid final : public GridRun {
 public:
  explicit UnorderedGrid(const LaunchState& launch)
      : launch_(launch), size_(clusters_of(launch)), jobs_(jobs_of(launch)), order_(launch.options.schedule, size_), end_(size_) {
    quick_.resize(static_cast<std::size_t>(jobs_));
  }

  /// The loop of one thread.
  void work() {
    const std::size_t thread = begun_threads_++;
    if (thread >= quick_.size()) return;                  // enough others are at work
    const OuterRoundingMode mode(RoundingMode::nearest);  // as in Block::run(); setting it takes as long as a small block
    QuickBlocks& quick = quick_blocks(thread);
    std::uint64_t operations = 0;
    while (true) {
      const std::uint64_t share = next_share(), first = next_.fetch_add(share);
      if (first >= end_) break;
      for (std::uint64_t number = first; number < first + share && number < end_; ++number) operations += run(number, quick);
    }
    operations_ += operations;
  }

  /// It has no accesses that could wait for others.
  bool run(Patience) override {
    run_loops(*this, jobs_);
    if (error_ != nullptr) std::rethrow_exception(error_);
    return true;
  }

  LaunchResult result() override {
    LaunchResult result;
    result.operations = operations_;
    for (const auto& [number, text] : printed_) result.printed += text;
    return result;
  }

  bool can_repeat() const override {
    constexpr std::size_t most_bytes = 1 << 20;
    std::size_t bytes = 0;
    bool ready = false;  // of a thread that had blocks: others may have had none
    for (const auto& quick : quick_) {
      if (quick == nullptr) continue;
      bytes += quick->kept_bytes();
      ready |= quick->ready();
    }
    return error_ == nullptr && ready && bytes <= most_bytes;
  }

  void begin_again() override {
    jobs_ = jobs_of(launch_);
    quick_.resize(static_cast<std::size_t>(jobs_));
    printed_.clear();
    end_ = size_;
    next_ = operations_ = 0;
    begun_threads_ = 0;
  }

 private:
  static constexpr std::uint64_t fewest_shares = 4;  ///< a thread takes at most 1 / (4 * threads) of the clusters that are left
  static constexpr std::uint64_t largest_share = 8;

  /// Those that a thread has alone.
  QuickBlocks& quick_blocks(std::size_t thread) {
    std::unique_ptr<QuickBlocks>& quick = quick_[thread];
    if (quick != nullptr && quick->ready())
      quick->begin_launch();
    else
      quick = std::make_unique<QuickBlocks>(launch_);
    return *quick;
  }

  /// How many clusters a thread takes at once. Others may take some in between, so it is only nearly a part of what is left.
  std::uint64_t next_share() const {
    const std::uint64_t left = size_ - std::min<std::uint64_t>(next_, size_);
    return std::clamp<std::uint64_t>(left / (fewest_shares * static_cast<std::uint64_t>(jobs_)), 1, largest_share);
  }

  /// Returns the cluster's operations.
  std::uint64_t run(std::uint64_t number, QuickBlocks& quick) {
    try {
      if (quick.ready()) {
        std::uint64_t operations = 0;
        const std::unique_ptr<Cluster> rest = quick.run(order_[number], operations);
        return rest == nullptr ? operations : run(number, *rest);
      }
      Cluster cluster(launch_, order_[number]);
      quick.look_at(cluster);
      return run(number, cluster);
    } catch (...) {
      fail(number, std::current_exception());
      return 0;
    }
  }

  std::uint64_t run(std::uint64_t number, Cluster& cluster) {
    if (cluster.run(false) != Cluster::Status::finished) throw std::logic_error("a cluster waits for its turn, which no other has");
    keep_printed(number, cluster.take_printed());
    return cluster.operations();
  }

  void keep_printed(std::uint64_t number, std::string text) {
    if (text.empty()) return;
    const std::lock_guard lock(mutex_);
    printed_[number] = std::move(text);
  }

  /// The error of the lowest cluster counts. All lower ones than `number` have begun, or a thread is about to begin them.
  void fail(std::uint64_t number, const std::exception_ptr& error) {
    const std::lock_guard lock(mutex_);
    if (number >= end_) return;
    end_ = number;
    error_ = error;
  }

  const LaunchState& launch_;
  std::uint64_t size_;  ///< clusters
  int jobs_;
  std::vector<std::unique_ptr<QuickBlocks>> quick_;  ///< by thread
  std::atomic<std::size_t> begun_threads_ = 0;
  ClusterOrder order_;
  std::atomic<std::uint64_t> end_;  ///< no cluster from this one on begins
  std::mutex mutex_;
  std::map<std::uint64_t, std::string> printed_;
  std::exception_ptr error_;
  static constexpr std::size_t cache_line = 64;
  [[maybe_unused]] std::byte before_[cache_line];  // in place of an alignment, for which there is no spare memory
  std::atomic<std::uint64_t> next_ = 0;            // all threads change it, so nothing that they read is in its cache line
  [[maybe_unused]] std::byte behind_[cache_line];
  std::atomic<std::uint64_t> operations_ = 0;
};

/// Schedules the clusters of a grid, most of one block. They begin in the order of their numbers here: their places in ClusterOrder.
class Grid final : public GridRun {
 public:
  Grid(const LaunchState& launch, int jobs)
      : launch_(launch),
        jobs_(jobs),
        size_(clusters_of(launch)),
        first_wave_(cancels_launches(launch.program) ? (size_ + waves - 1) / waves : size_),
        order_(launch.options.schedule, size_),
        max_begun_(static_cast<std::size_t>(4 * jobs)) {}

  /// The loop of one thread. What is thrown outside of a block, as for want of memory, ends the other threads' loops too.
  void work() {
    std::unique_lock lock(mutex_);
    try {
      run_all(lock);
    } catch (...) {
      if (!failed_) fail(std::current_exception());
      changed_.notify_all();
    }
  }

  bool run(Patience patience) override {
    forget_accesses();
    if (patience != Patience::last) look_again();
    patience_ = patience;
    paused_ = false;
    progress_before_ = all_progress();
    run_loops(*this, jobs_);
    if (trap_ != nullptr) std::rethrow_exception(trap_);
    return ended_ == size_;
  }

  bool moved() const override { return all_progress() != progress_before_; }

  LaunchResult result() override { return std::move(result_); }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static constexpr std::uint64_t waves = 4;
  static constexpr std::uint64_t brief_rounds = 2;  ///< of reservations in which all clusters only poll

  static constexpr std::uint64_t accesses_of_repetition = 1 << 16;  ///< for which a reservation counts that brought a state back

  /// Loops that count their polls may end by themselves.
  std::uint64_t fewest_idle_accesses() const { return patience_ == Patience::last ? 1 << 20 : 1 << 18; }

  struct Begun {
    std::unique_ptr<Cluster> cluster;
    bool running = false;
    std::exception_ptr trap;
    std::uint64_t cancelled = 0;               ///< clusters that it has taken by clusterlaunchcontrol.try_cancel
    std::unordered_set<std::uint64_t> states;  ///< hashes at the ends of reservations
    std::uint64_t reservations = 0;
    bool repeats = false;       ///< a state has come back
    std::uint64_t in_vain = 0;  ///< progress in reservations that brought a state back: barriers, as a rule
  };

  /// Whether the cluster goes round in a loop that also stores, or waits at barriers: its state has come back, and all that it read. States
  /// are compared now and then, and each time once one has come back.
  static bool comes_back(Begun& begun) {
    constexpr std::uint64_t apart = 16, most_states = 4096;
    if (begun.reservations++ % apart != 0 && !begun.repeats) return false;
    if (begun.states.size() >= most_states) begun.states.clear();
    const bool again = !begun.states.insert(begun.cluster->hash_of_state()).second;
    begun.repeats |= again;
    if (again) begun.in_vain += begun.cluster->progress_of_reservation();
    return again;
  }

  /// What others may have written meanwhile counts for nothing that was seen before.
  void look_again() {
    for (auto& [number, begun] : begun_)
      if (begun.cluster != nullptr) begun.cluster->make_progress();
    idle_reservations_ = polling_reservations_ = idle_accesses_ = 0;
    ++progress_;
  }

  /// Memory may have been allocated and freed meanwhile.
  void forget_accesses() {
    for (auto& [number, begun] : begun_)
      if (begun.cluster != nullptr) begun.cluster->forget_accesses();
  }

  /// Increases with every event that others may wait for.
  std::uint64_t all_progress() const {
    std::uint64_t sum = ended_progress_;
    for (const auto& [number, begun] : begun_)
      if (begun.cluster != nullptr) sum += begun.cluster->progress() - begun.in_vain;
    return sum;
  }

  static bool cancels_launches(const code::Program& program) {
    return program.any<code::BulkCopy>([](const code::BulkCopy& copy) { return copy.kind == code::BulkCopy::Kind::cancel; });
  }

  /// Runs blocks until all have ended.
  void run_all(std::unique_lock<std::mutex>& lock) {
    while (true) {
      const auto number = choose();
      if (number == none) {
        if (ended_ == size_ || failed_ || paused_) return;
        changed_.wait(lock);
        continue;
      }
      run(number, lock);
      changed_.notify_all();
    }
  }

  /// The block with the reservation if no thread runs it; else one that need not wait for it.
  std::uint64_t choose() {
    if (failed_ || paused_ || ended_ == size_) return none;
    const auto with_reservation = begun_.find(reservation_);
    if (with_reservation == begun_.end()) return begin(reservation_);
    if (!with_reservation->second.running) return reservation_;
    while (next_ < size_ && (begun_.contains(next_) || is_ended(next_))) ++next_;
    if (next_ < size_ && begun_.size() < max_begun_ && may_begin(next_)) return begin(next_);
    return none;
  }

  /// A kernel that cancels launches has four waves of clusters. One of a later wave begins after the one at its place in the wave before,
  /// which may take it: so the number of threads decides nothing.
  bool may_begin(std::uint64_t number) const { return number < first_wave_ || is_ended(number - first_wave_); }

  std::optional<std::uint64_t> cancel_for(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    std::uint64_t& cancelled = begun_[number].cancelled;
    const std::uint64_t other = number + (cancelled + 1) * first_wave_;
    if (other >= size_) return std::nullopt;
    ++cancelled;
    return order_[other];
  }

  bool is_ended(std::uint64_t number) const { return ended_late_.contains(number) || number < ended_before_; }

  std::uint64_t begin(std::uint64_t number) {
    begun_[number];
    return number;
  }

  void run(std::uint64_t number, std::unique_lock<std::mutex>& lock) {
    Begun& begun = begun_[number];
    if (begun.trap != nullptr) return fail(begun.trap);
    begun.running = true;
    const bool has_reservation = reservation_ == number;
    const std::uint64_t leaps_before = all_leaps_, alive = begun_.size();
    const bool hurries = idle_accesses_ >= fewest_idle_accesses();
    lock.unlock();
    Cluster::Status status = Cluster::Status::finished;
    std::exception_ptr trap;
    try {
      if (begun.cluster == nullptr) {
        check_room(launch_, alive);
        begun.cluster = std::make_unique<Cluster>(launch_, order_[number], [this, number] { return cancel_for(number); });
      }
      if (has_reservation) begun.cluster->set_clocks(leaps_before, hurries);
      status = begun.cluster->run(has_reservation);
    } catch (...) {
      trap = std::current_exception();
    }
    lock.lock();
    begun.running = false;
    if (trap != nullptr) {
      // A trap counts only when its block gets the reservation: lower blocks may trap first.
      if (reservation_ != number) {
        begun.trap = trap;
        return;
      }
      fail(trap);
    } else if (status == Cluster::Status::finished) {
      end(number);
    } else if (status == Cluster::Status::reservation_is_over) {
      check_idle(begun);
      if (!paused_) pass_reservation();
    }
  }

  /// Detects blocks that only wait for each other, reservation after reservation. If some read clocks, these hurry first, and leap.
  void check_idle(Begun& begun) {
    Cluster& cluster = *begun.cluster;
    const bool waits = cluster.idle_reservation(), repeats = !waits && comes_back(begun), idle = waits || repeats;
    const std::uint64_t reads = cluster.take_clock_reads();
    idle_reservations_ = idle ? idle_reservations_ + 1 : 0;
    polling_reservations_ = repeats || (waits && cluster.only_polls()) ? polling_reservations_ + 1 : 0;
    const std::uint64_t accesses = repeats ? accesses_of_repetition : cluster.used_accesses();
    idle_accesses_ = idle ? idle_accesses_ + accesses + reads : 0;
    progress_ += idle ? 0 : 1;
    clock_read_ |= reads != 0;
    if (patience_ == Patience::brief && polling_reservations_ >= brief_rounds * (size_ - ended_)) {
      paused_ = true;
      return;
    }
    const std::uint64_t rounds = (4 + 2 * cluster.warps()) * (size_ - ended_);  // some warps may reach their access in a later one
    if (idle_accesses_ < fewest_idle_accesses() || idle_reservations_ < rounds) return;
    if (const auto ticks = std::exchange(clock_read_, false) ? leaps_.next(progress_) : std::nullopt) {
      all_leaps_ += *ticks;
      idle_reservations_ = 0;
      return;
    }
    if (polling_reservations_ < rounds) return;
    if (patience_ != Patience::last || moved()) {
      paused_ = true;
      return;
    }
    try {
      cluster.report_deadlock();
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void fail(const std::exception_ptr& trap) {
    failed_ = true;
    trap_ = trap;
  }

  void end(std::uint64_t number) {
    Begun& begun = begun_[number];
    if (std::string text = begun.cluster->take_printed(); !text.empty()) printed_[number] = std::move(text);
    result_.operations += begun.cluster->operations();
    ended_progress_ += begun.cluster->progress() + 1;
    const std::uint64_t cancelled = begun.cancelled;
    begun_.erase(number);
    idle_reservations_ = polling_reservations_ = idle_accesses_ = 0;
    ++progress_;
    const bool in_order = number == ended_before_ && cancelled == 0 && ended_late_.empty();  // nearly always on one thread
    for (std::uint64_t i = 0; i <= cancelled && !in_order; ++i) ended_late_.insert(number + i * first_wave_);
    for (bool next = in_order; next || ended_late_.erase(ended_before_) != 0; ++ended_before_, next = false)
      if (const auto text = printed_.extract(ended_before_)) result_.printed += text.mapped();
    ended_ += 1 + cancelled;
    if (reservation_ == number && ended_ < size_) pass_reservation();
  }

  void pass_reservation() {
    do reservation_ = (reservation_ + 1) % size_;
    while (is_ended(reservation_) || !may_begin(reservation_));
  }

  const LaunchState& launch_;
  int jobs_;
  std::uint64_t size_;
  std::uint64_t first_wave_;  ///< clusters that begin before others have ended
  ClusterOrder order_;
  std::size_t max_begun_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Begun> begun_;
  std::set<std::uint64_t> ended_late_;  ///< ended while a lower one has not
  std::map<std::uint64_t, std::string> printed_;
  std::uint64_t ended_before_ = 0;  ///< all lower ones have ended
  std::uint64_t ended_ = 0, next_ = 0, reservation_ = 0;
  /// Consecutive reservations without progress, those of clusters that only poll, and the accesses of the former, reads of clocks too.
  std::uint64_t idle_reservations_ = 0, polling_reservations_ = 0, idle_accesses_ = 0;
  std::uint64_t progress_ = 0, all_leaps_ = 0;  ///< reservations with progress; ticks
  ClockLeaps leaps_;
  bool clock_read_ = false;           ///< since the last leap, by a cluster with the reservation
  std::uint64_t ended_progress_ = 0;  ///< of clusters that have ended
  Patience patience_ = Patience::last;
  bool paused_ = false;
  std::uint64_t progress_before_ = 0;  ///< of the run: all_progress()
  bool failed_ = false;
  std::exception_ptr trap_;
  LaunchResult result_;
};

}  // namespace

std::unique_ptr<GridRun> make_grid(const LaunchState& launch) {
  if (launch.program.orders_clusters) return std::make_unique<Grid>(launch, jobs_of(launch));
  return std::make_unique<UnorderedGrid>(launch);
}

}  // namespace warpmat::machine
