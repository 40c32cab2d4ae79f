
#include "test.h"
#include "tools/command.h"

// Launches of whole programs as an H100 or an H200 ran them: tests/vectors/programs, whose README says how they were recorded.

namespace warpmat::recorded_programs_test {
namespace {

std::vector<std::filesystem::path> archives() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("tests/vectors/programs")))
    if (entry.path().extension() == ".launches") files.push_back(entry.path());
  return files;
}

TEST_CASE("every launch of the recorded programs is as the GPU left it", "[programs]") {
  constexpr std::uintmax_t most_bytes = 5'000'000;
  std::uintmax_t bytes = 0;
  const std::vector<std::filesystem::path> files = archives();
  CHECK(files.size() >= 5);
  for (const std::filesystem::path& file : files) {
    bytes += std::filesystem::file_size(file);
    const Outcome outcome = run_command({"replay", file});
    INFO(file.filename().string() << "\n" << outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    CHECK(contains(outcome.out, "; 0 launches differ, 0 more by the order of threads; "));
    CHECK(contains(outcome.out, "; NVIDIA H"));
  }
  CHECK(bytes <= most_bytes);
}

TEST_CASE("a wrong rule of the arithmetic is found in a recorded program, to the element", "[programs]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_command(
      {"replay", source_path("tests/vectors/programs/driver_program.launches"), "--target", "sm_80", "--keep", directory.path("")});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 1);  // A100's tensor cores cut sums off a bit earlier
  CHECK(contains(outcome.out, "elements of f32 differ"));
  CHECK(contains(outcome.out, "  element "));
}

}  // namespace
}  // namespace warpmat::recorded_programs_test
