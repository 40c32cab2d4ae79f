#include "gpu/mutants/refute.h"

#include <fmt/format.h>
#include <warpmat/tables/form.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

#include "gpu/mutants/variant_runner.h"
#include "gpu/runners/emulator_runner.h"

namespace warpmat {
namespace {

/// The emulator, which keeps what it ran.
class KeepingRunner : public Runner {
 public:
  void run(const Program& program, WarpStates& states) override {
    program_ = program;
    initial_ = states;
    emulator_.run(program, states);
    answers_ = states;
  }
  std::uint32_t shared_base() const override { return 0; }
  std::string description() const override { return emulator_.description(); }

  const Program& program() const { return *program_; }
  const WarpStates& initial() const { return *initial_; }
  const WarpStates& answers() const { return *answers_; }

 private:
  EmulatorRunner emulator_{0, 1};
  std::optional<Program> program_;
  std::optional<WarpStates> initial_, answers_;
};

/// The cases of one class of a recording with the card's answers in full.
struct KnownClass {
  std::string name;
  Program program;
  WarpStates initial, answers;
};

/// The first `most_warps` warps of every class.
std::vector<KnownClass> known_answers(const Recording& recording, std::size_t most_warps) {
  std::vector<KnownClass> known;
  for (const Answers& answers : recording.answers) {
    KeepingRunner emulator;
    const Replayed replayed = replay(emulator, recording.provenance, answers, most_warps);
    if (replayed.outcome != Replayed::Outcome::agrees)
      throw std::runtime_error(fmt::format("{}, class {}: {}", answers.opcode, answers.operand_class, replayed.detail));
    known.push_back({answers.operand_class, emulator.program(), emulator.initial(), emulator.answers()});
  }
  return known;
}

/// Compares mutants with the recorded answers of one form.
class Refuter {
 public:
  explicit Refuter(const Recording& recording)
      : recording_(recording),
        form_(*find_form(recording.answers.front().opcode)),
        row_(*find_lowering(form_, target(recording.provenance.target).hardware)) {}

  std::vector<Verdict> verdicts() {
    std::vector<Verdict> all;
    for (const Mutant& mutant : mutants_of(form_, row_)) all.push_back(verdict(mutant));
    return all;
  }

 private:
  static constexpr std::size_t few = 64;  ///< warps of a class that mutants meet first: a block of the recordings
  static constexpr std::size_t chunk = 4;

  /// Few warps of every class, and all of them for what survives those.
  Verdict verdict(const Mutant& mutant) {
    const VariedLowering varied(form_, row_, mutant.variant);
    Verdict verdict{&form_, mutant.change, false, {}, 0};
    VariantRunner runner(varied);
    if (first_.empty()) first_ = known_answers(recording_, few);
    if (find_difference(runner, first_, 0, verdict)) return verdict;
    if (all_.empty()) all_ = known_answers(recording_, ~std::size_t{0});
    find_difference(runner, all_, few, verdict);
    return verdict;
  }

  /// From warp `begin` on, a few warps of every class in turn.
  bool find_difference(VariantRunner& runner, const std::vector<KnownClass>& known, std::size_t begin, Verdict& verdict) const {
    std::size_t end = 0;
    for (const KnownClass& c : known) end = std::max(end, c.initial.warps);
    for (std::size_t first = begin; first < end; first += chunk)
      for (const KnownClass& c : known)
        for (std::size_t warp = first; warp < std::min(first + chunk, c.initial.warps); ++warp) {
          if (answers_alike(runner, c, warp)) continue;
          verdict.killed = true;
          verdict.operand_class = c.name;
          verdict.warp = warp;
          return true;
        }
    return false;
  }

  static bool answers_alike(VariantRunner& runner, const KnownClass& c, std::size_t warp) {
    WarpStates one(c.program, 1, c.initial.shared_bytes);
    std::ranges::copy(c.initial.registers_of(warp), one.registers.begin());
    std::ranges::copy(c.initial.shared_of(warp), one.shared.begin());
    runner.run(c.program, one);
    return std::ranges::equal(one.registers, c.answers.registers_of(warp));
  }

  const Recording& recording_;
  const Form& form_;
  const Lowering& row_;
  std::vector<KnownClass> first_, all_;
};

}  // namespace

std::vector<Verdict> refute_mutants(const Recording& recording) {
  return Refuter(recording).verdicts();
}

std::vector<Verdict> refute_mutants(const std::vector<Recording>& recordings, unsigned threads) {
  std::vector<std::vector<Verdict>> found(recordings.size());
  std::vector<std::exception_ptr> failures(threads);
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> pool;
    for (unsigned thread = 0; thread < threads; ++thread)
      pool.emplace_back([&, thread] {
        try {
          for (std::size_t i = next++; i < recordings.size(); i = next++) found[i] = refute_mutants(recordings[i]);
        } catch (...) {
          failures[thread] = std::current_exception();
        }
      });
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  std::vector<Verdict> all;
  for (std::vector<Verdict>& verdicts : found) std::ranges::move(verdicts, std::back_inserter(all));
  return all;
}

}  // namespace warpmat
