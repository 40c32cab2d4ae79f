#pragma once

#include <warpmat/lower/list_internals.h>

namespace warpmat {

/// Assigns a slot to every item of a parsed program that is not a named register. After the named registers come the discarded result's
/// slot, a read-only register for each value, and the addresses.
void place_slots(ProgramParts& program);

}  // namespace warpmat
