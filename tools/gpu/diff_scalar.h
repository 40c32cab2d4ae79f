#pragma once

#include <cstdint>
#include <string>

#include "tools/gpu/report/result_options.h"

namespace warpmat {

struct ScalarDiff {
  std::string target, forms;   ///< forms: only opcodes that match this regular expression
  std::uint64_t elements = 0;  ///< of each class
  ResultOptions result;        ///< its shard: of the elements
  std::string record;          ///< a file for the digests of the GPU's answers, or empty
};

/// `warpmat diff --scalar`: compares scalar instructions with a GPU. Throws if something differs.
void diff_scalar(const ScalarDiff& options);

}  // namespace warpmat
