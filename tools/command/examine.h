#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "finding_flags.h"
#include "tools/report/limits.h"

namespace warpmat {

/// What `warpmat cuda` asks about the launches of a program, when it has ended: the questions of `warpmat launch` about one.
struct Examination {
  std::string kernels;  ///< a regular expression that a kernel's C++ name contains; empty: all
  std::string gemm, why, against;
  std::vector<std::string> expected;  ///< of the last launch: NAME=FILE[:TYPE][:SHAPE][:TOLERANCE]
  bool banks = false;                 ///< bank conflicts by line
  bool guess = false;                 ///< find out what each kernel computes, in the place of `gemm`
  bool errs = false;                  ///< the program ended with an error of its own
  std::vector<Report> reported = {};  ///< what the program's run has reported, which is not said again

  bool asks() const { return !gemm.empty() || !why.empty() || banks || guess || !expected.empty(); }
};

/// The launches in a folder of --save, in their order: each a launch.json.
std::vector<std::filesystem::path> saved_launches(const std::filesystem::path& folder);

/// Throws std::runtime_error for a wrong regular expression, or a question that needs another one.
void check_examination(const Examination& examination);

/// Executes each launch that --save wrote to `folder` again, where its kernel is asked for, and prints the answers: the ways of elements to
/// standard output, bank conflicts to standard error. Prints and returns what is wrong with them, the first wrong product of each launch.
/// All of it may use what `limits` says; throws std::runtime_error beyond.
std::vector<Report> examine(const Examination& examination, const FindingFiles& files, const Limits& limits,
                            const std::filesystem::path& folder);

}  // namespace warpmat
