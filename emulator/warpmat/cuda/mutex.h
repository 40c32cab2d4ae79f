#pragma once

#include <mutex>

namespace warpmat::cuda {

/// The lock of all that the process has of CUDA. fork() waits for it, so that a child process gets nothing half done.
std::recursive_mutex& mutex();

}  // namespace warpmat::cuda
