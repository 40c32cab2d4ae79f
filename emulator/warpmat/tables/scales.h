#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <warpmat/export.h>
#include <warpmat/tables/form.h>

namespace warpmat {

// Scale factors of block-scaled mma (PTX ISA 9.1 section 9.7.14.3). The tuple {byte-id, thread-id} selects the bytes and lanes of a
// register. So one register holds several matrices of scale factors: m x scale_vector for A, scale_vector x n for B. They are written and
// read as
//
//   scatter_one(form.operand(OperandName::scale_a).fragment, scale_matrix(form, OperandName::ids_a, {0, 1}),
//               form.format(OperandName::scale_a), scales, register scale_a);
//
// set_scales (ptx/operands.h) does that for a statement of a program.

/// The tuple of operand ids_a or ids_b.
struct ScaleIds {
  std::uint32_t byte_id = 0, thread_id = 0;
  friend constexpr bool operator==(const ScaleIds&, const ScaleIds&) = default;
};

/// Nothing if the ISA defines `ids` for operand `ids_name` (ids_a or ids_b) of the block-scaled `form`; else the violated rule: "byte-id of
/// ids-a is 3; it must be below 4 and a multiple of 2".
[[nodiscard]] WARPMAT_API std::optional<std::string> undefined_ids(const Form& form, OperandName ids_name, const ScaleIds& ids);

/// The matrix number of fragment_scale_a or fragment_scale_b that `ids` select. Throws std::invalid_argument for undefined ids and for a
/// form without scale factors.
[[nodiscard]] WARPMAT_API int scale_matrix(const Form& form, OperandName ids_name, const ScaleIds& ids);

}  // namespace warpmat
