#include <warpmat/cuda/waiting.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <list>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <warpmat/pool/thread_pool.h>

namespace warpmat::cuda {
namespace {

using machine::Patience;
using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds shortest_sleep{20}, longest_sleep{1000};
constexpr std::chrono::milliseconds other_threads_have{700};  ///< to write what a kernel waits for, before that is a deadlock
constexpr int most_rounds = 256;                              ///< of launches that wake each other, in one call

/// A stream in the order of its work. Each thread has its own per-thread stream.
struct Place {
  std::uint64_t stream = 0, thread = 0;
  bool blocking = false;  ///< its work waits for the legacy stream's, and conversely
  Owner owner = no_owner;
  bool operator==(const Place& other) const { return stream == other.stream && thread == other.thread && owner == other.owner; }
  bool is_legacy() const { return stream == 1; }
  bool comes_behind(const Place& other) const {
    return *this == other || (owner == other.owner && ((is_legacy() && other.blocking) || (other.is_legacy() && blocking)));
  }
};

std::uint64_t number_of_thread() {
  static std::uint64_t last = 0;  // under mutex()
  static thread_local std::uint64_t number = 0;
  if (number == 0) number = ++last;
  return number;
}

Place place_of(Stream* handle) {
  constexpr std::uint64_t per_thread = 2;
  const Stream& stream = stream_of(handle);
  const bool own = stream.id == per_thread;
  return {stream.id, own ? number_of_thread() : 0, own || stream.flags == 0, owner_of_stream(handle)};
}

/// Whether the program has threads beside this one, which may write memory. `own`: those of this file.
bool has_other_threads(int own) {
  std::error_code error;
  const std::filesystem::directory_iterator tasks("/proc/self/task", error);
  return error || std::distance(begin(tasks), end(tasks)) > 1 + own + pool_threads();
}

std::atomic<bool> any_paused = false;  ///< so far

/// Work that has not ended, in the order of the calls.
class Queue {
 public:
  bool empty() const { return items_.empty(); }
  bool has_work_of(Owner owner) const { return std::ranges::find(items_, owner, &Item::owner) != items_.end(); }
  bool has(Ticket ticket) const { return std::ranges::find(items_, ticket, &Item::ticket) != items_.end(); }

  /// What work at `place` comes behind: of each stream the last.
  std::vector<Ticket> before(const Place& place) const {
    std::vector<Ticket> found;
    std::vector<Place> seen;
    for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
      if (!item->in_stream || !place.comes_behind(item->place) || std::ranges::find(seen, item->place) != seen.end()) continue;
      seen.push_back(item->place);
      found.push_back(item->ticket);
    }
    return found;
  }

  Ticket add(Context& context, const Place* place, const Work& work, std::vector<Ticket> after) {
    std::erase_if(after, [&](Ticket ticket) { return !has(ticket); });
    if (!after.empty()) {
      Item& item = make(place, work);
      item.after = std::move(after);
      return item.ticket;
    }
    const Ticket ticket = run_now(context, place, work);
    if (!items_.empty()) go_on(context, Patience::brief);
    return has(ticket) ? ticket : 0;
  }

  void pause(std::unique_ptr<Paused> launch) {
    if (running_ == nullptr) throw std::logic_error("a launch is paused outside of all work");
    running_->launch = std::move(launch);
  }

  void end_part(Context& context) {
    Item* const whole = running_;
    if (whole == nullptr || whole->launch == nullptr) return;
    wait(context, [&] { return end_of_part(context, *whole, Patience::brief); });
  }

  /// Runs all that can go on. Returns whether something did.
  bool go_on(Context& context, Patience patience) {
    bool any = false;
    for (int round = 0; round < most_rounds && go_round(context, patience); ++round) any = true;
    if (!items_.empty()) watch();
    return any;
  }

