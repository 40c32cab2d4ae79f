#pragma once

#include <warpmat/execute/explain.h>

#include <nlohmann/json_fwd.hpp>

namespace warpmat {

/// An explanation as data. Bits are hexadecimal strings; a number is significand * 2^(exponent - fraction_bits) with a sign; what a term
/// keeps counts units of 2^unit_exponent. docs/guide/explain.md describes every field.
/// `other` may be nullptr; else "against" is the same of it, and "parting" the steps after which the two part, or null.
nlohmann::ordered_json explanation_json(const Explanation& explanation, const Explanation* other = nullptr);

}  // namespace warpmat
