#pragma once

#include <string>

namespace warpmat {

/// The data of the page of `warpmat site`, as a script that defines the constant `tables`: every form with its operands, targets and
/// lowerings, the operands' layouts, and the accesses to shared memory. Values shared by many forms are stored once and referenced by
/// number. tools/site/README.md describes the fields.
std::string site_data();

}  // namespace warpmat
