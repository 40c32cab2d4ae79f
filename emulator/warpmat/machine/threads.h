#pragma once

namespace warpmat::inline v0_1::machine {

/// Calls work(data) on at most `jobs` threads, the caller's among them, and returns when all calls have returned. The caller's call alone
/// must be enough: others help if threads are there.
using RunOnThreads = void (*)(int jobs, void (*work)(void* data), void* data);

/// What launches run on from now on. Without a call, or after one with nullptr, threads begin and end with each launch. Programs that make
/// many launches give a pool (pool/thread_pool.h).
void set_threads(RunOnThreads threads);

/// The cores that the process may use, at least one.
unsigned usable_cores();

void run_on_threads(int jobs, void (*work)(void* data), void* data);

}  // namespace warpmat::inline v0_1::machine
