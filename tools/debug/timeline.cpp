#include "tools/debug/timeline.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>

#include <fmt/core.h>

#include <warpmat/report/report.h>

namespace warpmat::debug {
namespace {

/// Of a cluster whose blocks are looked at: passes on what the follower asks for.
class Part : public machine::Observer {
 public:
  explicit Part(Follower& follower)
      : Observer(machine::EventKinds::operations | machine::EventKinds::accesses | machine::EventKinds::copies), follower_(follower) {}
  void block_ends(const machine::BlockEvent& event) override { follower_.block_ends(event); }
  void operation(const machine::Event& event) override { follower_.operation(event); }
  void access(const machine::AccessEvent& event) override { follower_.access(event); }
  void bulk_issues(const machine::Event& event, const machine::BulkEvent& copy) override { follower_.bulk_issues(event, copy); }
  void bulk_completes(const machine::BulkEvent& copy) override { follower_.bulk_completes(copy); }

 private:
  Follower& follower_;
};

bool has_block(const std::vector<Dim3>& blocks, std::uint64_t cluster, const LaunchConfig& config) {
  const Dim3 size = config.cluster, grid = config.grid;
  return std::ranges::any_of(blocks, [&](Dim3 block) {
    const std::uint64_t columns = grid.x / size.x, rows = grid.y / size.y;
    return (block.z / size.z * rows + block.y / size.y) * columns + block.x / size.x == cluster;
  });
}

}  // namespace

Timeline::Timeline(LoadedLaunch& launch, const Names& names, const SourceMap& source, const LaunchChoice& choice) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("cannot begin a process to debug: {}", std::strerror(errno)));
  if (child == 0) execute(launch, names, source, choice);
  active_ = child;
  active_ = receive().at("pid");
}

Timeline::~Timeline() {
  end_active();
  for (const Checkpoint& each : connections_.shared().all)
    if (each.pid != 0) kill(each.pid, SIGKILL);
}

void Timeline::execute(LoadedLaunch& launch, const Names& names, const SourceMap& source, const LaunchChoice& choice) {
  signal(SIGINT, SIG_IGN);
  struct sigaction action {};  // nobody waits for checkpoints
  action.sa_handler = SIG_DFL;
  action.sa_flags = SA_NOCLDWAIT;
  sigaction(SIGCHLD, &action, nullptr);
  connections_.close_debuggers();
  const DebuggedLaunch debugged{launch.kernel, launch.prepared.memory, names, source};
  Follower follower(debugged, connections_);
  LaunchOptions options{.timing = choice.timing};
  options.schedule = choice.schedule;
  options.checks = choice.checks;
  if (choice.blocks.empty())
    options.observers.push_back(&follower);
  else
    options.observers_of_clusters.emplace_back([&](std::uint64_t cluster) {
      return has_block(choice.blocks, cluster, launch.description.config) ? std::make_unique<Part>(follower) : nullptr;
    });
  Json ending{{"reason", "end"}};
  try {
    follower.begin();
    const LaunchResult result =
        warpmat::launch(launch.kernel, launch.description.config, launch.prepared.memory, launch.prepared.arguments, options);
    ending["printed"] = result.printed;
    ReportStyle style;
    style.ptx = *program_of(launch.kernel).module->text;
    for (const Trap& warning : result.warned) ending["warnings"].push_back(report_text(report_of(warning, Report::Level::warning), style));
  } catch (const Trap& trap) {
    ReportStyle style;
    style.ptx = *program_of(launch.kernel).module->text;
    ending = {{"reason", "trap"}, {"text", report_text(report_of(trap), style)}};
    if (trap.site.line > 0) ending["focus"] = Focus{trap.site.block, static_cast<int>(trap.site.warp), std::max(trap.site.lane, 0)};
    if (trap.site.line > 0) ending["has_lane"] = trap.site.lane >= 0;
  } catch (const std::exception& error) {
    ending = {{"reason", "refused"}, {"text", error.what()}};
  }
  follower.end(std::move(ending));
}

