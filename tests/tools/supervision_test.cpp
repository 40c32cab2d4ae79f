#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "test.h"

// `warpmat cuda` with shells that run error_program.cpp: what it knows of the program's processes, and how they end.

namespace warpmat::supervision_test {
namespace {

using Strings = std::vector<std::string>;

/// `warpmat cuda OPTIONS sh -c SCRIPT`, where $PROGRAM is error_program.cpp.
Outcome run_shell(Strings options, const std::string& script, Strings environment = {}) {
  options.insert(options.begin(), "cuda");
  options.insert(options.end(), {"sh", "-c", script});
  environment.push_back("PROGRAM=" + cuda_program_path());
  return run_command(options, environment);
}

/// Begins `warpmat cuda --report REPORT sh -c SCRIPT`, which makes the file BEGUN, and sends the signal to the command alone. Returns the
/// command's status, as a shell has it.
int status_after(int signal, const TemporaryDirectory& directory, const std::string& script) {
  const std::string begun = directory.path("begun");
  Strings words{command_path(), "cuda", "--report", directory.path("r.json"), "sh", "-c", script + "\ntouch " + begun + "; wait"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t command = fork();
  if (command == 0) {
    setenv("PROGRAM", cuda_program_path().c_str(), 1);
    setenv("TMPDIR", directory.path("").c_str(), 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  for (int waits = 0; !std::filesystem::exists(begun) && waits < 3000; ++waits) usleep(10'000);
  kill(command, signal);
  int status = 0;
  waitpid(command, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;  // the command ends by itself, not by the signal
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_CASE("a full temporary folder loses no verdict", "[cuda][tools]") {
  if (run_program("sh", {"-c", "unshare -Urm true"}).status != 0) {
    WARN("skipped: this machine lets nobody mount a file system of his own");
    return;
  }
  const TemporaryDirectory directory;
  const std::string folder = directory.path("full"), command = command_path() + " cuda ", program = " " + cuda_program_path() + " beyond";
  const auto status_of = [&](const std::string& options) {
    return run_program(
        "unshare", {"-Urm", "sh", "-c",
                    fmt::format("mkdir {0}; mount -t tmpfs -o size=4k full {0}; dd if=/dev/zero of={0}/x 2>/dev/null; TMPDIR={0} {1}{2}{3}",
                                folder, command, options, program)});
  };
  for (const std::string& options : {std::string(), "--report " + folder + "/r.json", "--save " + folder + "/saved"}) {
    INFO(options);
    const Outcome outcome = status_of(options);
    std::filesystem::remove(folder);
    CHECK(outcome.status == 1);
    CHECK_THAT(outcome.err, ContainsSubstring("a kernel failed"));
  }
}

TEST_CASE("a program leaves no process", "[cuda][tools]") {
  const TemporaryDirectory directory;
  const Outcome outcome = run_shell({}, fmt::format("(trap '' TERM; sleep 100 & echo $! >{}; wait) & exit 0", directory.path("pid")));
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("processes"));
  CHECK_FALSE(std::filesystem::exists("/proc/" + read_text(directory.path("pid")).substr(0, read_text(directory.path("pid")).find('\n'))));
}

TEST_CASE("signals reach a program and its children, and the report is written", "[cuda][tools]") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    INFO(signal);
    const TemporaryDirectory directory;
    const std::string script = fmt::format("$PROGRAM works >/dev/null; sleep 100 & echo $! >{}", directory.path("pid"));
    CHECK(status_after(signal, directory, script) == 128 + signal);
    CHECK_THAT(read_text(directory.path("r.json")), ContainsSubstring("\"kernel\": \"store\""));
    const std::string child = read_text(directory.path("pid"));
    CHECK_FALSE(std::filesystem::exists("/proc/" + child.substr(0, child.find('\n'))));
    CHECK(directory.files() == Strings{"begun", "pid", "r.json"});
  }
}

TEST_CASE("a program that does not end by a signal ends nevertheless", "[cuda][tools]") {
  const TemporaryDirectory directory;
  CHECK(status_after(SIGTERM, directory, "trap '' TERM; sleep 100 &") == 128 + SIGKILL);
}

TEST_CASE("limits end a program and its children", "[cuda][tools]") {
  Outcome outcome;
  CHECK(seconds_of([&] { outcome = run_shell({"--seconds", "0.5"}, "$PROGRAM works; sleep 100 & wait"); }) < 30);
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("took longer than 0.5 s (--seconds)"));
  CHECK(seconds_of([&] { outcome = run_shell({"--memory", "200MB"}, "tail /dev/zero & wait; sleep 100"); }) < 30);
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, ContainsSubstring("needed more than 200.0 MB of memory (--memory)"));
}

}  // namespace
}  // namespace warpmat::supervision_test
