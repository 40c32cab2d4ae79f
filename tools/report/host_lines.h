#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <warpmat/warp.h>

namespace warpmat {

/// Calls of a program, innermost first: the file, and the call's address as the file's debug information counts it.
using HostFrames = std::vector<std::pair<std::string, std::uint64_t>>;

/// The innermost line of the program's own source, by addr2line of binutils; of a launch that of `<<<>>>`. `line` is 0 where only the
/// function is known, because the program was compiled without -g; all is empty where not even that is.
Trap::SourceLine host_line(const HostFrames& frames);

}  // namespace warpmat
