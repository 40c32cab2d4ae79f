#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "gpu/cases/operand_classes.h"
#include "gpu/cases/tested_form.h"
#include "gpu/compare/compare.h"
#include "gpu/runners/case_runner.h"

namespace warpmat {

/// The cases on which two runners are compared.
struct SweepPlan {
  std::vector<TestedForm> forms;
  const Target* target = nullptr;  ///< has all of the forms
  std::size_t cases = 0;           ///< of each form and class, counted as TestedForm::cases_of does: warps
  std::uint64_t seed = 0;
  std::size_t first_case = 0;  ///< number of the first of them: parts of one sweep have different ones
};

/// The result for one form and one operand class.
struct SweepRow {
  TestedForm form;
  const OperandClass* operand_class = nullptr;
  Shard::Range planned{};      ///< the numbers of its cases
  std::size_t cases = 0;       ///< done
  std::size_t outputs = 0;     ///< compared, counted as Outputs does
  std::size_t mismatches = 0;  ///< 32-bit words that differ
};

/// The first warp of a row with another final state.
struct SweepMismatch {
  const SweepRow& row;
  const Program& program;
  const WarpStates& initial;  ///< of one warp, like the members below
  const WarpStates& expected;
  const WarpStates& found;
  const Comparison& comparison;
  std::size_t case_number;  ///< its number among the row's cases
};

/// The first warpgroup of a row with another final state.
struct WarpgroupMismatch {
  const SweepRow& row;
  int variant;  ///< of make_cases
  std::size_t case_number;
  const KernelLaunch& launch;                      ///< of that case alone
  std::span<const std::uint32_t> expected, found;  ///< its answer_words
};

/// Callbacks of a running sweep, all from the caller's thread.
struct SweepObserver {
  std::function<void(std::size_t cases)> advanced = [](std::size_t) {};
  std::function<void(const SweepMismatch&)> mismatch = [](const SweepMismatch&) {};
  std::function<void(const WarpgroupMismatch&)> warpgroup_mismatch = [](const WarpgroupMismatch&) {};
  /// Called once for each form and class when it is complete. If the sweep ends early, it is called at the end for incomplete ones with at
  /// least one finished case.
  std::function<void(const SweepRow&)> row = [](const SweepRow&) {};
  std::function<bool()> stop = [] { return false; };  ///< asked after each batch: whether to begin no other
};

/// The forms of `target`.
std::vector<const Form*> forms_of(const Target& target);

/// The rows of `plan`: every form with each of the classes that apply to it, with no case done yet.
std::vector<SweepRow> rows_of(const SweepPlan& plan);

/// Runs all cases of `plan` on the reference and on some device of `devices`, and compares every bit of the final states. It uses all
/// cores: each thread makes cases, runs them and compares. `reference` must be thread-safe, a device need not be. The programs of all must
/// have the same shared_base(). Throws what a runner throws, after everything compared has been reported.
void sweep(const CaseRunner& reference, std::span<const CaseRunner> devices, const SweepPlan& plan, const SweepObserver& observer = {});
void sweep(const CaseRunner& reference, const CaseRunner& device, const SweepPlan& plan, const SweepObserver& observer = {});

}  // namespace warpmat
