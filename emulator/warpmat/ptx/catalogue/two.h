#pragma once

namespace warpmat {

/// The return type of a lane function with two results: a value and its carry, the two halves of a comparison.
template <typename First, typename Second>
struct Two {
  First first;
  Second second;
};

}  // namespace warpmat