Json Timeline::receive() {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, active_, 0));
  pollfd files[] = {{connections_.debugger().file(), POLLIN, 0}, {process, POLLIN, 0}, {input_.file, POLLIN, 0}};  // none where negative
  do {
    if (poll(files, std::size(files), -1) < 0 && errno != EINTR) break;
    if (input_.file >= 0 && files[2].revents != 0) input_.read();
  } while (((files[0].revents | files[1].revents) & (POLLIN | POLLHUP)) == 0);
  if (process >= 0) close(process);
  if ((files[0].revents & POLLIN) == 0) {
    active_ = 0;
    throw std::runtime_error("the process that executes the launch has died; 'run' begins anew");
  }
  const auto answer = connections_.debugger().receive();
  if (!answer) throw std::runtime_error("the process that executes the launch cannot be reached; 'run' begins anew");
  return *answer;
}

Json Timeline::ask(const Json& question) {
  if (active_ == 0) throw std::invalid_argument("the launch does not run");
  connections_.debugger().send(question);
  Json answer = receive();
  if (answer.contains("error")) throw std::invalid_argument(answer.at("error").get<std::string>());
  return answer;
}

Json Timeline::move(const Json& move) {
  Json question = move;
  question["do"] = "move";
  Json answer = ask(question);
  time_ = answer.at("time");
  ended_ = answer.at("reason") != "scanned" && !answer.contains("statement");
  return answer;
}

/// Ends the active process, so that no two read what the debugger sends.
void Timeline::end_active() {
  if (active_ == 0) return;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, active_, 0));
  kill(active_, SIGKILL);
  pollfd file{process, POLLIN, 0};
  while (process >= 0 && poll(&file, 1, -1) < 0 && errno == EINTR) continue;
  if (process >= 0) close(process);
  waitpid(active_, nullptr, WNOHANG);  // the first one is a child
  active_ = 0;
}

/// The last checkpoint before that time.
std::size_t Timeline::checkpoint_before(std::uint64_t time) {
  const SharedState& shared = connections_.shared();
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < std::size(shared.all); ++i) {
    const Checkpoint& each = shared.all[i];
    if (each.pid != 0 && (each.time < time || each.time == 0) && (!best || shared.all[*best].time < each.time)) best = i;
  }
  if (!best) throw std::runtime_error("no checkpoint is left; 'run' begins anew");
  return *best;
}

void Timeline::wake(std::size_t checkpoint) {
  SharedState& shared = connections_.shared();
  end_active();
  shared.interrupted = false;
  active_ = shared.all[checkpoint].pid;  // until the process that it forks says its own
  connections_.to_checkpoint(checkpoint).send({{"do", "wake"}});
  active_ = receive().at("pid");
  time_ = shared.all[checkpoint].time;
  ended_ = false;
}

Json Timeline::go_to(std::uint64_t time) {
  const std::size_t nearest = checkpoint_before(time);
  const bool is_ahead = active_ != 0 && !ended_ && time > time_ && connections_.shared().all[nearest].time <= time_;
  if (!is_ahead) wake(nearest);
  return move({{"target", time}, {"near", true}});
}

std::optional<Json> Timeline::find_before(Json spec, std::uint64_t now) {
  const bool beyond_end = ended_;
  spec["scan"] = true;
  spec["limit"] = now;
  spec["target"] = beyond_end ? 0 : now;
  std::optional<Json> first;  // of the lane's statements in later intervals, all of one place
  for (std::uint64_t before = now;;) {
    wake(checkpoint_before(before));
    const std::uint64_t begin = time_;
    const Json found = move(spec);
    // The later interval's first statement is another line's than the last one before.
    if (first && found.contains("last") && found.at("last").get<int>() >= 0 && found.at("last") != first->at("place")) return first;
    if (!found.at("match").is_null()) return found.at("match");
    if (found.contains("first") && !found.at("first").is_null()) first = found.at("first");
    if (begin == 0) return first;
    before = begin;
    spec["target"] = begin + 1;
  }
}

Timeline::Memory Timeline::memory() const {
  const SharedState& shared = const_cast<Timeline*>(this)->connections_.shared();
  Memory all{.times = {}, .spacing = shared.spacing};
  for (const Checkpoint& each : shared.all) {
    if (each.pid == 0) continue;
    all.times.push_back(each.time);
    std::ifstream lines(fmt::format("/proc/{}/smaps_rollup", each.pid));
    for (std::string word; lines >> word;)
      if (std::uint64_t kilobytes = 0; word == "Private_Dirty:" && lines >> kilobytes) all.bytes += kilobytes << 10;
  }
  std::ranges::sort(all.times);
  return all;
}

}  // namespace warpmat::debug
