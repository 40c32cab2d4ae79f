#pragma once

#include <array>
#include <cstdint>

#include <warpmat/execute/operands/batch.h>
#include <warpmat/forms.h>
#include <warpmat/instruction.h>
#include <warpmat/tables/capacity.h>

namespace warpmat {

/// The column of the expanded A of each stored element: [row * stored k + stored column].
using MetadataColumns = std::array<std::uint16_t, capacity::m * capacity::stored_k>;

/// Reads the metadata of a sparse form by its selector. Throws Trap naming the lane of an invalid code, unless options.undefined asks for
/// the hardware's behaviour and lowering.particulars has it: then the code counts as written. A selector that the form does not define
/// always traps, as on an H200.
void read_metadata(const Form& form, const Lowering& lowering, const Batch& batch, const ExecutionOptions& options,
                   MetadataColumns& columns);

}  // namespace warpmat
