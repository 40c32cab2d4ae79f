#pragma once

#include "tools/debug/process.h"

namespace warpmat::debug {

class Follower;

/// The answer to a question about the state where the launch has stopped: {"text": ...} with what else programs read, or {"error": ...}.
/// Questions ("do"), of which all but info have a focus:
///   print      text, format: a value; with "lanes" of all lanes of the warp
///   examine    text, type, count, format: memory from an address on
///   where      the statement at which the lane is, its frames and state
///   registers  those of the function where the lane is
///   variables  parameters, shared variables, buffers and variables of the module
///   matrix     operand of the product at hand; or registers, opcode and operand
///   explain    element: how the product at hand computes it
///   banks      what the access at hand asks of the banks
///   bytes      address, bytes, shared: memory as hexadecimal digits
///   place      text: where what an expression names lies
///   info       what: warps, blocks, barriers, mbarriers, copies, splits
Json answer(const Follower& follower, const Json& question);

}  // namespace warpmat::debug
