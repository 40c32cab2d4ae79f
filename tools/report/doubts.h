#pragma once

#include <string_view>

#include <warpmat/ptx/program/code.h>

namespace warpmat {

/// What ptxas 13.0 may do with a statement, as a part of a sentence: docs/assembler.md has more.
std::string_view doubt_text(code::Doubt::Why why);

}  // namespace warpmat
