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

constexpr std::size_t batch_size = 64;  // entries of one module: the assembler takes about 1 ms for each
constexpr std::size_t most_examples = 4;

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

void compare(const ScalarCase& shown, const ScalarOperands& operands, const ScalarResults& expected, const ScalarResults& found,
             ScalarFinding& finding) {
  for (std::size_t r = 0; r < shown.results.size(); ++r) {
    finding.outputs += operands.count();
    if (expected.narrow[r] == found.narrow[r] && expected.wide[r] == found.wide[r]) continue;
    for (std::size_t i = 0; i < operands.count(); ++i) {
      if (element(expected, r, i) == element(found, r, i)) continue;
      ++finding.mismatches;
      if (finding.examples.size() >= most_examples) continue;
      ScalarDifference& difference =
          finding.examples.emplace_back(ScalarDifference{i, r, {}, element(expected, r, i), element(found, r, i)});
      for (std::size_t s = 0; s < shown.sources.size(); ++s) difference.sources.push_back(source_element(operands, shown.sources[s], s, i));
    }
  }
}

/// One worker's part of a sweep.
class Worker {
 public:
  Worker(const ScalarSweep& sweep, std::span<const std::unique_ptr<ScalarOperands>> operands, std::unique_ptr<ScalarGpu> gpu,
         std::vector<ScalarFinding>& findings, const ScalarSweepObserver& observer)
      : sweep_(sweep), operands_(operands), gpu_(std::move(gpu)), findings_(findings), observer_(observer) {}

  void run(std::size_t first, std::size_t count) {
    const auto cases = std::span(sweep_.cases).subspan(first, count);
    try {
      gpu_->load(cases);
    } catch (const std::runtime_error& error) {
      if (count == 1) return fail(first, error.what());
      // One of them is refused: each alone then.
      for (std::size_t i = 0; i < count; ++i) run(first + i, 1);
      return;
    }
    for (std::size_t c = 0; c < operands_.size(); ++c) {
      gpu_->use(*operands_[c]);
      for (std::size_t i = 0; i < count && !observer_.stop(); ++i) run_case(first + i, i, c);
    }
  }

 private:
  ScalarFinding& finding(std::size_t number, std::size_t c) { return findings_[number * operands_.size() + c]; }

  void fail(std::size_t number, const std::string& reason) {
    for (std::size_t c = 0; c < operands_.size(); ++c) {
      finding(number, c).error = reason;
      observer_.found(finding(number, c));
    }
  }

  void run_case(std::size_t number, std::size_t place, std::size_t c) {
    const ScalarCase& shown = sweep_.cases[number];
    const ScalarOperands& operands = *operands_[c];
    ScalarResults expected(shown, operands.count()), found(shown, operands.count());
    gpu_->run(place, shown, found);
    run_scalar(shown, operands, expected);
    ScalarFinding& result = finding(number, c);
    compare(shown, operands, expected, found, result);
    result.digest = scalar_digest(shown, found, std::min(scalar_digest_count, operands.count()));
    observer_.found(result);
  }

  const ScalarSweep& sweep_;
  std::span<const std::unique_ptr<ScalarOperands>> operands_;
  std::unique_ptr<ScalarGpu> gpu_;
  std::vector<ScalarFinding>& findings_;
  const ScalarSweepObserver& observer_;
};

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
  for (int c = 0; c < scalar_classes; ++c) operands.push_back(draw_scalar_operands(static_cast<ScalarClass>(c), scalar_digest_count));
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
                                            const ScalarSweepObserver& observer) {
  std::vector<std::future<std::unique_ptr<ScalarOperands>>> drawn;
  for (int c = 0; c < scalar_classes; ++c)
    drawn.push_back(std::async(std::launch::async, [&, c] {
      return std::make_unique<ScalarOperands>(draw_scalar_operands(static_cast<ScalarClass>(c), sweep.count));
    }));
  std::vector<std::unique_ptr<ScalarOperands>> operands;
  for (auto& one : drawn) operands.push_back(one.get());

  std::vector<ScalarFinding> findings;
  for (const ScalarCase& shown : sweep.cases)
    for (int c = 0; c < scalar_classes; ++c) findings.push_back({shown.title(), static_cast<ScalarClass>(c), 0, 0, {}, 0, {}});

  std::atomic<std::size_t> next = 0;
  std::mutex reporting;
  const ScalarSweepObserver one_at_a_time{[&](const ScalarFinding& finding) {
                                            const std::lock_guard lock(reporting);
                                            observer.found(finding);
                                          },
                                          observer.stop};
  const auto work = [&] {
    Worker worker(sweep, operands, open(), findings, one_at_a_time);
    for (std::size_t first; !observer.stop() && (first = next.fetch_add(batch_size)) < sweep.cases.size();)
      worker.run(first, std::min(batch_size, sweep.cases.size() - first));
  };
  std::vector<std::future<void>> workers;
  for (unsigned i = 0; i < std::max(1u, sweep.threads); ++i) workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers) worker.get();
  return findings;
}

}  // namespace warpmat
