#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/warp.h>

namespace warpmat::code {
struct Program;
}

namespace warpmat::machine {

/// The error of a kernel at `site`, with a message that names it. A `site.warp` of -1: of the kernel as a whole, no block or lane.
Trap kernel_trap(Trap::Site site, std::optional<std::uint64_t> address, const Trap::Reason& reason, Trap::Kind kind = Trap::Kind::misuse);

/// A statement of the program, as errors name it.
Trap::Place place_of(const code::Program& program, std::uint32_t statement);

/// `site` at that statement of the program.
Trap::Site site_at(Trap::Site site, const code::Program& program, std::uint32_t statement);

/// The first statement of the program whose line of the source is that of `statement`; itself where it has none.
std::uint32_t first_of_line(const code::Program& program, std::uint32_t statement);

}  // namespace warpmat::machine
