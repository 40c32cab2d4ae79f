
#include "command.h"
#include "test.h"

// Limits of the commands that execute in their own process, and inputs without an end.

namespace warpmat::limits_test {
namespace {

constexpr const char* endless = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry endless() {
again:
  bra again;
}
)";

/// Runs a shell's line, where $WARPMAT is the command.
Outcome run_line(const std::string& line) {
  return run_program("bash", {"-c", line}, {"WARPMAT=" + command_path()});
}

TEST_CASE("a launch without an end ends after --seconds, and says where it was", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("endless.ptx"), endless);
  for (const char* const command : {"launch", "banks"}) {
    const Outcome outcome = run_command({command, directory.path("endless.ptx"), "--seconds", "0.3", "--grid", "4"});
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, ContainsSubstring("it took longer than 0.3 s (--seconds): kernel 'endless', block (0, 0, 0)"));
  }
}

TEST_CASE("what ends a command at once leaves no folder", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("nvcc"), "#!/bin/sh\nsleep 100\n");
  write_text(directory.path("k.cu"), "__global__ void k() {}\n");
  std::filesystem::permissions(directory.path("nvcc"), std::filesystem::perms::owner_all);
  std::filesystem::create_directory(directory.path("tmp"));
  const std::string line = fmt::format("cd {}; export CUDACXX=$PWD/nvcc TMPDIR=$PWD/tmp; ", directory.path(""));
  const Outcome late = run_line(line + "$WARPMAT launch k.cu --seconds 0.3; status=$?; ls tmp; exit $status");
  CHECK(late.status == 1);
  CHECK(late.out.empty());
  CHECK_THAT(late.err, ContainsSubstring("(--seconds)"));
  const Outcome ended = run_line(line + "$WARPMAT launch k.cu & sleep 0.5; kill -TERM $!; wait $!; status=$?; ls tmp; exit $status");
  CHECK(ended.status == 143);
  CHECK(ended.out.empty());
}

}  // namespace
}  // namespace warpmat::limits_test
