#pragma once

#include <cstdint>

namespace warpmat::code {

/// A state space of memory, as a statement names it; generic addresses belong to one of the others.
enum class Space : std::uint8_t { generic, global, constant, shared, local, param };

}  // namespace warpmat::code
