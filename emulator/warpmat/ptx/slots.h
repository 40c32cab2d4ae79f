#pragma once

#include <warpmat/ptx/program.h>

namespace warpmat {

/// Gives every item of a parsed program that is not a named register its slot: behind the named ones the sink, then a read-only register
/// for each value, and behind those the addresses.
void place_slots(Program& program);

}  // namespace warpmat
