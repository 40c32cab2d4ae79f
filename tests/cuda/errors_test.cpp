#include "cuda/nvcc_program.h"
#include "test.h"
#include "tools/command.h"

// With nvcc, tests/cuda/programs/errors.cu prints what it printed on an H200. tests/golden/cuda/errors.txt has what a program prints
// without nvcc.

namespace warpmat::errors_test {
namespace {

/// The lines of a text, without those that begin with one of `left_out`.
std::vector<std::string> lines_without(const std::string& text, const std::vector<std::string>& left_out) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (std::ranges::none_of(left_out, [&](const std::string& begin) { return line.starts_with(begin); })) lines.push_back(line);
  return lines;
}

TEST_CASE("errors have the codes and the stickiness that an H200 gave", "[cuda][slow]") {
  if (!has_nvcc()) return;
  const TemporaryDirectory directory;
  const std::string built = directory.path("errors");
  compile_program(built, {"errors"}, {"-std=c++17"});
  const Outcome outcome = run_program(built, {}, {"LD_LIBRARY_PATH=" + cuda_libraries_path()});
  REQUIRE(outcome.status == 0);
  // docs/use/programs.md has the differences: what a capture refuses, and local memory, whose end the GPU does not check so far away. The
  // card hung in the kernel behind the last one here.
  const std::vector<std::string> known{"capture begun twice", "cudaMalloc in a capture", "local_far:", "-- calls_null"};
  std::vector<std::string> theirs = lines_without(read_text(source_path("tests/vectors/errors/h200.txt")), known);
  std::vector<std::string> ours = lines_without(outcome.out, known);
  const auto drop_reset_of_local = [](std::vector<std::string>& lines) {  // the line behind local_far's
    const auto heading = std::ranges::find(lines, "-- local_far");
    REQUIRE(heading != lines.end());
    lines.erase(heading + 1);
  };
  drop_reset_of_local(theirs);
  drop_reset_of_local(ours);
  REQUIRE(ours.size() == theirs.size());
  CHECK(ours.size() > 180);
  for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == theirs[i]);
}

}  // namespace
}  // namespace warpmat::errors_test
