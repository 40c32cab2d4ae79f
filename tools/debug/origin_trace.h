#pragma once

#include <string>

#include "tools/debug/process.h"

namespace warpmat::debug {

class Debugger;

/// Where the bytes at a place (inspect.h) come from at the time where the debugger is: of each the memory that it is, or the product that
/// computed it, and the statements that moved it. Executes the launch again up to there, in a process of its own, with the origins of all
/// bytes followed. Throws std::runtime_error.
std::string trace_origin(Debugger& debugger, const Json& place);

}  // namespace warpmat::debug
