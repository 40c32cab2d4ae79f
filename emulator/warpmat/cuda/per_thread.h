#pragma once

#include <utility>

#include <warpmat/cuda/types.h>

namespace warpmat::cuda {

/// Whether stream 0 is the thread's own in the call that this thread is in.
bool& null_is_per_thread();

/// A function as a program calls it that was compiled with --default-stream per-thread.
template <typename Function>
struct PerThread;

template <typename Result, typename... Arguments>
struct PerThread<Result(Arguments...)> {
  template <Result (*function)(Arguments...)>
  static Result call(Arguments... arguments) {
    struct Scope {
      bool before = std::exchange(null_is_per_thread(), true);
      ~Scope() { null_is_per_thread() = before; }
    } const scope;
    return function(arguments...);
  }
};

}  // namespace warpmat::cuda

/// The name under which a program compiled with --default-stream per-thread calls `name`. The loader asks for its address before the
/// program begins, and before sanitizers do.
#define WARPMAT_CUDA_PER_THREAD(name, suffix)                                                                             \
  __attribute__((no_sanitize("address", "thread", "undefined"))) static decltype(name)* find_##name##_##suffix() __asm__( \
      "warpmat_find_" #name "_" #suffix);                                                                                 \
  [[maybe_unused]] static decltype(name)* find_##name##_##suffix() {                                                      \
    return &PerThread<decltype(name)>::call<name>;                                                                        \
  }                                                                                                                       \
  WARPMAT_CUDA_API __attribute__((ifunc("warpmat_find_" #name "_" #suffix))) decltype(name) name##_##suffix;

/// The same for a function that has no work of a stream.
#define WARPMAT_CUDA_SAME_PER_THREAD(name, suffix) WARPMAT_CUDA_API __attribute__((alias(#name))) decltype(name) name##_##suffix;
