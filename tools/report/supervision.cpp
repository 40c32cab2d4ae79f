#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tools/report/supervision.h"

namespace warpmat {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds grace{5000};         // from SIGTERM to SIGKILL, below the ten seconds of Docker and of GitHub's runners
constexpr milliseconds last_grace{2000};    // the same for what a program has left, and behind a limit
constexpr milliseconds last_words{1000};    // for children that end by themselves after the program, as those of a pipeline do
constexpr milliseconds between_looks{100};  // at the memory
constexpr std::array asking{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Holds the signals that ask for the end, and those of children, so that wait() gets them. Those that are ignored, as under nohup, stay
/// so.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGCHLD);
    for (const int signal : asking) {
      struct sigaction action {};
      sigaction(signal, nullptr, &action);
      if (action.sa_handler != SIG_IGN) sigaddset(&set_, signal);
    }
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;  // where SIGCHLD is ignored, nobody learns of a child's end
    sigaction(SIGCHLD, &usual, &child_action_);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~HeldSignals() { restore(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// As before; a new process calls it, too.
  void restore() const {
    sigaction(SIGCHLD, &child_action_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  /// The next signal within that time; 0: none.
  int wait(milliseconds most, siginfo_t& info) const {
    const timespec time{.tv_sec = most.count() / 1000, .tv_nsec = most.count() % 1000 * 1'000'000};
    return std::max(sigtimedwait(&set_, &info, &time), 0);
  }

 private:
  sigset_t set_{}, before_{};
  struct sigaction child_action_ {};
};

/// Opens a file as the descriptor `number`, in a new process.
bool open_as(int number, const std::filesystem::path& file, int how) {
  const int opened = open(file.c_str(), how, 0600);
  return opened >= 0 && dup2(opened, number) == number;
}

bool redirect(const ProcessOutput& output) {
  if (output.kind == ProcessOutput::Kind::to_error) return dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
  if (output.kind == ProcessOutput::Kind::inherited) return true;
  constexpr int written = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  if (!open_as(STDIN_FILENO, "/dev/null", O_RDONLY | O_CLOEXEC) || !open_as(STDOUT_FILENO, output.file, written)) return false;
  return output.error_file.empty() ? dup2(STDOUT_FILENO, STDERR_FILENO) >= 0 : open_as(STDERR_FILENO, output.error_file, written);
}

/// Begins a process that ends with this one.
pid_t begin(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables, const HeldSignals& held) {
  std::vector<std::string> argument_words = words, environment_words = environment_with(variables);
  const std::vector<char*> arguments = pointers(argument_words), environment = pointers(environment_words);
  std::array<int, 2> report{};  // of an error on the way to the program
  if (pipe2(report.data(), O_CLOEXEC) != 0) fail_to_run(words[0], errno);
  const pid_t parent = getpid(), process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    held.restore();
    signal(SIGXFSZ, SIG_DFL);  // which this command ignores, to report what it cannot write
    if (redirect(output)) execve(words[0].c_str(), arguments.data(), environment.data());
    const int error = errno;
    static_cast<void>(!write(report[1], &error, sizeof error));
    _exit(1);
  }
  int error = process < 0 ? errno : 0;
  close(report[1]);
  if (process > 0 && read(report[0], &error, sizeof error) > 0) waitpid(process, nullptr, 0);
  close(report[0]);
  if (error != 0) fail_to_run(words[0], error);
  return process;
}

void add_children(pid_t process, std::vector<pid_t>& all) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  DIR* const folder = opendir(tasks.c_str());
  if (folder == nullptr) return;
  const std::size_t first = all.size();
  while (const dirent* const entry = readdir(folder)) {
    std::ifstream children(fmt::format("{}/{}/children", tasks, entry->d_name));
    for (pid_t child; children >> child;) all.push_back(child);
  }
  closedir(folder);
  for (std::size_t i = first, end = all.size(); i < end; ++i) add_children(all[i], all);
}

/// The processes that this one began, and those that they began.
std::vector<pid_t> descendants() {
  std::vector<pid_t> all;
  add_children(getpid(), all);
  return all;
}

/// The memory of a process that it shares with no other, and its part of what it shares.
std::uint64_t proportional_bytes(pid_t process) {
  std::ifstream lines(fmt::format("/proc/{}/smaps_rollup", process));
  for (std::string word; lines >> word;)
    if (std::uint64_t kilobytes = 0; word == "Pss:" && lines >> kilobytes) return kilobytes * 1024;
  return 0;
}

std::uint64_t resident_bytes(pid_t process) {
  std::uint64_t size = 0, resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process)) >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

template <typename Bytes>
std::uint64_t sum(const std::vector<pid_t>& processes, Bytes bytes) {
  std::uint64_t all = 0;
  for (const pid_t process : processes) all += bytes(process);
  return all;
}

/// Whether all processes together use more. What several share counts several times in the first sum, which is made faster.
bool use_more_than(std::uint64_t most, const std::vector<pid_t>& all) {
  return sum(all, resident_bytes) > most && sum(all, proportional_bytes) > most;
}

/// Processes that are orphaned become children of this one, as long as this object lives.
class Adoption {
 public:
  Adoption() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Adoption() { prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Adoption(const Adoption&) = delete;
  Adoption& operator=(const Adoption&) = delete;
};

/// The wait for a program and all that it began.
class Supervision {
 public:
  Supervision(pid_t program, const ProcessLimits& limits, const HeldSignals& held) : program_(program), limits_(limits), held_(held) {}

  ProcessEnd wait() {
    while (!reap()) {
      siginfo_t info{};
      if (const int signal = held_.wait(next_look(), info); signal != 0 && signal != SIGCHLD) pass_on(signal, info);
      look_at_limits();
      if (Clock::now() >= kill_at_) send_to_all(SIGKILL);
    }
    end_what_is_left();
    return end_;
  }

 private:
  /// Whether the program has ended.
  bool reap() {
    int status = 0;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) != 0;) {
      if (process < 0 && errno != EINTR) break;
      if (process != program_) continue;
      ended_ = true;
      end_.ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      end_.status = WIFSIGNALED(status) ? 128 + end_.ended_by : WEXITSTATUS(status);
    }
    return ended_;
  }

  /// How long to wait for a signal.
  milliseconds next_look() const {
    constexpr milliseconds longest{3'600'000};
    const milliseconds most = limits_.memory != 0 ? between_looks : longest;
    const Clock::time_point now = Clock::now(), next = std::min({deadline_, kill_at_, now + most});
    return std::max(std::chrono::ceil<milliseconds>(next - now), milliseconds(0));
  }

  /// The program, also where the kernel does not list children, and all others that are left.
  std::vector<pid_t> processes() const {
    std::vector<pid_t> all = descendants();
    if (!ended_ && std::ranges::find(all, program_) == all.end()) all.push_back(program_);
    return all;
  }

  void send_to_all(int signal) const {
    for (const pid_t process : processes()) kill(process, signal);
  }

  /// A terminal gives its signals to all processes itself.
  void pass_on(int signal, const siginfo_t& info) {
    end_.asked = signal;
    if (info.si_code != SI_KERNEL) send_to_all(signal);
    if (signal == SIGTERM || signal == SIGHUP) kill_at_ = std::min(kill_at_, Clock::now() + grace);
  }

  void look_at_limits() {
    if (end_.limit != ProcessEnd::Limit::none) return;
    if (Clock::now() >= deadline_) {
      end_.limit = ProcessEnd::Limit::seconds;
      send_to_all(SIGTERM);
      kill_at_ = std::min(kill_at_, Clock::now() + last_grace);
      deadline_ = Clock::time_point::max();
    } else if (limits_.memory != 0 && use_more_than(limits_.memory, processes())) {
      end_.limit = ProcessEnd::Limit::memory;
      send_to_all(SIGKILL);
    }
  }

  /// Whether no process is left before that time.
  bool all_end_within(milliseconds most) {
    constexpr milliseconds step{10};
    for (const auto end = Clock::now() + most; !descendants().empty(); std::this_thread::sleep_for(step)) {
      reap();
      if (Clock::now() >= end) return descendants().empty();
    }
    return true;
  }

  void end_what_is_left() {
    const bool was_asked = end_.asked != 0 || end_.limit != ProcessEnd::Limit::none;
    if (all_end_within(was_asked ? milliseconds(0) : last_words)) return;
    end_.left_running = static_cast<int>(descendants().size());
    send_to_all(SIGTERM);
    if (all_end_within(last_grace)) return;
    send_to_all(SIGKILL);
    all_end_within(last_grace);
  }

  static Clock::time_point deadline_of(double seconds) {
    constexpr double most = 1e9;  // a clock's time points end in 292 years
    if (seconds <= 0 || seconds > most) return Clock::time_point::max();
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  pid_t program_;
  const ProcessLimits& limits_;
  const HeldSignals& held_;
  bool ended_ = false;
  ProcessEnd end_;
  Clock::time_point deadline_ = deadline_of(limits_.seconds), kill_at_ = Clock::time_point::max();
};

}  // namespace

ProcessEnd supervise(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables,
                     const ProcessLimits& limits) {
  const Adoption adoption;
  const HeldSignals held;
  return Supervision(begin(words, output, variables, held), limits, held).wait();
}

int run_supervised(const std::vector<std::string>& words, const ProcessOutput& output, const Variables& variables) {
  const HeldSignals held;
  const pid_t process = begin(words, output, variables, held);
  int status = 0, asked = 0;
  for (pid_t ended = 0; (ended = waitpid(process, &status, WNOHANG)) != process;) {
    if (ended < 0 && errno != EINTR) throw std::runtime_error(fmt::format("cannot wait for {}: {}", words[0], std::strerror(errno)));
    constexpr milliseconds most{1000};
    siginfo_t info{};
    const int signal = held.wait(most, info);
    if (signal == 0 || signal == SIGCHLD) continue;
    asked = signal;
    if (info.si_code != SI_KERNEL) kill(process, signal);
  }
  if (asked != 0) throw Interrupted(asked, fmt::format("{} was ended by {}", words[0], strsignal(asked)));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace warpmat
