#pragma once

#include <string>

#include "tools/report/supervision.h"

namespace warpmat {

/// From now on SIGINT and SIGTERM only set interruption(); another one, a second or more later, ends the process at once. Signals that the
/// process ignored at its start, as under nohup, remain ignored.
void catch_interruptions();

/// The signal that has asked for the end, or 0. Any thread may call this.
int interruption();

/// Throws Interrupted with `what` if a signal has asked the run to end.
void throw_if_interrupted(const std::string& what);

}  // namespace warpmat
