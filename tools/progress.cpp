#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

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
    fmt::print(stderr, "\r{} of {} cases", done_.load(std::memory_order_relaxed), total_);
    shown = true;
  }
  if (shown) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace warpmat
