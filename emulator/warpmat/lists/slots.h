#pragma once

#include <warpmat/program.h>

namespace warpmat::inline v0_1 {

/// Assigns a slot to every item of a parsed program that is not a named register. After the named registers come the discarded result's
/// slot, a read-only register for each value, and the addresses.
/// for each value, and behind those the addresses.
void place_slots(Program& program);

}  // namespace warpmat::inline v0_1
