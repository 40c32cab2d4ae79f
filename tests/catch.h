#pragma once

// One include for both Catch2 packages: 2.x is one header, 3.x a library.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>

namespace warpmat {
using Catch::Matchers::ContainsSubstring;
}
#else
#include <catch2/catch.hpp>

namespace warpmat {
/// The name that 3.x gives to this matcher.
inline auto ContainsSubstring(const std::string& text) {
  return Catch::Contains(text);
}
}  // namespace warpmat
#endif
