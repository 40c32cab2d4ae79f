#pragma once

#include <warpmat/tables/field_table.h>

namespace warpmat::code {

/// The statements of tcgen05 that touch tensor memory: mma, cp, shift, ld and st, each spelling of the catalogue's rows without a
/// collector's buffer, which has no effect on results, and with `.aligned`.
const FieldTable& tensor_fields();

}  // namespace warpmat::code
