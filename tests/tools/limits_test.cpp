
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

}  // namespace

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

TEST_CASE("a launch that needs more memory than --memory says so", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("endless.ptx"), endless);
  for (const char* const bytes : {"8000000000", "800000000"}) {
    const Outcome outcome =
        run_command({"launch", directory.path("endless.ptx"), "--memory", "400MB", "--buffer", std::string("a=fill:") + bytes + ":1"});
    INFO(outcome.err);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, ContainsSubstring("buffer 'a'") && ContainsSubstring("--memory"));
  }
  write_text(directory.path("local.ptx"),
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
             "  .local .b8 l[500000]; st.local.u8 [l], 1; ret;\n}\n");
  const Outcome local = run_command({"launch", directory.path("local.ptx"), "--memory", "400MB", "--jobs", "1", "--block", "1024"});
  CHECK(local.status == 1);
  CHECK_THAT(local.err, ContainsSubstring("blocks at once") && ContainsSubstring("--memory"));
}

TEST_CASE("files without an end are refused", "[tools]") {
  const TemporaryDirectory directory;
  write_text(directory.path("zero.json"), R"({"ptx": "/dev/zero"})");
  for (const std::string& file : {directory.path("zero.json"), std::string("/dev/zero")}) {
    const Outcome outcome = run_command({"launch", file});
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, ContainsSubstring("cannot read /dev/zero: it is a device"));
  }
  const Outcome replayed = run_command({"replay", "/dev/zero"});
  CHECK(replayed.status == 1);
  CHECK_THAT(replayed.err, ContainsSubstring("no archive"));
}

TEST_CASE("the status of a wrong command line is 2, and output that is lost is an error", "[tools]") {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"launch", "x", "--shared-bytes", "18446744073709551615"}, {"site"}, {"launch", "--frob"}, {"frob"}, {}})
    CHECK(run_command(wrong).status == 2);
  CHECK(run_line("$WARPMAT --help >/dev/full").status == 1);
  CHECK(run_line("$WARPMAT swizzle --help >/dev/full").status == 1);
  CHECK(run_line("$WARPMAT --version >/dev/full").status == 1);
}

}  // namespace warpmat::limits_test
