#include "python/binding/tasks.h"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <warpmat/machine/threads.h>

namespace warpmat::python {
namespace {

constexpr auto between_signals = std::chrono::milliseconds(50);

/// Ends a task because another one has failed.
struct Abandoned {};

}  // namespace

void Signals::check() {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < between_signals) return;
  last_ = now;
  const pybind11::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

/// The tasks that have not begun, and the failure of the lowest failed one.
class Tasks {
 public:
  Tasks(std::size_t tasks, const std::function<void(std::size_t, Worker&)>& work) : tasks_(tasks), work_(work) {}

  /// Executes tasks until none is left or one has failed.
  void run(std::size_t number) {
    Worker worker(*this, number);
    std::size_t task = 0;
    while (!failed_ && (task = next_++) < tasks_) {
      try {
        work_(task, worker);
        worker.breathe();
      } catch (const Abandoned&) {
        return;
      } catch (...) {
        fail(task, std::current_exception());
      }
    }
  }

  /// The same on `others` threads in addition to the caller's, or on fewer if the system has no more.
  void run_all(std::size_t others) {
    std::vector<std::thread> threads;
    try {
      for (std::size_t i = 1; i <= others; ++i) threads.emplace_back([this, i] { run_beside(i); });
    } catch (const std::system_error&) {
    }
    run(0);
    wait_for(threads.size());
    for (std::thread& thread : threads) thread.join();
  }

  void check_not_failed() const {
    if (failed_) throw Abandoned{};
  }

  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void run_beside(std::size_t number) {
    run(number);
    const std::lock_guard lock(mutex_);
    ++ended_;
    end_.notify_one();
  }

  /// Waits for `others` threads to end, and checks signals meanwhile.
  void wait_for(std::size_t others) {
    Signals signals;
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, between_signals, [&] { return ended_ == others; })) {
      lock.unlock();
      try {
        signals.check();
      } catch (...) {
        fail(tasks_, std::current_exception());
      }
      lock.lock();
    }
  }

  void fail(std::size_t task, const std::exception_ptr& failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr || task < failed_task_) {
      failure_ = failure;
      failed_task_ = task;
    }
    failed_ = true;
  }

  const std::size_t tasks_;
  const std::function<void(std::size_t, Worker&)>& work_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable end_;
  std::size_t ended_ = 0;
  std::exception_ptr failure_;
  std::size_t failed_task_ = 0;
};

void Worker::breathe() {
  tasks_.check_not_failed();
  if (number_ == 0) signals_.check();
}

std::size_t worker_count(std::size_t tasks, unsigned jobs) {
  const unsigned wanted = jobs != 0 ? jobs : machine::usable_cores();
  return std::max<std::size_t>(1, std::min<std::size_t>(tasks, wanted));
}

void run_tasks(std::size_t tasks, unsigned jobs, const std::function<void(std::size_t, Worker&)>& work) {
  Tasks all(tasks, work);
  {
    const pybind11::gil_scoped_release unlocked;
    all.run_all(worker_count(tasks, jobs) - 1);
  }
  all.rethrow();
}

}  // namespace warpmat::python
