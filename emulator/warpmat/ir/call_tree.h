#pragma once

#include <warpmat/ir/code.h>

namespace warpmat::code {

/// The call tree of the entry, from the operations of a program's functions.
CallTree make_call_tree(const Program& program);

}  // namespace warpmat::code
