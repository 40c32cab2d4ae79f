#pragma once

#include <warpmat/ptx/program/definitions.h>
#include <warpmat/ptx/program/function_resolver.h>

namespace warpmat::inline v0_1::code {

/// Which values all lanes of a warp surely have in common, as ptxas sees it: constants, parameters, what it says of blocks, what is loaded
/// from one address, votes, redux, shuffles that read one lane, and what is computed of these alone.
class Uniform {
 public:
  Uniform(const DraftFunction& function, const ProgramDraft& draft, const Definitions& definitions)
      : function_(function), draft_(draft), definitions_(definitions) {}

  /// Whether `value` is one behind operation `place`.
  bool behind(int place, Value value) const { return is_uniform(place + 1, definitions_.find_behind(place, value), value, 0); }
  /// Whether what operation `place` reads as `value` is one.
  bool at(int place, Value value) const { return is_uniform(place, definitions_.find(place, value), value, 0); }

 private:
  bool is_uniform(int reader, int writer, Value value, int depth) const;
  bool is_uniform_source(int reader, Value value, int depth) const;
  bool is_uniform_exchange(int place, int depth) const;

  const DraftFunction& function_;
  const ProgramDraft& draft_;
  const Definitions& definitions_;
};

/// Marks shuffles of such values whose predicate nothing reads: ptxas leaves them out. A lane then has the value also where the lane that
/// it reads takes no part. Source: machine code of ptxas 13.0; that lanes have the value, an H100.
void mark_uniform_shuffles(DraftFunction& function, ProgramDraft& draft);

}  // namespace warpmat::inline v0_1::code
