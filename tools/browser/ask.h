#pragma once

#include <string>

namespace warpmat {

/// Answers a question of the page: both are objects of JSON, described in tools/browser/README.md. It reads and writes no file and begins
/// no thread. What is wrong with the question is in the answer ("error", "errors"); nothing is thrown.
std::string ask(const std::string& question);

}  // namespace warpmat
