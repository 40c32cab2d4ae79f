#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/lab/mutants/mutants.h"
#include "gpu/recordings/vectors.h"

namespace warpmat {

/// The verdict of recorded answers on one mutant of one form.
struct Verdict {
  const Form* form = nullptr;
  std::string change;         ///< Mutant::change
  bool killed = false;        ///< some recorded answer differs from the mutant's
  std::string operand_class;  ///< of the first such answer
  std::size_t warp = 0;       ///< and its warp
};

/// Compares mutants (mutants_of and layout_mutants_of) of the form of `recording`, which holds answers to one form, with the recorded
/// answers, each up to the first difference. Complete answers are known although most are stored as digests: if the emulator's answers have
/// the recorded digests, they are the card's. Throws std::runtime_error if they have not: mutants then cannot be judged.
std::vector<Verdict> refute_mutants(const Recording& recording);

/// The same for many recordings, in their order, on `threads` threads. A recording of many forms is split. A layout shared by several forms
/// of an instruction is mutated in the first of them. So is the arithmetic of forms of wmma.mma that differ only in the layouts of A and B
/// in memory, which do not affect registers.
std::vector<Verdict> refute_mutants(const std::vector<Recording>& recordings, unsigned threads);

/// Why recorded answers cannot refute, or do not yet refute, that mutant of that form; nothing if they should.
std::optional<std::string_view> reason_to_survive(const Form& form, std::string_view change);

/// The survivors with a known reason, and the limits of recorded answers, in Markdown: a part of the page of coverage.
std::string known_limits_markdown();

/// A table in Markdown: the number of mutants, how many recorded answers refuted, and every survivor with the reason.
std::string mutants_markdown(const std::vector<Verdict>& verdicts);

}  // namespace warpmat
