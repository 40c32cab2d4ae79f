#pragma once

namespace warpmat {

/// What a lane function with two results returns: a value and its carry, the two halves of a comparison.
template <typename First, typename Second>
struct Two {
  First first;
  Second second;
};

}  // namespace warpmat
