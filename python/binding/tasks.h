#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace warpmat::python {

/// Checks Python's signals at intervals, on the thread that Python called and that has released Python's lock. It throws Python's
/// exception: KeyboardInterrupt.
class Signals {
 public:
  void check();

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Tasks;

/// One of the threads that execute tasks.
class Worker {
 public:
  Worker(Tasks& tasks, std::size_t number) : tasks_(tasks), number_(number) {}

  /// Unique among running threads, and below worker_count(tasks, jobs); 0 is the caller's thread.
  std::size_t number() const { return number_; }
  /// A task calls this every few milliseconds. Throws if the work must end, because of Ctrl-C or because another task has failed.
  void breathe();

 private:
  Tasks& tasks_;
  const std::size_t number_;
  Signals signals_;
};

/// Calls work(task, worker) for tasks 0 to `tasks` - 1 on `jobs` threads, the caller's included; 0 means the number of cores. Tasks begin
/// in ascending order. The caller holds Python's lock, which is released meanwhile. About every 50 ms the caller's thread checks Python's
/// signals, so that Ctrl-C ends the work between tasks and in breathe(). If several tasks fail, it throws the failure of the lowest one.
void run_tasks(std::size_t tasks, unsigned jobs, const std::function<void(std::size_t task, Worker& worker)>& work);

/// The maximum number of threads that run_tasks uses.
std::size_t worker_count(std::size_t tasks, unsigned jobs);

}  // namespace warpmat::python
