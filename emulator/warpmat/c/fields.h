#pragma once

#include <optional>

#include <warpmat/c.h>

#include <warpmat/forms.h>
#include <warpmat/tables/field_table.h>

namespace warpmat::c {

/// What the caller's struct says, as far as its size goes; nothing, having reported why, for null or a struct that is no warpmat_fields.
std::optional<OpcodeFields> read_fields(const warpmat_fields* fields, warpmat_error* error);

/// The one entry of `table` that `wanted` means on `target`; nothing, having reported why, if it is not one.
std::optional<std::size_t> find_one(const FieldTable& table, const OpcodeFields& wanted, const Target& target, warpmat_error* error);

}  // namespace warpmat::c
