#include "python/binding/tasks.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace warpmat::python {
namespace {

/// The tasks that nobody has begun yet, and the failure of the lowest one.
class Tasks {
 public:
  Tasks(std::size_t tasks, const std::function<void(std::size_t, std::size_t)>& work) : tasks_(tasks), work_(work) {}

  /// Does tasks until none is left or one has failed; `between` is called after each.
  template <typename Between>
  void run(std::size_t worker, Between between) {
    std::size_t task = 0;
    while (!failed_ && (task = next_++) < tasks_) {
      try {
        work_(task, worker);
        between();
      } catch (...) {
        fail(task, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void fail(std::size_t task, const std::exception_ptr& failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr || task < failed_task_) {
      failure_ = failure;
      failed_task_ = task;
    }
    failed_ = true;
  }

  const std::size_t tasks_;
  const std::function<void(std::size_t, std::size_t)>& work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::size_t failed_task_ = 0;
};

/// Asks Python for signals now and then. What it throws is Python's exception: KeyboardInterrupt.
class Signals {
 public:
  void check() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const pybind11::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

std::size_t worker_count(std::size_t tasks, unsigned jobs) {
  const unsigned wanted = jobs != 0 ? jobs : std::max(1u, std::thread::hardware_concurrency());
  return std::max<std::size_t>(1, std::min<std::size_t>(tasks, wanted));
}

void run_tasks(std::size_t tasks, unsigned jobs, const std::function<void(std::size_t, std::size_t)>& work) {
  Tasks all(tasks, work);
  {
    const pybind11::gil_scoped_release unlocked;
    std::vector<std::thread> threads;
    const std::size_t workers = worker_count(tasks, jobs);
    for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back([&all, worker] { all.run(worker, [] {}); });
    Signals signals;
    all.run(0, [&signals] { signals.check(); });
    for (std::thread& thread : threads) thread.join();
  }
  all.rethrow();
}

}  // namespace warpmat::python
