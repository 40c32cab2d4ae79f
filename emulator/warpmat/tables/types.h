#pragma once

#include <string_view>

#include <warpmat/forms.h>

namespace warpmat {

/// The type `name`, without the dot, that opcodes and declarations of modules may name: one of data_types(), of the packed types or of the
/// alternate formats; or nullptr.
const DataType* find_ptx_type(std::string_view name);

/// Whether the type is one of data_types().
bool is_fundamental(const DataType& type);

/// The type of `bits` without an interpretation, .b8 to .b128, or nullptr if PTX has none of that width.
const DataType* find_untyped(int bits);

/// Whether a register declared .`declared` is allowed for an operand of .`type`, whatever their widths. ptxas 13.0: registers
/// without a type and .f16x2 ones take what they are given but for other formats; numbers and integers are not mixed.
bool takes(const DataType& type, const DataType& declared);

/// The directive of a space without its dot, "const"; "generic".
std::string_view name(Space space);

}  // namespace warpmat
