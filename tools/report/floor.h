#pragma once

#include <optional>
#include <string_view>

#include <warpmat/forms.h>

namespace warpmat {

/// The minimum exponent to which a matrix unit aligns terms (DotModel::floor), and its evidence. Floors have a label of their own: operands
/// that confirm the rest of a row need not come near the floor. Normally distributed operands, as in most published outputs, do not.
struct Floor {
  int exponent;  ///< no_floor if the unit has none
  Evidence evidence;
  std::string_view source;
};

/// The floor of `form` on `hardware`. Nothing if there is no such lowering, or if it has no sum of products in a matrix unit. Nothing too
/// if no operands can distinguish floors, because every product bit is above all that the floor cuts (f16 with f32 results; fp8 on sm_90).
std::optional<Floor> find_floor(const Form& form, Hardware hardware);

}  // namespace warpmat
