#pragma once

#include <cstddef>
#include <functional>

namespace warpmat::python {

/// Calls work(task, worker) for every task from 0 to `tasks` - 1 on `jobs` threads (0: as many as there are cores), of which the caller's
/// is one, in ascending order of their beginnings; `worker` is below worker_count(tasks, jobs) and never the same in two threads at once.
/// The caller holds Python's lock, which is released meanwhile. About every 50 ms the caller's thread asks Python for signals, so that
/// Ctrl-C ends the work after the tasks that have begun: a task should take some milliseconds at most. Of several failures that of the
/// lowest task is thrown.
void run_tasks(std::size_t tasks, unsigned jobs, const std::function<void(std::size_t task, std::size_t worker)>& work);

/// How many threads run_tasks uses.
std::size_t worker_count(std::size_t tasks, unsigned jobs);

}  // namespace warpmat::python
