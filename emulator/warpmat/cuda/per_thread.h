#pragma once

/// The name under which a program compiled with --default-stream per-thread calls `name`: the same function, as work has one order anyway.
#define WARPMAT_CUDA_PER_THREAD(name, suffix) WARPMAT_CUDA_API __attribute__((alias(#name))) decltype(name) name##_##suffix;