  /// Waits until `done`. If nothing can go on, the first launch that is paused has a deadlock.
  template <typename Done>
  void wait(Context& context, Done done) {
    Clock::time_point last_change = Clock::now();
    microseconds sleep = shortest_sleep;
    while (!context.has_fault() && !done()) {
      if (go_on(context, Patience::brief)) {
        last_change = Clock::now();
        sleep = shortest_sleep;
      } else if (has_other_threads(watched_ ? 1 : 0) && Clock::now() - last_change < other_threads_have) {
        sleep_unlocked(std::exchange(sleep, std::min(2 * sleep, longest_sleep)));
      } else if (!done() && !go_on(context, Patience::full)) {
        end_in_deadlock(context);
      }
    }
    if (context.has_fault()) drop_waiting();
  }

  void print(const std::string& text) {
    printed_ += text;
    if (running_ == nullptr || !running_->runs) print_kept();
  }
  void print_kept() {
    if (printed_.empty()) return;
    std::fwrite(printed_.data(), 1, printed_.size(), stdout);
    std::fflush(stdout);
    printed_.clear();
  }

  void leave(Context&, Owner owner) {
    print_kept();
    for (auto item = items_.begin(); item != items_.end();) item = item->owner == owner && !item->runs ? end(item) : std::next(item);
  }

 private:
  struct Item {
    Ticket ticket = 0;
    Owner owner = no_owner;
    Place place;
    bool in_stream = false;
    Work work;
    std::vector<Ticket> after = {};
    std::unique_ptr<Paused> launch = nullptr;  ///< the work has come so far
    bool runs = false;
  };

  /// Other threads may run work meanwhile.
  void sleep_unlocked(microseconds time) {
    Item* const mine = running_;
    {
      const Unlocked unlocked;
      std::this_thread::sleep_for(time);
    }
    running_ = mine;
  }

  Item& make(const Place* place, Work work) {
    return items_.emplace_back(Item{.ticket = ++last_,
                                    .owner = current_owner(),
                                    .place = place == nullptr ? Place{} : *place,
                                    .in_stream = place != nullptr,
                                    .work = std::move(work)});
  }

  /// An error is the caller's. The work gets a place in the queue only if it pauses.
  Ticket run_now(Context& context, const Place* place, const Work& work) {
    Item item;
    Item* const outer = std::exchange(running_, &item);
    struct Restore {
      Queue& queue;
      Item* outer;
      ~Restore() { queue.running_ = outer; }
    } const restore{*this, outer};
    work(context);
    if (item.launch == nullptr) return 0;
    Item& kept = make(place, nullptr);
    kept.launch = std::move(item.launch);
    const Ticket ticket = kept.ticket;
    watch();
    return ticket;
  }

  /// Returns whether work has ended or moved.
  bool go_round(Context& context, Patience patience) {
    bool any = false;
    for (auto item = items_.begin(); item != items_.end() && !context.has_fault();) {
      if (item->runs || !item->after.empty()) {
        ++item;
        continue;
      }
      const bool ended = run(context, *item, patience);
      any = any || ended || item->launch->moved();
      item = ended ? end(item) : std::next(item);
    }
    if (context.has_fault()) drop_waiting();
    return any;
  }

  /// Begins the work or goes on with its launch. Returns whether it has ended.
  bool run(Context& context, Item& item, Patience patience) {
    const AsOwner as(item.owner);
    Item* const outer = std::exchange(running_, &item);
    item.runs = true;
    bool ended = false;
    try {
      if (item.launch != nullptr)
        ended = item.launch->run(context, patience);
      else
        std::exchange(item.work, nullptr)(context);
      ended = ended || item.launch == nullptr;
    } catch (...) {  // the call that made the work has returned
      context.set_fault(handle_exception("work that waited"));
      ended = true;
    }
    item.runs = false;
    running_ = outer;
    return ended;
  }

  std::list<Item>::iterator end(std::list<Item>::iterator item) {
    const Ticket ticket = item->ticket;
    for (Item& other : items_) std::erase(other.after, ticket);
    return items_.erase(item);
  }

  bool end_of_part(Context& context, Item& whole, Patience patience) {
    if (whole.launch != nullptr && whole.launch->run(context, patience)) whole.launch = nullptr;
    return whole.launch == nullptr;
  }

  void end_in_deadlock(Context& context) {
    if (running_ != nullptr && running_->launch != nullptr) {
      end_of_part(context, *running_, Patience::last);
      return;
    }
    const auto first = std::ranges::find_if(items_, [](const Item& item) { return item.launch != nullptr && !item.runs; });
    if (first == items_.end()) return sleep_unlocked(longest_sleep);  // another thread's call runs the work
    if (run(context, *first, Patience::last)) end(first);
  }

