#include "tools/report/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace warpmat {

Progress::Progress(std::size_t total) : total_(total) {
  if (isatty(STDERR_FILENO) != 0) display_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
}

void Progress::show(const std::stop_token& stop) {
  using namespace std::chrono_literals;
  constexpr auto never = [] { return false; };
  std::unique_lock lock(mutex_);
  bool shown = false;
  for (auto pause = 1000ms; !stop.stop_requested(); pause = 200ms) {
    wake_.wait_for(lock, stop, pause, never);
    if (stop.stop_requested()) break;
    constexpr std::size_t width = 30;
    const std::size_t done = done_.load(std::memory_order_relaxed);
    const std::size_t filled = total_ == 0 ? width : done * width / total_;
    fmt::print(stderr, "\r[{:.<{}}] {} of {} cases", std::string(filled, '#'), width, done, total_);
    shown = true;
  }
  if (shown) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace warpmat
