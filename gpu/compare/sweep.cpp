#include "gpu/compare/sweep.h"

#include "gpu/cases/cases.h"
#include "gpu/cases/wgmma_cases.h"
#include "gpu/runners/one_warp.h"

#include <warpmat/machine/threads.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

namespace warpmat {
namespace {

constexpr std::size_t batch_warps = 4096, batch_warpgroups = 128;

/// Cases of one row that run together.
struct Batch {
  std::size_t row;
  std::size_t first, count;
  int variant;  ///< argument of program_for
};

/// The final state of a batch of programs.
struct FinishedProgram {
  Program program;
  WarpStates initial, expected, found;
  Comparison comparison;
};

/// The final state of a batch of kernels: the words of all cases.
struct FinishedKernel {
  std::vector<std::uint32_t> expected, found;
};

struct Finished {
  Batch batch;
  std::size_t outputs, mismatches;
  std::variant<FinishedProgram, FinishedKernel> what;
};

std::size_t max_in_batch(const TestedForm& form) {
  return form.warpgroup() != nullptr ? batch_warpgroups : batch_warps;
}

std::vector<Batch> batches_of(const std::vector<SweepRow>& rows) {
  std::vector<Batch> batches;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto [first, cases] = rows[row].planned;
    const auto programs = static_cast<std::size_t>(variants(rows[row].form));
    const std::size_t most = std::clamp(cases / programs, std::size_t{1}, max_in_batch(rows[row].form));
    int variant = 0;
    for (std::size_t done = 0; done < cases; done += most) batches.push_back({row, first + done, std::min(most, cases - done), variant++});
  }
  return batches;
}

/// The idle devices.
class DevicePool {
 public:
  explicit DevicePool(std::span<const CaseRunner> devices) : idle_(devices.begin(), devices.end()) {}

  /// Calls work(device) with a device that no other thread uses meanwhile.
  template <typename Work>
  auto with(Work work) {
    const CaseRunner device = take();
    const GiveBack after{*this, device};
    return work(device);
  }

 private:
  struct GiveBack {
    DevicePool& pool;
    CaseRunner device;
    ~GiveBack() {
      const std::lock_guard lock(pool.mutex_);
      pool.idle_.push_back(device);
      pool.changed_.notify_one();
    }
  };

  CaseRunner take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !idle_.empty(); });
    const CaseRunner device = idle_.back();
    idle_.pop_back();
    return device;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CaseRunner> idle_;
};

/// The first buffer of a launch of cases as words.
std::vector<std::uint32_t> words_of(const KernelAnswer& answer) {
  std::vector<std::uint32_t> words(answer.buffers.front().size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), answer.buffers.front().data(), words.size() * sizeof(std::uint32_t));
  return words;
}

/// Threads that each take a batch, make its cases, run it on both runners and compare. The caller's thread reports the results.
class Sweep {
 public:
  Sweep(const CaseRunner& reference, std::span<const CaseRunner> devices, const SweepPlan& plan, const SweepObserver& observer)
      : reference_(reference),
        shared_base_(devices.front().programs->shared_base()),
        devices_(devices),
        plan_(plan),
        observer_(observer),
        rows_(rows_of(plan)),
        batches_(batches_of(rows_)) {
    assert(reference.programs->shared_base() == shared_base_);
  }

  /// After a failure, or when the observer says stop, no thread begins another batch. All batches that were begun are reported, including
  /// those before the failed one.
  void run() {
    const std::size_t threads = std::min<std::size_t>(std::max(2u, machine::usable_cores()), batches_.size());
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
      if (row.cases > 0 && row.cases < row.planned.count) observer_.row(row);
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
    return row.form.warpgroup() != nullptr ? execute(batch, *row.form.warpgroup()) : execute(batch, *row.form.warp());
  }

