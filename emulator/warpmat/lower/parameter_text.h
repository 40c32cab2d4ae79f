#pragma once

#include <string>

#include <warpmat/ir/code.h>

namespace warpmat::code {

/// ": out (u64), count (u32), p (128 bytes)": the parameters of the entry for messages; empty where there are none.
std::string parameter_text(const Program& program);

}  // namespace warpmat::code
