#pragma once

#include <cstdint>
#include <vector>

#include <warpmat/lower/context.h>
#include <warpmat/lower/draft.h>

namespace warpmat::code {

/// Sets Access::shared_end of each load, store, atomic and cp.async whose shared address is that of one variable and sums with numbers:
/// such an access belongs to that variable. `addresses` are those of the variables that symbols name.
void bound_shared_accesses(ProgramDraft& draft, const std::vector<std::uint64_t>& addresses);

}  // namespace warpmat::code
