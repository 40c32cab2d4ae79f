#include <warpmat/profile/profile.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <warpmat/ir/code.h>
#include <warpmat/machine/internals.h>
#include <warpmat/machine/ticks.h>
#include <warpmat/ptx/syntax/module.h>

namespace warpmat {
namespace profiling {

using machine::EventKinds;

constexpr EventKinds in_runs = EventKinds::runs | EventKinds::check_time;
constexpr EventKinds one_by_one = in_runs | EventKinds::operations;
constexpr int longest_single = 64;          ///< operations executed one by one, until runs again
constexpr std::uint32_t most_between = 32;  ///< runs from one such time to the next: 1 to this many, so that no loop is in step with them

/// Operations that were executed together: one that is an event, a run, or what is outside of operations.
struct Cell {
  std::uint64_t executed = 0, lanes = 0, ticks = 0, check_ticks = 0;
  std::uint64_t least = ~std::uint64_t{0};  ///< ticks of one execution

  void took(std::uint64_t more) {
    ticks += more;
    least = std::min(least, more);
  }
};

struct Run {
  std::uint32_t operations = 0;
  std::size_t cell = 0;
};

/// What one thread executed.
struct ThreadProfile {
  explicit ThreadProfile(std::size_t operations)
      : outside(operations), cells(operations + 1), runs(operations), current(outside), last(machine::ticks()) {}

  std::size_t outside;                 ///< the cell of what is outside of operations
  std::vector<Cell> cells;             ///< of the operations; `outside`; then of runs
  std::vector<std::vector<Run>> runs;  ///< by the first operation
  std::size_t current;                 ///< the cell that executes
  std::uint64_t last;                  ///< when it began, or went on
  std::uint64_t check_ticks = 0;       ///< of the checks' calls for the event at which the next cell begins
  std::uint32_t random = 1, until_single = 1;

  /// The cell of a run. A place has few: its own, and those which a warp's slice cuts.
  Cell& cell_of(std::size_t first, std::uint32_t operations, std::size_t& number) {
    auto& here = runs[first];
    const auto found = std::ranges::find(here, operations, &Run::operations);
    number = found != here.end() ? found->cell : cells.size();
    if (found == here.end()) {
      here.push_back({operations, number});
      cells.emplace_back();
    }
    return cells[number];
  }

  /// Whether the next run is to be executed one by one.
  bool wants_single() {
    if (--until_single != 0) return false;
    random = random * 1664525 + 1013904223;  // Numerical Recipes
    until_single = 1 + (random >> 16) % most_between;
    return true;
  }
};

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// How the time of a run is divided: by the shortest time that its operations took one by one, less what one event takes. The shortest
/// times are those without interrupts and other programs.
class Weights {
 public:
  Weights(const code::Program& program, const ThreadProfile& thread) : cells_(thread.cells) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      if (!catalogue::computes(program.operations[i].semantics) || cells_[i].ticks == 0) continue;
      sum += static_cast<double>(cells_[i].least);
      ++count;
    }
    if (count != 0) usual_ = sum / count;
    measure_event(thread);
  }

  double operator()(std::size_t operation) const { return std::max(one_by_one(operation) - event_, 1.0); }

 private:
  double one_by_one(std::size_t operation) const {
    return cells_[operation].ticks == 0 ? usual_ : static_cast<double>(cells_[operation].least);
  }

  /// The runs took less time than their operations would have taken one by one: the time of as many events fewer.
  void measure_event(const ThreadProfile& thread) {
    double less = 0, fewer = 0;
    for (std::size_t first = 0; first < thread.runs.size(); ++first) {
      for (const Run& run : thread.runs[first]) {
        const Cell& cell = cells_[run.cell];
        if (cell.ticks == 0) continue;
        const auto executed = static_cast<double>(cell.executed);
        for (std::size_t i = first; i < first + run.operations; ++i) less += executed * one_by_one(i);
        less -= executed * static_cast<double>(cell.least);
        fewer += executed * static_cast<double>(run.operations - 1);
      }
    }
    if (fewer > 0) event_ = std::max(0.0, less / fewer);
  }

  const std::vector<Cell>& cells_;
  double usual_ = 1, event_ = 0;
};

}  // namespace profiling

using namespace profiling;

/// The profiles of the threads that execute a launch.
struct Profiler::Threads {
  explicit Threads(std::size_t operation_count) : operations(operation_count) {}

  /// That of the calling thread.
  ThreadProfile& mine() {
    struct Last {
      std::uint64_t number = 0;
      ThreadProfile* profile = nullptr;
    };
    static thread_local Last last;
    if (last.number != number) {
      const std::lock_guard lock(mutex);
      last = {number, all.emplace_back(std::make_unique<ThreadProfile>(operations)).get()};
    }
    return *last.profile;
  }

  const std::uint64_t number = next_number();  ///< of this launch in the process
  const std::size_t operations;
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadProfile>> all;
};

class Profiler::ClusterObserver : public machine::Observer {
 public:
  ClusterObserver(const code::Program& program, Threads& threads) : Observer(in_runs), program_(program), threads_(threads) {}

  void block_begins(const machine::BlockEvent& event) override {
    if (&program_of(event) != &program_) throw std::invalid_argument("the profiler is that of another kernel than the launch");
    begin_outside();
  }
  void block_ends(const machine::BlockEvent&) override { begin_outside(); }

