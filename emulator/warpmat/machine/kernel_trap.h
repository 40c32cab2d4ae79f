#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/warp.h>

namespace warpmat::machine {

/// The error of a kernel at `site`, with a message that names it.
Trap kernel_trap(Trap::Site site, std::optional<std::uint64_t> address, const std::string& reason, Trap::Kind kind = Trap::Kind::misuse);

}  // namespace warpmat::machine
