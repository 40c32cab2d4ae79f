#pragma once

#include <functional>

#include "tools/debug/debugger.h"

namespace warpmat::debug {

/// What a client asks to debug: the arguments of its request "launch". Throws std::exception with a sentence.
using MakeProgram = std::function<DebuggedProgram(const Json& arguments)>;

/// Serves a client of the Debug Adapter Protocol on two files, until it disconnects or its input ends.
void serve_dap(int in, int out, const MakeProgram& make);

/// A connection to a port of this machine, 127.0.0.1, from the first client that comes. Throws std::runtime_error.
int accept_client(int port);

}  // namespace warpmat::debug
