#pragma once

#include <cstddef>
#include <string>

#include "gpu/cases/shard.h"

namespace warpmat {

struct ConstantDiff {
  std::string target, forms;    ///< forms: only opcodes in which this regular expression is found
  std::size_t tuples = 200;     ///< of operands, for each case
  bool every_spelling = false;  ///< else the first of each row
  Shard shard;                  ///< of the tuples
  std::string record;           ///< a file for the digests of the GPU's answers, or empty
};

/// `warpmat diff --scalar --constants`: compares instructions with constant operands with a GPU. Throws if something differs.
void diff_constants(const ConstantDiff& options);

}  // namespace warpmat
