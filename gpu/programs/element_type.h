#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpmat::programs {

/// How to read memory as numbers.
struct ElementType {
  std::string_view cpp;  ///< "float", as C++ names it
  std::string_view ptx;  ///< "f32"
  unsigned bytes = 4;
};

/// The type to which parameter `index` of a kernel points, as its C++ signature says: "scale(float*, int)". Plain 32-bit words where it
/// says nothing.
ElementType pointed_type(std::string_view signature, std::size_t index);

/// "1.5 (0x3fc00000)": the number and its bits.
std::string to_text(const ElementType& type, std::uint64_t bits);

}  // namespace warpmat::programs
