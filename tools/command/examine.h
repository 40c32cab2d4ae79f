#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/report/findings.h"

namespace warpmat {

/// What `warpmat cuda` asks about the launches of a program, when it has ended: the questions of `warpmat launch` about one.
struct Examination {
  std::string kernels;  ///< a regular expression that a kernel's C++ name contains; empty: all
  std::string gemm, why, against;
  bool banks = false;  ///< bank conflicts by line

  bool asks() const { return !gemm.empty() || !why.empty() || banks; }
};

/// Throws std::runtime_error for a wrong regular expression, or a question that needs another one.
void check_examination(const Examination& examination);

/// Executes each launch that --save wrote to `folder` again, where its kernel is asked for, and prints the answers: the ways of elements to
/// standard output, bank conflicts to standard error. Returns what is wrong with them, the first wrong product of each
/// launch.
std::vector<Finding> examine(const Examination& examination, const std::filesystem::path& folder);

}  // namespace warpmat
