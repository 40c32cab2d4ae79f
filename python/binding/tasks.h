#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace warpmat::python {

/// Asks Python for signals now and then, on the thread that Python called and that has released Python's lock. What it throws is Python's
/// exception: KeyboardInterrupt.
class Signals {
 public:
  void check();

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class Tasks;

/// One of the threads that do tasks.
class Worker {
 public:
  Worker(Tasks& tasks, std::size_t number) : tasks_(tasks), number_(number) {}

  /// Never the same in two threads at once, and below worker_count(tasks, jobs); 0 is the caller's thread.
  std::size_t number() const { return number_; }
  /// To be called by a task every few milliseconds: throws where the work is to end, by Ctrl-C or as another task has failed.
  void breathe();

 private:
  Tasks& tasks_;
  const std::size_t number_;
  Signals signals_;
};

/// Calls work(task, worker) for every task from 0 to `tasks` - 1 on `jobs` threads (0: as many as there are cores), of which the caller's
/// is one, in ascending order of their beginnings. The caller holds Python's lock, which is released meanwhile. About every 50 ms the
/// caller's thread asks Python for signals, so that Ctrl-C ends the work: between tasks and where they breathe. Of several failures that
/// of the lowest task is thrown.
void run_tasks(std::size_t tasks, unsigned jobs, const std::function<void(std::size_t task, Worker& worker)>& work);

/// How many threads run_tasks uses at most.
std::size_t worker_count(std::size_t tasks, unsigned jobs);

}  // namespace warpmat::python
