#include "gpu/lab/mutants/refute.h"

#include <fmt/core.h>
#include <warpmat/forms.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "gpu/lab/mutants/variant_runner.h"
#include "gpu/runners/emulator_runner.h"
#include "gpu/runners/one_warp.h"

namespace warpmat {
namespace {

/// The emulator, with its last results stored.
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

/// The cases of one class of a recording with the card's complete answers.
struct KnownClass {
  std::string name;
  Program program;
  WarpStates initial, answers;
};

/// The first `max_warps` warps of a class.
KnownClass known_answers(const Recording& recording, const Answers& answers, std::size_t max_warps) {
  KeepingRunner emulator;
  const Replayed replayed = replay(emulator, recording.provenance, answers, max_warps);
  if (replayed.outcome != Replayed::Outcome::agrees)
    throw std::runtime_error(fmt::format("{}, class {}: {}", answers.opcode, answers.operand_class, replayed.detail));
  return {answers.operand_class, emulator.program(), emulator.initial(), emulator.answers()};
}

/// Known answers of every class, computed on first use: the first class refutes many mutants.
class KnownAnswers {
 public:
  KnownAnswers(const Recording& recording, std::size_t max_warps)
      : recording_(recording), max_warps_(max_warps), known_(recording.answers.size()) {}

  std::size_t classes() const { return known_.size(); }
  std::size_t warps(std::size_t c) const { return std::min(max_warps_, recording_.answers[c].warps); }
  const KnownClass& operator[](std::size_t c) {
    if (!known_[c]) known_[c] = known_answers(recording_, recording_.answers[c], max_warps_);
    return *known_[c];
  }

 private:
  const Recording& recording_;
  std::size_t max_warps_;
  std::vector<std::optional<KnownClass>> known_;
};

/// Compares mutants with the recorded answers of one form.
class Refuter {
 public:
  explicit Refuter(const Recording& recording)
      : recording_(recording),
        form_(*find_form(recording.answers.front().opcode)),
        row_(*find_lowering(form_, target(recording.provenance.target).hardware)) {}

  std::vector<Verdict> verdicts(const std::vector<Mutant>& mutants) {
    std::vector<Verdict> all;
    for (const Mutant& mutant : mutants) all.push_back(verdict(mutant));
    return all;
  }

 private:
  static constexpr std::size_t few = 64;  ///< warps of a class that mutants run first: a block of the recordings
  static constexpr std::size_t chunk = 4;

  /// Tries a few warps of every class, then all of them for mutants that survive those.
  Verdict verdict(const Mutant& mutant) {
    const Form form = mutant.exchange ? exchanged(form_, *mutant.exchange) : form_;
    const VariedLowering varied(form, row_, mutant.variant);
    Verdict verdict{&form_, mutant.change, false, {}, 0};
    VariantRunner runner(varied);
    if (!find_difference(runner, first_, 0, verdict)) find_difference(runner, all_, few, verdict);
    return verdict;
  }

  /// Tries a few warps of every class from warp `begin` on.
  static bool find_difference(VariantRunner& runner, KnownAnswers& known, std::size_t begin, Verdict& verdict) {
    std::size_t end = 0;
    for (std::size_t c = 0; c < known.classes(); ++c) end = std::max(end, known.warps(c));
    for (std::size_t first = begin; first < end; first += chunk)
      for (std::size_t c = 0; c < known.classes(); ++c)
        for (std::size_t warp = first; warp < std::min(first + chunk, known.warps(c)); ++warp) {
          if (answers_alike(runner, known[c], warp)) continue;
          verdict.killed = true;
          verdict.operand_class = known[c].name;
          verdict.warp = warp;
          return true;
        }
    return false;
  }

