#include "gpu/lab/constants/constant_sweep.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <future>
#include <mutex>
#include <span>

#include <fmt/format.h>

#include "gpu/cases/random.h"
#include "gpu/runners/module_head.h"

namespace warpmat {
namespace {

constexpr std::size_t batch_size = 8;  // entries of one module

std::string entry_name(std::size_t place) {
  return fmt::format("constants_{}", place);
}

/// One thread's part.
class Worker {
 public:
  Worker(const ConstantSweep& sweep, std::unique_ptr<ConstantRunner> expected, std::unique_ptr<ConstantRunner> found,
         std::vector<ConstantFinding>& findings)
      : sweep_(sweep), expected_(std::move(expected)), found_(std::move(found)), findings_(findings) {}

  void run(std::size_t first, std::size_t count) {
    try {
      std::string text = module_head(sweep_.version, sweep_.target->name);
      for (std::size_t i = 0; i < count; ++i) text += constant_entry(sweep_.cases[first + i], entry_name(i), sweep_.first, sweep_.tuples);
      found_->load(text);
      expected_->load(text);
      for (std::size_t i = 0; i < count; ++i) compare(first + i, entry_name(i));
    } catch (const std::exception& error) {
      if (count == 1) {
        findings_[first].error = error.what();
        return;
      }
      // The assembler refuses one of them: run each alone.
      for (std::size_t i = first; i < first + count; ++i) {
        findings_[i] = {};
        run(i, 1);
      }
    }
  }

 private:
  void compare(std::size_t number, const std::string& entry) {
    const ConstantCase& shown = sweep_.cases[number];
    const std::size_t results = shown.shown->results.size(), words = sweep_.tuples * results * lane_count;
    const std::vector<std::uint64_t> operands = constant_operands(shown, sweep_.first, sweep_.tuples);
    const std::vector<std::uint64_t> expected = expected_->run(entry, operands, words), found = found_->run(entry, operands, words);
    ConstantFinding& finding = findings_[number];
    finding.title = shown.title();
    finding.outputs = words;
    finding.digest = constant_digest(found);
    for (std::size_t i = 0; i < words; ++i) {
      if (expected[i] == found[i]) continue;
      ++finding.mismatches;
      if (finding.examples.size() >= sweep_.max_examples) continue;
      ConstantDifference& difference = finding.examples.emplace_back(ConstantDifference{sweep_.first + i / lane_count / results,
                                                                                        static_cast<unsigned>(i % lane_count),
                                                                                        i / lane_count % results,
                                                                                        {},
                                                                                        expected[i],
                                                                                        found[i]});
      for (std::size_t s = 0; s < shown.shown->sources.size(); ++s)
        difference.sources.push_back(constant_operand(shown, s, difference.tuple, shown.is_variable(s) ? difference.lane : 0));
    }
  }

  const ConstantSweep& sweep_;
  std::unique_ptr<ConstantRunner> expected_, found_;
  std::vector<ConstantFinding>& findings_;
};

}  // namespace

std::uint64_t constant_digest(std::span<const std::uint64_t> results) {
  std::uint64_t digest = 0;
  for (const std::uint64_t word : results) digest = combine(digest, word);
  return digest;
}

std::vector<ConstantFinding> run_constant_sweep(const ConstantSweep& sweep, const OpenConstantRunner& expected,
                                                const OpenConstantRunner& found) {
  std::vector<ConstantFinding> findings(sweep.cases.size());
  for (std::size_t i = 0; i < findings.size(); ++i) findings[i].title = sweep.cases[i].title();
  std::atomic<std::size_t> next = 0;
  std::mutex reporting;
  const auto work = [&] {
    Worker worker(sweep, expected(), found(), findings);
    for (std::size_t first = 0; (first = next.fetch_add(batch_size)) < sweep.cases.size();) {
      const std::size_t count = std::min(batch_size, sweep.cases.size() - first);
      worker.run(first, count);
      const std::lock_guard lock(reporting);
      sweep.advanced(count);
      if (sweep.stop()) next = sweep.cases.size();
    }
  };
  const std::size_t batches = (sweep.cases.size() + batch_size - 1) / batch_size;
  std::vector<std::future<void>> workers;
  for (std::size_t i = 0; i < std::clamp(std::size_t{sweep.threads}, std::size_t{1}, batches); ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers) worker.get();
  return findings;
}

}  // namespace warpmat
