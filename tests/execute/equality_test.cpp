#include <warpmat/execute/fast/fast.h>
#include <warpmat/execute/fast/instruction_sets.h>
#include <warpmat/instruction.h>

#include "gpu/compare/sweep.h"
#include "gpu/runners/emulator_runner.h"
#include "test.h"

namespace warpmat::equality_test {
namespace {

/// Of each hardware the target that has the most forms.
std::vector<const Target*> richest_targets() {
  std::map<Hardware, const Target*> richest;
  for (const Target& t : targets()) {
    const Target*& best = richest[t.hardware];
    if (best == nullptr || forms_of(t).size() > forms_of(*best).size()) best = &t;
  }
  std::vector<const Target*> out;
  for (const auto& [hardware, t] : richest) out.push_back(t);
  return out;
}

/// Words that differ between the two paths in `cases` warps of every form and class of `target`, drawn from `seed`.
std::size_t mismatches(const Target& target, std::size_t cases, std::uint64_t seed, std::string& first) {
  EmulatorRunner reference(0, 1, {.path = Path::reference}), fast(0, 1);
  std::size_t count = 0;
  SweepObserver observer;
  observer.row = [&](const SweepRow& row) {
    count += row.mismatches;
    if (row.mismatches != 0 && first.empty()) first = row.form.opcode() + ", class " + std::string(row.operand_class->name);
  };
  std::vector<TestedForm> compared;
  for (const Form* form : forms_of(target)) {
    // Layouts of wmma change nothing that is computed, and its loads and stores have one path.
    const bool again = form->mnemonic == Mnemonic::wmma_mma && form->opcode.find(".row.col.") == std::string::npos;
    if (!moves_matrix(*form) && !again) compared.emplace_back(*form);
  }
  sweep(reference, fast, {compared, &target, cases, seed}, observer);
  return count;
}

struct BestAgain {
  ~BestAgain() { use_best_instruction_set(); }
};

// A warp of each: enough to notice a kernel that is wrong of a form or a class. `warpmat diff --paths` compares any number, and
// docs/reference/evidence.md says what the last long run has compared. Each instruction set gets warps of its own.
// `-c sm_90a` runs one target alone.
TEST_CASE("fast path and reference agree in every bit, for every form, class, hardware and instruction set") {
  const BestAgain at_the_end;
  const std::size_t cases = case_count(1);
  for (const Target* target : richest_targets()) {
    DYNAMIC_SECTION(target->name) {
      std::uint64_t seed = 3;
      for (const std::string_view set : instruction_sets()) {
        CAPTURE(std::string(set));
        use_instruction_set(set);
        ++seed;
        std::string first;
        CHECK(mismatches(*target, cases, seed, first) == 0);
        CHECK(first == "");
      }
    }
  }
}

TEST_CASE("every form has a kernel, but for loads and stores of wmma, and all of Volta's wmma") {
  for (const Target* target : richest_targets())
    for (const Form* form : forms_of(*target)) {
      if (moves_matrix(*form) || (form->mnemonic == Mnemonic::wmma_mma && target->hardware == Hardware::sm_70)) continue;
      CAPTURE(form->opcode, std::string(target->name));
      CHECK(find_fast_path(*form, *find_lowering(*form, target->hardware)) != nullptr);
    }
}

}  // namespace
}  // namespace warpmat::equality_test
