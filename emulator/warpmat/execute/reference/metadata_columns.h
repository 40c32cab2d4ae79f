#pragma once

#include <array>
#include <cstdint>

#include <warpmat/execute/arguments.h>
#include <warpmat/tables/lowering.h>
#include <warpmat/tables/metadata.h>

namespace warpmat {

/// The column of the expanded A that each stored element belongs to: [row * stored k + stored column].
using MetadataColumns = std::array<std::uint16_t, 16 * 64>;

/// Reads the metadata of a sparse form, by its selector. Throws Trap that names the lane of a code that is not valid, unless
/// arguments.undefined asks for the hardware's behaviour and lowering.particulars knows it: then the code counts as written. A selector that the form does not define always traps, as an H200 does.
void read_metadata(const Form& form, const Lowering& lowering, const Arguments& arguments, MetadataColumns& columns);

}  // namespace warpmat
