#pragma once

#include <string>

#include "gpu/compare/compare.h"

namespace warpmat {

/// The origins of the two states, for messages: "emulator", "GPU".
struct RunnerNames {
  std::string expected = "emulator", found = "GPU";
};

/// A line for each element (or whole word) that `difference` includes: lane and register or shared address, row and column if a matrix
/// instruction wrote it, and both bits and values: "lane 14, register d1, row 3, column 5: emulator 0x3f800000 (1), GPU 0x3f800001
/// (1.0000001)".
std::string describe(const Program& program, const WarpStates& expected, const WarpStates& found, const Difference& difference,
                     const RunnerNames& names = {});

/// The options of `warpmat explain` for the register of a difference; empty if no matrix instruction wrote it.
std::string explain_options(const Program& program, const Difference& difference);

/// `text`, each line a comment of PTX.
std::string commented(const std::string& text);

}  // namespace warpmat
