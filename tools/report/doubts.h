#pragma once

#include <string_view>

#include <warpmat/ir/code.h>

namespace warpmat {

/// What an assembler may do with a statement, as a part of a sentence: docs/reference/assembler.md has more.
std::string_view doubt_text(code::Doubt::Why why);

}  // namespace warpmat
