#pragma once

namespace warpmat {

/// Lets launches of this process run on oneTBB's threads, which live as long as it: to begin threads for each launch takes longer than most
/// launches. For commands and for the CUDA runtime; the libraries for users do not need oneTBB.
void use_thread_pool();

/// How many threads of the process are the pool's.
int pool_threads();

}  // namespace warpmat
