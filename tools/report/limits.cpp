#include "tools/report/limits.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <warpmat/files/process.h>
#include <warpmat/launch.h>

namespace warpmat {
namespace {

namespace fs = std::filesystem;

std::atomic<std::uint64_t> kept_memory{0};  ///< the limit that LimitedWork keeps, or kept when an exception left it

/// The number in a file of the kernel; `otherwise` where there is no such file, or another word in it.
std::uint64_t number_in(const fs::path& file, std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? number : otherwise;
}

/// The least limit among this process's control groups, of either version.
std::uint64_t container_memory(std::uint64_t otherwise) {
  std::uint64_t least = otherwise;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t kind = line.find(':'), path = line.find(':', kind + 1);
    if (kind == std::string::npos || path == std::string::npos) continue;
    const std::string controllers = line.substr(kind + 1, path - kind - 1);
    if (!controllers.empty() && controllers != "memory") continue;
    const fs::path root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* const file = controllers.empty() ? "memory.max" : "memory.limit_in_bytes";
    fs::path group = fs::path(line.substr(path + 1)).relative_path();
    for (; !group.empty(); group = group.parent_path()) least = std::min(least, number_in(root / group / file, otherwise));
    least = std::min(least, number_in(root / file, otherwise));
  }
  return least;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_limit_memory = false;  // their shadow memory is counted, and exceeds every limit
#else
constexpr bool can_limit_memory = true;
#endif

/// Sets the limit of data, private memory that is written. Returns the one before. Address space would count what is only reserved.
std::uint64_t set_memory_limit(std::uint64_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  const std::uint64_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  if (can_limit_memory) setrlimit(RLIMIT_DATA, &limit);
  return before;
}

}  // namespace

std::uint64_t usual_memory_limit() {
  const std::uint64_t machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return container_memory(machine) / 4 * 3;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr double giga = 1e9, mega = 1e6;
  const auto value = static_cast<double>(bytes);
  if (value < mega) return fmt::format("{} bytes", bytes);
  return value < giga ? fmt::format("{:.1f} MB", value / mega) : fmt::format("{:.1f} GB", value / giga);
}

LimitedWork::LimitedWork(const Limits& limits) : limits_(limits), memory_before_(RLIM_INFINITY) {
  if (limits.seconds > 0) thread_ = std::thread([this] { wait(); });
  if (limits.memory == 0) return;
  memory_before_ = set_memory_limit(limits.memory);
  kept_memory = limits.memory;
}

LimitedWork::~LimitedWork() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (limits_.memory != 0) set_memory_limit(memory_before_);
}

const std::atomic<bool>* LimitedWork::stop() {
  watched_ = true;
  return &stop_;
}

std::string LimitedWork::sentence() const {
  return fmt::format("it took longer than {:g} s (--seconds)", limits_.seconds);
}

void LimitedWork::wait() {
  constexpr double most = 1e9;  // a clock's time points end in 292 years
  constexpr std::chrono::seconds for_the_end{5};
  std::unique_lock lock(mutex_);
  const auto ends = [this] { return done_; };
  if (changed_.wait_for(lock, std::chrono::duration<double>(std::min(limits_.seconds, most)), ends)) return;
  stop_ = true;
  if (watched_ && changed_.wait_for(lock, for_the_end, ends)) return;
  fmt::print(stderr, "warpmat: error: {}\n", sentence());
  std::fflush(stdout);
  TemporaryFolder::remove_all();
  _exit(1);
}

std::string out_of_memory(const std::bad_alloc& error) {
  if (const auto* const limit = dynamic_cast<const MemoryLimit*>(&error))
    return kept_memory == 0 ? std::string(limit->what()) : fmt::format("{} (--memory)", limit->what());
  if (kept_memory == 0) return "out of memory";
  return fmt::format("it needs more than {} of memory, which --memory allows", bytes_text(kept_memory));
}

}  // namespace warpmat
