#include "gpu/compare/scalar_sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <span>

#include "gpu/cases/scalar_operands.h"

namespace warpmat {
namespace {

constexpr std::size_t scalar_batch_size = 64;  // entries of one module: the assembler needs about 1 ms for each
constexpr std::size_t round_elements = std::size_t{1} << 20;
constexpr std::size_t max_examples = 4;

constexpr std::uint64_t fnv_start = 0xcbf29ce484222325;

/// FNV-1a of `bytes` bytes, the lowest first.
std::uint64_t fnv(std::uint64_t hash, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3;
  return hash;
}

std::uint64_t element(const ScalarResults& results, std::size_t result, std::size_t i) {
  return results.wide[result].empty() ? results.narrow[result][i] : results.wide[result][i];
}

std::uint64_t source_element(const ScalarOperands& operands, const ScalarOperand& operand, std::size_t place, std::size_t i) {
  const void* const data = operands.data(operand, place);
  return operand.is_wide() ? static_cast<const std::uint64_t*>(data)[i] : static_cast<const std::uint32_t*>(data)[i];
}

/// Compares the elements from number `first` on.
void compare(const ScalarCase& shown, const ScalarOperands& operands, std::uint64_t first, const ScalarResults& expected,
             const ScalarResults& found, ScalarFinding& finding) {
  for (std::size_t r = 0; r < shown.results.size(); ++r) {
    finding.outputs += operands.count();
    if (expected.narrow[r] == found.narrow[r] && expected.wide[r] == found.wide[r]) continue;
    for (std::size_t i = 0; i < operands.count(); ++i) {
      if (element(expected, r, i) == element(found, r, i)) continue;
      ++finding.mismatches;
      if (finding.examples.size() >= max_examples) continue;
      ScalarDifference& difference =
          finding.examples.emplace_back(ScalarDifference{first + i, r, {}, element(expected, r, i), element(found, r, i)});
      for (std::size_t s = 0; s < shown.sources.size(); ++s) difference.sources.push_back(source_element(operands, shown.sources[s], s, i));
    }
  }
}

/// The elements of all classes that are compared together.
struct Round {
  std::uint64_t first;
  std::vector<std::unique_ptr<ScalarOperands>> operands;  ///< by class
};

Round draw_round(std::span<const ScalarCase> cases, std::uint64_t first, std::size_t count) {
  std::vector<std::future<std::unique_ptr<ScalarOperands>>> drawn;
  for (int c = 0; c < scalar_classes; ++c)
    drawn.push_back(std::async(std::launch::async, [=] {
      return std::make_unique<ScalarOperands>(draw_scalar_operands(cases, static_cast<ScalarClass>(c), first, count));
    }));
  Round round{first, {}};
  for (auto& one : drawn) round.operands.push_back(one.get());
  return round;
}

/// One thread's part of a round.
class ScalarWorker {
 public:
  ScalarWorker(std::span<const ScalarCase> cases, const Round& round, std::unique_ptr<ScalarGpu> gpu, std::vector<ScalarFinding>& findings)
      : cases_(cases), round_(round), gpu_(std::move(gpu)), findings_(findings) {}

  void run(std::size_t first, std::size_t count) {
    const auto cases = cases_.subspan(first, count);
    try {
      gpu_->load(cases);
    } catch (const std::runtime_error& error) {
      if (count == 1) return fail(first, error.what());
      // The assembler refuses one of them: run each alone.
      for (std::size_t i = 0; i < count; ++i) run(first + i, 1);
      return;
    }
    for (std::size_t c = 0; c < round_.operands.size(); ++c) {
      gpu_->use(*round_.operands[c]);
      for (std::size_t i = 0; i < count; ++i) run_case(first + i, i, c);
    }
  }

 private:
  ScalarFinding& finding(std::size_t number, std::size_t c) { return findings_[number * round_.operands.size() + c]; }

  void fail(std::size_t number, const std::string& reason) {
    for (std::size_t c = 0; c < round_.operands.size(); ++c) finding(number, c).error = reason;
  }

