#pragma once

#include <optional>
#include <string_view>

#include <warpmat/tables/lowering.h>

namespace warpmat {

/// The least exponent that a matrix unit aligns terms to (DotModel::floor), and how that is known. A row of the lowering table says how the
/// rest of its arithmetic is known; floors have a label of their own, because operands that confirm the rest need not come near them:
/// normally distributed ones, as most published outputs are of, do not.
struct Floor {
  int exponent;  ///< no_floor where the unit is taken to have none
  Evidence evidence;
  std::string_view source;
};

/// The floor of `form` on `hardware`. Nothing where there is no such lowering, or no sum of products in a matrix unit, or where no operands
/// can tell the floor from another: the smallest bit of a product lies above all that it cuts (f16 with f32 results; fp8 on sm_90).
std::optional<Floor> find_floor(const Form& form, Hardware hardware);

}  // namespace warpmat
