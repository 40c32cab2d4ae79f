#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program where a call of the runtime fails.
#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (false)