  static bool answers_alike(VariantRunner& runner, const KnownClass& c, std::size_t warp) {
    WarpStates one = one_warp(c.program, c.initial, warp);
    try {
      runner.run(c.program, one);
    } catch (const std::runtime_error&) {  // a trap although the card has an answer: a layout with wider accesses needs a larger alignment
      return false;
    }
    return std::ranges::equal(one.registers, c.answers.registers_of(warp)) && std::ranges::equal(one.shared, c.answers.shared_of(warp));
  }

  const Recording& recording_;
  const Form& form_;
  const Lowering& row_;
  KnownAnswers first_{recording_, few}, all_{recording_, ~std::size_t{0}};
};

std::vector<Mutant> all_mutants_of(const Recording& recording) {
  const Form& form = *find_form(recording.answers.front().opcode);
  std::vector<Mutant> all = mutants_of(form, *find_lowering(form, target(recording.provenance.target).hardware));
  std::ranges::move(layout_mutants_of(form), std::back_inserter(all));
  return all;
}

/// Removes mutants that an earlier form has had.
class Once {
 public:
  std::vector<Mutant> rest(const Form& form, std::vector<Mutant> mutants) {
    const bool arithmetic = arithmetic_.insert(without_layouts(form)).second;
    std::vector<OperandName> layouts;
    for (const Operand& operand : form.operands) {
      const Layout layout{form.mnemonic, operand.name, operand.fragment};
      if (std::ranges::find(layouts_, layout) != layouts_.end()) continue;
      layouts_.push_back(layout);
      layouts.push_back(operand.name);
    }
    std::erase_if(mutants, [&](const Mutant& mutant) {
      return mutant.exchange ? std::ranges::find(layouts, mutant.exchange->operand) == layouts.end() : !arithmetic;
    });
    return mutants;
  }

 private:
  struct Layout {
    Mnemonic mnemonic;
    OperandName operand;
    Fragment fragment;

    bool operator==(const Layout&) const = default;
  };

  /// An opcode of wmma.mma without the layouts of A and B in memory, which do not affect registers; other opcodes unchanged.
  static std::string without_layouts(const Form& form) {
    std::string opcode = form.opcode;
    if (form.mnemonic != Mnemonic::wmma_mma) return opcode;
    for (const std::string_view layout : {".row", ".col"})
      for (std::size_t at; (at = opcode.find(layout)) != std::string::npos;) opcode.erase(at, layout.size());
    return opcode;
  }

  std::set<std::string> arithmetic_;
  std::vector<Layout> layouts_;
};

/// One form's part of a recording, and its mutants.
struct OfForm {
  Recording recording;
  std::vector<Mutant> mutants;
};

std::vector<OfForm> by_form(const std::vector<Recording>& recordings) {
  std::vector<OfForm> parts;
  for (const Recording& recording : recordings)
    for (const Answers& answers : recording.answers) {
      if (parts.empty() || parts.back().recording.answers.front().opcode != answers.opcode) {
        const Form* form = find_form(answers.opcode);
        if (form == nullptr) throw std::runtime_error(fmt::format("this build has no form {}", answers.opcode));
        parts.push_back({{recording.provenance, {}}, {}});
      }
      parts.back().recording.answers.push_back(answers);
    }
  Once once;
  for (OfForm& part : parts) part.mutants = once.rest(*find_form(part.recording.answers.front().opcode), all_mutants_of(part.recording));
  return parts;
}

}  // namespace

std::vector<Verdict> refute_mutants(const Recording& recording) {
  return Refuter(recording).verdicts(all_mutants_of(recording));
}

std::vector<Verdict> refute_mutants(const std::vector<Recording>& recordings, unsigned threads) {
  const std::vector<OfForm> parts = by_form(recordings);
  std::vector<std::vector<Verdict>> found(parts.size());
  std::vector<std::exception_ptr> failures(threads);
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> pool;
    for (unsigned thread = 0; thread < threads; ++thread)
      pool.emplace_back([&, thread] {
        try {
          for (std::size_t i = next++; i < parts.size(); i = next++) found[i] = Refuter(parts[i].recording).verdicts(parts[i].mutants);
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
