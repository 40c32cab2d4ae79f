#pragma once

#include <string>

namespace warpmat {

/// What the page of `warpmat site` knows, as a script that defines the constant `tables`: every form with its operands, targets and
/// lowerings, how the operands' elements lie, and the accesses of shared memory. What many forms share stands there once and is named by
/// its number. tools/site/README.md describes the fields.
std::string site_data();

}  // namespace warpmat