  /// What is behind a fault never runs.
  void drop_waiting() {
    std::erase_if(items_, [](const Item& item) { return !item.runs; });
  }

  /// The thread that lets launches go on when the host writes memory without a call. It ends when none is paused.
  void watch() {
    any_paused = true;
    if (std::exchange(watched_, true)) return;
    sigset_t all, before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's threads
    std::thread([this] { watch_host(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void watch_host() {
    microseconds sleep = shortest_sleep;
    Clock::time_point last_change = Clock::now();
    while (true) {
      std::this_thread::sleep_for(sleep);
      const std::lock_guard lock(mutex());
      Context& state = context();
      const bool long_ago = Clock::now() - last_change > other_threads_have;
      if (items_.empty()) break;
      if (go_on(state, long_ago ? Patience::full : Patience::brief) || long_ago) last_change = Clock::now();
      sleep = Clock::now() - last_change < longest_sleep ? shortest_sleep : longest_sleep;
    }
    watched_ = false;
  }

  std::list<Item> items_;
  Item* running_ = nullptr;  ///< what this thread, which has mutex(), runs
  Ticket last_ = 0;
  bool watched_ = false;
  std::string printed_;  ///< by launches that were paused
};

Queue& queue(Context& context) {
  return context.part<Queue>();
}

template <typename Done>
void wait_until(Context& context, Done done) {
  Queue& all = queue(context);
  if (!done()) all.wait(context, done);
  all.print_kept();
  context.show_fault();
  if (context.has_fault()) throw ApiError(context.fault_seen());
}

/// Programs need not wait for their last work. Behind their destructors nothing else can come.
[[gnu::destructor]] void finish_at_exit() {
  if (!any_paused) return;
  const std::lock_guard lock(mutex());
  Context& state = context();
  Queue& all = queue(state);
  if (!state.has_fault()) all.wait(state, [&] { return all.empty(); });
  all.print_kept();
}

}  // namespace

Ticket run_in_order(Context& context, Stream* stream, const Work& work, const std::vector<Ticket>& also) {
  Queue& all = queue(context);
  const Place place = place_of(stream);
  const AsOwner as(place.owner);
  if (all.empty()) return all.add(context, &place, work, {});
  all.go_on(context, Patience::brief);  // what the host has written comes before the work
  std::vector<Ticket> after = all.before(place);
  after.insert(after.end(), also.begin(), also.end());
  return all.add(context, &place, work, std::move(after));
}

Ticket run_behind(Context& context, const Work& work, const std::vector<Ticket>& after) {
  return queue(context).add(context, nullptr, work, after);
}

void pause(Context& context, std::unique_ptr<Paused> launch) {
  queue(context).pause(std::move(launch));
}

void end_paused_part(Context& context) {
  queue(context).end_part(context);
}

bool is_busy(Context& context, Stream* stream) {
  return is_busy(context) && !queue(context).before(place_of(stream)).empty();
}

bool is_busy(Context& context) {
  return !queue(context).empty();
}

bool has_ended(Context& context, Ticket ticket) {
  return ticket == 0 || !queue(context).has(ticket);
}

void look_at_paused(Context& context) {
  Queue& all = queue(context);
  if (!all.empty()) all.go_on(context, Patience::brief);
  all.print_kept();
}

void finish(Context& context) {
  wait_until(context, [&] { return !queue(context).has_work_of(current_owner()); });
}

void finish(Context& context, Stream* stream) {
  const std::vector<Ticket> last = is_busy(context) ? queue(context).before(place_of(stream)) : std::vector<Ticket>();
  wait_until(context, [&] { return std::ranges::all_of(last, [&](Ticket ticket) { return has_ended(context, ticket); }); });
}

void finish(Context& context, Ticket ticket) {
  wait_until(context, [&] { return has_ended(context, ticket); });
}

void print(Context& context, const std::string& text) {
  if (!text.empty()) queue(context).print(text);
}

}  // namespace warpmat::cuda
