#pragma once

#include <warpmat/lower/draft.h>

namespace warpmat::code {

struct ProgramDraft;

/// Marks weak loads as polls (Access::polled) in loops that only others end: nothing in such a loop writes memory, and no register that one
/// round leaves to the next decides whether it ends.
void mark_polling_loops(ProgramDraft& draft);

}  // namespace warpmat::code
