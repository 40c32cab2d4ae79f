#pragma once

#include "tools/debug/process.h"

namespace warpmat::debug {

class Follower;

// What questions ask about matrix instructions and accesses: inspect.h. They throw std::invalid_argument.
Json matrix(const Follower& follower, const Json& question);
Json explain(const Follower& follower, const Json& question);
Json banks(const Follower& follower, const Json& question);

}  // namespace warpmat::debug
