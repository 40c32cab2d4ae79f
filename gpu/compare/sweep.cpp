#include "gpu/compare/sweep.h"
#include "gpu/runners/one_warp.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace warpmat {
namespace {

constexpr std::size_t batch_warps = 4096;

/// Cases of one row that run together.
struct Batch {
  std::size_t row;
  std::size_t first, count;
  int variant;  ///< of program_for
};

/// What a batch ended with.
struct Finished {
  Batch batch;
  Program program;
  WarpStates initial, expected, found;
  Comparison comparison;
};

std::vector<Batch> batches_of(const std::vector<SweepRow>& rows, const SweepPlan& plan) {
  std::vector<Batch> batches;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto programs = static_cast<std::size_t>(variants(*rows[row].form));
    const std::size_t most = std::clamp(plan.cases / programs, std::size_t{1}, batch_warps);
    int variant = 0;
    for (std::size_t done = 0; done < plan.cases; done += most)
      batches.push_back({row, plan.first_case + done, std::min(most, plan.cases - done), variant++});
  }
  return batches;
}

/// The devices that nobody uses.
class DevicePool {
 public:
  explicit DevicePool(std::span<Runner* const> devices) : idle_(devices.begin(), devices.end()) {}

  void run(const Program& program, WarpStates& states) {
    Runner* device = take();
    try {
      device->run(program, states);
    } catch (...) {
      give_back(device);
      throw;
    }
    give_back(device);
  }

 private:
  Runner* take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !idle_.empty(); });
    Runner* device = idle_.back();
    idle_.pop_back();
    return device;
  }

  void give_back(Runner* device) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(device);
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Runner*> idle_;
};

/// Threads that each take a batch, make its cases, run it on both and compare; the caller's thread reports what they finish.
class Sweep {
 public:
  Sweep(Runner& reference, std::span<Runner* const> devices, const SweepPlan& plan, const SweepObserver& observer)
      : reference_(reference),
        shared_base_(devices.front()->shared_base()),
        devices_(devices),
        plan_(plan),
        observer_(observer),
        rows_(rows_of(plan)),
        batches_(batches_of(rows_, plan)) {
    assert(reference.shared_base() == shared_base_);
  }

  /// After a failure, or when the observer says stop, nobody begins another batch, but those that were begun are reported: all before the
  /// one that failed are among them.
  void run() {
    const std::size_t threads = std::min<std::size_t>(std::max(2u, std::thread::hardware_concurrency()), batches_.size());
    std::vector<std::jthread> workers;
    working_ = threads;
    for (std::size_t i = 0; i < threads; ++i) workers.emplace_back([this] { work(); });
    std::exception_ptr failure;
    try {
      while (const std::optional<Outcome> outcome = next_outcome()) {
        if (outcome->finished)
          report(*outcome->finished);
        else if (!failure)
          failure = outcome->failure;
        if (failure || observer_.stop()) next_ = batches_.size();
      }
    } catch (...) {
      next_ = batches_.size();
      throw;
    }
    for (const SweepRow& row : rows_)
      if (row.cases > 0 && row.cases < plan_.cases) observer_.row(row);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  struct Outcome {
    std::unique_ptr<Finished> finished;
    std::exception_ptr failure;
  };

  void work() {
    for (std::size_t i = next_++; i < batches_.size(); i = next_++) {
      Outcome outcome;
      try {
        outcome.finished = std::make_unique<Finished>(execute(batches_[i]));
      } catch (...) {
        outcome.failure = std::current_exception();
        next_ = batches_.size();
      }
      const std::lock_guard lock(mutex_);
      outcomes_.push_back(std::move(outcome));
      changed_.notify_one();
    }
    const std::lock_guard lock(mutex_);
    --working_;
    changed_.notify_one();
  }

  Finished execute(const Batch& batch) {
    const SweepRow& row = rows_[batch.row];
    Program program = program_for(*row.form, *plan_.target, *row.operand_class, batch.variant);
    WarpStates initial = make_case(program, *row.form, *row.operand_class, plan_.seed, batch.first, batch.count, shared_base_);
    WarpStates expected = initial, found = initial;
    devices_.run(program, found);
    reference_.run(program, expected);
    Comparison comparison = compare_states(program, expected, found, 1);
    return {batch, std::move(program), std::move(initial), std::move(expected), std::move(found), std::move(comparison)};
  }

  /// What some thread has done next; nothing once all have ended.
  std::optional<Outcome> next_outcome() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !outcomes_.empty() || working_ == 0; });
    if (outcomes_.empty()) return std::nullopt;
    Outcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }

  void report(const Finished& finished) {
    SweepRow& row = rows_[finished.batch.row];
    if (finished.comparison.mismatches != 0 && row.mismatches == 0) report_mismatch(finished);
    row.cases += finished.batch.count;
    row.outputs += finished.comparison.outputs;
    row.mismatches += finished.comparison.mismatches;
    observer_.advanced(finished.batch.count);
    if (row.cases == plan_.cases) observer_.row(row);
  }

  void report_mismatch(const Finished& f) {
    const std::size_t warp = f.comparison.differences.front().warp;
    const WarpStates initial = one_warp(f.program, f.initial, warp), expected = one_warp(f.program, f.expected, warp),
                     found = one_warp(f.program, f.found, warp);
    observer_.mismatch(
        {rows_[f.batch.row], f.program, initial, expected, found, compare_states(f.program, expected, found), f.batch.first + warp});
  }

  Runner& reference_;
  std::uint32_t shared_base_;
  DevicePool devices_;
  const SweepPlan& plan_;
  const SweepObserver& observer_;
  std::vector<SweepRow> rows_;
  std::vector<Batch> batches_;
  std::atomic<std::size_t> next_{0};  ///< the first batch that nobody has begun
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Outcome> outcomes_;
  std::size_t working_ = 0;  ///< threads that have not ended
};

}  // namespace

std::vector<const Form*> forms_of(const Target& target) {
  std::vector<const Form*> found;
  for (const Form& form : forms())
    if (!unavailable(form, target)) found.push_back(&form);
  return found;
}

std::vector<SweepRow> rows_of(const SweepPlan& plan) {
  std::vector<SweepRow> rows;
  for (const Form* form : plan.forms)
    for (const OperandClass& operand_class : operand_classes())
      if (applies(operand_class, *form)) rows.push_back({form, &operand_class});
  return rows;
}

void sweep(Runner& reference, std::span<Runner* const> devices, const SweepPlan& plan, const SweepObserver& observer) {
  Sweep(reference, devices, plan, observer).run();
}

void sweep(Runner& reference, Runner& device, const SweepPlan& plan, const SweepObserver& observer) {
  Runner* const one[] = {&device};
  sweep(reference, one, plan, observer);
}

}  // namespace warpmat
