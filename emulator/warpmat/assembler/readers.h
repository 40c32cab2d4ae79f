#pragma once

#include <vector>

#include <warpmat/lower/definitions.h>

namespace warpmat::code {

/// Which operations read what an operation writes, across blocks and behind moves.
class Readers {
 public:
  Readers(const DraftFunction& function, const Definitions& definitions);

  /// Whether `reader` alone may read what `writer` computes, once or twice.
  bool is_only_reader(int reader, int writer) const;

 private:
  const DraftFunction& function_;
  const Definitions& definitions_;
  std::vector<std::vector<int>> readers_;  ///< by register, in the order of the text
};

}  // namespace warpmat::code
