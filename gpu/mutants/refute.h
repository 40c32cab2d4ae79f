#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/mutants/mutants.h"
#include "gpu/recordings/vectors.h"

namespace warpmat {

/// What recorded answers say about one mutant of one form.
struct Verdict {
  const Form* form = nullptr;
  std::string change;         ///< Mutant::change
  bool killed = false;        ///< some recorded answer is another than the mutant's
  std::string operand_class;  ///< of the first such answer
  std::size_t warp = 0;       ///< and its warp
};

/// Compares the mutants of the form of `recording`, which holds answers to one form, with the recorded answers, each until the first that
/// differs: mutants_of and layout_mutants_of. The answers are known in full although most are stored as digests: where the emulator's have
/// the recorded digests, they are the card's. Throws std::runtime_error where they have not: then nothing can be said about mutants.
std::vector<Verdict> refute_mutants(const Recording& recording);

/// The same for many recordings, in their order, on `threads` threads. A recording of many forms is taken apart. A layout that several
/// forms of an instruction have is mutated in the first of them; so is the arithmetic of forms of wmma.mma that differ in the layouts of A
/// and B in memory alone, which no register shows.
std::vector<Verdict> refute_mutants(const std::vector<Recording>& recordings, unsigned threads);

/// Why recorded answers cannot refute, or do not refute yet, that mutant of that form; nothing where they should.
std::optional<std::string_view> reason_to_survive(const Form& form, std::string_view change);

/// The survivors with a known reason, and what no recorded answers can say anything of, in Markdown: a part of docs/coverage.md.
std::string known_limits_markdown();

/// A table in Markdown: how many mutants, how many were killed by recorded answers alone, every survivor by name with the reason.
std::string mutants_markdown(const std::vector<Verdict>& verdicts);

}  // namespace warpmat
