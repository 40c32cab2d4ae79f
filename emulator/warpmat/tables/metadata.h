#pragma once

#include <string_view>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>

namespace warpmat {

// Sparse metadata (PTX ISA 9.1 section 9.7.14.6.1). One 4-bit code gives the places of the stored elements of one group of A. Its low two
// bits are the place of the first stored unit in the group, its high two bits that of the second. A unit is one element (2:4) or two
// neighbours (4:8, the packed 4-bit types). tf32 (1:2) has two codes: 0x4 for the first element and 0xE for the second.

/// Elements of the expanded A that one code of `form` covers: 2, 4 or 8.
[[nodiscard]] WARPMAT_API int metadata_group(const Form& form);

/// Whether the ISA defines `code` for `form`: two different places, ascending if the form is ordered.
[[nodiscard]] WARPMAT_API bool valid_metadata(const Form& form, unsigned code);

/// The codes that the ISA defines for `form`, as words for messages: "0x4 and 0xe".
[[nodiscard]] WARPMAT_API std::string_view describe_valid_metadata(const Form& form);

/// The column, within its group of `group` elements (metadata_group), of the group's stored element `stored` under `code`. `stored` is
/// below group / 2.
[[nodiscard]] WARPMAT_API int metadata_column(int group, unsigned code, int stored);

}  // namespace warpmat