  Finished execute(const Batch& batch, const Form& form) {
    const OperandClass& operand_class = *rows_[batch.row].operand_class;
    Program program = program_for(form, *plan_.target, operand_class, batch.variant);
    WarpStates initial = make_case(program, form, operand_class, plan_.seed, batch.first, batch.count, shared_base_);
    WarpStates expected = initial, found = initial;
    devices_.with([&](const CaseRunner& device) { device.programs->run(program, found); });
    reference_.programs->run(program, expected);
    Comparison comparison = compare_states(program, expected, found, 1);
    const std::size_t outputs = comparison.outputs, mismatches = comparison.mismatches;
    return {batch, outputs, mismatches,
            FinishedProgram{std::move(program), std::move(initial), std::move(expected), std::move(found), std::move(comparison)}};
  }

  Finished execute(const Batch& batch, const WgmmaForm& form) {
    const KernelLaunch launch = make_cases(form, *rows_[batch.row].operand_class, batch.variant, plan_.seed, batch.first, batch.count);
    FinishedKernel kernel;
    kernel.found = devices_.with([&](const CaseRunner& device) { return words_of(device.kernels->run(launch)); });
    kernel.expected = words_of(reference_.kernels->run(launch));
    std::size_t mismatches = 0;
    for (std::size_t i = 0; i < kernel.expected.size(); ++i) mismatches += kernel.expected[i] != kernel.found[i];
    return {batch, kernel.expected.size(), mismatches, std::move(kernel)};
  }

  /// The next result of any thread; nothing once all have ended.
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
    if (finished.mismatches != 0 && row.mismatches == 0)
      std::visit([&](const auto& what) { report_mismatch(finished.batch, what); }, finished.what);
    row.cases += finished.batch.count;
    row.outputs += finished.outputs;
    row.mismatches += finished.mismatches;
    observer_.advanced(finished.batch.count);
    if (row.cases == row.planned.count) observer_.row(row);
  }

  void report_mismatch(const Batch& batch, const FinishedProgram& f) {
    const std::size_t warp = f.comparison.differences.front().warp;
    const WarpStates initial = one_warp(f.program, f.initial, warp), expected = one_warp(f.program, f.expected, warp),
                     found = one_warp(f.program, f.found, warp);
    observer_.mismatch(
        {rows_[batch.row], f.program, initial, expected, found, compare_states(f.program, expected, found), batch.first + warp});
  }

  void report_mismatch(const Batch& batch, const FinishedKernel& f) {
    const SweepRow& row = rows_[batch.row];
    const std::size_t words = answer_words(*row.form.warpgroup());
    const auto different = std::ranges::mismatch(f.expected, f.found).in1;
    const std::size_t number = static_cast<std::size_t>(different - f.expected.begin()) / words;
    const KernelLaunch launch = make_cases(*row.form.warpgroup(), *row.operand_class, batch.variant, plan_.seed, batch.first + number, 1);
    observer_.warpgroup_mismatch({row, batch.variant, batch.first + number, launch, std::span(f.expected).subspan(number * words, words),
                                  std::span(f.found).subspan(number * words, words)});
  }

  CaseRunner reference_;
  std::uint32_t shared_base_;
  DevicePool devices_;
  const SweepPlan& plan_;
  const SweepObserver& observer_;
  std::vector<SweepRow> rows_;
  std::vector<Batch> batches_;
  std::atomic<std::size_t> next_{0};  ///< the first batch that has not begun
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
  for (const TestedForm& form : plan.forms) {
    const Shard::Range planned = form.cases_of({plan.first_case, plan.cases});
    for (const OperandClass& operand_class : operand_classes())
      if (planned.count != 0 && applies(operand_class, form)) rows.push_back({form, &operand_class, planned});
  }
  return rows;
}

void sweep(const CaseRunner& reference, std::span<const CaseRunner> devices, const SweepPlan& plan, const SweepObserver& observer) {
  Sweep(reference, devices, plan, observer).run();
}

void sweep(const CaseRunner& reference, const CaseRunner& device, const SweepPlan& plan, const SweepObserver& observer) {
  sweep(reference, std::span(&device, 1), plan, observer);
}

}  // namespace warpmat