  void operation(const machine::Event& event) override {
    ThreadProfile& profile = end_cell();
    const std::size_t number = number_of(event);
    if (single_ > 0 && --single_ == 0) want(in_runs);
    begin(profile, number, profile.cells[number], event.lanes());
  }

  void run(const machine::RunEvent& run) override {
    ThreadProfile& profile = end_cell();
    std::size_t number = 0;
    Cell& cell = profile.cell_of(number_of(run.event), run.operations, number);
    if (profile.wants_single()) {
      single_ = longest_single;
      want(one_by_one);
    }
    begin(profile, number, cell, run.event.lanes());
  }

  void checks_told(EventKinds events, std::uint64_t took) override {
    ThreadProfile& profile = threads_.mine();
    profile.last += took;
    const bool of_next = (events & one_by_one) != EventKinds::none;
    (of_next ? profile.check_ticks : profile.cells[profile.current].check_ticks) += took;
  }

 private:
  std::size_t number_of(const machine::Event& event) const {
    return static_cast<std::size_t>(&operation_of(event) - program_.operations.data());
  }

  ThreadProfile& end_cell() {
    const std::uint64_t now = machine::ticks();
    ThreadProfile& profile = threads_.mine();
    if (now > profile.last) profile.cells[profile.current].took(now - profile.last);
    return profile;
  }

  static void begin(ThreadProfile& profile, std::size_t number, Cell& cell, LaneMask lanes) {
    ++cell.executed;
    cell.lanes += static_cast<std::uint64_t>(std::popcount(lanes));
    cell.check_ticks += std::exchange(profile.check_ticks, 0);
    profile.current = number;
    profile.last = machine::ticks();
  }

  void begin_outside() {
    ThreadProfile& profile = end_cell();
    profile.current = profile.outside;
    profile.last = machine::ticks();
  }

  const code::Program& program_;
  Threads& threads_;
  int single_ = 0;  ///< operations to be executed one by one
};

Profiler::Profiler(const Kernel& kernel)
    : kernel_(kernel),
      threads_(std::make_unique<Threads>(program_of(kernel).operations.size())),
      first_tick_(machine::ticks()),
      start_(std::chrono::steady_clock::now()) {}

Profiler::~Profiler() = default;

std::unique_ptr<machine::Observer> Profiler::observer() {
  return std::make_unique<ClusterObserver>(program_of(kernel_), *threads_);
}

Profile Profiler::result() const {
  const code::Program& program = program_of(kernel_);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  const auto elapsed_ticks = static_cast<double>(std::max<std::uint64_t>(1, machine::ticks() - first_tick_));
  const double tick = elapsed.count() / elapsed_ticks;
  std::vector<StatementProfile> statements(program.statements.size());
  Profile profile;
  const auto add_part = [&](std::size_t operation, const Cell& cell, double part) {
    StatementProfile& statement = statements[program.operations[operation].statement];
    if (!program.operations[operation].prepares) {
      statement.executed += cell.executed;
      statement.lanes += cell.lanes;
    }
    statement.seconds += static_cast<double>(cell.ticks) * part * tick;
    statement.check_seconds += static_cast<double>(cell.check_ticks) * part * tick;
  };
  for (const auto& thread : threads_->all) {
    for (std::size_t i = 0; i < thread->outside; ++i) add_part(i, thread->cells[i], 1);
    const Cell& outside = thread->cells[thread->outside];
    profile.other_seconds += static_cast<double>(outside.ticks) * tick;
    profile.other_check_seconds += static_cast<double>(outside.check_ticks) * tick;
    const Weights weights(program, *thread);
    for (std::size_t first = 0; first < thread->runs.size(); ++first) {
      for (const Run& run : thread->runs[first]) {
        double all = 0;
        for (std::size_t i = first; i < first + run.operations; ++i) all += weights(i);
        for (std::size_t i = first; i < first + run.operations; ++i) add_part(i, thread->cells[run.cell], weights(i) / all);
      }
    }
  }
  for (std::uint32_t i = 0; i < statements.size(); ++i) {
    StatementProfile& each = statements[i];
    each.statement = i;
    if (each.executed != 0) {
      profile.statements.push_back(each);
    } else {  // the end of a function behind a statement that no warp reached
      profile.other_seconds += each.seconds;
      profile.other_check_seconds += each.check_seconds;
    }
  }
  return profile;
}

void add(Profile& sum, const Profile& more) {
  sum.other_seconds += more.other_seconds;
  sum.other_check_seconds += more.other_check_seconds;
  std::vector<StatementProfile> all;
  auto old = sum.statements.begin();
  for (const StatementProfile& statement : more.statements) {
    while (old != sum.statements.end() && old->statement < statement.statement) all.push_back(*old++);
    StatementProfile& added = all.emplace_back(statement);
    if (old == sum.statements.end() || old->statement != statement.statement) continue;
    added.executed += old->executed;
    added.lanes += old->lanes;
    added.seconds += old->seconds;
    added.check_seconds += old->check_seconds;
    ++old;
  }
  all.insert(all.end(), old, sum.statements.end());
  sum.statements = std::move(all);
}

}  // namespace warpmat
