#pragma once

#include <warpmat/explain.h>

#include <nlohmann/json_fwd.hpp>

namespace warpmat {

/// An explanation as data. Bits are hexadecimal strings. A number is significand * 2^(exponent - fraction_bits) with a sign. The kept part
/// of a term counts units of 2^unit_exponent. docs/use/explain.md describes every field. If `other` is not nullptr, "against" has the
/// same for it, and "parting" the steps after which the two differ, or null.
nlohmann::ordered_json explanation_json(const Explanation& explanation, const Explanation* other = nullptr);

}  // namespace warpmat
