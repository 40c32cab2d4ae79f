#include "sweep.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <future>
#include <thread>

namespace warpmat {
namespace {

constexpr std::size_t batch_warps = 4096;

/// Cases of one row that run together.
struct Batch {
  std::size_t row;
  std::size_t first, count;
};

struct Prepared {
  Batch batch;
  Program program;
  WarpStates initial;
};

std::vector<Batch> batches_of(const std::vector<SweepRow>& rows, std::size_t cases) {
  std::vector<Batch> batches;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t first = 0; first < cases; first += batch_warps) batches.push_back({row, first, std::min(batch_warps, cases - first)});
  return batches;
}

WarpStates one_warp(const Program& program, const WarpStates& states, std::size_t warp) {
  WarpStates one(program, 1, states.shared_bytes);
  std::ranges::copy(states.registers_of(warp), one.registers.begin());
  std::ranges::copy(states.shared_of(warp), one.shared.begin());
  return one;
}

class Sweep {
 public:
  Sweep(Runner& reference, Runner& device, const SweepPlan& plan, const SweepObserver& observer)
      : reference_(reference),
        device_(device),
        plan_(plan),
        observer_(observer),
        rows_(rows_of(plan)),
        batches_(batches_of(rows_, plan.cases)) {
    assert(reference.shared_base() == device.shared_base());
  }

  void run() {
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      prepare_ahead();
      const Prepared prepared = prepared_.front().get();
      prepared_.pop_front();
      compare(prepared);
    }
  }

 private:
  /// Keeps a few batches in the making.
  void prepare_ahead() {
    const std::size_t ahead = std::max(2u, std::thread::hardware_concurrency() / 2);
    for (; next_ < batches_.size() && prepared_.size() < ahead; ++next_)
      prepared_.push_back(std::async(std::launch::async, [this, batch = batches_[next_]] { return prepare(batch); }));
  }

  Prepared prepare(const Batch& batch) const {
    const SweepRow& row = rows_[batch.row];
    Program program = program_for(*row.form, *plan_.target, *row.operand_class);
    WarpStates initial = make_case(program, *row.form, *row.operand_class, plan_.seed, batch.first, batch.count, device_.shared_base());
    return {batch, std::move(program), std::move(initial)};
  }

  void compare(const Prepared& prepared) {
    WarpStates expected = prepared.initial, found = prepared.initial;
    std::future<void> device = std::async(std::launch::async, [&] { device_.run(prepared.program, found); });
    reference_.run(prepared.program, expected);
    device.get();
    const Comparison comparison = compare_states(prepared.program, expected, found, 1);
    SweepRow& row = rows_[prepared.batch.row];
    if (comparison.mismatches != 0 && row.mismatches == 0) report(prepared, expected, found, comparison.differences.front().warp);
    row.cases += prepared.batch.count;
    row.outputs += comparison.outputs;
    row.mismatches += comparison.mismatches;
    observer_.advanced(prepared.batch.count);
    if (row.cases == plan_.cases) observer_.row(row);
  }

  void report(const Prepared& prepared, const WarpStates& expected, const WarpStates& found, std::size_t warp) {
    const Program& program = prepared.program;
    const WarpStates one_initial = one_warp(program, prepared.initial, warp), one_expected = one_warp(program, expected, warp),
                     one_found = one_warp(program, found, warp);
    observer_.mismatch({rows_[prepared.batch.row], program, one_initial, one_expected, one_found,
                        compare_states(program, one_expected, one_found), prepared.batch.first + warp});
  }

  Runner& reference_;
  Runner& device_;
  const SweepPlan& plan_;
  const SweepObserver& observer_;
  std::vector<SweepRow> rows_;
  std::vector<Batch> batches_;
  std::size_t next_ = 0;                        ///< the first batch that nobody makes yet
  std::deque<std::future<Prepared>> prepared_;  ///< last: their threads use the others
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

void sweep(Runner& reference, Runner& device, const SweepPlan& plan, const SweepObserver& observer) {
  Sweep(reference, device, plan, observer).run();
}

}  // namespace warpmat
