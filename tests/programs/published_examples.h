#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpmat {

// The programs of this folder do what four published pieces on the matrix instructions do, and expected/ holds the figures that those
// print: the result matrices of a study of ldmatrix, the 32 lines of "ldmatrix Explained", and the product of a study of mma.m16n8k16,
// measured on an Ampere GPU. Where only a few elements are published (lane 0's in an article on ldmatrix, mma, stmatrix and movmatrix),
// they stand in the code.

/// One comparison with what is published. It holds if `difference` is empty.
struct Comparison {
  std::string what;
  std::string difference;  ///< the first line that is not as published, and how it reads
};

/// What one group of programs computed, printed as the publication prints it, and how it compares.
struct Example {
  std::string title;
  std::string computed;
  std::vector<Comparison> comparisons;
};

/// Runs all programs of `programs` (this folder) and compares. Throws std::runtime_error where a file is missing, SyntaxError and Trap
/// where a program is wrong.
std::vector<Example> run_published_examples(const std::filesystem::path& programs);

}  // namespace warpmat
