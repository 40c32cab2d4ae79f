#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <warpmat/tables/lowering.h>

namespace warpmat {

// Sparse metadata (PTX ISA 9.1 section 9.7.14.6.1). One 4-bit code tells where the stored elements of one group of A belong. Its low two
// bits are the place of the first stored unit in the group, its high two that of the second. A unit is one element (2:4), or two neighbours
// (4:8, the 4-bit types that are packed); of tf32 (1:2) there are two codes, 0x4 for the first element and 0xE for the second.

/// The column of the expanded A that each stored element belongs to: [row * stored k + stored column].
using MetadataColumns = std::array<std::uint16_t, 16 * 64>;

/// How many elements of the expanded A one code of `form` covers: 2, 4 or 8.
int metadata_group(const Form& form);

/// Whether the ISA defines `code` for `form`: two different places, ascending if the form is ordered.
bool valid_metadata(const Form& form, unsigned code);

/// The codes that the ISA defines for `form`, for messages: "0x4 and 0xe".
std::string_view describe_valid_metadata(const Form& form);

/// The column within its group of `group` elements (metadata_group) to which `code` sends the group's stored element number `stored`, of
/// group / 2.
int metadata_column(int group, unsigned code, int stored);

/// Reads the metadata of a sparse form, by its selector. Throws Trap that names the lane of a code that is not valid, unless
/// arguments.undefined asks for the hardware's behaviour and `lowering` was measured: then both places count whatever their order, the same
/// place twice included [H200]; of tf32 nobody knows. A selector that the form does not define always traps, as an H200 does.
void read_metadata(const Form& form, const Lowering& lowering, const Arguments& arguments, MetadataColumns& columns);

}  // namespace warpmat
