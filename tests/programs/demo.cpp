// Runs the programs of this folder, prints what they compute, and compares it with what is published. Exit status 1 if anything differs.

#include <cstdio>
#include <exception>

#include <fmt/core.h>

#include "paths.h"
#include "programs/published_examples.h"

int main() try {
  int number = 0, compared = 0, different = 0;
  for (const warpmat::Example& example : warpmat::run_published_examples(source_path("tests/programs"))) {
    fmt::print("{}. {}\n\n{}\n", ++number, example.title, example.computed);
    for (const warpmat::Comparison& comparison : example.comparisons) {
      ++compared;
      if (comparison.difference.empty()) {
        fmt::print("ok       {}\n", comparison.what);
      } else {
        ++different;
        fmt::print("DIFFERS  {}: {}\n", comparison.what, comparison.difference);
      }
    }
    fmt::print("\n");
  }
  fmt::print("{} comparisons, {} differ\n", compared, different);
  return different == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
