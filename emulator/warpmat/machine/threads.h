#pragma once

#include <atomic>
#include <cstddef>

namespace warpmat::machine {

/// The cores that the process may use, at least one.
unsigned usable_cores();

/// On what set_threads() (launch.h) gave, else on threads of this call; in the caller's alone where jobs is 1.
void run_on_threads(int jobs, void (*work)(void* data), void* data);

/// The calling thread's number among those that have asked, from 0 on.
inline std::size_t thread_number() {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t number = threads++;
  return number;
}

}  // namespace warpmat::machine
