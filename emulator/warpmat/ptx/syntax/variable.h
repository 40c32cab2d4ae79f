#pragma once

#include <warpmat/ptx/syntax/module.h>
#include <warpmat/tables/types.h>

namespace warpmat::syntax {

inline constexpr std::int64_t largest_variable = std::int64_t{1} << 32;

/// Of an element. Throws StatementError for an unknown type.
const DataType& type_of(const Variable& variable);
/// The size and the alignment of a variable in memory. Throws StatementError for an unknown type and for one that is too large. An array
/// without a number of elements has size 0.
std::int64_t size_of(const Variable& variable);
std::int64_t alignment_of(const Variable& variable);

}  // namespace warpmat::syntax
