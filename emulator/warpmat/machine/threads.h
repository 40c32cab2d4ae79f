#pragma once

namespace warpmat::machine {

/// The cores that the process may use, at least one.
unsigned usable_cores();

/// On what set_threads() (launch.h) gave, else on threads of this call; in the caller's alone where jobs is 1.
void run_on_threads(int jobs, void (*work)(void* data), void* data);

}  // namespace warpmat::machine