  void run_case(std::size_t number, std::size_t place, std::size_t c) {
    const ScalarCase& shown = cases_[number];
    const ScalarOperands& operands = *round_.operands[c];
    ScalarResults expected(shown, operands.count()), found(shown, operands.count());
    gpu_->run(place, shown, found);
    run_scalar(shown, operands, expected);
    ScalarFinding& result = finding(number, c);
    compare(shown, operands, round_.first, expected, found, result);
    if (round_.first == 0) result.digest = scalar_digest(shown, found, std::min(scalar_digest_count, operands.count()));
  }

  std::span<const ScalarCase> cases_;
  const Round& round_;
  std::unique_ptr<ScalarGpu> gpu_;
  std::vector<ScalarFinding>& findings_;
};

/// Runs batches of cases on `threads` threads.
void run_round(const ScalarSweep& sweep, const Round& round, const std::function<std::unique_ptr<ScalarGpu>()>& open,
               const ScalarObserver& observer, std::vector<ScalarFinding>& findings) {
  std::atomic<std::size_t> next = 0;
  std::mutex reporting;
  const auto work = [&] {
    ScalarWorker worker(sweep.cases, round, open(), findings);
    for (std::size_t first; (first = next.fetch_add(scalar_batch_size)) < sweep.cases.size();) {
      const std::size_t count = std::min(scalar_batch_size, sweep.cases.size() - first);
      worker.run(first, count);
      const std::lock_guard lock(reporting);
      observer.advanced(count * round.operands.size() * round.operands.front()->count());
      if (observer.stop()) next = sweep.cases.size();
    }
  };
  const std::size_t batches = (sweep.cases.size() + scalar_batch_size - 1) / scalar_batch_size;
  std::vector<std::future<void>> workers;
  for (std::size_t i = 0; i < std::clamp(std::size_t{sweep.threads}, std::size_t{1}, batches); ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers) worker.get();
}

}  // namespace

std::uint64_t scalar_digest(const ScalarCase& shown, const ScalarResults& results, std::size_t count) {
  std::uint64_t hash = fnv_start;
  for (std::size_t r = 0; r < shown.results.size(); ++r)
    for (std::size_t i = 0; i < count; ++i) hash = fnv(hash, element(results, r, i), shown.results[r].is_wide() ? 8 : 4);
  return hash;
}

std::uint64_t combine_digests(std::span<const std::uint64_t> of_classes) {
  std::uint64_t hash = fnv_start;
  for (const std::uint64_t digest : of_classes) hash = fnv(hash, digest, 8);
  return hash;
}

std::vector<std::uint64_t> scalar_digests(std::span<const ScalarCase> cases) {
  std::vector<ScalarOperands> operands;
  for (int c = 0; c < scalar_classes; ++c)
    operands.push_back(draw_scalar_operands(cases, static_cast<ScalarClass>(c), 0, scalar_digest_count));
  std::vector<std::uint64_t> digests;
  for (const ScalarCase& shown : cases) {
    std::vector<std::uint64_t> of_classes;
    for (const ScalarOperands& of_class : operands) {
      ScalarResults results(shown, scalar_digest_count);
      run_scalar(shown, of_class, results);
      of_classes.push_back(scalar_digest(shown, results, scalar_digest_count));
    }
    digests.push_back(combine_digests(of_classes));
  }
  return digests;
}

std::vector<ScalarFinding> run_scalar_sweep(const ScalarSweep& sweep, const std::function<std::unique_ptr<ScalarGpu>()>& open,
                                            const ScalarObserver& observer) {
  std::vector<ScalarFinding> findings;
  for (const ScalarCase& shown : sweep.cases)
    for (int c = 0; c < scalar_classes; ++c) findings.push_back({shown.title(), static_cast<ScalarClass>(c), 0, 0, {}, 0, {}});
  for (std::size_t done = 0; done < sweep.count && !observer.stop(); done += round_elements)
    run_round(sweep, draw_round(sweep.cases, sweep.first + done, std::min(round_elements, sweep.count - done)), open, observer, findings);
  return findings;
}

}  // namespace warpmat
