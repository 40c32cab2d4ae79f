#pragma once

#include <string>
#include <string_view>

#include <warpmat/ptx/syntax/module.h>

namespace warpmat::syntax {

/// parse_list, where `is_known` says whether a list has an opcode. Behind a wrong one nothing is known of operands: there the next line
/// that begins like a statement is one.
List parse_list(std::string text, bool (*is_known)(std::string_view));

}  // namespace warpmat::syntax
